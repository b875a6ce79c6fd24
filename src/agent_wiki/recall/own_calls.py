"""Calls by which a session used the wiki itself: its command, its server's tools, its pages.

How an agent gets along with the wiki is no lesson of the work that it was asked to do: what went wrong with `wiki
consult` says nothing to a session that has another version of it, or none. Such calls bear no guideline, no step of a
skill and no dead end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from agent_wiki.recall.call_pages import is_reading, skill_text
from agent_wiki.recall.page_mentions import is_inside_wiki, mentions
from agent_wiki.recall.reads import WikiSession
from agent_wiki.recall.wiki_tools import is_own_skill, is_skill_tool, runs_wiki, server_of, tool_name, wiki_words
from agent_wiki.shell.judged_steps import called_steps, failed_steps
from agent_wiki.shell.kinds import script_of
from agent_wiki.shell.programs import LOOKERS, PRINTERS
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_SERVER_NAMED_WIKI = regex(r"(?:^|_)wiki(?:_|$)")
_LISTERS = frozenset({"ls", "find", "tree", "stat", "file", "test", "["})
_ASIDE = PRINTERS | {"cd", "sleep", "true", "export", "set"}


def own_turns(trajectory: Trajectory) -> frozenset[int]:
    """The turns of calls that only used the wiki, and of their results. Worked out once and kept with the trajectory.

    A turn with another call beside is none of them.
    """
    return trajectory.worked_out(_own_turns)


def is_own_command(command: str) -> bool:
    """Whether a command line, as a step of a skill gives it, does nothing but run our `wiki`."""
    steps = [step for step in simple_commands(command) if step.program not in _ASIDE]
    return bool(steps) and any(map(runs_wiki, steps)) and all(runs_wiki(step) or _looks(step) for step in steps)


def _own_turns(trajectory: Trajectory) -> frozenset[int]:
    session = WikiSession.of(trajectory)
    if session is None:
        return frozenset()
    used = _Used(session)
    own = [call for call in session.calls if used.is_own(call)]
    turns = {call.turn for call in own if _is_whole_turn(call, trajectory, own)}
    return frozenset(turns | {call.result_turn for call in own if call.result_turn is not None})


def _is_whole_turn(call: Call, trajectory: Trajectory, own: Iterable[Call]) -> bool:
    return len(trajectory.messages[call.turn - 1].tool_calls) == sum(each.turn == call.turn for each in own)


class _Used:
    """What of a session's calls is the wiki's, by what all of them show."""

    def __init__(self, session: WikiSession) -> None:
        self.session = session
        steps = [step for call in session.calls for step in called_steps(call)]
        self.has_command = any(map(runs_wiki, steps))
        self.servers = {server for call in session.calls if (server := self._server(call)) is not None}

    def is_own(self, call: Call) -> bool:
        """Whether a call only used the wiki; of one that failed, whether the step that failed did."""
        if called_steps(call):
            return self._is_own_line(call)
        if is_own_skill(call) or server_of(call) in self.servers:
            return True
        if is_skill_tool(call):
            return bool(self.session.pages(call, skill_text(call, self.session.trajectory)[1], set()))
        return bool(self.session.asked(call)) and call.command() is None

    def _server(self, call: Call) -> str | None:
        """The server of a call where it is ours: by its name, or because it showed pages of a wiki."""
        server = server_of(call)
        if server is None or _SERVER_NAMED_WIKI.search(server) or tool_name(call).endswith("report_use"):
            return server
        return server if self.session.asked(call) else None

    def _is_own_line(self, call: Call) -> bool:
        """By the steps that failed, if any; else, or where those only show and filter, by all."""
        places = self.session.places[call.position]
        steps = [(step, places.of_step(at)) for at, step in enumerate(called_steps(call))]
        failed = failed_steps(call) if has_failed(call) else ()
        kinds = [
            [self._kind(step, folder) for step, folder in steps if step in failed],
            [self._kind(step, folder) for step, folder in steps],
        ]
        telling = next((found for found in kinds if "own" in found or "other" in found), [])
        return bool(telling) and "other" not in telling

    def _kind(self, step: SimpleCommand, folder: str) -> Literal["own", "aside", "other"]:
        if self._is_own_step(step, folder):
            return "own"
        return "aside" if not step.words or step.program in _ASIDE or _looks(step) else "other"

    def _is_own_step(self, step: SimpleCommand, folder: str) -> bool:
        if runs_wiki(step) or (self.has_command and wiki_words(step)):
            return True
        if script_of(step) or not (is_reading(step) or step.program in _LISTERS):
            return False
        wikis, words = self.session.wikis, step.words[1:]
        named = (each for text in (*words, step.body) for each in mentions(text, folder))
        return any(is_inside_wiki(word, folder, wikis) for word in words) or any(
            each.is_of_wiki(wikis) for each in named
        )


def _looks(step: SimpleCommand) -> bool:
    return step.program in LOOKERS
