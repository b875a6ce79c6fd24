"""A program's own recording of a session is read as the model sent it: replies, calls, errors, thinking, tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import agent_wiki as aw
from agent_wiki.trajectory import Trajectory
from tests.clients.figures import figures_read, figures_sent
from tests.clients.programs import CLAUDE_CODE, CODEX, CODEX_PLAIN, GEMINI
from tests.clients.work import Work

PROGRAMS = [
    pytest.param(CLAUDE_CODE, id="claude-code"),
    pytest.param(CODEX, id="codex-code-mode"),
    pytest.param(CODEX_PLAIN, id="codex-plain"),
    pytest.param(GEMINI, id="gemini"),
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
    assert (at_work.project / "notes" / "check.sh").is_file()


@pytest.mark.parametrize("at_work", PROGRAMS, indirect=True)
def test_a_resumed_session_counts_each_reply_once(at_work: Work) -> None:
    at_work.session("[[parallel]] Add a type to shout and a script that runs the tests.")
    at_work.session("", at_work.program.resume("[[more]] Show me the history."))
    _hold(at_work)
    assert len(at_work.model.sent()) == 8
