"""The retrieval index: made once, true to the pages, harmless whatever lies in its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_wiki.retrieval import consult
from agent_wiki.retrieval import index as module
from agent_wiki.retrieval.index import opened
from agent_wiki.retrieval.lexical import frequencies
from tests.processes import exit_codes, started_wiki
from tests.retrieval.wikis import PYTEST, ROWS, YAML, write_index, write_page, write_wiki

TASK = "YAML: mapping values are not allowed"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return write_wiki(tmp_path / "wiki")


def _forget() -> None:
    """As in a new process."""
    module._HELD.clear()


def _pages_with(wiki: Path, stem: str) -> int:
    return frequencies(opened(wiki).connection, [stem]).get(stem, 0)


def _file(wiki: Path) -> Path:
    return wiki / ".wiki" / "retrieval" / "pages.sqlite"


def test_it_is_built_once_and_kept_out_of_git(wiki: Path) -> None:
    first = consult(wiki, TASK)
    made = _file(wiki).stat()
    assert (wiki / ".wiki" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    _forget()
    assert consult(wiki, TASK) == first
    assert _file(wiki).stat().st_mtime_ns == made.st_mtime_ns
    assert [each.name for each in (wiki / ".wiki" / "retrieval").iterdir() if each.suffix == ".tmp"] == []


def test_a_page_changed_in_place_is_found_by_its_new_words(wiki: Path) -> None:
    assert _pages_with(wiki, "zebrafish") == 0
    write_page(wiki, YAML, more="\nSeen with the zebrafish genome assembly.\n")
    _forget()
    assert _pages_with(wiki, "zebrafish") == 1


def test_a_process_that_stays_sees_a_new_index_at_once_and_a_page_within_two_seconds(
    wiki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert consult(wiki, TASK)
    write_index(wiki, (PYTEST,))
    assert consult(wiki, TASK) == []
    write_page(wiki, PYTEST, more="\nSeen with the zebrafish genome assembly.\n")
    monkeypatch.setattr(module, "_TRUSTED_SECONDS", 0.0)
    assert _pages_with(wiki, "zebrafish") == 1


def test_pages_with_a_new_time_and_the_same_words_are_not_indexed_again(wiki: Path) -> None:
    consult(wiki, TASK)
    made = _file(wiki).stat().st_mtime_ns
    os.utime(wiki / str(YAML["link"]), (1, 1))
    _forget()
    assert consult(wiki, TASK)
    assert _file(wiki).stat().st_mtime_ns == made


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\x00" * 500])
def test_a_damaged_index_is_made_again(wiki: Path, content: bytes) -> None:
    expected = consult(wiki, TASK)
    _file(wiki).write_bytes(content)
    _forget()
    assert consult(wiki, TASK) == expected


def test_an_index_of_another_version_is_made_again(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = consult(wiki, TASK)
    monkeypatch.setattr(module, "VERSION", "other")
    _forget()
    assert consult(wiki, TASK) == expected
    assert opened(wiki).is_readable()


def test_a_wiki_that_cannot_be_written_to_is_consulted_in_memory(wiki: Path, tmp_path: Path) -> None:
    (wiki / ".wiki").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere").mkdir()
    assert consult(wiki, TASK)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (wiki / ".wiki").unlink()
    (wiki / ".wiki").write_text("a file where the folder should be", encoding="utf-8")
    _forget()
    assert consult(wiki, TASK)


def test_several_processes_may_build_it_at_the_same_time(wiki: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"said-{number}" for number in range(3)]
    words = ("consult", TASK, "--json", "--wiki", wiki)
    assert exit_codes(*[started_wiki(*words, output=output) for output in outputs]) == [0] * 3
    answers = [json.loads(output.read_text(encoding="utf-8")) for output in outputs]
    assert [[row["id"] for row in answer] for answer in answers] == [[YAML["id"]]] * 3


def test_rows_that_cannot_be_read_or_lead_out_of_the_wiki_are_left_out(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "wiki")
    secret = tmp_path / "secret__222222222222.md"
    secret.write_text("# Zebrafish\n\nzebrafish genome assembly\n", encoding="utf-8")
    (wiki / "guidelines" / "linked__333333333333.md").symlink_to(secret)
    linked = "guidelines/linked__333333333333.md"
    bad = [
        b"{", b"[]", b"\xff\xfe", b'{"kind": "guideline"}', b'{"kind": "other", "link": "guidelines/x__1.md"}',
        json.dumps({**YAML, "link": "../secret__222222222222.md"}).encode(),
        json.dumps({**YAML, "link": "/etc/passwd"}).encode(), json.dumps({**YAML, "link": 7}).encode(),
        json.dumps({**YAML, "title": None, "tags": "x", "trigger": 3, "link": linked}).encode(),
        b"[" * 100_000,
    ]  # fmt: skip
    with (wiki / "_index.jsonl").open("ab") as stream:
        stream.write(b"\n".join(bad))
    assert [hit.row for hit in consult(wiki, TASK)][:1] == [YAML]
    assert _pages_with(wiki, "zebrafish") == 0
    assert len(opened(wiki).links) == len(ROWS) + 1


def test_an_empty_wiki_has_nothing_to_say(tmp_path: Path) -> None:
    assert consult(write_wiki(tmp_path / "wiki", ()), TASK) == []
