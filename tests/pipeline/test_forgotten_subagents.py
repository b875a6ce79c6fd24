"""With a session its subagents are forgotten, on all levels: the wiki is as if none of them had been."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.wiki.config import forgotten_name, parse_config
from tests.pipeline.forgetting import ONE, TWO, forget_sessions
from tests.wikis import Script, changed, chat, ingest, record, rule, tree

PARENT = "6b0f9a52-conversation-of-alder"
CHILD, GRANDCHILD = f"{PARENT}.agent-1a2b", "elm-session-of-its-own"


def _subagent(folder: Path, session_id: str, parent: str) -> Path:
    """The recording of a subagent, in our own envelope."""
    made = chat(session_id) | {"schema_version": 1, "source": {"format": "x", "parent_session_id": parent}}
    path = folder / f"{session_id}.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


@pytest.fixture
def script(tmp_path: Path) -> Script:
    said = Script(tmp_path)
    said.says(PARENT, rules=[rule(ONE)])
    said.says(CHILD, rules=[rule(ONE)])
    said.says(GRANDCHILD, rules=[rule(TWO, title="Read logs to the end")])
    said.says("birch", rules=[rule(ONE)])
    return said


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "t"
    family = [record(folder, PARENT), _subagent(folder, CHILD, PARENT), _subagent(folder, GRANDCHILD, CHILD)]
    return [record(folder, "birch", "2026-02-02"), *family]


@pytest.fixture
def wiki(tmp_path: Path, script: Script, paths: list[Path]) -> Path:
    assert ingest(paths, tmp_path / "wiki", script.engine, archive_covered=False).exit_code == 0
    assert (tmp_path / "wiki" / "_sessions" / f"{GRANDCHILD}.json").exists()
    return tmp_path / "wiki"


def test_subagents_go_with_their_session_and_the_wiki_is_that_of_the_others(
    tmp_path: Path, script: Script, paths: list[Path], wiki: Path
) -> None:
    alone = tmp_path / "alone"
    ingest(paths[:1], alone, script.engine, archive_covered=False)
    before = tree(wiki)
    would = forget_sessions(wiki, PARENT, dry_run=True)
    assert changed(before, tree(wiki)) == []
    forgotten = forget_sessions(wiki, PARENT)
    assert (forgotten.exit_code, forgotten.remaining) == (0, [])
    assert changed(tree(alone), tree(wiki)) == []
    for each, verb in ((would, "would be forgotten"), (forgotten, "forgotten")):
        assert each.to_json()["forgotten"] == [PARENT, CHILD, GRANDCHILD]
        assert each.to_json()["subagents"] == [CHILD, GRANDCHILD]
        assert each.lines()[:3] == [
            f"{verb}: {PARENT}",
            f"{verb} with the session that began it: {CHILD}",
            f"{verb} with the session that began it: {GRANDCHILD}",
        ]


def test_a_subagent_alone_goes_without_its_session(wiki: Path) -> None:
    assert forget_sessions(wiki, CHILD).sessions == [CHILD, GRANDCHILD]
    assert (wiki / "_sessions" / f"{PARENT}.json").exists()


def test_for_good_no_subagent_comes_back_also_one_that_is_recorded_later(
    tmp_path: Path, script: Script, paths: list[Path], wiki: Path
) -> None:
    forget_sessions(wiki, PARENT, for_good=True)
    listed = parse_config((wiki / "_config.yaml").read_text(encoding="utf-8")).forgotten
    assert listed >= {*map(forgotten_name, (PARENT, CHILD, GRANDCHILD))}
    before = tree(wiki)
    later = _subagent(tmp_path / "t", f"{PARENT}.agent-3c4d", PARENT)
    report = ingest([*paths, later], wiki, script.engine, archive_covered=False)
    assert (report.sessions["forgotten"], report.exit_code) == (4, 0)
    assert changed(before, tree(wiki)) == []
    assert PARENT not in "".join(note.unit for note in report.left_out)


def test_for_good_no_join_brings_a_subagent_that_was_recorded_later(
    tmp_path: Path, script: Script, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    ingest([_subagent(tmp_path / "t", f"{PARENT}.agent-3c4d", PARENT)], other, script.engine)
    forget_sessions(wiki, PARENT, for_good=True)
    assert main(["join", str(other), "--wiki", str(wiki), "--engine", script.engine, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"]["forgotten"] == 1
    assert not any(PARENT in path for path in tree(wiki))


def test_what_is_known_of_subagents_without_a_record_goes_too(paths: list[Path], wiki: Path) -> None:
    known = wiki / ".wiki" / "recordings.json"
    values = json.loads(known.read_text(encoding="utf-8"))
    beside = paths[2].parent / PARENT / "agent-1a2b.meta.json"
    beside.parent.mkdir()
    beside.touch()
    child = values["files"][str(paths[2].resolve())]
    values["files"][str(beside.resolve())] = {**child, "sessions": []}
    child["sessions"] = [[f"{PARENT}.agent-left-out", "sha256:0", "left-out"]]
    known.write_text(json.dumps(values), encoding="utf-8")
    forgotten = forget_sessions(wiki, PARENT, for_good=True)
    assert (forgotten.remaining, forgotten.exit_code) == ([], 0)
    assert PARENT not in known.read_text(encoding="utf-8")
    assert str(paths[2].resolve()) in forgotten.recordings
