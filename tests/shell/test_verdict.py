"""One verdict a call: how it went, which step of the line failed, what shows it."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml

from agent_wiki.shell.blame import speakers
from agent_wiki.shell.chain import chain_of
from agent_wiki.shell.judging import judged_line
from agent_wiki.shell.silent_checks import fits_no_test
from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.shell.verdict import judged

TABLE = Path(__file__).with_name("verdicts.yaml")
ROWS: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_the_table(row: dict[str, Any]) -> None:
    command = row.get("command")
    tool = row.get("tool", "Bash")
    verdict = judged(row.get("output"), row.get("is_error"), tool, command, row.get("mark"), 2)
    sources = [step.source for step in steps_of(command or "")]
    assert verdict.state == row["state"]
    if verdict.has_failed and command is not None:
        assert verdict.step is not None
        assert sources[verdict.step] == row.get("step", sources[verdict.step])
    for source, state in row.get("steps", {}).items():
        assert verdict.steps[sources.index(source)] == state
    if "shown" in row:
        assert verdict.line == row["shown"]
    assert verdict.line in (row.get("output") or "")


def test_of_thousands_of_failing_lines_only_those_are_ascribed_that_a_step_still_wants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def noted(line: str, steps: tuple[SimpleCommand, ...]) -> list[int]:
        asked.append(line)
        return speakers(line, steps)

    monkeypatch.setattr("agent_wiki.shell.judging.speakers", noted)
    verdict = judged("FAILED test_a.py::test_a\n" * 1_000, True, "Bash", "pytest")
    assert (verdict.state, verdict.line) == ("failed", "FAILED test_a.py::test_a")
    assert len(asked) < 10


def test_a_call_that_the_user_stopped_was_called_off() -> None:
    stopped = judged(
        "[Operation Cancelled] Reason: User cancelled tool execution.", None, "shell", "shelf login", "interrupt", 3
    )
    assert (stopped.state, stopped.has_failed, stopped.has_passed) == ("called off", False, False)


@pytest.mark.parametrize(
    ("line", "only_then"),
    [
        ("a || true && make", (1,)),
        ("a || (true && make)", (1, 2)),
        ("a || { b && make; }", (1, 2)),
        ("a || b | tail && make", (1, 2)),
        ("a || b || c && make", (1, 2)),
    ],
)
def test_what_runs_only_where_a_step_failed_ends_at_an_and(line: str, only_then: tuple[int, ...]) -> None:
    assert chain_of(steps_of(line)).fallback(0) == only_then


def test_what_stands_in_the_branch_that_was_not_taken_did_not_run() -> None:
    line = "if command -v actionlint >/dev/null; then actionlint ci.yml; else echo 'no actionlint'; fi; make test"
    assert judged_line(line, "no actionlint\n4 passed", False, 1).steps == ("passed", "not run", "passed", "passed")
    assert judged_line(line, "4 passed", False, 1).steps[1] != "not run"


@pytest.mark.parametrize(
    ("result", "state", "line"),
    [
        ("TESTS PASSED\nstdout:\nOK\n", "passed", "TESTS PASSED"),
        ("TEST FAILED (rc=1)\nstderr:\nAssertionError: 3 != 4\n", "failed", "AssertionError: 3 != 4"),
        ("no tests were found", "unknown", ""),
    ],
)
def test_a_tool_that_runs_tests_says_how_they_went(result: str, state: str, line: str) -> None:
    verdict = judged(result, None, "run_tests")
    assert (verdict.state, verdict.line) == (state, line)


def test_a_greeting_says_nothing_of_what_should_have_run_after_it() -> None:
    greeting = "Hi kim! You've successfully authenticated, but GitHub does not provide shell access."
    assert judged(greeting, True, "Bash", "ssh -T git@github.com && git push origin main").state == "failed"
    assert judged(f"{greeting}\nTotals differ", True, "Bash", "ssh -T git@github.com; npm test").state == "failed"


def test_checks_that_still_run_have_neither_failed_nor_passed() -> None:
    shown = "Exit code 8\nbuild\tpending\t0\thttps://x\nlint\tpass\t14s\thttps://x"
    asked = judged(shown, True, "Bash", "sleep 15 && gh pr checks 12 2>&1", None, 3)
    assert (asked.state, asked.has_failed, asked.has_passed) == ("unknown", False, False)
    assert judged(shown, True, "Bash", "gh pr checks 12 && gh pr merge 12", None, 3).has_failed


def test_of_checks_that_were_watched_the_last_table_counts() -> None:
    shown = "build\tpending\t0\thttps://x\nlint\tpass\t14s\thttps://x\n\nbuild\tpass\t31s\thttps://x\nlint\tpass\t14s\thttps://x"
    assert judged(shown, False, "Bash", "gh pr checks 12 --watch").state == "passed"
    assert judged(shown, False, "Bash", "gh pr checks 12").state == "unknown"  # two with the same name
    assert judged(f"{shown}\nlint\tpending\t0\thttps://x", False, "Bash", "gh pr checks 12 --watch").state == "unknown"


def test_a_command_that_ends_in_thousands_of_blanks_is_judged_at_once() -> None:
    began = process_time()
    assert judged("x", False, "Bash", "gh pr checks" + " " * 100_000 + ";").state == "passed"
    assert process_time() - began < 5


def test_a_part_that_was_skipped_leaves_what_passed() -> None:
    assert not fits_no_test("skipping type checks in node_modules\n12 passed")
    assert not fits_no_test("skipping check of the docs\nTests: 34 passed, 34 total")
    assert not fits_no_test("skipping type checks\n12 passed")
    assert fits_no_test("node not available - skipping syntax check")


def test_a_service_that_wants_an_approval_is_no_harness_that_refuses() -> None:
    for said in (
        "Error: this merge request requires approval by 2 people",
        "Deploying till\nError: deployment was not approved",
        "remote: push denied by user rules",
    ):
        assert judged(said, True, "Bash", "glab mr merge 7").state == "failed"
    for said in ("This command requires approval", "Error: Permission denied by user", "The command was not approved."):
        assert judged(said, True, "Bash", "glab mr merge 7").state == "refused"


def test_a_linter_that_was_given_no_file_has_checked_nothing() -> None:
    assert fits_no_test("Finding: notes/*.md\nLinting: 0 file(s)\nSummary: 0 error(s)")
    assert not fits_no_test("Finding: notes/*.md\nLinting: 3 file(s)\nSummary: 0 error(s)")


@pytest.mark.parametrize(
    ("command", "result", "line"),
    [
        (
            "cargo fmt -- --check 2>&1 | head -9",
            "Diff in /srv/shop/src/cart.rs:38:\n-a\n+b",
            "Diff in /srv/shop/src/cart.rs:38:",
        ),
        (
            "git pull --rebase 2>&1 | tail -5",
            "Resolved 'a.md'\nCould not apply d5b4446... # Cap",
            "Could not apply d5b4446... # Cap",
        ),
        (
            "git merge cap 2>&1 | tail -5",
            "Auto-merging a\nCONFLICT (content): Merge conflict in a",
            "CONFLICT (content): Merge conflict in a",
        ),
    ],
)
def test_what_a_pipe_hid_is_no_pass(command: str, result: str, line: str) -> None:
    verdict = judged(result, None, "Bash", command)
    assert verdict.has_failed
    assert verdict.line
    assert line.startswith(verdict.line)
