"""What is finished when first used behaves as if it had been finished at once."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from dataclasses import field, replace

import pytest

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
