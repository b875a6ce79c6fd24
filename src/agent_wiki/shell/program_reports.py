"""Whether a line is what a program says of its own work, and advises nothing: how it failed, or that it is done.

For results in which strangers may have written what a program says. A line that names an address, a command or a flag,
or has a word with which people are asked to do something, is not taken for a report, nor is one in another language.
"""

from __future__ import annotations

import re

from agent_wiki.shell.result_lines import complains, shows_failure
from agent_wiki.trajectory.lazily import regex

_MOST_WORDS_OF_SUCCESS = 5
_DONE = regex(
    r"\W*(?:[\w.-]{1,40} ){0,2}(?:is |was )?(?:done|complete[d]?|succeeded|successful(?:ly)?|finished|ready|passed"
    r"|built|ok(?:ay)?)(?: successfully)?[\s.!]*",
    re.IGNORECASE,
)
_OF_SYSTEM = regex(
    r": (?:No such file or directory|Permission denied|Exec format error|Is a directory|Not a directory"
    r"|Connection refused|command not found|cannot execute\b[^:]{0,40})\W*$"
)
_COMMANDS = regex(r"`|\$\(|://|@|(?<!\S)-{1,2}[A-Za-z]|&&|\|\||\|\s*\w+\s*$")
_ASKS = regex(
    r"\b(?:try|run|re-?run|use|using|uses|hint|help|instead|install\w*|must|should|shall|always|never|only|set|add|append"
    r"|enable|disable|please|specify|pass|create|trust|export|needs?|needed|requires?|required|first|before|next|then"
    r"|ensure|make sure|remember|note|tip|recommend\w*|see|visit|open|download|copy|paste|execute|call|start"
    r"|enter|configure|put|include|delete|remove|ask|send|post|upload|sign|commit|push|do|don't|agents?|you|your|want"
    r"|consider|prefer|replace\w*|switch|upgrade|update|fix|resolve by|allow|grant|skip|bypass|ignore|unless|until"
    r"|otherwise|deprecated|missing)\b",
    re.IGNORECASE,
)


def reports(line: str) -> bool:
    """Whether a quote reports how a program failed, or in a few words that it is done, and no more than that."""
    if not line.isascii() or _COMMANDS.search(line) or _ASKS.search(line):
        return False
    is_done = len(line.split()) <= _MOST_WORDS_OF_SUCCESS and _DONE.fullmatch(line) is not None
    return is_done or shows_failure(line) or complains(line) or _OF_SYSTEM.search(line) is not None
