"""Decides whether two guidelines state the same rule, and are not merely about the same topic.

The answer depends on the two texts alone, not on a corpus, so that a later page never changes an earlier
decision. It is strict, because a cluster that joins two rules misleads: their words must be mostly the
same, they may not name different commands, flags, files or numbers in the same role, and they may not
point in opposite directions ("use A instead of B", "use B instead of A"; "always", "never").
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache

from agent_wiki.pages.compare.similarity import NAME, stem, strength, tokens
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.trajectory.lazily import dataclass, regex

ALIKE = 0.62  # least cosine of two rules' words
NEAR = 0.4  # the same for pairs that a reader judges; measured: rules of one topic are below, reworded rules above

_CODE_WEIGHT = 2.0
_FEWEST_FEATURES = 3
_PLACEHOLDER = regex(r"<[^<>]{0,60}>")
_FLAG = regex(r"(?<![\w-])--?[A-Za-z][\w-]{0,40}")
_TURNS = regex(r" (?:instead of|rather than|in place of|and not|over) |, not ")
_BEHIND = 120  # characters after "instead of" that say what is avoided
_AGAINST = regex(r"^\W*(?:never|don'?t|do not|avoid|stop|no longer|skip|refrain)\b", re.IGNORECASE)
_OPPOSITE_PAIRS = """
    add/remove add/delete enable/disable before/after always/never with/without start/stop open/close push/pull
    increase/decrease increase/reduce raise/lower include/exclude upgrade/downgrade encode/decode merge/rebase
    allow/deny allow/forbid lock/unlock mount/unmount local/remote first/last early/late more/less absolute/relative
    split/join create/delete install/uninstall keep/drop keep/remove
"""
_OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in _OPPOSITE_PAIRS.split())
_RESTRICTIONS = frozenset({"after", "unless", "except", "without", "until"})  # a rule with one of these is another rule
_TURNING_WORDS = _RESTRICTIONS.union(*_OPPOSITES)


@dataclass(frozen=True, slots=True)
class Reading:
    """One rule as features. `code`: commands, files and other names in code; `words`: stems of plain words.

    `avoided`: code after "instead of". `turns`: words that have an opposite. `is_against`: the rule forbids something.
    """

    code: frozenset[str]
    words: frozenset[str]
    avoided: frozenset[str]
    turns: frozenset[str]
    numbers: frozenset[str]
    is_against: bool

    @property
    def length(self) -> float:
        return math.sqrt(_CODE_WEIGHT**2 * len(self.code) + len(self.words))

    def line(self) -> str:
        """The reading as one text. Lines sort as their readings' sorted code and then their sorted words do."""
        parts = (self.code, self.words, self.avoided, self.turns, self.numbers)
        return "\t".join(["\n".join(sorted(part)) for part in parts]) + ("\tagainst" if self.is_against else "\t")

    @classmethod
    def of_line(cls, line: str) -> Reading:
        """The reading that `line` made a text of."""
        *parts, against = line.split("\t")
        code, words, avoided, turns, numbers = (frozenset(part.split("\n") if part else ()) for part in parts)
        return cls(code, words, avoided, turns, numbers, against == "against")


def keys_of_line(line: str) -> tuple[list[str], int]:
    """Features for finding candidates, sorted, and how many of the rarest: similar rules share one of those at least.

    Prefix filtering (Bayardo, Ma and Srikant 2007): two sets that share many features share one of their rarest.
    """
    code, words, _ = line.split("\t", 2)
    if code:
        features = code.split("\n")
        return features, len(features) // 2 + 1
    features = words.split("\n") if words else []
    return features, len(features) - math.ceil(ALIKE**2 * len(features)) + 1


