"""What a reply takes back of what it said before: "however", "not tested", "I could not"."""

from __future__ import annotations

import re

from agent_wiki.trajectory.lazily import regex

_MOST_READ = 6_000
_RESERVES = regex(
    r"(?:(?:one |important )?(?:caveats?|limitations?|known issues?|not done|not tested|remaining)\b\W*\w|however\b"
    r"|(?:i|we) (?:could ?n[o'’]t|did ?n[o'’]t|have ?n[o'’]t|was ?n[o'’]t able|was unable|cannot|can['’]t|only)\b"
    r"|[^.!?]{0,60}\b(?:not (?:yet )?(?:been )?(?:run|tested|verified|executed|built|pushed|committed)|untested"
    r"|unverified|still (?:fails?|failing|open|missing|needs?))\b|ただし|但し|しかし|aber |allerdings|jedoch|leider"
    r"|nicht getestet|cependant|toutefois|однако|но |但是|不过|하지만|다만|sin embargo|no obstante|no entanto|porém)",
    re.IGNORECASE,
)
_FENCED = regex(r"^ *```.*?(?:^ *```|\Z)", re.DOTALL | re.MULTILINE, needs=("```",))
_SENTENCE_END = regex(r"(?<=[.!?])\s+")


def reservation(reply: str, shown: str = "") -> str:
    """The first sentence of a reply, after its first, that takes back a part of it; empty where `shown` has it."""
    lines = (line.strip(" *->_#\t") for line in _FENCED.sub("", reply[:_MOST_READ]).splitlines())
    sentences = [each for line in lines for each in _SENTENCE_END.split(line)]
    found = next((each for each in sentences[1:] if _RESERVES.match(each) and not each.endswith(("?", ":"))), "")
    return "" if found[:30] in shown else found
