"""Sentences put together: what fits, in the order of the session, each with its subject."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from agent_wiki.engines.offline.requests import asked_before
from agent_wiki.trajectory.lazily import dataclass

MOST_WORDS = 250
_PARAGRAPH_WORDS = 55
_FOLLOWS = 15  # what a sentence weighs less for each other one under the same turn of the user
_OBJECTED = "The user objected"  # which is kept even alone
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
    works = {asked_before(turns, each.turn) for each in sentences if each.text and not each.opens}
    in_words = {each.turn: each for each in sentences if each.opens and each.text and _OBJECTED not in each.text}
    for sentence, of in _in_turn(sentences, turns):
        is_opening = sentence.opens and sentence.turn == of
        known = openings.get(of)
        if is_opening and of in works and of in in_words:
            continue  # with what was done about it, or not at all: else it would seem that nothing was
        own = 0 if is_opening else _words(sentence.text)
        opening = sentence if is_opening else known or _opening(of, in_words, asked, room - own)
        needed = _words(opening.text) - (_words(known.text) if known else 0) if opening else 0
        needed += own
        if not sentence.text or needed > room:
            continue
        room -= needed
        if opening is not None:
            openings[of] = opening
        if not is_opening:
            kept.append(sentence)
    return [*openings.values(), *kept]


def _in_turn(sentences: list[Sentence], turns: list[int]) -> Iterator[tuple[Sentence, int]]:
    """The sentences with the turn of the user that each is about, the heaviest first; each turn has its share."""
    by_turn: dict[int, list[Sentence]] = {}
    for sentence in sorted(sentences, key=lambda each: (each.weight, -each.turn)):
        by_turn.setdefault(asked_before(turns, sentence.turn), []).append(sentence)
    taken = Counter[int]()
    while by_turn:
        of = max(by_turn, key=lambda turn: (by_turn[turn][-1].weight - _FOLLOWS * taken[turn], -by_turn[turn][-1].turn))
        sentence = by_turn[of].pop()
        yield sentence, of
        taken[of] += not sentence.opens
        if not by_turn[of]:
            del by_turn[of]


def _opening(of: int, in_words: Mapping[int, Sentence], asked: Mapping[int, str], room: int) -> Sentence | None:
    """What the story says of a turn of the user whose work it tells: in the user's words where there is room."""
    said = in_words.get(of)
    if said is not None and _words(said.text) <= room:
        return said
    return Sentence(of, 0, asked[of], opens=True) if of else None


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
