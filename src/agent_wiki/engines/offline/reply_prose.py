"""What a reply of the agent says: its first informative sentences, what it concludes, what it takes back further on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from agent_wiki.engines.offline.tables import written
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.prose_in_json import prose_in_json

FENCED = regex(r"^ *```.*?(?:^ *```|\Z)", re.DOTALL | re.MULTILINE, needs=("```",))
_SHOWN = regex(r"(?<=[:：])\s*\n```[\w+-]{0,20}\n([^\n`]{3,200})\n```(?=\s|\Z)", needs=("```",))
SENTENCE_END = regex(r"(?<=[.!?])\s+")
COLONS = (":", "：")
ANNOUNCES = written("announces", re.IGNORECASE)
CHEER = written("cheer", re.IGNORECASE)
PLEASANTRY = written("pleasantry", re.IGNORECASE)
LEAST_LETTERS, _LEAST_OF_SECTION, _MOST_ITEMS = 90, 30, 3
_MOST_READ, _MOST_BEFORE, _MOST_FOUND = 6_000, 110, 200  # characters
_HEADING = regex(r"\s*(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?\s*$|```|\||-{3,}|[═━─▬]{3,})")
_ITEM = regex(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")
_PLAIN_HEADING = written("plain_heading", re.IGNORECASE)
_STOPS = ".!?:;,…。：；，"
_BARE_NUMBER = regex(r"\d{1,3}[.)]\s*")
_BARE_WORD = regex(r"(?:`[^`]{1,200}`|(?=[^/]*/)[\w./@~-]++|and|or)?\W*+")  # a file, a name in code
CONCLUDES = written("concludes", re.IGNORECASE)
_DOUBTFUL = written("doubtful", re.IGNORECASE)
_RESERVES = written("reserves", re.IGNORECASE)
CODE_LINE = written("line_of_code")
_OF_PLAN = regex(r"</?proposed_plan>\n?")


class _Line(NamedTuple):
    """A line of a reply. `sentences`: empty for each that says nothing; `lead_in`: the last if it ends in a colon."""

    kind: Literal["heading", "item", "paragraph"]
    sentences: list[str]
    lead_in: str = ""
    continues: bool = False  # the sentence of the line before it


def first_prose(reply: str, least: int = LEAST_LETTERS) -> str:
    """The first informative sentences of a reply, of `least` letters or more: no heading, no cheer, few items of a list
    and none below another heading, what leads in to a list only with its first; what is left out between shows.
    """
    text = FENCED.sub("\n---\n", _SHOWN.sub(_shown, prose_of(reply)))
    read = list(_worth_reading(_lines(text), least))
    opening = next((each for line in read for each in line.sentences if each), "")
    if not opening:
        return next((words for line in read if (words := line.lead_in.rstrip("".join(COLONS)))), "")
    words = _joined(read)
    found = _conclusion(text.partition(opening)[2]) if len(opening) <= _MOST_BEFORE else ""
    return words if found in words else f"{opening} … {found}"


def _shown(block: re.Match[str]) -> str:
    """A block of one line in backticks; what stands between two blocks as it is."""
    return block.group() if block.string.count("```", 0, block.start()) % 2 else f" `{block[1]}`"


def _lines(text: str) -> Iterator[_Line]:
    """The lines of a reply; the first of a list with its heading, or, as long as nothing was said, its lead-in."""
    lead_in, has_begun = "", False
    for each in text[:_MOST_READ].splitlines():
        line = _line(each, lead_in)
        yield line
        has_begun = has_begun or any(line.sentences)
        heading = each.strip(" #*:") if line.kind == "heading" and each.strip()[:1] not in "-|`═━─▬" else ""
        if heading and not _PLAIN_HEADING.match(heading):
            lead_in = f"{heading} …"
        elif each.strip():
            lead_in = "" if has_begun or ANNOUNCES.match(line.lead_in) else line.lead_in


def _line(text: str, lead_in: str) -> _Line:
    if _HEADING.match(text):
        return _Line("heading", [""])
    sentences = SENTENCE_END.split(text.strip(" *->_\t"))
    last = sentences[-1] if sentences[-1].endswith(COLONS) else ""
    said = ["" if says_nothing(each) or each.endswith(COLONS) or _is_bare(each) else each for each in sentences]
    is_item = _ITEM.match(text) is not None
    if is_item and lead_in and said[0]:
        said[0] = f"{lead_in} {said[0]}"
    return _Line("item" if is_item else "paragraph", said, last, continues=text[:1].islower())


def _worth_reading(lines: Iterable[_Line], least: int) -> Iterator[_Line]:
    """The lines until they have `least` letters, of a list less; no items below a heading within the reply."""
    letters, items, is_below = 0, 0, False
    for line in lines:
        is_below |= line.kind == "heading" and letters >= _LEAST_OF_SECTION
        if line.kind == "item" and is_below:
            continue
        yield line
        items += line.kind == "item"
        letters += sum(map(str.isalpha, "".join(line.sentences)))
        if letters >= (LEAST_LETTERS if items >= _MOST_ITEMS else least):
            break


def _joined(lines: Iterable[_Line]) -> str:
    """What the lines say, with an ellipsis for what says nothing and between the items of a list."""
    words, gap = "", ""
    for line in lines:
        if words and words[-1] not in _STOPS and not line.continues:
            gap = "… "
        for sentence in line.sentences:
            if sentence:
                words = f"{words} {gap if words else ''}{sentence}".strip()
            gap = "" if sentence else "… "
    return words


def _conclusion(text: str) -> str:
    """The first sentence that names a cause or sums up; empty without one of a fair length."""
    lines = [line.strip(" *->_\t") for line in text[:_MOST_READ].splitlines() if not _HEADING.match(line)]
    sentences = (each for line in lines for each in SENTENCE_END.split(line))
    fair = (each for each in sentences if len(each) <= _MOST_FOUND and not each.endswith((*COLONS, "?", "？")))
    return next((each for each in fair if CONCLUDES.search(each) and not _DOUBTFUL.search(each)), "")


def reservation(reply: str, shown: str = "") -> str:
    """The first sentence of a reply, after its first, that takes back a part of it; empty where `shown` has it."""
    since = max(reply.find(shown[1:26]), 0) if shown else 0  # what stands before it takes nothing of it back
    lines = (line.strip(" *->_#\t") for line in FENCED.sub("", reply[since:_MOST_READ]).splitlines())
    sentences = [each for line in lines for each in SENTENCE_END.split(line)]
    found = next((each for each in sentences[1:] if _RESERVES.match(each) and not each.endswith(("?", ":"))), "")
    return "" if _letters(found[:40]) in _letters(shown) else found


def _letters(text: str) -> str:
    """Its letters and digits alone: quoting changes the other signs."""
    return "".join(filter(str.isalnum, text.lower()))


def says_nothing(sentence: str) -> bool:
    """A cheer, a courtesy, code, or what the agent is about to do: nothing of what it did or found."""
    text = sentence.strip()
    return bool(CHEER.fullmatch(text) or PLEASANTRY.match(text) or ANNOUNCES.match(text) or CODE_LINE.match(text))


def _is_bare(sentence: str) -> bool:
    """Only files and names. Word by word: one expression for all of it would try every way to divide it."""
    number = _BARE_NUMBER.match(sentence)
    words = re.split(r"[\s,;&+]+", sentence[number.end() if number else 0 :])
    return all(map(_BARE_WORD.fullmatch, words))


def prose_of(reply: str) -> str:
    """A reply as a reader sees it: of one in JSON the part that is prose."""
    return prose_in_json(reply) if reply.lstrip().startswith(("{", "[", "```json")) else _OF_PLAN.sub("", reply)
