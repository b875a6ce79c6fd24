"""Keys in base64, where the shape tells: a vendor's key or a private key block, encoded from its first character on.

Base64 of anything else stays: it looks like a digest or a picture.
"""

from __future__ import annotations

import base64
import binascii
import re

from agent_wiki.redaction.looks import looks_like_a_stand_in
from agent_wiki.redaction.secret_shapes import PREFIXED
from agent_wiki.redaction.shapes import Shape
from agent_wiki.trajectory.lazily import regex

_SHORTEST_PREFIX = 4  # a shorter one gives five characters of base64 or fewer, which stand in many a text


def _begin(prefix: str) -> str:
    """The characters with which the base64 of every text begins that begins with `prefix`."""
    return base64.b64encode(prefix.encode()).decode()[: len(prefix) * 8 // 6]


_BEGINS = tuple(
    sorted(
        {_begin(each) for shape in PREFIXED for each in shape.literals if len(each) >= _SHORTEST_PREFIX}
        | {_begin("-----BEGIN ")}
    )
)
ENCODED = Shape(
    "encoded",
    _BEGINS,
    regex(
        rf"(?:(?<![\w+/-])|(?<=\\[nrt]))(?:{'|'.join(re.escape(each) for each in _BEGINS)})"
        r"[\w+/-]{16,8000}={0,2}"
    ),
)


def kind_of_encoded(run: str) -> str | None:
    """The kind of the key that a run of base64 holds from its first character on; None if it holds none."""
    unpadded = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        whole = unpadded[:-1] if len(unpadded) % 4 == 1 else unpadded  # a single character of a group says nothing
        decoded = base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    if decoded.startswith("-----BEGIN "):
        return "private-key" if "PRIVATE KEY" in decoded[:60] else None
    shape = next((shape for shape in PREFIXED if shape.pattern.match(decoded)), None)
    return shape.kind if shape and any(map(str.isdigit, decoded)) and not looks_like_a_stand_in(decoded) else None
