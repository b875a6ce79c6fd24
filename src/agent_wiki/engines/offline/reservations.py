"""What a reply takes back of what it said before: "however", "not tested", "I could not"."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.tables import written
from agent_wiki.trajectory.lazily import regex

_MOST_READ = 6_000
_RESERVES = written("reserves", re.IGNORECASE)
FENCED = regex(r"^ *```.*?(?:^ *```|\Z)", re.DOTALL | re.MULTILINE, needs=("```",))
SENTENCE_END = regex(r"(?<=[.!?])\s+")


def reservation(reply: str, shown: str = "") -> str:
    """The first sentence of a reply, after its first, that takes back a part of it; empty where `shown` has it."""
    lines = (line.strip(" *->_#\t") for line in FENCED.sub("", reply[:_MOST_READ]).splitlines())
    sentences = [each for line in lines for each in SENTENCE_END.split(line)]
    found = next((each for each in sentences[1:] if _RESERVES.match(each) and not each.endswith(("?", ":"))), "")
    return "" if found[:30] in shown else found
