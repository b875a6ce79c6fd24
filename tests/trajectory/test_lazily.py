"""What is finished when first used behaves as if it had been finished at once."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
import re
from dataclasses import field, replace
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agent_wiki
from agent_wiki.trajectory.lazily import dataclass, regex


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    line: int = 1
    notes: list[str] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a place has a name")


@dataclass(slots=True)
class Count:
    of: str
    so_far: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Inner(Place):
    depth: int = 2


@dataclass(slots=True)
class Kept:
    name: str
    found: dict[str, int] = field(default_factory=dict, init=False)
    times: int = field(default=3, init=False)
    later: str = field(init=False)


def test_objects_are_initialised_shown_and_compared_by_their_fields() -> None:
    assert repr(Place("a", 2)) == "Place(name='a', line=2)"
    assert Place("a") == Place("a", 1, ["other"])
    assert Place("a") != Place("b")
    assert Count("x", so_far=2) == Count("x", so_far=2)
    assert (Inner("a").line, Inner("a", depth=3).depth) == (1, 3)
    assert Inner("a") != Place("a")


def test_a_wrong_argument_is_an_error_as_it_is_checked() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'lines'"):
        Place("a", lines=2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="a place has a name"):
        Place("")


def test_what_is_no_argument_has_its_default_or_nothing() -> None:
    one, other = Kept("a"), Kept(name="b")
    one.found["x"] = 1
    assert (one.times, other.times, other.found) == (3, 3, {})
    assert not hasattr(one, "later")
    with pytest.raises(TypeError, match=r"Kept\.__init__\(\) takes 2 positional arguments but 3 were given"):
        Kept("a", {})  # type: ignore[call-arg]


def test_what_has_a_default_of_its_own_may_be_given() -> None:
    assert (Place("a", notes=["x"]).notes, Place("a", 1, []).notes) == (["x"], [])
    with pytest.raises(TypeError, match="positional"):
        Count("x", 2)  # type: ignore[call-arg]


def test_a_frozen_object_can_be_hashed_and_not_changed() -> None:
    place = Place("a")
    assert {place: 1}[Place("a")] == 1
    with pytest.raises(dataclasses.FrozenInstanceError, match="'line' of Place"):
        place.line = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="'line' of Place"):
        del place.line
    with pytest.raises(TypeError, match="unhashable"):
        hash(Count("a"))


def test_each_list_is_an_objects_own() -> None:
    one, other = Place("a"), Place("a")
    one.notes.append("x")
    assert other.notes == []


@pytest.mark.parametrize("value", [Place("a", 3, ["n"]), Count("x", so_far=1), Inner("a", depth=4)])
def test_objects_are_copied_and_reach_other_processes(value: object) -> None:
    for same in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):  # noqa: S301 - it was made here
        assert same == value
        assert dataclasses.astuple(same) == dataclasses.astuple(value)  # type: ignore[call-overload, arg-type]


def test_a_changed_copy_is_made_by_the_standard_library() -> None:
    assert replace(Place("a"), line=7) == Place("a", 7)
    assert dataclasses.asdict(Count("x")) == {"of": "x", "so_far": 0}


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    assert regex("[a-z]+", re.IGNORECASE).findall("aB c") == ["aB", "c"]
    unfit = regex("(")
    with pytest.raises(re.error):
        unfit.search("")


@lru_cache(maxsize=1)
def _needing() -> list[tuple[str, re.Pattern[str]]]:
    """Every expression of the package that names words which it needs."""
    modules = [importlib.import_module(each.name) for each in pkgutil.walk_packages(agent_wiki.__path__, "agent_wiki.")]
    found = {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if getattr(type(value), "__name__", "") == "_Pattern" and vars(value)["_needs"]
    }
    return sorted(found.items())


@pytest.mark.long
@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_match_has_a_word_that_its_expression_needs(data: st.DataObject) -> None:
    name, pattern = data.draw(st.sampled_from(_needing()))
    source, flags = vars(pattern)["_asked"]
    plain = re.compile(source, flags)
    text = data.draw(st.from_regex(plain))
    assert _spans(pattern, text) == _spans(plain, text), name


def _spans(pattern: re.Pattern[str], text: str) -> tuple[list[tuple[int, int]], tuple[int, int] | None, str]:
    first = pattern.search(text)
    return [each.span() for each in pattern.finditer(text)], first and first.span(), pattern.sub("-", text)


def test_a_text_without_a_word_that_an_expression_needs_is_not_searched() -> None:
    named = regex("[a-z]+ [a-z]+", re.IGNORECASE, needs=("lee", "kim"))
    assert (named.search("Ann KIM") is None, named.search("Ann Bell") is None) == (False, True)
    assert [each.group() for each in named.finditer("Ann Lee, Bo Kim")] == ["Ann Lee", "Bo Kim"]
    assert list(named.finditer("Ann Bell")) == []
    assert (named.sub("x", "Ann Lee"), named.sub("x", "Ann Bell")) == ("x", "Ann Bell")
    assert named.fullmatch("Ann Bell") is not None


def test_where_case_is_ignored_letters_that_are_alike_are_none_the_less_found() -> None:
    assert regex("kim", re.IGNORECASE, needs=("kim",)).search("\u212aım") is not None


@pytest.mark.parametrize("text", ["“visit” now", "VISIT — now", "v\u0131s\u0131t", "v\u0130sit", "vi\u017fit"])
def test_a_text_with_other_letters_is_searched_where_it_may_have_a_word(text: str) -> None:
    assert regex("visit", re.IGNORECASE, needs=("visit",)).search(text) is not None


def test_words_of_other_letters_are_looked_for_by_the_expression_alone() -> None:
    assert regex("stra\u00dfe", re.IGNORECASE, needs=("stra\u00dfe",)).search("STRA\u1e9eE") is not None
