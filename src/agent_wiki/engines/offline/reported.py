"""What the agent reported when it had done what was asked: lines of its replies, verbatim, as its claim.

Most of what a reader misses in a story made by rules stands in them. What is open, and what was checked, comes first.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import NamedTuple

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.endings import NO_ANSWER
from agent_wiki.engines.offline.reply_prose import (
    ANNOUNCES,
    CHEER,
    COLONS,
    CONCLUDES,
    FENCED,
    SENTENCE_END,
    prose_of,
    says_nothing,
)
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.engines.offline.working import is_function
from agent_wiki.stages.summarize import BELOW, CUT, MOST_REPORTED, TurnNote
from agent_wiki.stages.user_reactions import only_reports, takes_back
from agent_wiki.trajectory.language import is_english
from agent_wiki.trajectory.lazily import regex

_LEAST_LETTERS = 150  # of a reply: the story has room for less
_LEAST_OF_MANY = 60  # letters, where there are more replies than the story has room for
# Characters and lines of the longest reply, the last one and others, by how many replies there are.
_SHARES = (((1_000, 8),), ((700, 5), (500, 3)), ((500, 4), (350, 3), (300, 2)),
           ((400, 3), (300, 2), (300, 2), (300, 2)))  # fmt: skip
_MOST_REPLIES, _OF_OTHERS = 14, (240, 1)  # of more than four, each of the others has one line
_MOST_NEEDED = 60  # characters of a heading that is said before each line below it
_LEAST_OF_LINE, _MOST_OF_LINE, _MOST_OF_HEAD, _MOST_FOUND = 40, 290, 78, 4  # characters; the last: lines
_FOUND = written("found_on_the_way", re.IGNORECASE)
_GUESS = written("no_finding", re.IGNORECASE)
_SEARCHES = regex(r"web|fetch|browse|crawl|read_|find_|^search$")
_NO_REPORT = written("no_report", re.IGNORECASE)
_MOST_OF_CODE = 4  # lines; more are a file
_MOST_READ = 12_000
_HEADING = written("heading_in_report")
_TURNS = written("turns_meaning", re.IGNORECASE)
_NO_FAULT = regex(r"\bno (?:\w+ )?(?:issues?|errors?|problems?|conflicts?|warnings?)\b", re.IGNORECASE)
_WEIGHS = written("weighs_in_report", re.IGNORECASE)
_IS_PATCH = regex(r"diff --git |@@ -\d|--- a/|\+\+\+ b/|\*\*\* (?:Begin Patch|Update File)")
_CODE = regex(r"`[^`]*`")
_BRACE = regex(r"`[\s})\];]*`|`[})\]]|[^\n]*[{(\[]`$")  # the edge of a block of code
_ITEM = regex(r"\s*(?:[-*+]|\d{1,2}[.)])\s")
_PLANS, _OFFERS = written("plans", re.IGNORECASE), written("offers", re.IGNORECASE)
_RULE = regex(r"\s*\|?[|:\s-]*--[|:\s-]*")
_ASKED = regex(r"(?:^|(?<=[.!?:。！] ))[^.!?。！]{0,400}[?？]$")
_WORD = regex(r"[^\W\d_]{2,}")
_FEWEST_WORDS, _FEWEST_SIGNS, _LEAST_WORDS = 3, 10, 8
_SENTENCE = regex(r"[.!?](?=\s)")


class _Closing(NamedTuple):
    """The reply that ended the work on a request.

    `made`: files were changed, or something was shipped or deleted. `stands`: what it speaks of was not changed later.
    """

    turn: int
    text: str
    made: bool
    stands: bool


def reported_by(stretch: Stretch) -> list[TurnNote]:
    """Lines of the replies that ended the work on a request, most of the last and the longest; empty where all are
    short.

    None that the user rejected, and of a short session none of which what it speaks of was changed afterwards. What is
    said to a customer is no report.
    """
    if stretch.is_talk() and all(_is_for_customer(act) for act in stretch.acts):
        return []
    closings = list(_closings(stretch))
    are_many = len(closings) > len(_SHARES)  # of a long session each says what came of its request, then
    least = _LEAST_OF_MANY if are_many else _LEAST_LETTERS
    standing = [each for each in closings if sum(map(str.isalpha, each.text)) >= least and (each.stands or are_many)]
    last_act = max((act.turn for act in stretch.acts), default=0)
    if not standing and stretch.followed_by is None and stretch.last_reply_turn() <= last_act:
        return _findings(stretch)
    if not are_many:
        standing = [each for each in standing if each.made] or standing
    longest = sorted(standing, key=lambda each: (not each.made, -len(each.text)))
    chosen = list(dict.fromkeys((*longest[:1], *standing[-1:], *longest)))[:_MOST_REPLIES]
    room = _SHARES[min(len(chosen), len(_SHARES)) - 1] if chosen else ()
    shares = zip(chosen, (*room, *[_OF_OTHERS] * (len(chosen) - len(room))), strict=True)
    found = [TurnNote(turn=each.turn, text=line) for each, most in shares for line in _shown(each.text, *most)]
    return sorted(found[:MOST_REPORTED], key=lambda note: note.turn)


def _is_for_customer(act: Act) -> bool:
    """A function of an application was called, or the user was asked: no work on a repository, no search of the web."""
    is_look = act.kind == "look" and is_function(act) and not _SEARCHES.search(act.call.name)
    return is_look or act.kind in ("service", "ask", "plan")


def _findings(stretch: Stretch) -> list[TurnNote]:
    """What the agent said on the way that it had found, the last few lines, of a recording that no reply ends."""
    messages = stretch.trajectory.messages
    turns = range(stretch.last_request_turn() + 1, stretch.last_turn + 1)
    said_so = ((turn, messages[turn - 1].content or "") for turn in turns if messages[turn - 1].tool_calls)
    replies = [(turn, FENCED.sub("", words)) for turn, words in said_so]  # of code no line is a finding
    lines = [(turn, line) for turn, reply in replies for line in reply.splitlines()]
    said = [
        (turn, each.removeprefix("THOUGHT:").strip(" *->|_\t"))
        for turn, line in lines
        for each in SENTENCE_END.split(line)
    ]
    found = [(turn, line) for turn, line in said if _FOUND.search(line) and not ANNOUNCES.match(line)]
    found = [(turn, line) for turn, line in found if not line.endswith(("?", *COLONS)) and not _GUESS.search(line)]
    kept = [(turn, line) for turn, line in found if _LEAST_OF_LINE < len(line) <= _MOST_OF_LINE]
    return [TurnNote(turn=turn, text=line) for turn, line in kept[-_MOST_FOUND:]]


def _closings(stretch: Stretch) -> Iterator[_Closing]:
    """The replies that the user did not reject, one a request at most, in their order."""
    asked = [each.turn for each in stretch.requests]
    spans = list(zip([0, *asked], [*asked, stretch.last_turn + 1], strict=True))
    edits = [(act.turn, frozenset(act.edits)) for act in stretch.kept_edits()]
    for at, (start, end) in enumerate(spans):
        acts = [act for act in stretch.acts if start <= act.turn < end]
        turn, reply = next(stretch.replies(end), (0, ""))
        if turn < max([start + 1, *(act.turn for act in acts)]):
            continue  # no answer came, or calls came after it
        said = stretch.requests[at] if at < len(asked) else stretch.followed_by
        is_rejected = said and (said.kind == "objection" or takes_back(said.text) or only_reports(said.text))
        if is_rejected or NO_ANSWER.match(reply):
            continue
        mine = {path for changed, paths in edits if start <= changed < end for path in paths}
        later = {path for changed, paths in edits if changed >= end for path in paths}
        made = bool(mine) or any(act.has_worked and act.kind in ("ship", "delete") for act in acts)
        prose = prose_of(reply)
        yield _Closing(turn, prose if prose in reply else "", made, not later or bool(mine and not mine & later))


def _shown(reply: str, most: int, most_lines: int) -> list[str]:
    """The lines of a reply that fit: first those that weigh, then from its start; an ellipsis before each gap."""
    lines = list(_lines(reply[:_MOST_READ]))
    sums_up = [most_lines == 1 and CONCLUDES.search(line) is not None for line in lines]
    is_row = [" | " in line for line in lines]  # of a table, whose others are left out
    scraps = [most_lines == 1 and (BELOW in line or len(line.split()) < _LEAST_WORDS) for line in lines]
    ranks = zip(
        is_row, map(operator.not_, sums_up), scraps, (_WEIGHS.search(line) is None for line in lines), strict=True
    )
    rank = dict(enumerate(ranks))
    weighty = sorted(rank, key=lambda at: (rank[at], at))
    room, kept = most, set[int]()
    for at in weighty:
        if len(lines[at]) <= room and len(kept) < most_lines:
            room -= len(lines[at])
            kept.add(at)
    before_gap = kept - {at - 1 for at in kept} - {len(lines) - 1} if most_lines > 1 else set()  # one line says enough
    return [f"{lines[at].removesuffix(CUT)}{CUT}" if at in before_gap else lines[at] for at in sorted(kept)]


def _lines(reply: str) -> Iterator[str]:
    """What a reply says, under a heading the first line or all that need it; no cheers, no questions."""
    heading, depth, is_needed = "", 0, False
    said = [line for line in _said(reply) if line.strip()]
    for line, below in zip(said, [*said[1:], ""], strict=False):
        if _HEADING.match(line) or _leads_in(line, below):
            heading = line.strip(" *->#|_\t:：")
            depth = len(line) - len(line.lstrip()) if _ITEM.match(line) else -1
            is_needed = any((_TURNS.search(_NO_FAULT.sub("", heading)), _PLANS.match(heading), _OFFERS.match(heading)))
            is_needed &= "|" not in heading and len(heading) <= _MOST_NEEDED
            continue
        is_plan = bool(_PLANS.match(heading) or _OFFERS.match(heading))
        if len(line) - len(line.lstrip()) <= depth or (is_plan and not _ITEM.match(line)):
            heading, depth, is_plan = "", 0, False  # it led in to what stood below it, deeper
        text = line if _CODE.fullmatch(line) else _cut(_ASKED.sub("", line.strip(" *->|_\t")).rstrip())
        if sum(map(str.isalpha, text)) < 2 or says_nothing(text):
            continue
        under = heading if heading and not CHEER.fullmatch(heading) else ""
        is_scrap = not under or _BRACE.match(line) if _CODE.fullmatch(line) else _is_scrap(text)
        is_row = _CODE.sub("", text).count(" | ") > bool(under)  # of many cells, or without the head of its table
        heading = "" if text.endswith(COLONS) else heading  # another lead-in, of what comes now
        if is_scrap or is_plan or text.endswith(COLONS) or _NO_REPORT.search(text) or is_row:
            heading = heading if is_needed else ""  # it was said of this line, not of the next
            continue  # a lead-in of its own says nothing
        yield f"{under}{BELOW}{text}" if under else text
        heading = heading if is_needed else ""


def _leads_in(line: str, below: str) -> bool:
    """A short item of a list that has items of its own."""
    items = _ITEM.match(line), _ITEM.match(below)
    is_deeper = len(below) - len(below.lstrip()) > len(line) - len(line.lstrip())
    return all(items) and is_deeper and len(line.strip()) <= _MOST_OF_HEAD


def _is_scrap(text: str) -> bool:
    """A name or a count, which says nothing elsewhere."""
    words = [word for word in text.split() if _WORD.search(word)]
    if not is_english(text):
        said = sum(map(str.isalpha, "".join(text.split("`")[::2])))  # beside names in code
        return said < _FEWEST_SIGNS // 3 or sum(map(str.isalpha, text)) < _FEWEST_SIGNS
    return len(words) < _FEWEST_WORDS or " " not in text


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
        elif _IS_PATCH.match(line):
            break  # what follows are changes, not words
        elif code is not None:
            code += [f"`{line.strip()}`"] if line.strip() and "`" not in line else []
        else:
            is_head = _RULE.fullmatch(line) is not None and before.lstrip().startswith("|")
            yield f"{before[:_MOST_OF_HEAD]}:" if is_head else before
            before = line
    yield before


def _cut(line: str) -> str:
    """A line, or of a long one the sentences that fit; where not even one does, the words, with an ellipsis."""
    if len(line) <= _MOST_OF_LINE:
        return line
    ends = [match.end() for match in _SENTENCE.finditer(line, 0, _MOST_OF_LINE)]
    return line[: ends[-1]] if ends else f"{line[: line.rfind(' ', 0, _MOST_OF_LINE)].rstrip()}{CUT}"
