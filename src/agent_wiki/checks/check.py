"""A check of a wiki as a value: what it looks for, what mends it, and the function that finds it.

As with the rules of the embedded engine: one id a check, families, an example that is found and one that is not
(`tests/checks/examples/<family>.toml`), and a page of docs made from these values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from agent_wiki.trajectory.lazily import dataclass

if TYPE_CHECKING:
    from agent_wiki.checks.subject import CheckedWiki

Needs = Literal["files", "records", "recordings"]
"""What a check looks at: the files alone, the wiki as it is loaded and rendered, or the recordings as well."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something is wrong, and what: a file of the wiki, and a line of it, counted from 1, where one can be named.

    `fix` says what to do where that is something else than what the check says of all it finds.
    """

    file: str
    what: str
    line: int | None = None
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """`id` is `<family>/<name>` and never changes; `summary` says what is found; `fix` what to do about it.

    `is_mechanical`: `wiki check --fix` does it.
    """

    id: str
    summary: str
    fix: str
    find: Callable[[CheckedWiki], Iterable[Spot]]
    needs: Needs = "records"
    is_mechanical: bool = False

    @property
    def family(self) -> str:
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Fault:
    """What one check found in one place. `str()` is the line that is shown: `file:line: check: what (fix)`."""

    check: str
    file: str
    line: int | None
    what: str
    fix: str
    is_mechanical: bool

    @classmethod
    def of(cls, check: Check, spot: Spot) -> Fault:
        return cls(check.id, spot.file, spot.line, spot.what, spot.fix or check.fix, check.is_mechanical)

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.check}: {self.what} ({self.fix})"

    @property
    def rank(self) -> tuple[Any, ...]:
        """The order in which faults are shown: by place, then by check."""
        return (self.file, self.line or 0, self.check, self.what)
