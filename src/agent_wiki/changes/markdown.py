"""Text from recordings in the body of a pull request: shown as it is, and nothing in it acts.

GitHub and GitLab read more than Markdown there: `@name` notifies people, `fixes #12` closes an issue, `/close` at the
start of a line is a command, and a squashed commit takes the body over as its message.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from agent_wiki.errors import UsageError
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import plain_line

_BREAK = "&#8203;"  # a space of no width, which ends every kind of reference and is not seen
_ESCAPED = {letter: f"\\{letter}" for letter in "\\`*_[]|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "&#36;"}
# `@name`, `#12`, `!12`, `&12`, `~label`, `%milestone`, `$12`, `^alert`; `KEY-12`; `[issue:12]`; addresses without <>
_REFERENCE = re.compile(
    r"""[@#!&~%$^](?=[\w"'{-])|\b(?:[A-Z][A-Z0-9]{1,30}|[Gg][Hh])-(?=\d)|(?<=[a-z]):(?=\d)|(?i:www)(?=\.)|:(?=//)"""
)
_MARK = "\x00"  # no text has it: `plain_line` removes it
_MOST_ADDRESS = 500
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._/-]+")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/@%+-]+")


def inert(text: str, most: int) -> str:
    """Text of a recording as Markdown that only shows it, on one line and of at most `most` characters."""
    marked = _REFERENCE.sub(
        lambda found: f"{found.group()}{_MARK}", plain_line(redact_text(text[: 8 * most + 400])[0], most)
    )
    pieces = [_BREAK if letter == _MARK else _ESCAPED.get(letter, letter) for letter in marked]
    if sum(map(len, pieces)) <= most:
        return "".join(pieces)
    room, kept = most - 1, []
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join([*kept, "…"])


@dataclass(frozen=True, slots=True)
class Links:
    """Links to files of the wiki. `base` is the address below which the repository's files are, "" for unknown.

    In a body a relative link leads nowhere: without a base a page is named by its path in the repository.
    """

    base: str
    folder: str

    def __post_init__(self) -> None:
        if self.base and (len(self.base) > _MOST_ADDRESS or not _ADDRESS.fullmatch(self.base)):
            raise UsageError(f"--link-base {self.base[:80]!r} is not the plain address of a folder")

    def to(self, path: str, label: str = "") -> str:
        """A link to a file of the wiki; `label` is our own words, the path itself without."""
        whole = f"{self.folder}{path}"
        if self.base:
            return f"[{label or inert(path, 300)}]({self.base.rstrip('/')}/{quote(whole, safe='/', errors='replace')})"
        named = f"`{whole}`" if _PLAIN_PATH.fullmatch(whole) else inert(whole, 300)
        return f"{label} {named}" if label else named
