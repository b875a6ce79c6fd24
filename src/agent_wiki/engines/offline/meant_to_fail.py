"""Calls that were meant to fail: a test that has to fail at first, a probe with input that must be refused.

They are good practice, and no trouble of the session.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.acts import Act, main_command
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.files_written import TEMPORARY
from agent_wiki.trajectory.lazily import regex

_MOST_READ, _FEW_TURNS = 1_000, 4
_TAKES_OUT = frozenset({"archive", "stash", "worktree", "clone"})
_EXPECTED = written("expected_to_fail", re.IGNORECASE)
_AS_EXPECTED = written("failed_as_expected", re.IGNORECASE)
# What was to be seen failing was not reached.
_NOT_REACHED = regex(r"/activate: No such file|command not found|ImportError while loading conftest")
_MADE_UP = written("made_up")


def meant_to_fail(stretch: Stretch) -> frozenset[int]:
    """The positions of the failed calls of a stretch that were meant to fail."""
    failed = [act for act in stretch.acts if act.has_failed and not _is_git(act)]
    return frozenset(act.call.position for act in failed if is_of_another_state(act) or _is_expected(stretch, act))


def _is_git(act: Act) -> bool:
    """What failed is not what was to be seen failing, but the putting away or the bringing back."""
    command = main_command(act)
    return command is not None and command.program == "git"


def _is_expected(stretch: Stretch, act: Act) -> bool:
    """The agent's words at the call or right after it, or input with a name that says it is wrong."""
    if act.kind not in ("check", "probe", "run", "revert"):
        return False
    described = act.call.arguments.get("description")
    said = [stretch.content(act.turn)[-_MOST_READ:], described if isinstance(described, str) else ""]
    command = main_command(act)
    is_made_up = command is not None and any(map(_MADE_UP.search, command.words[1:]))
    is_reached = not _NOT_REACHED.search((act.call.result or "")[: 2 * _MOST_READ])
    after = _words_of_agent(stretch, act.end + 1)
    is_said = _AS_EXPECTED.match(after) is not None or any(map(_EXPECTED.search, said))
    return is_made_up or (is_reached and is_said)


def _words_of_agent(stretch: Stretch, turn: int) -> str:
    """What the agent says in a turn; empty for another's, and after the end of the stretch."""
    message = stretch.trajectory.messages[turn - 1] if turn <= stretch.last_turn else None
    return (message.content or "")[:_MOST_READ] if message is not None and message.role == "assistant" else ""


def is_said_to_fail(stretch: Stretch, act: Act) -> bool:
    """The agent says at a call, or right before it, that something was to be seen failing."""
    turns = range(max(act.turn - _FEW_TURNS, stretch.first_turn), act.turn + 1)
    return any(_EXPECTED.search(_words_of_agent(stretch, turn)) for turn in turns)


def is_of_another_state(act: Act) -> bool:
    """It checks the code as it was once, or elsewhere: put away, taken out of the history, or in a copy."""
    words = [each.words for each in act.commands]
    of_git = (each[1:3] for each in words if each[:1] == ("git",))
    taken_out = any(not _TAKES_OUT.isdisjoint(each[:1]) and each[1:] != ("pop",) for each in of_git)
    return taken_out or any(each[:1] == ("cd",) and each[1:2] and each[1].startswith(TEMPORARY) for each in words)
