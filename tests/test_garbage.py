"""Hostile names and files that are no recordings: each one line with its reason, the others go on."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.recall.own_sessions import left_out_reason
from agent_wiki.trajectory import Source
from tests.wikis import Script, arc, changed, chat, ingest, record, rule, tree

HOSTILE_IDS = (
    "../../etc/passwd", "index", "a/b", "a-b", "a\\b", "x" * 300, "x" * 299 + "y", "CON", "con", ".hidden", "..", ".",
    "", " ", "a\nb", "a\tb", "a\0b", "שלום", "😀", "-rf", "a__b", "%2e%2e", "~", "$HOME", "a b", "a:b", "-0123456789",
    "a-b-0123456789", "__cluster", "\u202eabc", "index.md", "\ud800", "x.md",
)  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Script:
    told = Script(tmp_path)
    told.says("", rules=[rule("Run the check before a change.")])
    return told


def test_no_session_id_leaves_the_folder_or_shares_a_file(tmp_path: Path, script: Script) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    for number, session_id in enumerate(HOSTILE_IDS):
        envelope = {**chat(session_id), "session_id": session_id}
        (traces / f"{number:02}.json").write_text(json.dumps(envelope), encoding="utf-8")
    engine = script.engine
    outside = sorted(tmp_path.iterdir())
    report = ingest([traces], tmp_path / "wiki", engine)
    assert report.failures == []
    assert sorted(tmp_path.iterdir()) == sorted([*outside, tmp_path / "wiki"])
    pages = [path for path in tree(tmp_path / "wiki") if path.startswith("summaries/") and path != "summaries/index.md"]
    assert len({path.lower() for path in pages}) >= len(HOSTILE_IDS) - 1  # CON and con differ by case alone
    assert len(pages) == report.sessions["mined"] == len(HOSTILE_IDS)
    assert all(path.count("/") == 1 and len(path) < 200 and path.isascii() for path in pages)
    assert ingest([traces], tmp_path / "wiki", script.engine, rewrite=True).written == []


def test_a_session_named_like_the_arc_of_another_has_a_page_of_its_own_in_any_order(
    tmp_path: Path, script: Script
) -> None:
    script.says("a", arcs=[arc("B", 1, 2, slug="b"), arc("C", 3, 4, slug="c")])
    paths = [record(tmp_path / "t", "a"), record(tmp_path / "t", "a__b")]
    for name, order in (("one", paths), ("other", paths[::-1])):
        for path in order:
            assert ingest([path], tmp_path / name, script.engine).exit_code == 0
    assert changed(tree(tmp_path / "one"), tree(tmp_path / "other")) == []
    assert "session_id: a__b\n" in (tmp_path / "one" / "summaries" / "a__b.md").read_text(encoding="utf-8")
    arcs = sorted(path.name for path in (tmp_path / "one" / "summaries").glob("a__*.md"))
    assert len(arcs) == 3


GARBAGE: dict[str, bytes] = {
    "empty.json": b"",
    "blank.jsonl": b" \n\n ",
    "truncated.json": json.dumps(chat("t")).encode()[:-40],
    "utf32.json": json.dumps(chat("u")).encode("utf-32"),
    "picture.json": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "nested.json": b"[" * 100_000 + b"]" * 100_000,
    "nested.jsonl": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n") * 2,
    "settings.json": b'{"theme": "dark"}',
    "number.json": b"42",
    "list.json": b"[]",
    "prose.md": b"# Notes\n\nnothing here\n",
    "cut.json.gz": gzip.compress(json.dumps(chat("z")).encode() * 50)[:-30],
    "damaged.json.zst": b"\x28\xb5\x2f\xfd" + b"\xff" * 64,
    "damaged.eval": b"PK\x03\x04" + b"\0" * 64,
}


def test_what_is_not_a_recording_is_reported_in_one_line_and_the_others_continue(
    tmp_path: Path, script: Script
) -> None:
    for name, content in GARBAGE.items():
        (tmp_path / name).write_bytes(content)
    good = [record(tmp_path, "a"), record(tmp_path, "b")]
    named = [*sorted(tmp_path / name for name in GARBAGE), *good]
    report = ingest(named, tmp_path / "wiki", script.engine)
    assert report.exit_code == 1
    assert report.sessions["mined"] == 2
    assert report.bugs == []
    for name in GARBAGE:
        told = [*report.to_json()["failures"], *report.to_json()["passed_over"]]
        failures = [each for each in told if each["unit"] == str(tmp_path / name)]
        assert len(failures) == 1, name
        assert failures[0]["kind"] in ("recording", "empty")
        assert len(failures[0]["reason"]) > 3
        assert "\n" not in failures[0]["reason"]
    damaged = {Path(each.unit).name for each in report.failures}
    whole = {"empty.json", "blank.jsonl", "picture.json", "settings.json", "number.json", "list.json", "prose.md"}
    assert damaged == GARBAGE.keys() - whole
    again = ingest(named, tmp_path / "wiki", script.engine)
    assert again.to_json()["failures"] == report.to_json()["failures"]
    assert (again.exit_code, again.written) == (1, [])


def test_other_files_of_a_folder_are_passed_over_and_damaged_recordings_are_not(tmp_path: Path, script: Script) -> None:
    folder = tmp_path / "traces"
    record(folder, "a")
    for name in ("prose.md", "settings.json", "truncated.json"):
        (folder / name).write_bytes(GARBAGE[name])
    report = ingest([folder], tmp_path / "wiki", script.engine)
    assert sorted(Path(each.unit).name for each in report.passed_over) == ["prose.md", "settings.json"]
    assert len(report.failures) == 1
    assert "truncated.json" in report.failures[0].unit


def test_a_folder_that_holds_the_wiki_itself_is_read_without_a_failure(tmp_path: Path, script: Script) -> None:
    record(tmp_path / "p", "a")
    ingest([tmp_path / "p"], tmp_path / "p" / "wiki", script.engine)
    before = tree(tmp_path / "p" / "wiki")
    report = ingest([tmp_path / "p"], tmp_path / "p" / "wiki", script.engine)
    assert report.failures == []
    assert tree(tmp_path / "p" / "wiki") == before


def test_one_session_of_a_file_that_no_engine_can_answer_costs_that_session_only(
    tmp_path: Path, script: Script
) -> None:
    (tmp_path / "two.jsonl").write_text(json.dumps(chat("good")) + "\n" + json.dumps(chat("bad")) + "\n", "utf-8")
    script.told["summarize"]["bad"] = {"arcs": []}
    report = ingest([tmp_path / "two.jsonl"], tmp_path / "wiki", script.engine)
    assert (report.sessions["mined"], report.sessions["failed"], report.exit_code) == (1, 1, 1)
    assert [(each.kind, each.unit, each.stage, each.place) for each in report.failures] == [
        ("answer", "bad", "summarize", "arcs")
    ]
    assert (tmp_path / "wiki" / "summaries" / "good.md").exists()
    assert not (tmp_path / "wiki" / "summaries" / "bad.md").exists()


def test_half_characters_do_not_break_a_run(tmp_path: Path, script: Script) -> None:
    envelope = chat("half")
    envelope["messages"][3]["content"] = "broken \ud83d half"
    (tmp_path / "half.json").write_text(json.dumps(envelope), encoding="utf-8")
    script.says("half", rules=[rule("Mind the halves.", evidence=[{"turn": 4, "quote": "broken \ufffd half"}])])
    report = ingest([tmp_path / "half.json"], tmp_path / "wiki", script.engine)
    assert (report.failures, report.bugs, report.dropped_claims) == ([], [], [])
    assert ingest([tmp_path / "half.json"], tmp_path / "wiki", script.engine, rewrite=True).written == []


def test_a_file_name_that_is_not_utf_8_is_shown_with_marks(tmp_path: Path, script: Script) -> None:
    folder = os.fsencode(tmp_path / "odd")
    Path(os.fsdecode(folder)).mkdir()
    for name, text in ((b"a\xff.json", json.dumps(chat("a"))), (b"b\xff\n.json", "{}{")):
        Path(os.fsdecode(folder + b"/" + name)).write_text(text, encoding="utf-8")
    report = ingest([tmp_path / "odd"], tmp_path / "wiki", script.engine)
    assert report.sessions["mined"] == 1
    assert "a\ufffd.json".encode() in tree(tmp_path / "wiki")["summaries/a.md"]
    shown = "\n".join([*report.lines(), json.dumps(report.to_json(), ensure_ascii=False)])
    assert shown.encode("utf-8")
    assert all("\n" not in line for line in report.lines())


def test_paths_are_read_once_each_whatever_way_they_are_named(tmp_path: Path) -> None:
    one = record(tmp_path / "t" / "deep", "a")
    record(tmp_path / "t" / ".git", "b")
    (tmp_path / "t" / "link.json").symlink_to(one)
    (tmp_path / "t" / "dangling.json").symlink_to(tmp_path / "none")
    found = input_files([tmp_path / "t", one, tmp_path / "t" / "deep" / ".." / "deep"])
    assert [file.path.resolve() for file in found] == [one]
    assert [file.is_named for file in found] == [True]
    link = tmp_path / "t" / "link.json"
    assert [file.name for file in input_files([one, link])] == [file.name for file in input_files([link, one])]


@pytest.mark.parametrize("kind", ["missing", "pipe"])
def test_what_cannot_be_read_twice_or_at_all_is_a_usage_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(UsageError, match="x: "):
        input_files([path])


def _session(*commands: str, request: str = "Fix the cart.", tool: str = "Bash", argument: str = "command") -> Any:
    builder = TrajectoryBuilder()
    builder.user(request)
    for command in commands:
        builder.assistant(None, calls=[(None, tool, {argument: command})])
        builder.tool(None, "done")
    builder.assistant("Done.")
    return builder.finish("s", Source("test"))


@pytest.mark.parametrize(
    "command",
    ["wiki ingest t", "cd x && uv run wiki summarize t", "python -m agent_wiki ingest t", "bash -c 'wiki ingest t'",
     "A=1 .venv/bin/wiki extract-guidelines t", "python scripts/build_agent_wiki.py render-summary"],
)  # fmt: skip
def test_a_session_that_mined_sessions_is_left_out(command: str) -> None:
    assert left_out_reason(_session("ls", command)) == "a session in which sessions were mined"


@pytest.mark.parametrize(
    "command", ["echo wiki ingest", "grep 'wiki ingest' README.md", "cat wiki/AGENTS.md", "wiki dump guidelines", "ls"]
)
def test_a_session_that_only_read_a_wiki_is_mined(command: str) -> None:
    assert left_out_reason(_session(command)) is None


def test_a_mining_skill_a_prompt_of_ours_a_warm_up_and_silence_are_left_out() -> None:
    assert left_out_reason(_session("wiki-ingest", tool="Skill", argument="skill"))
    assert left_out_reason(_session(request="agent-wiki mining request\nSummarize."))
    assert left_out_reason(_session(request=" Warmup "))
    builder = TrajectoryBuilder()
    builder.user("Hello?")
    assert left_out_reason(builder.finish("s", Source("test"))) == "no reply of an agent recorded"
    alone = TrajectoryBuilder()
    alone.assistant("I am ready to look into your project.")
    assert left_out_reason(alone.finish("s", Source("test"))) == "one reply alone without a request"


@pytest.mark.parametrize("line", [";" * 1_000_000 + "wiki", "a;/" * 300_000 + "wiki", "wiki ingest " * 80_000])
def test_hostile_command_lines_cost_little(line: str) -> None:
    left_out_reason(_session(line))
