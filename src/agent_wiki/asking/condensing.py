"""What a model need not read twice: states of a terminal that were drawn over, and lines that an earlier result shows.

Pure. Each cut leaves a note that says how much it left out and, for repeated lines, which turn has them; the sum is
counted, so that a page can say how much of its session was seen. What only looks similar stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.lazily import regex

FEWEST_REDRAWS = 4
"""Lines of one shape; the first and the last of so many are shown."""
FEWEST_REPEATED_LINES = 20
FEWEST_REPEATED_CHARACTERS = 1_000

_MOST_APART = 60_000  # characters between a result and its repetition: further apart, a segment may hold only one
_MOST_SHAPED = 300
_KEY_LINES = 3
_PROGRESS = regex(
    r"[\u2800-\u28ff\u2588-\u2593\u25d0-\u25d3\u2722-\u2724\u2733-\u273d]|\b\d{1,3}(?:\.\d+)? ?%|esc to interrupt"
)
_CHANGING = regex(r"\x1b\[[\d;?]*[A-Za-z]|[\d.,:/#=>|\\\-\s]+|[^\w\s\x1b]")

_Place = tuple[int, int, Sequence[str], int]  # where its result begins, its turn and lines, and which line


def condensed(trajectory: Trajectory) -> tuple[Trajectory, int]:
    """The trajectory with redrawn and repeated lines of results replaced by notes, and the characters left out."""
    known = _KnownLines()
    messages: list[Message] = []
    left_out = 0
    for turn, message in trajectory.turns():
        text = message.content or ""
        if message.role == "tool" and text:
            made, redrawn = without_redraws(text)
            made, repeated = known.without_repeats(turn, made)
            left_out += redrawn + repeated
            message = message if made is text else replace(message, content=made)
        messages.append(message)
        known.position += len(text)
    return (replace(trajectory, messages=messages) if left_out else trajectory), left_out


def without_redraws(text: str) -> tuple[str, int]:
    """A result without what its terminal drew over, and the characters left out.

    Of a line that was rewritten in place the last state is kept; of progress lines and spinner frames that differ in
    figures and glyphs alone, the first and the last.
    """
    states, overwritten = _last_states(text.split("\n")) if "\r" in text else (text.split("\n"), 0)
    hidden = _redrawn(states)
    if not overwritten and not hidden:
        return text, 0
    lines = list(_with_notes(states, hidden))
    if overwritten:
        lines.append(f"[{overwritten:,} characters that were overwritten in place are not shown here]")
    return "\n".join(lines), overwritten + sum(len(states[at]) + 1 for at in hidden)


def _last_states(lines: Sequence[str]) -> tuple[list[str], int]:
    """Each line as it was left by the carriage returns in it, and the characters that they overwrote."""
    states = []
    for line in lines:
        frames = [frame for frame in line.split("\r") if frame.strip()]
        states.append(frames[-1] if len(frames) > 1 else line)
    return states, sum(map(len, lines)) - sum(map(len, states))


def _redrawn(lines: Sequence[str]) -> set[int]:
    """Positions of the lines that show progress and are drawn again later, but for the first of each shape."""
    shapes = {at: _shape(line) for at, line in enumerate(lines) if _PROGRESS.search(line[:_MOST_SHAPED])}
    number = Counter(shapes.values())
    last = {shape: at for at, shape in shapes.items()}
    seen: set[str] = set()
    hidden = set()
    for at, shape in shapes.items():
        if number[shape] >= FEWEST_REDRAWS and shape in seen and last[shape] != at:
            hidden.add(at)
        seen.add(shape)
    return hidden


def _shape(line: str) -> str:
    return _CHANGING.sub("", line[:_MOST_SHAPED]) + str(len(line) // _MOST_SHAPED)


def _with_notes(lines: Sequence[str], hidden: set[int]) -> Iterator[str]:
    """The lines that are not hidden, and one note for each row of those that are."""
    count = size = 0
    for at, line in enumerate(lines):
        if at in hidden:
            count, size = count + 1, size + len(line) + 1
            continue
        if count:
            yield f"[{count:,} redrawn lines, {size:,} characters, are not shown here]"
            count = size = 0
        yield line


class _KnownLines:
    """The lines of the latest results, found by a few that follow each other. `position` is in characters."""

    def __init__(self) -> None:
        self.position = 0
        self._began = 0
        self._recent: dict[tuple[str, ...], _Place] = {}
        self._older: dict[tuple[str, ...], _Place] = {}

    def without_repeats(self, turn: int, text: str) -> tuple[str, int]:
        """A result without the lines that an earlier one shows, and the characters left out. It is known afterwards."""
        lines = text.split("\n")
        if len(lines) < FEWEST_REPEATED_LINES or len(text) > _MOST_APART:
            return text, 0
        kept: list[str] = []
        at = left_out = 0
        while at < len(lines):
            run, other = self._longest_at(lines, at)
            size = sum(len(line) + 1 for line in lines[at : at + run]) - (at + run == len(lines))  # no line end there
            if run >= FEWEST_REPEATED_LINES and size >= FEWEST_REPEATED_CHARACTERS:
                kept.append(f"[{run:,} lines, {size:,} characters, are the same as in turn {other} and not shown here]")
                left_out += size
                at += run
            else:
                kept += lines[at : at + max(run, 1)]
                at += max(run, 1)
        self._learn(turn, lines)
        return ("\n".join(kept), left_out) if left_out else (text, 0)

    def _longest_at(self, lines: Sequence[str], at: int) -> tuple[int, int]:
        """How many lines from there on an earlier result has in a row, and its turn."""
        key = tuple(lines[at : at + _KEY_LINES])
        found = self._recent.get(key) or self._older.get(key)
        if found is None or self.position - found[0] > _MOST_APART:
            return 0, 0
        _, turn, others, start = found
        run = 0
        while at + run < len(lines) and start + run < len(others) and lines[at + run] == others[start + run]:
            run += 1
        return run, turn

    def _learn(self, turn: int, lines: Sequence[str]) -> None:
        if self.position - self._began > _MOST_APART:  # what lies further back is not held
            self._older, self._recent, self._began = self._recent, {}, self.position
        for at in range(len(lines) - _KEY_LINES + 1):
            key = tuple(lines[at : at + _KEY_LINES])
            if any(len(line) > 3 for line in key):
                self._recent[key] = (self.position, turn, lines, at)
