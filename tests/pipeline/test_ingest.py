"""What a run writes is a function of the sessions: order, batches, workers, date and folder do not matter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from agent_wiki.pipeline import recordings_cache
from agent_wiki.pipeline.ingest import STAGES_OF_COMMAND
from agent_wiki.wiki.store import WikiFolder
from tests.wikis import COMMAND, RESULT, Script, arc, changed, ingest, record, rule, skill, tree

DAYS = {"a": "2026-01-03", "b": "2026-01-01", "c": "2026-01-02", "d": "2026-01-02", "e": "2026-01-05"}
SHARED = "Run the check before a change."
CHECK = "#!/bin/sh\r\nmake check"


def _script(folder: Path) -> Script:
    """Five sessions: two rules that several state in different words, arcs, a skill with a script, recalls."""
    told = Script(folder)
    told.says("a", rules=[rule(SHARED), rule("Read the log of the check.", tags=["logs"])])
    told.says("b", rules=[rule(SHARED, title="Always run the check first", tags=["cart", "speed"])])
    told.says("c", rules=[rule(SHARED, trigger="before any change"), rule("Keep the cart small, as the check asks.")])
    with_script = {"scripts": [{"file": "check.sh", "text": CHECK}]}
    told.says("c", skill=skill("check-the-cart", **with_script))
    told.says("d", skill=skill("check-the-cart", overview="Check twice."), rules=[rule(SHARED, rationale="It pays.")])
    recalled = [
        {"page": "guidelines/run-the-check-first__7890180238f4.md", "status": "followed", "turn": 2, "quote": COMMAND},
        {"page": "skills/check-the-cart/SKILL.md", "status": "harmful", "turn": 3, "quote": RESULT},
    ]
    told.says("d", arcs=[arc("One", 1, 2), arc("Two", 3, 4, outcome="partial", recalled=recalled)])
    told.says("e", arcs=[arc(outcome="failure")], rules=[rule(SHARED)])
    return told


def _recordings(folder: Path) -> list[Path]:
    writes = {"c": {"check.sh": CHECK}}
    return [record(folder / "traces", name, day, writes=writes.get(name)) for name, day in DAYS.items()]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return _script(tmp_path)


@pytest.fixture
def recordings(tmp_path: Path) -> list[Path]:
    return _recordings(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """The tree of bytes that one run over all makes."""
    folder = tmp_path_factory.mktemp("whole")
    report = ingest(_recordings(folder), folder / "whole", _script(folder).engine)
    assert report.exit_code == 0, report.failures
    return MappingProxyType(tree(folder / "whole"))


def _batches(*sizes: int) -> Callable[[list[Path]], list[list[Path]]]:
    def cut(paths: list[Path]) -> list[list[Path]]:
        starts = [sum(sizes[:position]) for position in range(len(sizes))]
        return [paths[start : start + size] for start, size in zip(starts, sizes, strict=True)]

    return cut


@pytest.mark.parametrize(
    "batches",
    [
        lambda paths: [paths[::-1]],
        _batches(1, 1, 1, 1, 1),
        lambda paths: [[path] for path in reversed(paths)],
        _batches(2, 3),
        lambda paths: [[paths[4], paths[1]], [paths[3]], [paths[2], paths[0]]],
        lambda paths: [paths[:3], paths[2:], paths],
    ],
)
def test_order_and_batches_do_not_matter(
    tmp_path: Path, script: Script, recordings: list[Path], whole: Mapping[str, bytes], batches: Any
) -> None:
    for batch in batches(recordings):
        ingest(batch, tmp_path / "wiki", script.engine)
    assert changed(whole, tree(tmp_path / "wiki")) == []


def test_workers_do_not_matter(
    tmp_path: Path, script: Script, recordings: list[Path], whole: Mapping[str, bytes]
) -> None:
    ingest(recordings, tmp_path / "two", script.engine, jobs=2)
    assert changed(whole, tree(tmp_path / "two")) == []


def test_the_machinery_may_be_deleted_between_runs(
    tmp_path: Path, script: Script, recordings: list[Path], whole: Mapping[str, bytes]
) -> None:
    wiki = tmp_path / "wiki"
    for path in recordings:
        ingest([path], wiki, script.engine)
        shutil.rmtree(wiki / ".wiki")
    report = ingest(recordings, wiki, script.engine)
    assert changed(whole, tree(wiki)) == []
    assert (report.written, report.removed) == ([], [])


def test_another_folder_and_another_home_do_not_matter(
    tmp_path: Path, script: Script, recordings: list[Path], whole: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "deep" / "er"
    shutil.copytree(recordings[0].parent, elsewhere / "copies")
    for path in (elsewhere / "copies").iterdir():
        os.utime(path, (0, 0))
    monkeypatch.chdir(elsewhere)
    ingest([Path("copies")], Path("wiki"), script.engine)
    assert changed(whole, tree(elsewhere / "wiki")) == []
    assert str(tmp_path).encode() not in b"".join(tree(elsewhere / "wiki").values())


def test_a_second_run_writes_nothing(tmp_path: Path, script: Script, recordings: list[Path]) -> None:
    wiki = tmp_path / "wiki"
    ingest(recordings, wiki, script.engine)
    log = (wiki / "_audit.log").read_bytes()
    before = {path: path.stat().st_mtime_ns for path in wiki.rglob("*")}
    report = ingest(recordings, wiki, script.engine)
    assert {path: path.stat().st_mtime_ns for path in wiki.rglob("*") if path in before} == before
    assert (report.written, report.removed, dict(report.sessions)) == ([], [], {"unchanged": 5})
    (wiki / ".wiki" / "finished.json").unlink()
    report = ingest(recordings, wiki, script.engine)
    assert (report.written, report.removed, report.recordings_unchanged) == ([], [], 5)
    assert (wiki / "_audit.log").read_bytes() == log


def test_a_recording_that_changed_with_its_size_and_time_kept_is_read_again(tmp_path: Path, script: Script) -> None:
    path, wiki = record(tmp_path, "a"), tmp_path / "wiki"
    ingest([path], wiki, script.engine)
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.chmod(0o600)  # another entry, the same content
    assert recordings_cache.unchanged(recordings_cache.load(WikiFolder(wiki)), path) is not None
    path.write_bytes(path.read_bytes().replace(b"The cart of a", b"The care of a"))
    os.utime(path, ns=times)
    assert ingest([path], wiki, script.engine).sessions == {"mined": 1}


def test_each_stage_by_hand_ends_where_a_whole_run_ends(
    tmp_path: Path, script: Script, recordings: list[Path], whole: Mapping[str, bytes]
) -> None:
    wiki = tmp_path / "wiki"
    for stage, stages in STAGES_OF_COMMAND.items():
        if stage != "ingest":
            report = ingest(recordings, wiki, script.engine, stages=stages)
            assert report.exit_code == 0, report.failures
    assert changed(whole, tree(wiki)) == []


def test_a_rewrite_changes_nothing_when_the_answers_are_the_same(
    tmp_path: Path, script: Script, recordings: list[Path], whole: Mapping[str, bytes]
) -> None:
    wiki = tmp_path / "wiki"
    for stages in (STAGES_OF_COMMAND["ingest"], STAGES_OF_COMMAND["summarize"]):
        ingest(recordings, wiki, script.engine, stages=stages, rewrite=True)
    assert changed(whole, tree(wiki)) == []


@pytest.mark.long
@pytest.mark.parametrize("grown", ["a", "b", "c", "d", "e"])
def test_a_session_that_grew_into_arcs_is_linked_arc_by_arc(
    tmp_path: Path, script: Script, recordings: list[Path], grown: str
) -> None:
    script.says(f"{grown}#6", arcs=[arc("First", 1, 3), arc("Second", 4, 6)])
    ingest(recordings, tmp_path / "wiki", script.engine)
    record(tmp_path / "traces", grown, DAYS[grown], more=1)
    ingest(recordings, tmp_path / "wiki", script.engine)
    ingest(recordings, tmp_path / "fresh", script.engine)
    assert changed(tree(tmp_path / "fresh"), tree(tmp_path / "wiki")) == []


@pytest.mark.parametrize("grown", ["a", "b", "c", "d", "e"])
def test_a_session_that_grew_leaves_nothing_of_what_it_was(
    tmp_path: Path, script: Script, recordings: list[Path], grown: str
) -> None:
    arcs = [arc("First", 1, 3), arc("Second", 4, 6)]
    script.says(f"{grown}#6", arcs=arcs, rules=[rule("Ask what the cart holds, then check.")], skill={"skill": None})
    ingest(recordings, tmp_path / "wiki", script.engine)
    record(tmp_path / "traces", grown, "2026-01-09", more=1)
    ingest(recordings, tmp_path / "wiki", script.engine)
    ingest(recordings, tmp_path / "fresh", script.engine)
    assert changed(tree(tmp_path / "fresh"), tree(tmp_path / "wiki")) == []


@pytest.mark.usefixtures("quick_workers")
def test_a_shorter_recording_of_a_session_changes_nothing(tmp_path: Path, script: Script) -> None:
    long = record(tmp_path / "long", "a", more=1)
    ingest([long], tmp_path / "wiki", script.engine)
    before = tree(tmp_path / "wiki")
    short = record(tmp_path / "short", "a")
    report = ingest([short], tmp_path / "wiki", script.engine)
    assert report.sessions["older"] == 1
    for paths in ([short, long], [long, short]):
        ingest(paths, tmp_path / "wiki", script.engine)
        assert changed(before, tree(tmp_path / "wiki")) == []
    ingest([short, long], tmp_path / "other", script.engine, jobs=2)
    assert changed(before, tree(tmp_path / "other")) == []


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_session_recorded_twice_counts_once(tmp_path: Path, script: Script, is_reversed: bool) -> None:
    standing = [record(tmp_path / "in", "a"), record(tmp_path / "long", "b", more=1)]
    others = [record(tmp_path / "copy", "a", name="copy.json"), record(tmp_path / "short", "b")]
    once = ingest(standing, tmp_path / "once", script.engine)
    paths = [*standing, *others]
    report = ingest(reversed(paths) if is_reversed else paths, tmp_path / "wiki", script.engine)
    assert dict(report.sessions) == {"mined": 2, "older": 2}
    assert len(report.left_out) == 2
    assert report.formats == once.formats
    assert report.guidelines_contributed == once.guidelines_contributed > 0


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_recordings_of_one_length_arrival_does_not_decide(tmp_path: Path, script: Script, first: int) -> None:
    rivals = [record(tmp_path, "a", "2026-01-01", name="x.json"), record(tmp_path, "a", "2026-01-02", name="y.json")]
    for path in (rivals[first], rivals[1 - first], rivals[first]):
        ingest([path], tmp_path / "wiki", script.engine)
    ingest(rivals, tmp_path / "fresh", script.engine)
    assert changed(tree(tmp_path / "fresh"), tree(tmp_path / "wiki")) == []
    assert ingest(rivals, tmp_path / "wiki", script.engine).written == []


@pytest.mark.parametrize("first", [0, 1])
def test_a_copy_under_another_name_changes_nothing_whichever_comes_first(
    tmp_path: Path, script: Script, first: int
) -> None:
    copies = [record(tmp_path, "a", name="x.json"), record(tmp_path, "a", name="y.json")]
    for path in (copies[first], copies[1 - first]):
        ingest([path], tmp_path / "wiki", script.engine)
    ingest(copies, tmp_path / "fresh", script.engine)
    assert changed(tree(tmp_path / "fresh"), tree(tmp_path / "wiki")) == []


def test_a_recording_that_changed_without_growing_replaces_what_it_said(tmp_path: Path, script: Script) -> None:
    path = record(tmp_path, "a", "2026-01-01")
    ingest([path], tmp_path / "wiki", script.engine)
    for day in ("2026-01-02", "2026-01-03", "2026-01-04"):
        record(tmp_path, "a", day)
        ingest([path], tmp_path / "wiki", script.engine)
        assert f"verified_at: {day}".encode() in tree(tmp_path / "wiki")["summaries/a.md"]


def test_another_engine_asks_again(tmp_path: Path, script: Script, recordings: list[Path]) -> None:
    ingest(recordings, tmp_path / "wiki", script.engine)
    (tmp_path / "other").mkdir()
    other = Script(tmp_path / "other")
    other.says("a", rules=[rule("Another rule from the very same session.")])
    ingest(recordings, tmp_path / "wiki", other.engine)
    ingest(recordings, tmp_path / "fresh", other.engine)
    assert changed(tree(tmp_path / "fresh"), tree(tmp_path / "wiki")) == []


def test_a_dry_run_writes_nothing_and_says_what_it_would(
    tmp_path: Path, script: Script, recordings: list[Path]
) -> None:
    report = ingest(recordings, tmp_path / "wiki", script.engine, dry_run=True)
    assert not (tmp_path / "wiki").exists()
    wet = ingest(recordings, tmp_path / "wet", script.engine)
    assert sorted(report.written) == sorted(wet.written)
    record(tmp_path / "traces", "a", more=2)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "wet").rglob("*")}
    report = ingest(recordings, tmp_path / "wet", script.engine, dry_run=True)
    assert "summaries/a.md" in report.written
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "wet").rglob("*")} == before
