"""Signs are found by the words that occur in a text."""

from __future__ import annotations

import pytest

from agent_wiki.pages.safety.key_words import register, words_in
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.signs import NamedPrograms, Signs, matches, sign

WORDS = ("zq", "zqueue", "zq runs", "zquit")


@pytest.mark.parametrize("blanks", [0, 3_000])
def test_words_are_found_within_others_at_the_ends_and_in_long_texts(blanks: int) -> None:
    register(WORDS)
    text = "requeue zqueued" + " " * blanks + "the zq runs"
    assert words_in(text).intersection(WORDS) == {"zq", "zqueue", "zq runs"}
    assert not words_in("").intersection(WORDS)


def test_a_sign_is_searched_for_where_each_of_its_groups_has_a_word_and_signs_keep_their_order() -> None:
    signs = Signs(
        sign("second-word", "zfoo zbar; zend", r"\w+"),
        sign("first-word", "zbar", r"z\w+"),
    )
    found = [(rule, match.group()) for rule, match in matches(Passage("Zbar is"), signs)]
    assert found == [("first-word", "Zbar")]
    rules = [rule for rule, _ in matches(Passage("zend ZBAR"), signs)]
    assert list(dict.fromkeys(rules)) == ["second-word", "first-word"]


def test_a_program_is_named_as_a_word_of_its_own_and_not_as_the_scheme_of_an_address() -> None:
    programs = NamedPrograms({"nc", "https"})
    found = [
        text
        for text in ("`/bin/nc host 1`", "$(HTTPS example.com)", "once, https://example.com")
        if programs.may_run_in(Passage(text))
    ]
    assert found == ["`/bin/nc host 1`", "$(HTTPS example.com)"]
