"""Which guidelines of a wiki state the same rule: only those that share a rare feature are compared, in linear time.

What is worked out here follows from texts alone. So it can be kept, and one more session costs little beside ten
thousand others.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import cache
from itertools import chain

from agent_wiki.pages.compare.same_rule import Reading, alike, keys_of_line, near, reading_of
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.trajectory.lazily import dataclass

_WINDOW = 12
_DIGEST_BYTES = 12

Likenesses = dict[int, dict[int, float]]
"""Position of a guideline → those of all that are like it, each with its score."""


@dataclass(slots=True)
class Compared:
    """What was worked out of texts. It only saves time: from an empty one the same comes out.

    `lines`: digest of a guideline's words → its reading. `alike`: digest of the guidelines that share a feature → which
    of them are alike, in one list: place, place and score, again and again.
    """

    lines: dict[str, str] = field(default_factory=dict)
    alike: dict[str, list[float]] = field(default_factory=dict)


def likenesses(
    guidelines: Iterable[GuidelineView], known: Compared, *, is_judged: bool = False
) -> tuple[list[GuidelineView], Likenesses]:
    """The guidelines, similar ones next to each other, and which are alike, by their positions among them.

    `is_judged`: an engine decides which of them state one rule, so that what may be the same is found as well.
    Afterwards `known` holds what this call used, and nothing else.
    """
    views = sorted({view.id: view for view in guidelines}.values(), key=lambda view: view.id)
    keyed = [(view, _digest(f"{view.title}\0{view.rule}")) for view in views]
    read = [(view, key, known.lines.get(key) or reading_of(view).line()) for view, key in keyed]
    read.sort(key=lambda each: each[2].rsplit("\t", 4)[0])  # by code and words
    digests, lines = [key for _, key, _ in read], [line for _, _, line in read]
    is_alike = near if is_judged else alike
    reading = cache(lambda position: Reading.of_line(lines[position]))
    score = cache(lambda left, right: is_alike(reading(left), reading(right)))
    numbers = [""] * len(lines) if is_judged else [line.rsplit("\t", 2)[1] for line in lines]
    compared: dict[str, list[float]] = {}
    found: Likenesses = defaultdict(dict)
    for posting in _postings(lines, is_judged=is_judged):
        key = _digest(is_alike.__name__ + "".join([digests[position] for position in posting]))
        alike_here = known.alike.get(key)
        compared[key] = alike_here = _alike_in(posting, numbers, score) if alike_here is None else alike_here
        for one, other, likeness in zip(*[iter(alike_here)] * 3, strict=True):
            left, right = posting[int(one)], posting[int(other)]
            found[left][right] = found[right][left] = likeness
    known.lines, known.alike = dict(zip(digests, lines, strict=True)), compared
    return [view for view, _, _ in read], found


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()


def _postings(lines: Sequence[str], *, is_judged: bool) -> list[list[int]]:
    """Positions that share one of their rarest features (any feature, where `is_judged`), for each such feature."""
    keys = [keys_of_line(line) for line in lines]
    number = Counter(chain.from_iterable(features for features, _ in keys))
    postings: dict[str, list[int]] = defaultdict(list)
    for position, (features, prefix) in enumerate(keys):
        if prefix < len(features) and not is_judged:
            features = sorted(features, key=number.__getitem__)[:prefix]
        for feature in features:
            if number[feature] > 1:
                postings[feature].append(position)
    return [posting for posting in postings.values() if len(posting) > 1]


def _alike_in(posting: Sequence[int], numbers: Sequence[str], score: Callable[[int, int], float]) -> list[float]:
    """Which of a posting are alike, as in `Compared`; each is compared with its next neighbours only.

    Rules with different numbers are never alike: to say so here saves comparing them.
    """
    found: list[float] = []
    for place, left in enumerate(posting):
        own = numbers[left]
        for other, right in enumerate(posting[place + 1 : place + 1 + _WINDOW], place + 1):
            if (not own or numbers[right] in ("", own)) and (likeness := score(left, right)):
                found += (place, other, likeness)
    return found
