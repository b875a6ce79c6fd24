"""Sentences put together: what fits, in the order of the session, each with its subject."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agent_wiki.engines.offline.requests import asked_before
from agent_wiki.trajectory.lazily import dataclass

MOST_WORDS = 250
_PARAGRAPH_WORDS = 55
_THEN = ("Then", "Next", "After that")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a story. The heaviest stay when there is too much; `opens`: a paragraph may start here.

    `It` and `{then}` at its start are filled in by what comes before. `fuller`: the same with more of the words that it
    quotes, for where there is room.
    """

    turn: int
    weight: int
    text: str
    opens: bool = False
    fuller: str = ""


def story_of(sentences: list[Sentence], asked: Mapping[int, str] | None = None) -> str:
    """The heaviest sentences that fit in 250 words, in turn order, in paragraphs. Empty ones are left out.

    `asked`: the later turns of the user, each with a short sentence about it. That sentence comes before what was done
    about the turn where no sentence of `sentences` tells of the turn itself: else an answer would seem to be to another
    request.
    """
    order, asked = {id(each): at for at, each in enumerate(sentences)}, asked or {}
    chosen = _fitting(sentences, asked, MOST_WORDS)
    in_order = sorted(chosen, key=lambda each: (each.turn, order.get(id(each), -1)))
    kept = _filled(in_order, MOST_WORDS)
    paragraphs: list[list[str]] = [[]]
    followed, before = 0, ""
    for sentence in kept:
        if sentence.opens and sum(map(_words, paragraphs[-1])) >= _PARAGRAPH_WORDS:
            paragraphs.append([])
        text = sentence.text.replace("{then}", _THEN[followed % len(_THEN)])
        followed += text != sentence.text
        text = _with_subject(text, paragraphs[-1][-1:])
        if sentence.text != before:
            paragraphs[-1].append(text[:1].upper() + text[1:])
        before = sentence.text
    return "\n\n".join(" ".join(each) for each in paragraphs)


def _fitting(sentences: list[Sentence], asked: Mapping[int, str], room: int) -> list[Sentence]:
    """The heaviest sentences that fit, with the turns of the user that they are about; of two alike, the earlier."""
    turns = sorted(asked)
    kept: list[Sentence] = []
    openings: dict[int, Sentence] = {}  # by the turn of the user
    for sentence in sorted(sentences, key=lambda each: (-each.weight, each.turn)):
        of = asked_before(turns, sentence.turn)
        is_opening = sentence.opens and sentence.turn == of
        known = openings.get(of)
        opening = sentence if is_opening else known or (Sentence(of, 0, asked[of], opens=True) if of else None)
        needed = _words(opening.text) - (_words(known.text) if known else 0) if opening else 0
        needed += 0 if is_opening else _words(sentence.text)
        if not sentence.text or needed > room:
            continue
        room -= needed
        if opening is not None:
            openings[of] = opening
        if not is_opening:
            kept.append(sentence)
    return [*openings.values(), *kept]


def _filled(kept: list[Sentence], room: int) -> list[Sentence]:
    """The same sentences with more of what they quote, the heaviest first, as long as there is room."""
    room -= sum(_words(each.text) for each in kept)
    shown = list(kept)
    for at, each in sorted(enumerate(kept), key=lambda pair: -pair[1].weight):
        more = _words(each.fuller) - _words(each.text)
        if each.fuller and more <= room:
            shown[at], room = replace(each, text=each.fuller), room - more
    return shown


def _words(text: str) -> int:
    """Words once the openings are filled in, at most."""
    return len(text.replace("{then}", _THEN[-1]).split()) + text.startswith("It ")


def _with_subject(text: str, before: list[str]) -> str:
    """`It` only right after a sentence about the agent; `The agent` everywhere else."""
    is_about_agent = bool(before) and re.match(r"(?:The agent|It) ", before[0]) is not None
    if is_about_agent and text.startswith("The agent "):
        return f"It {text.removeprefix('The agent ')}"
    if not is_about_agent and text.startswith("It "):
        return f"The agent {text.removeprefix('It ')}"
    return text
