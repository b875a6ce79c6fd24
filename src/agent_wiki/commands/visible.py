"""Text as a terminal may show it: recordings, pages and names are hostile, and an escape sequence is never run."""

from __future__ import annotations

import json
import re
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_PICTURES = 0x2400  # of the first 32 characters: ␀ to ␟
_HIDDEN_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Recorded text for a terminal: control, invisible and reordering characters are shown as symbols, not executed.

    Line feeds and tabs are kept; escape becomes `␛`, a right-to-left override `\\u202e`.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter in "\n\t" else _shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if unicodedata.category(letter) not in _HIDDEN:
        return letter
    code = ord(letter)
    if code < 0x20 or code == 0x7F:
        return chr(_PICTURES + (0x21 if code == 0x7F else code))
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible_json(text: str) -> str:
    """A JSON text that says the same, with invisible and reordering characters as escapes."""
    return _HIDDEN_IN_JSON.sub(lambda match: json.dumps(match.group())[1:-1], text)
