"""The tables of the embedded engine: what may stand in them, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pydantic import ValidationError

from agent_wiki.engines.offline.signals.known_remedies import Remedy, remedies
from agent_wiki.engines.offline.tables import Entry, Pattern, written
from agent_wiki.wiki.text import plain_line

WORDS = {"id": "a/b", "title": "Do it first", "rule": "Do it.", "trigger": "Work.", "tags": ["a"]}


@pytest.mark.parametrize("entry", remedies(), ids=lambda entry: entry.id)
def test_every_pattern_of_a_table_is_one(entry: Entry) -> None:
    patterns = [value for _, value in entry if isinstance(value, Pattern)]
    assert patterns
    for pattern in patterns:
        re.compile(pattern.source)
        assert pattern.search("") is None


def test_a_list_of_patterns_is_one_of_them() -> None:
    remedy = Remedy.model_validate({**WORDS, "error": ["a+b", "c"], "command": "x"})
    assert [bool(remedy.error.search(text)) for text in ("aab", "c", "b")] == [True, True, False]


def test_a_pattern_that_may_run_over_a_whole_recording_is_refused() -> None:
    with pytest.raises(ValidationError, match="say how far"):
        Remedy.model_validate({**WORDS, "error": "a.*b"})
    assert Remedy.model_validate({**WORDS, "error": r"a\.*b.{0,80}c"}).error.search("ab c")


def test_an_entry_with_a_field_nobody_reads_is_refused() -> None:
    with pytest.raises(ValidationError, match="comand"):
        Remedy.model_validate({**WORDS, "error": "a", "comand": "b"})


def test_no_table_is_read_before_something_is_mined() -> None:
    code = "import sys, agent_wiki.commands; sys.exit('agent_wiki.engines.offline.tables' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_apostrophe_of_an_expression_is_also_one_as_typographers_set_it() -> None:
    asks = written("asks", re.IGNORECASE)
    assert all(asks.search(f"I{mark}d like to return the lamp.") for mark in "'’")
    left_open = written("left_open", re.IGNORECASE)
    assert all(left_open.search(f"I couldn{mark}t verify it in a browser.") for mark in "'’")


@pytest.mark.parametrize("remedy", remedies(), ids=lambda remedy: remedy.id)
def test_the_words_of_an_entry_stand_on_a_page_as_they_are_written(remedy: Remedy) -> None:
    for words in (remedy.title, remedy.rule, remedy.trigger):
        assert plain_line(words, 1_000).rstrip(".") == " ".join(words.split()).rstrip(".")
