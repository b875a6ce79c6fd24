"""What the agent itself said on the way that a reader needs: what a change is for, and what it could not do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.goal import request_line
from agent_wiki.engines.offline.reply_prose import CODE_LINE, FENCED, prose_of
from agent_wiki.engines.offline.requests import UserRequest, asks
from agent_wiki.engines.offline.story import Sentence
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.engines.offline.wording import said
from agent_wiki.pages.compare.views import KeyTurnKind
from agent_wiki.shell.edited_parts import edited_parts
from agent_wiki.trajectory.harness_text import without_written_call
from agent_wiki.trajectory.lazily import dataclass, regex

_CAUSE = written("cause", re.IGNORECASE)
_CANNOT = written("cannot", re.IGNORECASE)
_NEEDS = regex(r"\bI need\b")  # "I'm sorry, but I need your number first" refuses nothing
_LEAD = regex(r"^(?:(?:now|okay|ok|good|great|perfect|thought)\b[,:.!]? ?)+", re.IGNORECASE)
_LOOKING = written("looking", re.IGNORECASE)
_GIVEN = regex(r"(?:sure|yes|no|ok(?:ay)?|my|it(?:'s| is)|just)\b", re.IGNORECASE)
_SENTENCES = regex(r"(?<=[.!?])\s+|\n+")
_LEAST, _MOST = 30, 300  # characters of a sentence that is worth showing
_MOST_REFUSALS = 2
_FEWEST_WORDS, _MOST_READ = 6, 6_000  # words, characters
_NUMBER = regex(r"\d{1,2}[.)]")
_MOST_SAID, _MOST_EDITED = 220, 40_000  # characters of a sentence, and of the texts of an edit
_NAME = regex(r"`([^`\s]{3,60})`")
_OF_CHANGE, _SLIP = written("of_a_change", re.IGNORECASE), written("slip", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """What the agent said, quoted: what kind of key turn that is, and the sentence of the narrative that has it."""

    kind: KeyTurnKind
    words: str
    sentence: Sentence


def moves_on(request: UserRequest) -> bool:
    """Whether the user, in a conversation, objects or asks for something, and not only answers a question."""
    line = request_line(request.text) if request.kind == "request" else ""
    return request.kind == "objection" or (asks(line) and _GIVEN.match(line) is None)


def refusals_of_agent(stretch: Stretch) -> list[Statement]:
    """What the agent said to the user it could not do, quoted: in a conversation that is the obstacle."""
    found: dict[int, Statement] = {}
    for turn, sentence in _statements(stretch):
        if _CANNOT.search(sentence) and _LEAST < len(sentence) < _MOST:
            words = said(sentence, _MOST_SAID)
            in_story = Sentence(turn, 75, f"The agent answered: {words} (T{turn}).")
            if all(each.words[:60] != words[:60] for each in found.values()):
                found.setdefault(turn, Statement("other" if _NEEDS.search(words) else "refusal", words, in_story))
    return list(found.values())[:_MOST_REFUSALS]


def _statements(stretch: Stretch) -> Iterator[tuple[int, str]]:
    for turn, reply in reversed(list(stretch.replies())):
        sentences = [sentence.strip(" *-") for sentence in _SENTENCES.split(prose_of(reply)[:4_000]) if sentence]
        sentences = [each for each in sentences if not _NUMBER.fullmatch(each)]  # of a list, whose items follow
        for sentence, following in zip(sentences, [*sentences[1:], ""], strict=False):
            yield turn, f"{sentence} {following}" if sentence.endswith((":", "because")) else sentence


def own_words_before(stretch: Stretch, act: Act) -> str:
    """What the agent said of a change in its turn, quoted: the first sentence that says what is changed or why, first
    of those that name what the edit holds, else the first about a name from code; empty where there is none.
    """
    words = FENCED.sub("", without_written_call(stretch.content(act.turn))[:_MOST_READ])  # of code nothing says why
    said_so = [_LEAD.sub("", each.strip(" *-:")) for each in _SENTENCES.split(words)]
    fitting = [each for each in said_so if _LEAST <= len(each) <= _MOST_SAID and not _LOOKING.match(each)]
    fitting = [each for each in fitting if not _SLIP.search(each) and not CODE_LINE.match(each)]
    telling = [each for each in fitting if _OF_CHANGE.search(each) or _CAUSE.search(each)]
    changed = "\n".join(text for _, *texts in edited_parts(act.call) for text in texts)[:_MOST_EDITED]
    naming = [each for each in telling if any(name in changed for name in _NAME.findall(each))]
    on_code = [each for each in fitting if _NAME.search(each) and len(each.split()) >= _FEWEST_WORDS]
    return said(next(iter([*naming, *telling, *on_code]), ""), 110)
