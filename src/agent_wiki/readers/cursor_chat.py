"""Chats that Cursor exports as Markdown: a title, when and by which version it was exported, then the turns.

`**User**` and `**Cursor**` head the turns, with a rule above. Of calls, results and thoughts an export has nothing, and
its one time is that of the export, with day and month in the order of some locale. Which heading is a turn is found by
the layout, by the fences of code and by the order: Cursor joins what one of the two says in a row. (Read after public
exports of 0.50 to 3.20, and WayLog's copies of the layout; the program did not run here.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import short_digest
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.lazily import dataclass, regex

FORMAT = "cursor-chat"

_USER, _CURSOR = "**User**", "**Cursor**"
_RULE = "---"
_EXPORTED = regex(r"_Exported on \S.{0,100}? from Cursor (?:\(([\w.+-]{1,40})\)|via WayLog)_")
_ROUTED = regex(r"> Auto routed to (\S{1,100})[ \t]*(?:\n|\Z)")  # the first line of a reply, in newer versions
# What the button that has a plan carried out says for the user, behind the plan's name or the user's own words.
_BUILDS_PLAN = regex(
    r"^(Implement the plan as specified, it is attached for your reference\.[^\n]{0,100}"
    r"(?:\n{1,3}To-do's from the plan have already been created\.[^\n]{0,300})?)$",
    re.MULTILINE,
)
# What underlines an error has tildes, too: more of them, further in, or other signs among them.
_FENCE = regex(r"[ \t]*(`{3,})([^`]*)| {0,3}(~~~)([\w+-]{0,40})[ \t]*")
_PLAIN_FENCE = "```"


def claims(sample: Sample) -> bool:
    """A file that begins with a title and Cursor's line on the export."""
    return _head(sample.head.split("\n")) is not None


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one chat of a file. Raises `UnreadableRecording` when nothing was said in it."""
    lines = list(recording.text_lines())
    while lines and lines[-1].strip() in ("", _RULE):  # WayLog ends the last turn with a rule, too
        lines.pop()
    head = _head(lines)
    headings = _headings(lines, head.lines) if head else []
    builder = TrajectoryBuilder()
    if head and headings:
        ahead = "\n".join(line for line in lines[head.lines : headings[0].at] if line.strip() != _RULE).strip()
        if ahead:
            builder.user(ahead, "injected")  # somebody's note: nothing says that it was said in the chat
        for heading, after in zip_longest(headings, headings[1:]):
            _add(builder, heading.who, lines[heading.at + 1 : after.rule if after else len(lines)])
    if not head or not builder.messages:
        raise UnreadableRecording(
            recording.name, "a chat exported by Cursor in which nothing was said", is_foreign=True
        )
    texts = [message.content or "" for message in builder.messages[:2]]
    source = Source(format=FORMAT, title=head.title or None, agent_version=head.version)
    yield builder.finish(f"{FORMAT}-{short_digest(texts)}", source, agent="cursor")


@dataclass(frozen=True, slots=True)
class _Head:
    """What an export begins with, and how many lines that takes."""

    title: str
    version: str | None
    lines: int


@dataclass(frozen=True, slots=True)
class _Heading:
    """The line that heads a turn, and the line of the rule above it."""

    who: str
    at: int
    rule: int


def _head(lines: Sequence[str]) -> _Head | None:
    """The title and Cursor's line on the export; a formatter of Markdown puts an empty line between them."""
    texts = [(at, line.strip()) for at, line in enumerate(lines[:8]) if line.strip()][:2]
    exported = _EXPORTED.fullmatch(texts[1][1]) if len(texts) > 1 else None
    if exported is None or not f"{texts[0][1]} ".startswith("# "):
        return None
    return _Head(texts[0][1].removeprefix("#").strip(), exported[1], texts[1][0] + 1)


def _add(builder: TrajectoryBuilder, who: str, lines: Sequence[str]) -> None:
    text = "\n".join(lines).strip()
    if who == _USER:
        pieces = _BUILDS_PLAN.split(text)
        for number, piece in enumerate(pieces):
            if piece.strip() or len(pieces) == 1:
                builder.user(piece.strip(), "injected" if number % 2 else None)
        return
    if routed := _ROUTED.match(text):
        builder.models[routed[1]] += 1
        text = text[routed.end() :].strip()
    builder.assistant(text)


