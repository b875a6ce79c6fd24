"""What a wiki answers to a task in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.retrieval import consult, read_pages
from tests.retrieval.wikis import CANCEL, PYTEST, YAML, write_wiki


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return write_wiki(tmp_path / "wiki")


def test_the_page_that_applies_comes_first_and_says_why(wiki: Path) -> None:
    first = consult(wiki, "pytest is not found, how do I run the tests?")[0]
    assert first.row == PYTEST
    assert "trigger: " in first.why
    assert "pytest" in first.why
    assert 0 < first.score <= 1


def test_a_paraphrase_without_a_word_in_common_is_found(wiki: Path) -> None:
    assert [hit.row for hit in consult(wiki, "a guest wants to call off the trip they booked")][:1] == [CANCEL]


@pytest.mark.parametrize(
    "task",
    ["bake a chocolate cake", "", "   ", "?!", "the of and", '"unbalanced OR (NEAR* title:', "\x00\ud800", "日本語"],
)
def test_nothing_applies_to_what_is_unrelated_empty_or_query_syntax(wiki: Path, task: str) -> None:
    assert consult(wiki, task) == []


def test_tags_and_kinds_narrow_what_is_found(wiki: Path) -> None:
    task = "tests fail: pytest not found"
    assert consult(wiki, task, kinds=("skill",)) == []
    assert consult(wiki, task, tags=("yaml",)) == []
    assert [hit.row for hit in consult(wiki, task, tags=("Tests",), kinds=("guideline",))] == [PYTEST]


def test_a_folder_that_is_no_wiki_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no wiki here"):
        consult(tmp_path, "anything")


def test_pages_are_read_whole_without_their_machinery_when_there_is_room(wiki: Path) -> None:
    text = read_pages(consult(wiki, "YAML mapping values are not allowed"), 2000)
    assert text.startswith(f"--- {YAML['link']} [guideline]")
    assert "Put a value that holds a colon" in text
    assert "## Sources" not in text
    assert "id:" not in text


def test_what_holds_for_another_repository_alone_is_not_shown(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path, ({**PYTEST, "scope": "repository:shop"}, YAML))
    task = "run the unit tests, pytest is not found"
    assert [hit.link for hit in consult(wiki, task)] == [PYTEST["link"]], "where the reader works is not known"
    assert [hit.link for hit in consult(wiki, task, repository="shop")] == [PYTEST["link"]]
    assert consult(wiki, task, repository="cart") == []
