"""The words that every match of an expression has are read from the expression, and none is said too much."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.trajectory.literals import needed_words

READ = [
    ("no matches found: ", ("no matches found: ",)),
    (r"(?:cargo|rustc): (?:command )?not found|command not found: cargo\b", ("not found", "command not found: cargo")),
    (r"colou?r of (?:it|them)", ("r of ",)),
    (r"a{2,3}bcdef", ("bcdef",)),
    (r"lamps+ lit", ("lamps",)),
    (r"lamps* lit", ("lamp",)),
    (r"(?s)shop[/\\]till.{0,400}No drawer", ("No drawer",)),
    (r"[\w|)]{3}: till\.open\(", (": till.open(",)),
    (r"\((?:a\)|[)])\)shop", (")shop",)),
]
NOT_TOLD = ["", r"(?i)no drawer", r"(?x) no drawer", r"\w+: \d", "shop|\\d+", "(?:shop till)?", "abc(?:shop)"]


@pytest.mark.parametrize(("source", "words"), READ)
def test_the_longest_plain_words_of_each_alternative_are_needed(source: str, words: tuple[str, ...]) -> None:
    assert needed_words(source) == words


@pytest.mark.parametrize("source", NOT_TOLD)
def test_nothing_is_said_where_a_match_may_have_none_or_another_case(source: str) -> None:
    assert needed_words(source) == ()


@given(st.data(), st.sampled_from([source for source, _ in READ]))
def test_every_match_has_one_of_the_words(data: st.DataObject, source: str) -> None:
    text = data.draw(st.from_regex(re.compile(source)))
    assert any(word in text for word in needed_words(source))


_ATOMS = st.sampled_from(
    ["till", "lamp", "s", r"\.", r"\d", "[a-c|)]", "(?:shop|till)", "(?:ab(?:c|d))", ".", r"\|", "x y"]
)
_COUNTS = st.sampled_from(["", "", "", "?", "*", "+", "{0,2}", "{2}", "{1,}", "?+", "+?"])
_SOURCES = st.lists(st.one_of(st.tuples(_ATOMS, _COUNTS).map("".join), st.just("|")), max_size=8).map("".join)


@given(st.data(), _SOURCES)
def test_every_match_of_any_expression_has_one_of_its_words(data: st.DataObject, source: str) -> None:
    words = needed_words(source)
    try:
        text = data.draw(st.from_regex(re.compile(source), fullmatch=True))
    except re.error:
        return
    assert not words or any(word in text for word in words)
