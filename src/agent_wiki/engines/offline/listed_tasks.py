"""What a long prompt lists to be done: its numbered headings."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.tables import written
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_MOST_READ = 12_000
_LEAST_ITEMS, _MOST_ITEMS = 2, 12
_LONGEST_ITEM = 130
_ITEM = regex(r"^[ \t]{0,2}(?:#{1,4}[ \t]+)?(?P<number>\d{1,2})[.)][ \t]+(?P<title>\S[^\n]{3,160})$", re.MULTILINE)
_NOT_TASKS = written("not_tasks", re.IGNORECASE)
_LABEL = regex(r"^(?:fix|task|issue|todo|item|add|feature)\s*:\s*", re.IGNORECASE)
_MARKS = regex(r"[*`#]+|(?<!\w)_+|_+(?!\w)|\s*[:—-]+\s*$")


def listed_tasks(text: str) -> tuple[str, list[str]]:
    """`(lead, items)`: the line above the first list of tasks, and the title of each; no items without such a list."""
    chains: list[list[re.Match[str]]] = []
    for match in _ITEM.finditer(text, 0, _MOST_READ):
        number = int(match["number"])
        chain = next((each for each in reversed(chains) if int(each[-1]["number"]) == number - 1), None)
        if number == 1:
            chains.append([match])
        elif chain is not None:
            chain.append(match)
    for chain in chains:
        lead = _line_above(text, chain[0].start())
        titles = [_title(match["title"]) for match in chain]
        is_short = all(len(title) <= _LONGEST_ITEM for title in titles)
        if _LEAST_ITEMS <= len(chain) <= _MOST_ITEMS and is_short and not _NOT_TASKS.search(lead):
            return lead, titles
    return "", []


def _line_above(text: str, position: int) -> str:
    """The last line with words before a position."""
    lines = (line.strip() for line in reversed(text[:position].splitlines()))
    return next((line for line in lines if any(map(str.isalpha, line))), "")


def _title(text: str) -> str:
    return plain_line(_LABEL.sub("", _MARKS.sub("", text).strip()).rstrip(" .:"), _LONGEST_ITEM + 1)
