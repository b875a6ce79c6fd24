"""`wiki hook stop`: what harnesses give it is saved and mined, once for each state."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from filelock import FileLock

from agent_wiki.commands import main
from agent_wiki.harness import hooks
from agent_wiki.harness.hook_log import HookOutcome
from agent_wiki.harness.hook_memory import HookMemory
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from tests.harness.hook_inputs import THREAD, claude_input, codex_input, codex_notification
from tests.harness.hook_project import CODEX, EXAMPLE, TEACHES, TEACHES_NOTHING, TRIVIAL, Stop, saved_in, wiki_of
from tests.processes import exit_codes, started_wiki
from tests.wikis import tree

pytestmark = pytest.mark.usefixtures("no_run_is_long")


def test_a_turn_with_a_lesson_is_saved_and_mined(project: Path, stop: Stop) -> None:
    outcome = stop(TEACHES)
    assert outcome.problems == []
    assert outcome.saved == saved_in(project)
    assert outcome.mined == [path.name for path in saved_in(project)]
    assert any(path.startswith("guidelines/") for path in wiki_of(project))


def test_a_session_that_answers_questions_of_this_package_is_left_alone(project: Path) -> None:
    words = json.dumps(claude_input(TEACHES, project))
    assert hooks.stop(words, Path("wiki"), project, {"AGENT_WIKI_MINING": "1"}) == HookOutcome()
    assert not (project / ".evolve").exists()


def test_the_wiki_of_a_hook_is_the_wiki_of_an_ingest(project: Path, stop: Stop, tmp_path: Path) -> None:
    for transcript in (TEACHES, CODEX, EXAMPLE / "claude-visits-to-csv.jsonl"):
        assert stop(transcript).problems == []
    expected = tmp_path / "expected"
    files = [TEACHES, CODEX, EXAMPLE / "claude-visits-to-csv.jsonl"]
    run(files, Options(expected / "wiki"), Report("ingest", "wiki"), lambda _what, _done, _of: None)
    assert wiki_of(project) == wiki_of(expected)


def test_the_same_state_is_saved_and_mined_once(project: Path, stop: Stop) -> None:
    stop(TEACHES)
    before = tree(project)
    again = stop(TEACHES)
    assert (again.saved, again.unchanged, again.mined) == ([], 1, [])
    assert tree(project) == before


@pytest.mark.parametrize("event", ["SessionEnd", "AfterAgent", "sessionEnd", "session.idle"])
def test_a_session_that_its_last_turn_and_its_end_report_is_saved_and_mined_once(
    event: str, project: Path, stop: Stop
) -> None:
    assert stop(TEACHES).mined
    before = (wiki_of(project), saved_in(project))
    outcome = stop(TEACHES, hook_event_name=event, reason="other")
    assert (outcome.saved, outcome.mined, outcome.problems) == ([], [], [])
    assert (wiki_of(project), saved_in(project)) == before


def test_a_session_without_an_ended_turn_is_mined_at_its_end(project: Path, stop: Stop) -> None:
    assert stop(TEACHES, hook_event_name="SessionEnd", reason="prompt_input_exit").mined
    assert len(saved_in(project)) == 1


@pytest.mark.parametrize("event", ["SessionEnd", "SubagentStop"])
def test_the_end_of_what_was_not_recorded_is_no_problem(event: str, project: Path, stop: Stop) -> None:
    outcome = stop(project / "no-such.jsonl", hook_event_name=event)
    assert (outcome.saved, outcome.problems) == ([], [])
    assert stop(project / "no-such.jsonl").problems, "a turn that ended is recorded"


def test_a_session_of_opencode_is_given_and_saved_once(project: Path) -> None:
    messages = [
        {"info": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1795376522839}},
         "parts": [{"id": "p1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "Say hello."}]},
    ]  # fmt: skip
    info = {"id": "ses_1", "version": "1.18.33", "directory": str(project), "time": {"created": 1795376522839}}
    given = {"hook_event_name": "session.idle", "session_id": "ses_1", "cwd": str(project)}
    text = json.dumps({**given, "recording": {"info": info, "messages": messages}})
    outcomes = [hooks.stop(text, Path("wiki"), project, {}) for _ in range(2)]
    assert [(len(each.saved), each.unchanged, each.problems) for each in outcomes] == [(1, 0, []), (0, 1, [])]
    assert "ses_1" in saved_in(project)[0].name


def test_a_session_that_grew_takes_the_place_of_its_earlier_state(project: Path, stop: Stop, tmp_path: Path) -> None:
    lines = TEACHES.read_bytes().splitlines(keepends=True)
    growing = tmp_path / TEACHES.name
    growing.write_bytes(b"".join(lines[: len(lines) // 2]))
    first = stop(growing)
    growing.write_bytes(b"".join(lines))
    second = stop(growing)
    assert first.saved == second.saved == saved_in(project)
    assert len(json.loads(saved_in(project)[0].read_text(encoding="utf-8"))["messages"]) > 0
    assert any(path.startswith("guidelines/") for path in wiki_of(project))


def test_the_end_of_a_session_brings_what_the_wiki_has_of_it_up_to_date(
    project: Path, stop: Stop, tmp_path: Path
) -> None:
    lines = TEACHES.read_bytes().splitlines(keepends=True)
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(b"".join(lines[:-1]))
    assert stop(transcript).mined, "the last reply is not written yet"
    transcript.write_bytes(b"".join(lines))
    ended = stop(transcript, hook_event_name="SessionEnd", reason="other")
    assert (ended.marked, len(ended.mined)) == (["cb5db3b9-2980-55c9-91d7-f27477796123: its end"], 1)
    run([TEACHES], Options(tmp_path / "expected" / "wiki"), Report("ingest", "wiki"), lambda _what, _done, _of: None)
    assert wiki_of(project) == wiki_of(tmp_path / "expected")
    assert stop(transcript, hook_event_name="SessionEnd", reason="other").marked == []


def test_a_session_that_was_marked_again_while_it_was_mined_stays_marked(tmp_path: Path) -> None:
    memory = HookMemory(tmp_path / "hook")
    memory.mark_pending("a", "a.json", "sha256:1")
    before = memory.pending_states()
    memory.mark_pending("a", "a.json", "sha256:2")
    memory.unmark("a", before["a"])
    assert memory.pending() == {"a": "a.json"}
    memory.unmark("a", memory.pending_states()["a"])
    assert memory.pending() == {}


def test_a_trivial_turn_is_saved_and_leaves_no_page(project: Path, stop: Stop) -> None:
    outcome = stop(TRIVIAL)
    assert (len(outcome.saved), outcome.marked, outcome.mined) == (1, [], [])
    assert not (project / "wiki").exists()


def test_a_turn_with_an_error_and_nothing_to_learn_leaves_no_page(project: Path, stop: Stop) -> None:
    outcome = stop(TEACHES_NOTHING)
    assert len(outcome.marked) == 1
    assert outcome.without_lessons == [path.name for path in saved_in(project)]
    assert not (project / "wiki").exists()


def test_a_session_that_the_wiki_knows_is_brought_up_to_date_though_it_teaches_nothing(
    project: Path, stop: Stop
) -> None:
    ingested = Report("ingest", "wiki")
    run(
        [EXAMPLE / "mini-slug-accents-3.traj.json"], Options(project / "wiki"), ingested, lambda _what, _done, _of: None
    )
    outcome = stop(TEACHES_NOTHING)
    assert len(outcome.mined) == 1


def test_without_a_name_only_a_wiki_that_is_there_is_mined_into(project: Path, stop: Stop) -> None:
    assert stop(TEACHES, wiki=None).mined == []
    assert len(saved_in(project)) == 1
    assert not (project / "wiki").exists()
    assert main(["init", "--wiki", str(project / "wiki")]) == 0
    after = stop(TEACHES, wiki=None)
    assert (after.saved, len(after.mined)) == ([], 1), (
        "what was saved before there was a wiki is looked at once it is there"
    )


def test_a_wiki_that_another_process_holds_is_left_for_the_next_time(
    project: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["init", "--wiki", str(project / "wiki")]) == 0
    before = wiki_of(project)
    monkeypatch.setattr(hooks, "_LOCK_TIMEOUT_SECONDS", 0.0)
    with FileLock(project / "wiki" / ".wiki" / "lock"):
        held = stop(TEACHES)
    assert (len(held.saved), held.problems) == (1, [])
    assert "another process" in held.postponed
    assert wiki_of(project) == before
    after = stop(TEACHES)
    assert (after.unchanged, len(after.mined)) == (1, 1)
    assert wiki_of(project) != before


def test_a_hook_at_work_is_not_waited_for(project: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(TRIVIAL)
    monkeypatch.setattr(hooks, "_LOCK_TIMEOUT_SECONDS", 0.0)
    with FileLock(project / ".evolve" / "hook" / "mining.lock"):
        outcome = stop(TEACHES)
    assert "another hook" in outcome.postponed
    assert len(stop(TRIVIAL).mined) == 1, "the next turn, of whatever session, does what was left"


def test_after_a_long_run_a_large_wiki_rests(project: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(TEACHES)
    monkeypatch.setattr(hooks, "_LONG_RUN_SECONDS", 2.0)
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    last_run = project / ".evolve" / "hook" / "last_run.json"
    last_run.write_text(json.dumps({"seconds": 30.0, "ended_at": time.time() - 10}), encoding="utf-8")
    assert "a moment ago" in stop(CODEX).postponed
    last_run.write_text(json.dumps({"seconds": 30.0, "ended_at": time.time() - 1000}), encoding="utf-8")
    assert len(stop(CODEX).mined) == 1


def test_while_another_hook_keeps_the_agent_going_the_session_is_saved_and_not_mined(project: Path, stop: Stop) -> None:
    outcome = stop(TEACHES, stop_hook_active=True)
    assert (len(outcome.saved), outcome.mined) == (1, [])
    assert not (project / "wiki").exists()
    assert len(stop(TEACHES).mined) == 1


def test_what_a_model_answered_of_all_sessions_is_not_asked_of_the_embedded_engine(project: Path, stop: Stop) -> None:
    stop(TEACHES)
    config = project / "wiki" / "_config.yaml"
    entry = "clusters:\n  by-a-model:\n    title: Kept\n    description: x\n    takeaway: x\n    members: []\n"
    entry += "    made_by: {stage: consolidate-clusters, engine: anthropic, engine_version: '1'}\n"
    config.write_text(config.read_text(encoding="utf-8").replace("clusters: {}\n", entry), encoding="utf-8")
    (project / "wiki" / ".wiki" / "journal").mkdir()
    assert len(stop(CODEX).mined) == 1
    assert "by-a-model" in config.read_text(encoding="utf-8")


def test_pages_that_another_engine_answered_for_are_not_replaced(project: Path, stop: Stop, tmp_path: Path) -> None:
    lines = TEACHES.read_bytes().splitlines(keepends=True)
    growing = tmp_path / TEACHES.name
    growing.write_bytes(b"".join(lines[:-1]))
    stop(growing)
    (page,) = [path for path in (project / "wiki" / "summaries").glob("*.md") if path.name != "index.md"]
    (kept,) = (project / "wiki" / "_sessions").glob("*.json")
    text = kept.read_text(encoding="utf-8")
    assert '"engine": "offline"' in text
    kept.write_text(text.replace('"engine": "offline"', '"engine": "anthropic"'), encoding="utf-8")
    growing.write_bytes(b"".join(lines))
    (project / ".evolve" / "hook" / "sessions").rename(project / ".evolve" / "hook" / "forgotten")
    outcome = stop(growing)
    assert "another engine" in outcome.postponed
    assert '"engine": "anthropic"' in kept.read_text(encoding="utf-8")
    assert page.exists()


def test_codex_names_its_thread_and_the_rollout_is_found(project: Path, tmp_path: Path) -> None:
    day = tmp_path / "codex" / "sessions" / "2026" / "05" / "31"
    day.mkdir(parents=True)
    rollout = day / f"rollout-2026-05-31T10-00-00-{THREAD}.jsonl"
    shutil.copy(CODEX, rollout)
    environment = {"CODEX_HOME": str(tmp_path / "codex")}
    notified = hooks.stop(json.dumps(codex_notification(project)), Path("wiki"), project, environment)
    assert (notified.problems, len(notified.saved), len(notified.mined)) == ([], 1, 1)
    for found in (codex_input(None, project), codex_input(rollout, project)):
        assert hooks.stop(json.dumps(found), Path("wiki"), project, environment).unchanged == 1


def test_codex_gives_its_notification_as_an_argument(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = tmp_path / "codex" / "sessions" / "2026" / "05" / "31"
    day.mkdir(parents=True)
    shutil.copy(CODEX, day / f"rollout-2026-05-31T10-00-00-{THREAD}.jsonl")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.chdir(tmp_path)
    words = ("hook", "stop", "--wait", "--wiki", "wiki", json.dumps(codex_notification(project)))
    assert exit_codes(started_wiki(*words, output=tmp_path / "printed")) == [0]
    assert (tmp_path / "printed").read_bytes() == b""
    assert any(path.startswith("guidelines/") for path in wiki_of(project))


def _recordings(traces: Path, name: str) -> list[Path]:
    return sorted((traces / name).rglob("*.jsonl"), key=lambda path: (-path.stat().st_size, path.name))[:6]


@pytest.mark.long
@pytest.mark.parametrize("name", ["claude_code", "codex"])
def test_real_recordings_are_saved_and_mined_and_nothing_goes_wrong(name: str, traces: Path, project: Path) -> None:
    mined = 0
    for path in _recordings(traces, name):
        found = claude_input(path, project) if name == "claude_code" else codex_input(path, project)
        outcome = hooks.stop(json.dumps(found), Path("wiki"), project, {})
        assert outcome.problems == []
        assert outcome.saved
        mined += len(outcome.mined)
        again = hooks.stop(json.dumps(found), Path("wiki"), project, {})
        assert (again.saved, again.mined, again.postponed) == ([], [], "")
    assert mined


def test_a_real_session_that_grows_keeps_one_file(traces: Path, project: Path) -> None:
    folder = next((traces / "claude_code" / "growing_session").iterdir())
    states = sorted(folder.glob("*.jsonl"))
    assert len(states) > 1
    outcomes = [hooks.stop(json.dumps(claude_input(path, project)), Path("wiki"), project, {}) for path in states]
    assert [outcome.problems for outcome in outcomes] == [[]] * len(states)
    assert len(saved_in(project)) == 1


def test_a_saved_file_that_is_gone_is_saved_again(stop: Stop) -> None:
    first = stop(TEACHES).saved[0]
    first.unlink()
    assert len(stop(TEACHES).saved) == 1
