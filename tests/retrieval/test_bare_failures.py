"""A pasted failure that says only that something failed finds no page that says the same of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.retrieval import consult, lexical
from agent_wiki.retrieval.bare_failures import says_what_failed
from tests.retrieval.wikis import write_wiki

_DJANGO = (
    "`django.core.exceptions` or a `ModuleNotFoundError` at the start: an app in the settings cannot be imported, or a "
    "script of Python has an error."
)


def _shared(task: str, trigger: str = _DJANGO) -> dict[str, str]:
    on_page = set(lexical.terms(trigger))
    return {term: "trigger" for term in lexical.words_of(task) if term in on_page}


@pytest.mark.parametrize(
    ("task", "meaning", "says_what"),
    [
        ("KeyError: 'foo' in my Python script", 0.9, False),
        ("TypeError in my script", 0.9, False),
        ("ModuleNotFoundError: No module named 'requests'", 0.6, False),
        ("ModuleNotFoundError: No module named 'shop.apps' at the start", 0.6, True),
        ("ModuleNotFoundError: No module named 'requests'", 0.7, True),
        ("an error of Python", 0.5, True),
        ("the settings raise an error", 0.5, True),
        ("nothing of this is there", 0.9, True),
    ],
)
def test_what_is_shared_has_to_say_what_failed(task: str, meaning: float, says_what: bool) -> None:
    assert says_what_failed(task, _shared(task), meaning) is says_what


@pytest.mark.parametrize(
    "task", ["KeyError: 'foo' in my Python script", "TypeError in my script", "No such file or directory"]
)
def test_such_a_failure_is_answered_by_silence(task: str, tmp_path: Path) -> None:
    assert consult(write_wiki(tmp_path / "wiki"), task) == []
