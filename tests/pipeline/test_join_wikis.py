"""Wikis that were built apart are joined to the bytes of one that was built from all recordings."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.pipeline import publish
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.report import Report
from agent_wiki.wiki.layout import kind_of
from agent_wiki.wiki.records import SessionRecord, record_text
from agent_wiki.wiki.store import WikiFolder

FOREIGN = "---\ntype: guideline\nid: '000000000001'\n---\n\n# Ask Mia\n\nAsk Mia first.\n"
TRACES = Path(__file__).resolve().parents[2] / "wiki-example" / "traces"


def _quiet(_what: str, _done: int, _of: int) -> None:
    return None


def _ingest(paths: list[Path], wiki: Path) -> None:
    assert run(paths, Options(wiki), Report("ingest", "wiki"), _quiet).exit_code == 0


def _tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".wiki" not in path.parts and path.name != "_audit.log"
    }


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], dict[str, bytes]]:
    """Three wikis of a third of the example's recordings each, one recording in two of them; and the whole's tree."""
    place = tmp_path_factory.mktemp("parts")
    files = sorted(path for path in TRACES.iterdir() if path.is_file())
    wikis = [place / name for name in ("a", "b", "c")]
    for number, wiki in enumerate(wikis):
        _ingest([*files[number::3], files[0]], wiki)
    _ingest(files, place / "whole")
    return wikis, _tree(place / "whole")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_wikis_joined_in_any_order_are_the_wiki_of_all(
    parts: tuple[list[Path], dict[str, bytes]], order: tuple[int, ...], tmp_path: Path
) -> None:
    wikis, whole = parts
    for number in order:
        report = join_wikis([wikis[number]], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
        assert report.exit_code == 0
    assert _tree(tmp_path / "joined") == whole


def test_joining_twice_changes_nothing(parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path) -> None:
    wikis, whole = parts
    join_wikis(wikis, Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    again = join_wikis(wikis, Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    assert again.written == []
    assert _tree(tmp_path / "joined") == whole


def test_the_other_wiki_is_left_alone(parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path) -> None:
    wikis, _ = parts
    before = _tree(wikis[0])
    join_wikis([wikis[0]], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    assert _tree(wikis[0]) == before


def test_of_the_other_wiki_no_page_is_read_that_a_record_accounts_for(
    parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(parts[0][0], tmp_path / "other", ignore=shutil.ignore_patterns(".wiki"))
    (tmp_path / "other" / "guidelines" / "ask-mia__000000000001.md").write_text(FOREIGN, encoding="utf-8")
    read: list[str] = []
    read_text = WikiFolder.read_text

    def noted(folder: WikiFolder, path: str, *more: Any, **options: Any) -> str | None:
        read.extend([path] if folder.root == tmp_path / "other" else [])
        return read_text(folder, path, *more, **options)

    monkeypatch.setattr(WikiFolder, "read_text", noted)
    join_wikis([tmp_path / "other"], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    pages = [path for path in read if kind_of(path) in ("summary", "guideline")]
    assert pages == ["guidelines/ask-mia__000000000001.md"]
    assert "Ask Mia first." in (tmp_path / "joined" / pages[0]).read_text(encoding="utf-8")


def test_a_record_that_is_new_here_is_copied_as_it_is(
    parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []

    def noted(record: object) -> str:
        written.append(record)
        return record_text(record)

    monkeypatch.setattr(publish, "record_text", noted)
    join_wikis(parts[0][:1], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    assert not [each for each in written if isinstance(each, SessionRecord)]
    theirs = {path: text for path, text in _tree(parts[0][0]).items() if path.startswith("_sessions/")}
    assert theirs
    assert {path: text for path, text in _tree(tmp_path / "joined").items() if path in theirs} == theirs


def test_a_folder_that_is_no_wiki_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no wiki"):
        join_wikis([tmp_path], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
