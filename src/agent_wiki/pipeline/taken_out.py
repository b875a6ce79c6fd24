"""What commands that take text out of a wiki report alike: where some of it is left all the same, they failed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from agent_wiki.report import Report
from agent_wiki.wiki.text import plain_line

_MOST_LINE = 1_000


class TakenOut(ABC):
    """The report of such a command. `remaining`: files that still hold what was to go."""

    __slots__ = ()

    report: Report
    remaining: list[str]

    @property
    def bugs(self) -> list[str]:
        return self.report.bugs

    @property
    def exit_code(self) -> int:
        """1 when something is left somewhere, or a unit failed."""
        return 1 if self.remaining else self.report.exit_code

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, keys always the same."""
        return {**self.report.to_json(), **self._values(), "exit_code": self.exit_code}

    def lines(self) -> list[str]:
        """What went and what is left, in whole: nothing of it may be missed."""
        would = "would be " if self.report.is_dry_run else ""
        return [plain_line(each, _MOST_LINE) for each in self._sentences(would)]

    @abstractmethod
    def _values(self) -> dict[str, Any]:
        """What the JSON has besides the report."""

    @abstractmethod
    def _sentences(self, would: str) -> Iterable[str]:
        """The lines as text; `would` stands before what a dry run did not do."""
