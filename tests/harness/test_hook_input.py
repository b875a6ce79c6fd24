"""What harnesses give a hook is read alike, and means one transcript."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agent_wiki.harness.hook_input import HookInput, HookProblem, parse_input, transcript_of
from tests.harness.hook_inputs import THREAD, claude_input, codex_input, codex_notification

CODEX = Path(__file__).parents[2] / "wiki-example" / "traces" / "codex-gauge-bisect.jsonl"


@pytest.mark.parametrize("thread", ["", "*", "../../x", "a" * 200, "no-such-thread"])
def test_a_thread_that_is_none_finds_no_rollout(thread: str, tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "05" / "31"
    day.mkdir(parents=True)
    shutil.copy(CODEX, day / f"rollout-2026-05-31T10-00-00-{THREAD}.jsonl")
    found = parse_input(json.dumps(codex_notification(tmp_path, thread)), tmp_path)
    with pytest.raises(HookProblem), transcript_of(found, {"CODEX_HOME": str(tmp_path)}):
        pass


def test_all_spellings_of_the_input_say_the_same(tmp_path: Path) -> None:
    here = Path("/elsewhere")
    assert parse_input(json.dumps(claude_input("/t.jsonl", tmp_path, stop_hook_active=True)), here) == HookInput(
        "Stop", "00893aaf-19fa-41d2-8238-13269b9b3ca0", Path("/t.jsonl"), tmp_path, is_continuation=True
    )
    assert parse_input(json.dumps(codex_input(None, tmp_path)), here) == HookInput("Stop", THREAD, None, tmp_path)
    expected = HookInput("agent-turn-complete", THREAD, None, tmp_path)
    assert parse_input(json.dumps(codex_notification(tmp_path)), here) == expected
    assert parse_input("{}", here) == HookInput("Stop", "", None, here)


def test_the_words_of_other_agents_say_the_same(tmp_path: Path) -> None:
    here = Path("/elsewhere")
    copilot = {"sessionId": "s1", "cwd": str(tmp_path), "transcriptPath": "/e.jsonl", "stop_hook_active": False}
    assert parse_input(json.dumps(copilot), here) == HookInput("Stop", "s1", Path("/e.jsonl"), tmp_path)
    ended = {"sessionId": "s1", "cwd": str(tmp_path), "reason": "complete"}
    assert parse_input(json.dumps(ended), here) == HookInput("SessionEnd", "s1", None, tmp_path)
    cursor = {"conversation_id": "c1", "hook_event_name": "stop", "workspace_roots": [str(tmp_path)], "cwd": ""}
    assert parse_input(json.dumps({**cursor, "transcript_path": None}), here) == HookInput("stop", "c1", None, tmp_path)
    assert parse_input(json.dumps({"workspace_roots": [7]}), here).cwd == here


def test_a_session_that_is_only_named_is_found_where_its_agent_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rollout = tmp_path / ".codex" / "sessions" / "2026" / "05" / "31" / f"rollout-2026-05-31T10-00-00-{THREAD}.jsonl"
    events = tmp_path / ".copilot" / "session-state" / "copilot-1" / "events.jsonl"
    transcript = tmp_path / ".cursor" / "projects" / "shop" / "agent-transcripts" / "cursor-1" / "cursor-1.jsonl"
    for session_id, file in ((THREAD, rollout), ("copilot-1", events), ("cursor-1", transcript)):
        file.parent.mkdir(parents=True)
        file.write_text("{}\n", encoding="utf-8")
        with transcript_of(HookInput("SessionEnd", session_id, None, tmp_path), {}) as found:
            assert found == file


def test_a_recording_that_is_given_is_a_file_for_as_long_as_it_is_read(tmp_path: Path) -> None:
    given = {"hook_event_name": "session.idle", "session_id": "ses_1", "recording": {"info": {}, "messages": ["é"]}}
    hook = parse_input(json.dumps(given), tmp_path)
    with transcript_of(hook, {}) as found:
        assert json.loads(found.read_bytes()) == {"info": {}, "messages": ["é"]}
    assert not found.exists()
    assert parse_input('{"recording": "text"}', tmp_path).recording is None
