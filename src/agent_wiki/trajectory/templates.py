"""Words that a client puts before or below what the user typed, in each turn: they are known by being alike.

Numbers may differ, as of the files that each turn is to write, and so may what the client says of its state between
words that are always the same, before a label: `… Page: Home.\\n\\nThe student asks: Hello`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agent_wiki.trajectory.lazily import regex

_LEAD, _LAST_LINE = regex(r"[^\n]{20,160}?[:：](?=\s)"), regex(r"\n[ \t]*[^\n]{30,300}\Z")
_LAST_LABEL = regex(r"\n([^\n:：]{2,40}[:：])[^\n]*\Z")
_NUMBERS, _ALIKE = regex(r"\d+"), 3
_LEAST_PREAMBLE, _FIRST_WORDS = 60, 16  # characters


def without_templates(texts: Sequence[str]) -> list[str]:
    """The texts of a session's user turns without what three of them have alike at their start or end; none empty."""
    own = list(_after_preamble(texts))
    leads = [match[0] if (match := _LEAD.match(each)) else "" for each in own]
    alike = Counter(_NUMBERS.sub("0", lead) for lead in leads if lead)
    begun = Counter(_begun(each, lead) for each, lead in zip(own, leads, strict=True) if lead)
    ends = Counter(end[0].strip() for each in own if (end := _LAST_LINE.search(each)))
    found = []
    for whole, each, lead in zip(texts, own, leads, strict=True):
        is_template = alike[_NUMBERS.sub("0", lead)] >= _ALIKE > begun[_begun(each, lead)]
        text = each[len(lead) :] if is_template else each
        if (end := _LAST_LINE.search(text)) and ends[end[0].strip()] >= _ALIKE:
            text = text[: end.start()]
        found.append(text.strip() or whole)
    return found


def _begun(text: str, lead: str) -> str:
    """A lead with the first words behind it."""
    return _NUMBERS.sub("0", text[: len(lead) + _FIRST_WORDS])


def _after_preamble(texts: Sequence[str]) -> Iterator[str]:
    """Of turns that begin with the same long text and end with the same label, what stands behind that label."""
    labels = [match[1] if (match := _LAST_LABEL.search(each)) else "" for each in texts]
    label, number = next(iter(Counter(filter(None, labels)).most_common(1)), ("", 0))
    begins = {each[:_LEAST_PREAMBLE] for each, its in zip(texts, labels, strict=True) if its == label}
    is_template = number >= _ALIKE and len(begins) == 1 and len(*begins) == _LEAST_PREAMBLE
    for each, its in zip(texts, labels, strict=True):
        yield each.rpartition(f"\n{label}")[2].strip() or each if is_template and its == label else each