def reading_of(guideline: GuidelineView) -> Reading:
    """The features of a guideline's title and rule."""
    text = f"{guideline.title}. {guideline.rule}"
    code: set[str] = set()
    words: dict[str, str] = {}
    turns: set[str] = set()
    numbers: set[str] = set()
    for piece, is_code in _pieces(text) if "`" in text else ((text, False),):
        for kind, word, stemmed in map(_kind, tokens(piece)):
            if word in _TURNING_WORDS:
                turns.add(word)
            if kind == "number":
                numbers.add(word)
            elif kind == "code" or (is_code and len(word) > 1):
                code.add(word)
            elif kind == "word":
                words[word] = stemmed
    if "-" in text:
        flags = {flag.lower() for flag in _FLAG.findall(text)}
        code = (code - {flag.lstrip("-") for flag in flags}) | flags
    stems = frozenset(stemmed for word, stemmed in words.items() if word not in code and f"--{word}" not in code)
    turn = _TURNS.search(guideline.rule)
    behind = guideline.rule[turn.end() : turn.end() + _BEHIND] if turn else ""
    return Reading(
        code=frozenset(code),
        words=stems,
        avoided=_in_code(behind) if behind else frozenset(),
        turns=frozenset(turns),
        numbers=frozenset(numbers),
        is_against=bool(_AGAINST.match(guideline.rule)),
    )


def _in_code(text: str) -> frozenset[str]:
    """Words of code spans in lower case, including a span that is cut off."""
    return frozenset(
        token.lower() for piece, is_code in _pieces(f"{text}`") if is_code for token in tokens(piece) if len(token) > 1
    )


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Text split at its backticks, and whether each piece is code. Placeholders (`<file>`) are dropped."""
    pieces = text.split("`")
    last = len(pieces) - 1
    return [
        (_PLACEHOLDER.sub(" ", piece) if at % 2 and "<" in piece else piece, at % 2 == 1 and at < last)
        for at, piece in enumerate(pieces)
    ]


@lru_cache(maxsize=1 << 16)
def _kind(token: str) -> tuple[str, str, str]:
    """What a token is (number, code, word or nothing), in lower case, and its stem."""
    said, lower = strength(token), token.lower()
    if token[0].isdecimal() and token.replace(".", "").replace("-", "").isdecimal():
        return "number", lower, lower
    return ("code" if said >= NAME else "word" if said else ""), lower, stem(lower)


def alike(left: Reading, right: Reading) -> float:
    """Cosine of two rules' features, with double weight for code; 0 if they do not state the same rule."""
    if not _names_the_same(left.code, right.code) or not _counts_the_same(left.numbers, right.numbers):
        return 0.0
    if left.is_against != right.is_against or _points_away(left, right):
        return 0.0
    return _cosine(left, right, ALIKE)


def near(left: Reading, right: Reading) -> float:
    """The same cosine for two rules that a reader might consider the same; 0 below that."""
    return _cosine(left, right, NEAR)


def _cosine(left: Reading, right: Reading, least: float) -> float:
    code, words = left.code & right.code, left.words & right.words
    if len(code) + len(words) < _FEWEST_FEATURES or not left.length or not right.length:
        return 0.0
    cosine = (_CODE_WEIGHT**2 * len(code) + len(words)) / (left.length * right.length)
    return cosine if cosine >= least else 0.0


def _names_the_same(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether one rule names all that the other names. In short lists, a name only on each side means two rules."""
    if not left or not right:
        return not left and not right
    shared, fewer, more = len(left & right), *sorted((len(left), len(right)))
    if shared == fewer:
        return 2 * fewer >= more
    return 4 * shared >= 3 * (fewer + more - shared)


def _counts_the_same(left: frozenset[str], right: frozenset[str]) -> bool:
    return not left or not right or left == right


def _points_away(left: Reading, right: Reading) -> bool:
    """Whether one rule prefers what the other avoids, or has the opposite of one of its words."""
    if (left.avoided & right.code) - right.avoided or (right.avoided & left.code) - left.avoided:
        return True
    if left.turns == right.turns:
        return False
    mine, yours = left.turns - right.turns, right.turns - left.turns
    if not _RESTRICTIONS.isdisjoint(mine | yours):
        return True
    return any(frozenset((one, other)) in _OPPOSITES for one in mine for other in yours)


def supports(sentence: str, members: Iterable[Reading]) -> bool:
    """Whether every one of `members` has the code that `sentence` names and most of its words."""
    reading = reading_of(GuidelineView("", "", sentence))
    if len(reading.code) + len(reading.words) < _FEWEST_FEATURES:
        return False
    for member in members:
        named = reading.code | reading.numbers
        if not named <= member.code | member.numbers or reading.is_against != member.is_against:
            return False
        if 2 * len(reading.words & member.words) < len(reading.words):
            return False
    return True
