"""Sentences put together: what fits, in the order of the session, each with its subject."""

from __future__ import annotations

import re

from agent_wiki.trajectory.lazily import dataclass

MOST_WORDS = 250
_PARAGRAPH_WORDS = 55
_THEN = ("Then", "Next", "After that")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a story. The heaviest stay when there is too much; `opens`: a paragraph may start here.

    `It` and `{then}` at its start are filled in by what comes before.
    """

    turn: int
    weight: int
    text: str
    opens: bool = False


def story_of(sentences: list[Sentence]) -> str:
    """The heaviest sentences that fit in 250 words, in turn order, in paragraphs. Empty ones are left out."""
    kept = sorted(_fitting(sentences), key=lambda at: (sentences[at].turn, at))
    paragraphs: list[list[str]] = [[]]
    asked, before = 0, ""
    for at in kept:
        sentence = sentences[at]
        if sentence.opens and sum(map(_words, paragraphs[-1])) >= _PARAGRAPH_WORDS:
            paragraphs.append([])
        text = sentence.text.replace("{then}", _THEN[asked % len(_THEN)])
        asked += text != sentence.text
        text = _with_subject(text, paragraphs[-1][-1:])
        if sentence.text != before:
            paragraphs[-1].append(text[:1].upper() + text[1:])
        before = sentence.text
    return "\n\n".join(" ".join(each) for each in paragraphs)


def _fitting(sentences: list[Sentence]) -> list[int]:
    """Positions of the heaviest sentences that fit; of two alike, earlier before later."""
    room = MOST_WORDS
    kept = []
    for at in sorted(range(len(sentences)), key=lambda at: (-sentences[at].weight, sentences[at].turn, at)):
        words = _words(sentences[at].text)
        if 0 < words <= room:
            room -= words
            kept.append(at)
    return kept


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
