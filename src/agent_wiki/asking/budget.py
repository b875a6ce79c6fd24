"""The limits on a run's spending, checked before each attempt: dollars spent and in flight, and calls."""

from __future__ import annotations

from threading import Condition

from agent_wiki.errors import BudgetReached, Interrupted

_ROUNDING_USD = 1e-12


class Budget:
    """Dollars spent and reserved in one run, and its calls, shared by its threads. Without a limit nothing is refused.

    An attempt reserves its worst-case cost before it is sent. If only requests in flight block it, it waits, because
    answers rarely cost their worst case. Once one is refused, all later ones are, so that a run ends cleanly.
    """

    def __init__(self, max_usd: float | None = None, max_calls: int | None = None) -> None:
        self.max_usd = max_usd
        self._max_calls = max_calls
        self.calls = 0  # begun, whatever came of them
        self.spent_usd = 0.0
        self._reserved_usd = 0.0
        self._in_flight = 0
        self._is_reached = False
        self._ended = ""
        self._changed = Condition()

    def count(self, usd: float) -> None:
        """Count what earlier runs spent that the limit is for too."""
        with self._changed:
            self.spent_usd += usd

    def end(self, reason: str) -> None:
        """Nothing more is spent. It takes no lock, for a signal handler calls it."""
        self._ended = reason

    def reserve(self, worst_usd: float) -> None:
        """Reserve the worst-case cost of an attempt.

        Raises `BudgetReached` if it would exceed the limit, and `Interrupted` after the end.
        """
        with self._changed:
            while not self._is_reached and not self._ended and self._in_flight and not self._has_room(worst_usd):
                self._changed.wait()
            self.check_not_ended()
            if self._is_reached or not self._has_room(worst_usd):
                self._is_reached = True
                self._changed.notify_all()
                raise BudgetReached(self._reason(worst_usd))
            self._reserved_usd += worst_usd
            self._in_flight += 1
            self.calls += 1

    def settle(self, worst_usd: float, cost_usd: float) -> None:
        """Settle a finished attempt that cost `cost_usd`: 0 if it was refused, its worst case if unknown."""
        with self._changed:
            self._in_flight -= 1
            self._reserved_usd = self._reserved_usd - worst_usd if self._in_flight else 0.0
            self.spent_usd += cost_usd
            self._changed.notify_all()

    def commit(self, worst_usd: float) -> None:
        """Count a request that is answered much later as spent. Raises as `reserve` does."""
        with self._changed:
            self.check_not_ended()
            if self._is_reached or not self._has_room(worst_usd):
                self._is_reached = True
                raise BudgetReached(self._reason(worst_usd))
            self.spent_usd += worst_usd
            self.calls += 1

    def refund(self, usd: float) -> None:
        """Return money that was counted as spent but was not."""
        with self._changed:
            self.spent_usd = max(0.0, self.spent_usd - usd)
            self._changed.notify_all()

    @property
    def has_ended(self) -> bool:
        return bool(self._ended)

    def check_not_ended(self) -> None:
        """Raises `Interrupted` after the end."""
        if self._ended:
            raise Interrupted(self._ended)

    def _has_calls(self) -> bool:
        return self._max_calls is None or self.calls < self._max_calls

    def _has_room(self, worst_usd: float) -> bool:
        if not self._has_calls() or self.max_usd is None:
            return self._has_calls()
        return self.spent_usd + self._reserved_usd + worst_usd <= self.max_usd + _ROUNDING_USD

    def _reason(self, worst_usd: float) -> str:
        if self._max_calls == 0:  # of a shard; the option itself is at least 1
            return "--max-calls is less than there are shards, and none is left for this one"
        if not self._has_calls():
            return f"--max-calls {self._max_calls} is reached; answers are kept, run again to continue"
        return (
            f"--max-usd {self.max_usd:g} is reached: ${self.spent_usd:.4f} spent, the next request could cost "
            f"${worst_usd:.4f}; paid answers are kept, run again to continue"
        )
