"""A program's own recording of a session is read as the model sent it: replies, calls, errors, thinking, tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import agent_wiki as aw
from agent_wiki.trajectory import Trajectory
from tests.clients.figures import figures_read, figures_sent
from tests.clients.programs import CLAUDE_CODE, CODEX, CODEX_PLAIN, COPILOT, GEMINI, OPENCODE, QWEN
from tests.clients.work import Work

PROGRAMS = [
    pytest.param(CLAUDE_CODE, id="claude-code"),
    pytest.param(CODEX, id="codex-code-mode"),
    pytest.param(CODEX_PLAIN, id="codex-plain"),
    pytest.param(GEMINI, id="gemini"),
    pytest.param(QWEN, id="qwen"),
    pytest.param(OPENCODE, id="opencode"),
    pytest.param(COPILOT, id="copilot"),
]


def _read(paths: Sequence[Path]) -> list[Trajectory]:
    return [each for path in paths for each in aw.normalize(path)]


def _hold(at_work: Work) -> list[Trajectory]:
    read = _read(at_work.recordings())
    assert figures_read(read) == figures_sent(at_work.model.sent())
    return read


@pytest.mark.parametrize("at_work", PROGRAMS, indirect=True)
def test_a_session_is_read_as_it_was_sent(at_work: Work) -> None:
    at_work.session("[[fix]] Add a function slug to textkit.")
    (read,) = _hold(at_work)
    assert Path(read.source.cwd or "") == at_work.project
    failed = [message for message in read.messages if message.is_error]
    assert "No module named 'textkit'" in (failed[0].content or "")


@pytest.mark.parametrize("at_work", PROGRAMS, indirect=True)
def test_two_calls_of_one_reply_and_the_programs_own_tools_are_read(at_work: Work) -> None:
    at_work.session("[[parallel]] Add a type to shout and a script that runs the tests.")
    _hold(at_work)
    assert (at_work.project / "check.sh").is_file()


@pytest.mark.parametrize("at_work", PROGRAMS, indirect=True)
def test_a_resumed_session_counts_each_reply_once(at_work: Work) -> None:
    at_work.session("[[parallel]] Add a type to shout and a script that runs the tests.")
    at_work.session("", at_work.program.resume("[[more]] Show me the history."))
    _hold(at_work)
    assert len(at_work.model.sent()) == 8


@pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)
def test_a_fork_leaves_the_replies_it_copied_to_the_session_it_left(at_work: Work) -> None:
    at_work.session("[[parallel]] Add a type to shout and a script that runs the tests.")
    (first,) = at_work.recordings()
    *words, _ = at_work.program.words("")
    at_work.session("", [*words, "--resume", first.stem, "--fork-session", "[[more]] Show me the history."])
    assert len(at_work.recordings()) == 2
    read = _read(at_work.recordings())
    assert figures_read(read) == figures_sent(at_work.model.sent())
    assert [each.source.forked_from for each in read if each.session_id != first.stem] == [first.stem]


@pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)
def test_a_subagent_is_a_session_of_its_own_with_its_parent(at_work: Work) -> None:
    at_work.session("[[subagent]] How are the tests run?")
    (transcript,) = at_work.recordings()
    helpers = sorted(transcript.parent.glob("*/subagents/agent-*.jsonl"))
    read = _read([transcript, *helpers])
    by_parent = {each.source.parent_session_id: each for each in read}
    assert figures_read([by_parent[None]]) == figures_sent(at_work.model.sent("subagent"))
    assert figures_read([by_parent[transcript.stem]]) == figures_sent(at_work.model.sent("helper"))


_HEADLESS = [
    pytest.param(CLAUDE_CODE, ["--output-format", "stream-json", "--verbose"], (), id="claude-code"),
    pytest.param(CODEX, ["--json"], ("replies",), id="codex-code-mode"),
    pytest.param(CODEX_PLAIN, ["--json"], ("replies",), id="codex-plain"),
    pytest.param(GEMINI, ["--output-format", "stream-json"], ("thoughts",), id="gemini"),
    pytest.param(QWEN, ["--output-format", "stream-json"], (), id="qwen"),
    pytest.param(OPENCODE, ["--format", "json"], (), id="opencode"),
    pytest.param(COPILOT, ["--output-format", "json"], ("plain", "cached", "output"), id="copilot"),
]


@pytest.mark.parametrize(("at_work", "words", "unsaid"), _HEADLESS, indirect=["at_work"])
def test_what_a_program_prints_without_a_terminal_is_read_as_it_was_sent(
    at_work: Work, words: Sequence[str], unsaid: Sequence[str], tmp_path: Path
) -> None:
    """`unsaid` are figures that a program does not print."""
    *command, prompt = at_work.program.words("Add a function slug to textkit. [[fix]]")
    last = -1 if command[-1] == "-p" else len(command)
    printed = tmp_path / "printed.jsonl"
    done = at_work.session("", [*command[:last], *words, *command[last:], prompt])
    printed.write_text(done.stdout, encoding="utf-8")
    read, sent = figures_read(_read([printed])), figures_sent(at_work.model.sent())
    assert {**read, **dict.fromkeys(unsaid, 0)} == {**sent, **dict.fromkeys(unsaid, 0)}
