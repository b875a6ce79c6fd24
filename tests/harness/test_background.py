"""`wiki hook stop --engine claude-code`: sessions that have ended are mined by a program, one run at a time, capped."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import harness, main
from agent_wiki.harness import background, hooks
from agent_wiki.harness.background import Background
from agent_wiki.harness.hook_log import HookOutcome
from agent_wiki.harness.hook_memory import HookMemory
from agent_wiki.trajectory.json_text import value_of
from tests.engines.programs.fakes import TOGETHER, calls_of, on_path, program
from tests.harness.hook_inputs import claude_input
from tests.wikis import record

Stop = Callable[..., HookOutcome]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, with a `claude` on the path that answers all questions on a session for a tenth of a dollar."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    result = {"type": "result", "subtype": "success", "structured_output": TOGETHER, "total_cost_usd": 0.1}
    (tmp_path / "result.json").write_text(json.dumps({**result, "usage": {"input_tokens": 1, "output_tokens": 1}}))
    program(tmp_path, "claude", f"env > {tmp_path}/environment; cat {tmp_path}/result.json")
    on_path(tmp_path, monkeypatch)
    return tmp_path / "project"


@pytest.fixture
def stop(project: Path, tmp_path: Path) -> Stop:
    """The hook of a session, by its name, with a background engine."""

    def run_hook(name: str, event: str = "SessionEnd", **caps: float) -> HookOutcome:
        transcript = record(tmp_path / "t", name, request="Always run make check.")
        words = json.dumps(claude_input(transcript, project, hook_event_name=event))
        asked = Background(str(caps.pop("engine", "claude-code")), **caps)  # type: ignore[arg-type]
        return hooks.stop(words, Path("wiki"), project, dict(os.environ), asked)

    return run_hook


def _made_by(project: Path, name: str) -> str:
    record_of = value_of((project / "wiki" / "_sessions" / f"{name}.json").read_text())
    return str(record_of["stages"]["summarize"]["made_by"]["engine"])


def test_a_session_that_has_ended_is_mined_by_the_program(project: Path, stop: Stop, tmp_path: Path) -> None:
    outcome = stop("session-0")
    assert (outcome.problems, len(outcome.mined), outcome.asked) == ([], 1, "claude-code: 1 of 20 calls a day")
    assert _made_by(project, "session-0") == "claude-code"
    log = (project / ".evolve" / "hook.log").read_text()
    assert "asked claude-code: 1 of 20 calls a day" in log
    assert "AGENT_WIKI_MINING=1" in (tmp_path / "environment").read_text(), "its own hooks do nothing"


def test_a_session_that_goes_on_is_left_until_it_ends_or_another_turn_ends(
    project: Path, stop: Stop, tmp_path: Path
) -> None:
    assert stop("session-0", "Stop").mined == stop("session-0", "Stop").mined == []
    assert calls_of(tmp_path, "claude") == 0
    assert len(stop("session-1", "Stop").mined) == 1
    assert _made_by(project, "session-0") == "claude-code"


def test_calls_are_capped_a_day_and_what_is_left_waits(
    stop: Stop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(stop("session-0", calls_a_day=1).mined) == 1
    outcome = stop("session-1", calls_a_day=1)
    assert (outcome.mined, outcome.postponed) == ([], "the day's cap of --engine claude-code is reached")
    assert calls_of(tmp_path, "claude") == 1
    monkeypatch.setattr(background, "_spent", lambda _memory, _today: {"calls": 0.0, "usd": 0.0})  # the next day
    assert len(stop("session-2", calls_a_day=9).mined) == 2


def test_dollars_are_capped_a_day(stop: Stop, tmp_path: Path) -> None:
    assert len(stop("session-0", usd_a_day=0.1).mined) == 1
    assert stop("session-1", usd_a_day=0.1).postponed == "the day's cap of --engine claude-code is reached"
    assert calls_of(tmp_path, "claude") == 1


def test_a_call_without_an_answer_counts_with_what_it_could_cost(project: Path, stop: Stop, tmp_path: Path) -> None:
    stop("session-0", calls_a_day=3, usd_a_day=50.0)
    failed = json.dumps({"type": "result", "subtype": "error_max_structured_output_retries", "total_cost_usd": 9.0})
    program(tmp_path, "claude", f"echo '{failed}'")
    for name in ("session-1", "session-2", "session-3"):
        stop(name, calls_a_day=3, usd_a_day=50.0)
    assert calls_of(tmp_path, "claude") == 3
    counted = json.loads((project / ".evolve" / "hook" / "background.json").read_text())
    assert (counted["calls"], counted["usd"] > 0.1) == (3, True)


@pytest.mark.parametrize("counts", ['"calls": -1000, "usd": 0', '"calls": NaN, "usd": 0', '"calls": 0, "usd": -1e9'])
def test_a_count_that_is_none_lifts_no_cap(project: Path, stop: Stop, tmp_path: Path, counts: str) -> None:
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    (project / ".evolve" / "hook").mkdir(parents=True)
    (project / ".evolve" / "hook" / "background.json").write_text(f'{{"day": "{today}", {counts}}}')
    outcome = stop("session-0", usd_a_day=1.0)
    assert (outcome.problems, outcome.postponed) == ([], "the day's cap of --engine claude-code is reached")
    assert calls_of(tmp_path, "claude") == 0


@pytest.mark.parametrize("engine", ["claude-code", ""])
def test_a_link_among_saved_sessions_is_not_mined(project: Path, stop: Stop, tmp_path: Path, engine: str) -> None:
    elsewhere = Path(__file__).parents[2] / "wiki-example" / "traces" / "claude-old-fixtures.jsonl"
    saved = project / ".evolve" / "trajectories"
    saved.mkdir(parents=True)
    (saved / "a.json").symlink_to(elsewhere)
    HookMemory(project / ".evolve" / "hook").mark_pending("a", "a.json", "")
    if engine:
        assert len(stop("session-0").mined) == 1
    else:
        words = json.dumps(claude_input(record(tmp_path / "t", "session-0"), project))
        hooks.stop(words, Path("wiki"), project, dict(os.environ))
    assert not list(project.glob("wiki/_sessions/0e1d0b20-*")), "the session of the linked file"
    assert HookMemory(project / ".evolve" / "hook").pending() == {}


def test_a_run_that_was_killed_has_spent_the_day(stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[dict[str, object]] = []
    monkeypatch.setattr(HookMemory, "write", _writing(HookMemory.write, noted))
    stop("session-0")
    assert [each["calls"] for each in noted] == [20, 1]


def _writing(write: Callable[..., None], noted: list[dict[str, object]]) -> Callable[..., None]:
    def noting(memory: HookMemory, name: str, values: dict[str, object]) -> None:
        if name == "background.json":
            noted.append(values)
        write(memory, name, values)

    return noting


def test_a_program_that_is_not_logged_in_is_a_line_of_the_log_and_counts(stop: Stop, tmp_path: Path) -> None:
    program(tmp_path, "claude", "echo 'Not logged in' >&2; exit 1")
    assert "claude is not logged in" in stop("session-0", calls_a_day=2).problems[0]
    assert "claude is not logged in" in stop("session-1", calls_a_day=2).problems[0]
    assert stop("session-2", calls_a_day=2).postponed == "the day's cap of --engine claude-code is reached"


def test_what_is_marked_again_while_the_program_answers_stays_marked(
    project: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = HookMemory(project / ".evolve" / "hook")
    run = background._run

    def grow_meanwhile(*given: Any) -> Any:
        (stem, file), *_ = memory.pending().items()
        memory.mark_pending(stem, file, "a later state")
        return run(*given)

    monkeypatch.setattr(background, "_run", grow_meanwhile)
    assert len(stop("session-0").mined) == 1
    assert list(memory.pending_states().values()) == ["a later state"]


def test_no_command_is_run_by_a_hook(stop: Stop, tmp_path: Path) -> None:
    outcome = stop("session-0", engine=f"command:touch {tmp_path}/mischief")
    assert "a hook mines with one of claude-code, codex, gemini, anthropic" in outcome.problems[0]
    assert not (tmp_path / "mischief").exists()


def test_the_agents_turn_ends_before_the_program_has_answered(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program answers when it may; were it waited for, it would answer by itself after ten seconds."""
    waits = f"for i in $(seq 500); do test -e {tmp_path}/may && break; sleep 0.02; done"
    program(tmp_path, "claude", f"{waits}; cat {tmp_path}/result.json")
    monkeypatch.chdir(project)
    monkeypatch.setattr(harness, "_HELD_SECONDS", 0.1)
    transcript = record(tmp_path / "t", "session-0", request="Always run make check.")
    words = json.dumps(claude_input(transcript, project, hook_event_name="SessionEnd"))
    log = project / ".evolve" / "hook.log"
    assert main(["hook", "stop", words, "--wiki", "wiki", "--engine", "claude-code", "--calls-a-day=3"]) == 0
    assert not _says_calls(log)
    (tmp_path / "may").touch()
    for _ in range(600):
        if _says_calls(log):
            break
        time.sleep(0.05)
    assert _says_calls(log)


def _says_calls(log: Path) -> bool:
    return log.exists() and "of 3 calls a day" in log.read_text(encoding="utf-8")


def test_connect_writes_the_engine_into_the_hooks(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["connect", "claude-code", "--dir", str(project)]
    assert main([*words, "--mine-with", "codex", "--calls-a-day", "5"]) == 0
    settings = (project / ".claude" / "settings.json").read_text()
    assert settings.count("wiki hook stop --wiki wiki --engine codex --calls-a-day 5") == 3
    assert "wiki hook start --wiki wiki --engine" not in settings
    assert main(words) == 0
    assert "--engine" not in (project / ".claude" / "settings.json").read_text()
    capsys.readouterr()
    assert main([*words, "--mine-with", "command:x"]) == main([*words, "--calls-a-day", "5"]) == 2
    assert "--mine-with command:x: one of claude-code" in capsys.readouterr().err
