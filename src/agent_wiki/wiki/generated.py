"""The digest that a generated page carries of its own text: where it does not match, a person has edited the page.

It is the last line of the frontmatter, or of its `metadata`: `generated: sha256:<16 hex>`, taken over the text without
that line. Line ends are not part of it, for git may change them. A page with several such lines, or with git's conflict
markers, was merged by git and belongs to nobody: it is rendered again.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal

Origin = Literal["generated", "edited", "merged", "foreign"]

CONFLICT_MARKERS = ("<<<<<<< ", "||||||| ", "=======", ">>>>>>> ")
"""What the lines begin with that git puts around what it could not merge."""

_HEX = 16
_LINE = re.compile(rf"^ *generated: sha256:([0-9a-f]{{{_HEX}}})\r?\n", re.MULTILINE)
_SECOND = re.compile(_LINE.pattern + r"(?=---\r?$)", re.MULTILINE)  # git may put two frontmatters one below the other
_CLOSING = re.compile(r"^---\r?$", re.MULTILINE)


def signed(head: str, tail: str, indent: str = "") -> str:
    """A page's text: `head` (its frontmatter so far), the line with the digest of all else, and `tail`."""
    return f"{head}{indent}generated: sha256:{_digest(head, tail)}\n{tail}"


def has_conflict(text: str) -> bool:
    """Whether a text has git's conflict markers."""
    return "\n>>>>>>> " in text and (text.startswith("<<<<<<< ") or "\n<<<<<<< " in text)


def origin_of(text: str) -> Origin:
    """Who wrote a page's text as it is now: this program, a person who edited it, git in a merge, or somebody else."""
    text = text.removeprefix("\ufeff")  # some editors put it there, and `parse_page` passes over it
    if has_conflict(text):
        return "merged" if _LINE.search(text) else "foreign"
    found = _marks(text)
    if not found:
        return "foreign"
    mark = found[0]
    if len(found) == 1 and _digest(text[: mark.start()], text[mark.end() :]) == mark[1]:
        return "generated"
    return "merged" if len(found) > 1 or _SECOND.search(text, mark.end()) else "edited"


def with_one_mark(text: str) -> str:
    """An edited page that git merged, with one line of a digest: from here on it is an edited one by itself."""
    mark = _LINE.search(text)
    return text if mark is None else text[: mark.end()] + _LINE.sub("", text[mark.end() :])


def without_mark(text: str) -> str:
    """A page without its line of a digest, and with line feeds alone."""
    return _LINE.sub("", text).replace("\r\n", "\n")


def _marks(text: str) -> list[re.Match[str]]:
    if not text.startswith("---"):
        return []
    closing = _CLOSING.search(text, 4)
    return list(_LINE.finditer(text, 0, closing.start() if closing else len(text)))


def _digest(head: str, tail: str) -> str:
    hasher = hashlib.sha256(head.replace("\r\n", "\n").encode("utf-8", "replace"))
    hasher.update(tail.replace("\r\n", "\n").encode("utf-8", "replace"))
    return hasher.hexdigest()[:_HEX]
