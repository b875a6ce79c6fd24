"""Does the text of a tool result say that the call failed?"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.errors import labelled_results, scores
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.shell.failures import text_failure
from agent_wiki.shell.last_step import last_step
from agent_wiki.trajectory import Source
from tests.hangs import no_hang

STATED = [
    "Process exited with code {}",
    "Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code {}\nOriginal token count: 3\nOutput:\nhello",
    "Exit code: {}\nWall time: 0 seconds\nOutput:\nhello",
    "Exit code {}\nhello",
    "Error: Exit code {}\nhello",
    "exitcode: {} (execution finished)\nCode output: hello",
    "<returncode>{}</returncode>\n<output>\nhello\n</output>",
    "hello\n[exit {}]",
    "hello\n[exit code: {}]",
    "hello\nCommand failed with exit code {}",
    "hello\n[The command completed with exit code {}.]",
    "hello\n[Command finished with exit code {}]",
    "hello\n\nCommand exited with code {}",
    "hello\n<exited with exit code {}>",
    "Output: hello\nError: (none)\nExit Code: {}\nSignal: 0\nProcess Group PGID: 7",
    '{{"output": "hello", "metadata": {{"exit_code": {}, "duration_seconds": 0.1}}}}',
    '{{"exitCode": {}, "stdout": ""}}',
]


@pytest.mark.parametrize("form", STATED)
def test_an_exit_code_that_the_harness_states_decides(form: str) -> None:
    assert text_failure(form.format(0)) is False
    assert text_failure(form.format(2)) is True
    assert text_failure(form.format(-9)) is True


@pytest.mark.parametrize(
    "content",
    [
        "Error: no such reservation",
        "Error executing tool get_order: order not found",
        "<tool_use_error>Some text was not there</tool_use_error>",
        "ENOENT: no such file or directory, open 'a.txt'",
        "Request failed with status code 404",
        "File has not been read yet. Read it first before writing to it.",
        "Unable to reach the service",
        '{"error": "not found"}',
        '{"status": "error", "message": "no"}',
        '{"success": false, "reason": "no"}',
        '{"isError": true, "content": []}',
    ],
)
def test_a_tool_says_its_error_first(content: str) -> None:
    assert text_failure(content) is True


@pytest.mark.parametrize(
    "content",
    [
        "bash: line 1: frobnicate: command not found",
        "ls: cannot access 'x': No such file or directory",
        "some output\nfatal: not a git repository",
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: bad',
        'starting\nTraceback (most recent call last):\n  File "a.py", line 1\n    f()\nmy.pkg.Gone: x',
        "ok  \tpkg/a\t0.1s\nFAIL\tpkg/b\t0.2s\nFAIL",
        "collected 3 items\n\n=== 1 failed, 2 passed in 0.10s ===",
        "Ran 3 tests in 0.1s\n\nFAILED (failures=1)",
        "Tests:       1 failed, 4 passed, 5 total\nSnapshots:   0 total\nTime:        1 s\nRan all test suites.",
        "[stdin]:1\nthrow new Error('x')\n^\n\nError: x\n    at [stdin]:1:7\n\nNode.js v22.1.0",
        "error[E0308]: mismatched types\n --> src/main.rs:1:1\nerror: could not compile `a` due to 1 previous error",
        "make: *** [Makefile:3: all] Error 1",
        "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1",
        "a.py:1: error: bad type\nFound 1 error in 1 file (checked 1 source file)",
        "Auto-merging a\nAutomatic merge failed; fix conflicts and then commit the result.",
    ],
)
def test_a_program_says_its_error_first_or_last(content: str) -> None:
    assert text_failure(content) is True
    assert text_failure(content, "Bash", "run-it --now") is True


@pytest.mark.parametrize(
    "content",
    [
        "",
        "Plan updated",
        "a.py\nb.py",
        '{"content": "Error: quoted", "total_lines": 3}',
        '{"error": null, "items": [1]}',
        "     1→Error: quoted in a file\n     2→Traceback (most recent call last):\n     3→ValueError: x",
        "README.md\nThe exit code 1 means trouble\nmore text",
        "if it fails:\n    exit 1\n",
        "docs: Errors are values\nthe end",
        "Ran 3 tests\n\nOK",
        "3 passed, 0 failed",
        "Found 0 errors",
    ],
)
def test_a_quoted_error_is_not_the_outcome(content: str) -> None:
    assert text_failure(content) is None


def test_success_said_in_json_is_success() -> None:
    assert text_failure('{"success": true, "note": "Error: earlier"}') is False
    assert text_failure('{"status": "SUCCESS", "result": {}}') is False


def test_a_printed_file_may_quote_any_error() -> None:
    quoted = "notes\nTraceback (most recent call last):\nValueError: x"
    assert text_failure(quoted, "Bash", "python run.py") is True
    assert text_failure(quoted, "Bash", "cat run.log") is None
    assert text_failure(quoted, "Bash", "git show HEAD:run.log") is None
    assert text_failure(quoted, "Read") is None
    assert text_failure("cat: run.log: No such file or directory", "Bash", "cat run.log") is True


def test_a_failure_before_a_filter_is_masked_as_the_shell_masks_it() -> None:
    failed = "collected 1 item\nFAILED (failures=1)"
    assert text_failure(failed, "Bash", "python -m unittest") is True
    assert text_failure(failed, "Bash", "python -m unittest | tail -5") is None


def test_an_exit_code_that_the_agent_printed_is_not_the_harness_speaking() -> None:
    printed = "unknown command\nExit code: 1"
    assert text_failure(printed, "Bash", 'tool x; echo "Exit code: $?"') is None
    assert text_failure(printed) is True


@pytest.mark.parametrize(
    "said",
    [
        "(Bash completed with no output)",
        "Your command ran successfully and did not produce any output.",
        "<system>Tool ran without output or errors</system>",
    ],
)
def test_what_a_harness_says_in_place_of_no_output_is_success(said: str) -> None:
    assert text_failure(said, "Bash", "npx tsc --noEmit") is False
    assert text_failure(f"error TS1005\n{said}", "Bash", "npx tsc --noEmit") is not False


def test_a_search_that_printed_nothing_found_nothing() -> None:
    assert text_failure("", "Bash", "ls | grep -E 'a|b'") is True
    assert text_failure("", "Bash", "mkdir -p a") is None
    assert text_failure("Output:\n", "shell", "rg -n 'x' src") is True


@pytest.mark.parametrize(
    ("command", "program", "is_apart"),
    [
        ("ls", "ls", False),
        ("a | b && c", "c", False),
        ("cd x; /usr/bin/make -j2", "make", True),
        ("python - <<'EOF'\nprint(1); cat\nEOF", "python", False),
        ("cat > f <<EOF\nx\nEOF\npython f", "python", True),
        ("FOO=1 sudo git -C dir diff --stat", "git diff", False),
        ("for f in a b; do grep -n 'x;y|z' \"$f\"; done", "grep", True),
        ('run "a | b; c" 2>&1', "run", False),
        ("x &> log", "x", False),
        ("cd a && (x; make -s | sort) 2>&1", "sort", False),
        ("A='b c' \"my dir/tool\" -x 'd | e' # why", "tool", False),
        ("make test &&\n  git -C 'my dir' push", "git push", False),
    ],
)
def test_the_last_program_of_a_command_line_is_found(command: str, program: str, is_apart: bool) -> None:
    step = last_step(command)
    assert step is not None
    assert (step.program, step.is_apart) == (program, is_apart)


def test_an_empty_command_line_has_no_last_program() -> None:
    assert last_step("") is None
    assert last_step(" ; # nothing\n") is None


@given(st.text(max_size=300), st.one_of(st.none(), st.text(max_size=80)))
def test_no_text_raises(content: str, command: str | None) -> None:
    assert text_failure(content, command=command) in (True, False, None)


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", ["Error ", "= 1 ", "a.", "a: ", "\n", "'", '\\"', "<<a1\n", '{"a":', "command ", "Error: x\n", " ", "a b "]
)
def test_hostile_texts_take_no_time(unit: str) -> None:
    content = unit * (70_000 // len(unit))
    with no_hang():
        text_failure(content)
        text_failure(content, "Bash", content)


def test_errors_in_real_recordings_are_found_with_the_flag_hidden(traces: Path) -> None:
    results = list(labelled_results(traces))
    assert len(results) > 1000
    assert (scores(results, bare=False)["all"].f1() or 0) >= 0.95
    assert (scores(results, bare=True)["all"].f1() or 0) >= 0.9


def test_a_trajectorys_results_are_read_with_the_calls_they_answer() -> None:
    builder = TrajectoryBuilder()
    builder.assistant(calls=[("a", "bash", {"command": "cat run.log"}), ("b", "bash", {"command": "python run.py"})])
    for call_id in ("a", "b"):
        builder.tool(call_id, "notes\nTraceback (most recent call last):\nValueError: x")
    trajectory = builder.finish("s", Source("synthetic"))
    assert [message.is_error for message in trajectory.messages if message.role == "tool"] == [None, True]


def test_a_command_that_still_runs_shows_neither() -> None:
    text = "Chunk ID: 2313d9\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"
    assert text_failure(text, tool_name="exec_command", command="rg needle") is None


def test_a_commit_that_git_made_has_not_failed_by_names_in_its_message() -> None:
    made = "zsh: command not found: posthog-js\n[main f106b4c] feat: integrate it\n 4 files changed"
    line = 'git add -A && git commit -m "feat: use `posthog-js` here"'
    assert text_failure(made, "Bash", line) is False
    assert text_failure(made, "Bash", f"{line} && git push") is True
    assert text_failure("zsh: command not found: posthog-js\nnothing to commit", "Bash", line) is True


@pytest.mark.parametrize("end", [" " * 3000, "\n[rerun: b1]" * 300])
@pytest.mark.parametrize("command", ["cat notes.txt", "grep x notes.txt", "pytest", None])
def test_an_end_of_blanks_or_of_the_harness_own_lines_shows_no_failure(command: str | None, end: str) -> None:
    assert not text_failure(f"x{end}", "bash", command)
