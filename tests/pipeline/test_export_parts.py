"""Everything that reads a recording reads a conversation whole whose export is in several files."""

from __future__ import annotations

from pathlib import Path

import pytest

import agent_wiki
from agent_wiki.engine import no_progress
from agent_wiki.evaluation.recordings import rows_of
from agent_wiki.pipeline.normalize import NormalizeOptions, normalize
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval.recording_places import Places
from agent_wiki.wiki.store import WikiFolder
from tests.exports import EXPORT
from tests.wikis import Script, ingest


@pytest.fixture
def export(tmp_path: Path) -> Path:
    for name, content in EXPORT.items():
        path = tmp_path / "export" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "export"


def test_normalizing_and_measuring_give_each_conversation_once_and_whole(tmp_path: Path, export: Path) -> None:
    report = Report("normalize", "")
    stats = normalize([export], NormalizeOptions(tmp_path / "out"), report, no_progress)
    assert {each.session_id: (each.turns, each.cost_usd) for each in stats} == {
        "s-1": (4, 0.5),
        "t2": (2, 0.25),
        "t4": (2, 0.25),
    }
    assert (report.failures, report.left_out) == ([], [])
    rows = rows_of([export], None, {}, Report("metrics", ""), no_progress)
    assert {row["session_id"]: row.get("resolved") for row in rows} == {"s-1": True, "t2": True, "t4": False}
    read = {each.session_id: each.source.resolved for each in agent_wiki.normalize(export)}
    assert read == {"s-1": True, "t2": True, "t4": False}


def test_the_turns_behind_a_page_are_found_in_a_file_that_only_goes_on(tmp_path: Path, export: Path) -> None:
    ingest([export], tmp_path / "wiki", Script(tmp_path).engine)
    found = Places(WikiFolder(tmp_path / "wiki")).find("s-1", None, None)
    assert found.trajectory is not None
    assert [each.content for each in found.trajectory.messages][-1] == "Both add up."
