"""The number of each secret of a session: `[REDACTED:github-token:1]` is one value wherever the session says it.

Numbers go by first appearance, over all kinds. They hold within a session, no further. For a number that holds in a
whole wiki, sessions would have to be read in one order, or something be kept by which a value is known again: a digest,
which tells whoever guesses a password that it was right, or a key beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from agent_wiki.redaction.looks import APP_PASSWORD, is_made_up, is_random
from agent_wiki.redaction.views import views
from agent_wiki.trajectory.lazily import regex

MARK = regex(r"\[REDACTED:(?P<kind>[\w-]{1,40})(?::(?P<number>\d{1,9}))?\]")

_STANDS_ALONE = regex(r"[\w.~+/=@!#-]{10,512}")  # nothing that JSON would write otherwise
_TYPED = regex(r"[\w.~+=@!#-]{6,64}")
_APART = (r"(?<!\w)", r"(?!\w)")
_APART_OF_DIGITS = (r"(?<![\w.:/-])", r"(?![\w:/-]|\.\d)")  # no end of a measure, no part of a version or a path


def mark_of(kind: str, number: int | None = None) -> str:
    """What replaces a secret; without a number where no session is known to which it belongs."""
    return f"[REDACTED:{kind}]" if number is None else f"[REDACTED:{kind}:{number}]"


class Numbers:
    """The numbers of the secrets of one session. `texts` gives what it says, for marks that are in it already."""

    def __init__(self, texts: Callable[[], Iterable[str]] = tuple) -> None:
        self._texts = texts
        self._numbers: dict[str, int] = {}
        self._marks: dict[str, str] = {}
        self._in_groups: dict[str, str] = {}  # passwords of programs, with spaces
        self._joined: set[str] = set()  # and without
        self._taken: int | None = None

    def mark(self, kind: str, value: str) -> str:
        """What replaces this value: the same number for the same value, another for another."""
        if self._taken is None:
            self._taken = max((_highest(text) for text in self._texts() if "[REDACTED:" in text), default=0)
        meant = _as_meant(value)
        number = self._numbers.setdefault(meant, self._taken + len(self._numbers) + 1)
        self._marks.setdefault(meant, mark_of(kind, number))
        if APP_PASSWORD.fullmatch(value):
            self._in_groups[value] = self._marks[meant]
            self._joined.add(meant)
        return mark_of(kind, number)

    def _is_known_alone(self, value: str) -> bool:
        """Whether a secret is one without its name, too."""
        if value in self._in_groups or (_STANDS_ALONE.fullmatch(value) and (is_random(value) or value in self._joined)):
            return True
        return _TYPED.fullmatch(value) is not None and is_made_up(value)

    def elsewhere(self, text: str) -> tuple[str, int]:
        """A text with the secrets replaced that have a mark already and stand here without a name, and how often.

        Only those that look random or made up: of a password such as `postgres` the text may speak for itself.
        """
        total = 0
        for value, mark in (*self._marks.items(), *self._in_groups.items()):
            if value in text and self._is_known_alone(value):
                before, behind = _APART_OF_DIGITS if value.isdigit() else _APART
                text, count = re.subn(f"{before}{re.escape(value)}{behind}", mark, text)
                total += count
        return text, total


def _highest(text: str) -> int:
    return max((int(match.group("number") or 0) for match in MARK.finditer(text)), default=0)


def _as_meant(value: str) -> str:
    """A value without what a terminal or an editor put into it."""
    seen = views(value, may_be_split=False)
    return "".join((seen[0].text if seen else value).replace("\\n", "").split())
