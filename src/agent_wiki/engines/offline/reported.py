"""What the agent reported when it had done what was asked: lines of its replies, verbatim, as its claim.

Of the facts of a session that a reader misses in a story made by rules, most stand in these replies.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from agent_wiki.engines.offline.endings import BARE, CHEER, PLEASANTRY, prose_of
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.stages.summarize import CUT, MOST_REPORTED, TurnNote
from agent_wiki.trajectory.lazily import regex

_LEAST_LETTERS = 150  # of a reply: the story has room for less
_LEAST_OF_LINE = 20  # letters
_MOST_OF_LINE, _MOST_OF_REPLY = 290, 1_200  # characters
_MOST_OF_CODE = 4  # lines; more are a file
_MOST_READ = 12_000
_HEADING = regex(r"\s*(?:#{1,6}\s+\S|\*\*[^*\n]{1,80}\*\*:?\s*$|[^\n]{1,80}:\s*$)")
_SAYS_NOTHING = regex(
    r"(?:(?:final |brief )?summary|done|overview|changes(?: made)?|what (?:i|was) (?:did|changed|done|implemented))\W*",
    re.IGNORECASE,
)
_RULE = regex(r"\s*\|?[|:\s-]*--[|:\s-]*")
_SENTENCE = regex(r"[.!?](?=\s)")


def reported_by(stretch: Stretch) -> list[TurnNote]:
    """Lines of the longest reply that ends the work on a request, and of the last one; empty where all are short.

    The longest asks nothing and met with no objection, if one is so. What is said to a customer is no report.
    """
    if all(act.kind in ("service", "ask", "plan") for act in stretch.acts):
        return []
    asked = [each.turn for each in stretch.requests]
    last_act = {bisect_left(asked, act.turn): act.turn for act in stretch.acts}
    ends: dict[int, tuple[int, str]] = {}
    for turn, reply in stretch.replies():
        at = bisect_left(asked, turn)
        if turn >= last_act.get(at, 0):
            prose = prose_of(reply)
            ends.setdefault(at, (turn, prose if prose in reply else ""))
    replies = {at: each for at, each in ends.items() if sum(map(str.isalpha, each[1])) >= _LEAST_LETTERS}
    if not replies:
        return []
    refused = {at for at, each in enumerate(stretch.requests) if each.kind == "objection"}
    stands = [each for at, each in replies.items() if at not in refused and "?" not in each[1][-_LEAST_LETTERS:]]
    longest = max(stands or replies.values(), key=lambda each: len(each[1]))
    last = next(iter(replies.values()))
    found = [TurnNote(turn=turn, text=line) for turn, reply in dict.fromkeys((longest, last)) for line in _lines(reply)]
    return sorted(found, key=lambda note: note.turn)[:MOST_REPORTED]


def _lines(reply: str) -> Iterator[str]:
    """The first lines that say something, none of them longer than a few sentences, with the headings above them."""
    room, heading = _MOST_OF_REPLY, ""
    for line in _said(reply[:_MOST_READ]):
        if _HEADING.match(line):
            heading = "" if _SAYS_NOTHING.fullmatch(bare := line.strip(" *->#_\t")) else bare
            continue
        text = line if line.startswith("`") and line.endswith("`") else _cut(line.strip(" *->|_\t"))
        letters = sum(map(str.isalpha, text))
        if not line.startswith("`") and (letters < _LEAST_OF_LINE or BARE.fullmatch(text)):
            continue
        if text.endswith("?") or CHEER.fullmatch(text) or PLEASANTRY.match(text):
            continue
        room -= len(heading) + len(text)
        if room < 0:
            return
        yield from filter(None, (heading, text))
        heading = ""


def _said(reply: str) -> Iterator[str]:
    """The lines of a reply: no rules and heads of tables, of code only what is short, in backticks."""
    code: list[str] | None = None
    before = ""
    for line in reply.splitlines():
        if line.lstrip().startswith("```"):
            yield before
            before = ""
            if code and len(code) <= _MOST_OF_CODE:
                yield from code
            code = [] if code is None else None
        elif code is not None:
            code += [f"`{line.strip()}`"] if line.strip() and "`" not in line else []
        else:
            yield "" if _RULE.fullmatch(line) and before.lstrip().startswith("|") else before
            before = line
    yield before


def _cut(line: str) -> str:
    """A line, or of a long one the sentences that fit; where not even one does, the words, with an ellipsis."""
    if len(line) <= _MOST_OF_LINE:
        return line
    ends = [match.end() for match in _SENTENCE.finditer(line, 0, _MOST_OF_LINE)]
    return line[: ends[-1]] if ends else f"{line[: line.rfind(' ', 0, _MOST_OF_LINE)].rstrip()}{CUT}"
