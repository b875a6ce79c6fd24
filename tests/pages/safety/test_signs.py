"""What signs wait for is in each of their matches: else the judge would not see what it looks for."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_wiki.pages import safety
from agent_wiki.pages.safety import fetched_code, instructions, other_languages, safeguards
from agent_wiki.pages.safety.reading import Passage, unified
from agent_wiki.pages.safety.signs import Sign, Signs, matches, sign

# Of what signs wait for, the words that take the place of a part of their expressions.
PARTS = (
    safeguards._WAYS_OFF,
    safeguards._REFUSES,
    instructions._USERS,
    instructions._WITHOUT,
    instructions._WHAT_IS_YOURS,
    fetched_code._ORDERED,
    unified(other_languages._WAYS_OFF),
    "are~now 're~now act~now behave~now from~now~on henceforth",
    "note message instruction notice attention reminder warning memo order",
    "returning exiting removing deleting editing mocking skipping weakening disabling commenting excluding emptying",
)


@lru_cache(maxsize=1)
def _with_parts() -> list[tuple[Sign, frozenset[str]]]:
    parts = {sign("", part, "").needs[0] for part in PARTS}
    modules = [
        importlib.import_module(f"{safety.__name__}.{name}") for _, name, _ in pkgutil.iter_modules(safety.__path__)
    ]
    families = [value for module in modules for value in vars(module).values() if isinstance(value, Signs)]
    found = [(each, group) for family in families for each in family._signs for group in each.needs if group in parts]
    assert {group for _, group in found} == parts
    return found


@pytest.mark.long
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_match_has_one_of_the_words(data: st.DataObject) -> None:
    each, group = data.draw(st.sampled_from(_with_parts()))
    source, flags = vars(each.pattern)["_asked"]
    passage = Passage(data.draw(st.from_regex(re.compile(source, flags), fullmatch=True)))
    if re.search(source, passage.seen, flags):
        assert group & passage.key_words, (each.rule, passage.seen)


@pytest.mark.parametrize("text", ["sk\u0131p the hook", "SK\u0130P the hook", "skip the hook"])
def test_letters_that_expressions_take_for_an_i_are_read_as_one(text: str) -> None:
    signs = Signs(sign("a-rule", "skip; hook", r"\bskip\b.{1,9}hook"))
    assert [rule for rule, _ in matches(Passage(text), signs)] == ["a-rule"]