def _headings(lines: Sequence[str], start: int) -> list[_Heading]:
    """The lines that head a turn.

    The two take turns. So a second heading of Cursor's is a quote, and so is one of the user's that another of the
    user's follows: the text below it stays in the reply, for it may be the agent's.
    """
    headings = _unquoted(lines, _by_layout(lines, start))
    found: list[_Heading] = []
    for heading, after in zip_longest(headings, headings[1:]):
        is_in_reply = bool(found) and found[-1].who == _CURSOR
        is_answered = heading.who == _USER and (after is None or after.who == _CURSOR)
        if not is_in_reply or is_answered:
            found.append(heading)
    return found


def _by_layout(lines: Sequence[str], start: int) -> list[_Heading]:
    """The lines that look as a heading does: alone, between empty lines, below a rule. The first needs no rule."""
    found: list[_Heading] = []
    for at in range(start, len(lines)):
        if lines[at].rstrip() not in (_USER, _CURSOR):
            continue
        rule = _rule_above(lines, at)
        is_alone = at + 1 == len(lines) or not lines[at + 1].strip()
        if not found or (rule is not None and is_alone):
            found.append(_Heading(lines[at].rstrip(), at, at if rule is None else rule))
    return found


def _rule_above(lines: Sequence[str], at: int) -> int | None:
    """The rule above a heading, between empty lines; WayLog has two of these below it."""
    rule = at - 2 if lines[at - 2].strip() else at - 3
    is_rule = rule > 0 and lines[rule].rstrip() == _RULE
    return rule if is_rule and not lines[at - 1].strip() and not lines[rule - 1].strip() else None


def _unquoted(lines: Sequence[str], headings: Sequence[_Heading]) -> list[_Heading]:
    """The headings that no fence contains, as far as the text shows it.

    A fence that is left open contains what follows only if a fence without a language comes later that nothing else
    opened; else it was never closed, as in replies that were cut off. What is quoted in a user's turn is no longer
    the user's once Cursor is said to speak.
    """
    left = [
        _left_open(lines[heading.at + 1 : after.at if after else len(lines)])
        for heading, after in zip_longest(headings, headings[1:])
    ]
    found: list[_Heading] = []
    is_open = False
    for heading, (depth, _), may_close in zip(headings, left, _closing(left), strict=True):
        is_quoted = is_open and may_close
        if not is_quoted or (heading.who == _CURSOR and found[-1].who == _USER):
            found.append(heading)
        is_open = depth != 1 if is_quoted else depth > 0
    return found


def _closing(left: Sequence[tuple[int, bool]]) -> list[bool]:
    """Of each turn, whether the next that leaves a fence open, itself included, may have closed one instead."""
    found: list[bool] = []
    may_close = False
    for depth, is_bare in reversed(left):
        may_close = is_bare if depth else may_close
        found.append(may_close)
    return found[::-1]


def _left_open(lines: Sequence[str]) -> tuple[int, bool]:
    """How many fences a text leaves open, and whether the outermost has no language, so that it may close another."""
    fences = _Fences()
    for line in lines:
        fence = _FENCE.fullmatch(line) if "```" in line or "~~~" in line else None
        if fence is not None:
            fences.take(fence[1] or fence[3], (fence[2] or fence[4] or "").strip())
    return fences.depth + bool(fences.longer), fences.is_bare


class _Fences:
    """The fences that are open at a line.

    One with a language opens a fence also inside another, for agents write Markdown that way. A longer one, or one of
    tildes, holds whatever comes until its like; another end of the same is no beginning.
    """

    def __init__(self) -> None:
        self.depth = 0  # of those of three backticks
        self.longer = ""
        self.ended = ""  # the longer one that ended last
        self.is_bare = False  # whether the outermost has no language

    def take(self, mark: str, label: str) -> None:
        """Process one fence."""
        if self.longer:
            if not label and mark.startswith(self.longer):
                self.longer, self.ended = "", self.longer
        elif mark == _PLAIN_FENCE:
            self._outermost(label)
            self.depth += 1 if label or not self.depth else -1
        elif (mark[0] == _PLAIN_FENCE[0] or not self.depth) and (label or mark != self.ended):
            if not label:
                self.depth = 0  # what is above was in a fence like this one, if this is its end
            self._outermost(label)
            self.longer = mark

    def _outermost(self, label: str) -> None:
        if not self.depth:
            self.is_bare = not label
