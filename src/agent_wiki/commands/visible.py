"""Text as a terminal may show it: recordings, pages and names are hostile, and an escape sequence is never run."""

from __future__ import annotations

import json
import re
import unicodedata

from agent_wiki.trajectory.hidden_characters import HIDING, SEPARATORS
from agent_wiki.wiki.text import symbol_of

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_HIDDEN_IN_JSON = re.compile(f"[\x7f-\x9f{HIDING}{SEPARATORS}]")


def visible(text: str) -> str:
    """Recorded text for a terminal: control, invisible and reordering characters are shown as symbols, not executed.

    Line feeds and tabs are kept; escape becomes `␛`, a right-to-left override `\\u202e`.
    """
    if text.isprintable():
        return text
    return "".join(symbol_of(letter) if letter not in "\n\t" and _is_hidden(letter) else letter for letter in text)


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN


def visible_json(text: str) -> str:
    """A JSON text that says the same, with invisible and reordering characters as escapes."""
    return _HIDDEN_IN_JSON.sub(lambda match: json.dumps(match.group())[1:-1], text)
