"""Where a session turns from one request to a separate one.

Conservative: one arc unless a new request of the person, after finished work, is about something else. A
correction, a "yes", a "now also …" and a "commit" continue what was asked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import field

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.outcome import recorded_outcome
from agent_wiki.engines.offline.requests import UserRequest
from agent_wiki.engines.offline.shipping import asks_to_ship
from agent_wiki.engines.offline.tables import table, written
from agent_wiki.shell.files_written import bare_name
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.layout import slug

MOST_ARCS = 6
_LEAST_CALLS = 4
_LEAST_TURNS = 8
_MOST_SHARED = 0.25  # of the new request's words
_MANY_WORDS = 8  # of their own: more than a remark on what the command did
_SLUG_WORDS = 5
_MOST_ACTS = 400  # of an episode are looked at
_CONTINUES = written("continues", re.IGNORECASE)
_ANSWERS = regex(r"^\W*(?:yes|yep|yeah|no|sorry)\b", re.IGNORECASE)
_MENDS = regex(r"\b(?:errors?|fail(?:s|ed|ing|ures?)?)\b", re.IGNORECASE)
_LEFT = regex(r"<command-name>\s*/(?:exit|quit|clear)\b")
_ADDRESS = regex(r"\S*(?:://|\.(?:com|org|io|dev)/)\S*")
_SLUG_WORD = regex(r"[a-z0-9][a-z0-9_.-]*")
_SMALL_WORDS = frozenset(table("words")["small_words"])
_WORD = regex(r"[a-z][a-z0-9_.-]{3,40}")
_STOP_WORDS = frozenset(table("words")["common_words"])


def arc_starts(trajectory: Trajectory, acts: list[Act], requests: list[UserRequest]) -> list[int]:
    """First turns of the arcs of a session, in order, the first always 1; at most six.

    A session with a recorded verdict is one attempt at one task and stays whole.
    """
    starts = [1]
    if recorded_outcome(trajectory.source) is not None or len(requests) < 2:
        return starts
    so_far = _SoFar(requests[0].turn, requests[0].kind == "command")
    episodes = _episodes(trajectory, acts, requests)
    for position, (request, done) in enumerate(zip(requests, episodes, strict=True)):
        was_left = position > 0 and _was_left(trajectory, requests[position - 1].turn, request.turn)
        so_far.is_over = so_far.is_over or was_left
        is_new = (
            position > 0
            and _is_new_request(request, after_end=so_far.is_over or so_far.is_command)
            and _is_work(done.acts, done.turns)
        )
        if is_new and so_far.is_left_for(request, done) and _is_finished(trajectory, request.turn):
            start = _begun_at(trajectory, requests[:position], request.turn)
            starts.append(start)
            so_far = _SoFar(start, request.kind == "command")
            if len(starts) == MOST_ARCS:
                break
        so_far.add(request, done)
    return starts


@dataclass(slots=True)
class _Episode:
    """What was done after a turn of the user: until the next turn, and until the next request."""

    own: list[Act]
    acts: list[Act]
    turns: int


@dataclass(slots=True)
class _SoFar:
    """The arc so far: its words, its files, whether it made something. It grows, and is never computed again."""

    first_turn: int
    is_command: bool = False  # begun by a slash command: a workflow with an end of its own
    is_over: bool = False  # the user left the session or cleared it since
    calls: int = 0
    has_product: bool = False
    is_failing: bool = False  # the last check that says something
    words: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def add(self, request: UserRequest, done: _Episode) -> None:
        self.calls += len(done.own)
        self.words |= _words(request.text)
        self.files |= _files(done.own)
        said = [act.finding.passed for act in done.own if act.finding is not None and act.finding.passed is not None]
        self.is_failing = not said[-1] if said else self.is_failing
        self.has_product = self.has_product or any(act.edits or act.kind == "ship" for act in done.own)

    def is_left_for(self, request: UserRequest, done: _Episode) -> bool:
        """It made something, and the new request is about other files and has hardly a word in common with it."""
        is_work = self.calls >= _LEAST_CALLS and request.turn - self.first_turn >= _LEAST_TURNS
        if not is_work or not self.has_product:
            return False
        if self.is_failing and request.kind != "command" and _MENDS.search(request.text[:200]):
            return False
        words = _words(request.text)
        if request.kind == "command" or self.is_over:
            return True
        if self.is_command and len(words) >= _MANY_WORDS:
            return True
        if self.files & _files(done.acts):
            return False
        return len(words & self.words) / max(len(words), 1) < _MOST_SHARED


def _episodes(trajectory: Trajectory, acts: list[Act], requests: list[UserRequest]) -> list[_Episode]:
    """One episode for each of the user's turns, in one pass from the end."""
    turns = [act.turn for act in acts]
    end = request_end = len(trajectory.messages) + 1
    found: list[_Episode] = []
    for request in reversed(requests):
        start = bisect_left(turns, request.turn)
        own, whole = acts[start : bisect_left(turns, end)], acts[start : bisect_left(turns, request_end)]
        found.append(_Episode(own, whole[:_MOST_ACTS], request_end - request.turn))
        end = request.turn
        if request.kind in ("request", "command"):
            request_end = request.turn
    return found[::-1]


def _was_left(trajectory: Trajectory, first: int, last: int) -> bool:
    """Between two turns the user left the session, or cleared what the agent remembered."""
    between = trajectory.messages[first : last - 1]
    return any(each.mark == "injected" and _LEFT.search((each.content or "")[:400]) for each in between)


def _is_new_request(request: UserRequest, *, after_end: bool) -> bool:
    """A request of its own. After the workflow of a command, or a pause, also one that begins "ok, so …"."""
    if request.kind == "command":
        return True
    words = _words(_ADDRESS.sub(" ", request.text[:400]))
    is_continued = (_ANSWERS if after_end else _CONTINUES).match(request.text) is not None
    ships = len(words) < _MANY_WORDS and asks_to_ship(request.text)
    return request.kind == "request" and len(words) >= 3 and not is_continued and not ships


def _is_finished(trajectory: Trajectory, turn: int) -> bool:
    """The agent had finished before: no call was open, nothing was interrupted."""
    for position in range(turn - 2, -1, -1):
        message = trajectory.messages[position]
        if message.role == "user":
            if message.mark == "interrupt":
                return False
            continue
        has_asked = "?" in (message.content or "")[-200:]
        return message.role == "assistant" and not message.tool_calls and not has_asked
    return False


def _begun_at(trajectory: Trajectory, before: list[UserRequest], turn: int) -> int:
    """The turn of the user that a request begins with: those right before it that nothing answered are part of it."""
    for earlier in reversed(before[1:]):
        if any(each.role == "assistant" for each in trajectory.messages[earlier.turn : turn - 1]):
            break
        turn = earlier.turn
    return turn


def _is_work(acts: list[Act], turns: int) -> bool:
    return len(acts) >= _LEAST_CALLS and turns >= _LEAST_TURNS


def _files(acts: list[Act]) -> set[str]:
    return {bare_name(path) for act in acts for path in act.edits}


def arc_slug(goal: str) -> str:
    """A short name for an arc: the first words of its goal that are specific."""
    text = _ADDRESS.sub(" ", goal.lower())
    words = [word for word in _SLUG_WORD.findall(text) if word not in _STOP_WORDS | _SMALL_WORDS]
    return slug("-".join(words[:_SLUG_WORDS]) or goal)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:2_000].lower())) - _STOP_WORDS
