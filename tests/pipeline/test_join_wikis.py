"""Wikis that were built apart are joined to the bytes of one that was built from all recordings."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.report import Report

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


def test_a_folder_that_is_no_wiki_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no wiki"):
        join_wikis([tmp_path], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
