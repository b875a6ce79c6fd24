"""The log of the hooks of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.harness import hook_log
from agent_wiki.harness.hook_log import HookOutcome, log


def test_the_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(hook_log, "_LONGEST_LOG", 2_000)
    for position in range(200):
        log(tmp_path, {}, HookOutcome(problems=[f"/no/such/{position}.jsonl: no such transcript"]))
    content = (tmp_path / ".evolve" / "hook.log").read_bytes()
    assert len(content) <= 2_000
    assert b"/no/such/199.jsonl" in content
    assert all(line.startswith(b"20") for line in content.splitlines()), "no line is cut at its start"


def test_a_line_says_what_was_done_and_what_was_postponed() -> None:
    outcome = HookOutcome(unchanged=1, marked=["s: an error"], mined=["a.json"], without_lessons=["b.json"])
    assert outcome.line() == "0 saved, 1 unchanged, to mine: s: an error, mined: 1, nothing to learn: 1"
    outcome = HookOutcome(saved=[Path("a.json")], postponed="another hook is at work")
    assert outcome.line() == "1 saved, 0 unchanged, left for the next time: another hook is at work"
