"""The cap on what a run may spend, checked before each attempt against what is spent and what is in flight."""

from __future__ import annotations

from threading import Condition

from agent_wiki.errors import BudgetReached

_ROUNDING_USD = 1e-12


class Budget:
    """Dollars spent and reserved in one run, shared by its threads. Without a cap nothing is refused.

    An attempt reserves its worst case before it is sent. Where only what is in flight stands in its way, it waits:
    answers seldom cost their worst case. Once one is refused all later ones are, so that a run ends cleanly.
    """

    def __init__(self, max_usd: float | None = None) -> None:
        self.max_usd = max_usd
        self.spent_usd = 0.0
        self._reserved_usd = 0.0
        self._in_flight = 0
        self._is_reached = False
        self._changed = Condition()

    def reserve(self, worst_usd: float) -> None:
        """Set aside what an attempt can cost at most. Raises `BudgetReached` when the cap has no room for it."""
        with self._changed:
            while not self._is_reached and self._in_flight and not self._has_room(worst_usd):
                self._changed.wait()
            if self._is_reached or not self._has_room(worst_usd):
                self._is_reached = True
                self._changed.notify_all()
                raise BudgetReached(self._reason(worst_usd))
            self._reserved_usd += worst_usd
            self._in_flight += 1

    def settle(self, worst_usd: float, cost_usd: float) -> None:
        """An attempt is over and cost `cost_usd`: 0 when it was refused, its worst case when nobody knows."""
        with self._changed:
            self._in_flight -= 1
            self._reserved_usd = self._reserved_usd - worst_usd if self._in_flight else 0.0
            self.spent_usd += cost_usd
            self._changed.notify_all()

    def commit(self, worst_usd: float) -> None:
        """Count what is sent now and answered much later as spent. Raises `BudgetReached` when there is no room."""
        with self._changed:
            if self._is_reached or not self._has_room(worst_usd):
                self._is_reached = True
                raise BudgetReached(self._reason(worst_usd))
            self.spent_usd += worst_usd

    def refund(self, usd: float) -> None:
        """Of what was counted as spent, this was not."""
        with self._changed:
            self.spent_usd = max(0.0, self.spent_usd - usd)
            self._changed.notify_all()

    def _has_room(self, worst_usd: float) -> bool:
        if self.max_usd is None:
            return True
        return self.spent_usd + self._reserved_usd + worst_usd <= self.max_usd + _ROUNDING_USD

    def _reason(self, worst_usd: float) -> str:
        return (
            f"--max-usd {self.max_usd:g} is reached: ${self.spent_usd:.4f} spent, the next request could cost "
            f"${worst_usd:.4f}; what was paid for is kept, run again to go on"
        )
