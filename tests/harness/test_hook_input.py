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
    with pytest.raises(HookProblem):
        transcript_of(found, {"CODEX_HOME": str(tmp_path)})


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
    cursor = {"conversation_id": "c1", "hook_event_name": "stop", "workspace_roots": [str(tmp_path)], "cwd": ""}
    assert parse_input(json.dumps({**cursor, "transcript_path": None}), here) == HookInput("stop", "c1", None, tmp_path)
    assert parse_input(json.dumps({"workspace_roots": [7]}), here).cwd == here
