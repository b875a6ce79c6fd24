"""The cap on what a run may spend."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from agent_wiki.asking.budget import Budget
from agent_wiki.errors import BudgetReached


def test_without_a_cap_nothing_is_refused() -> None:
    budget = Budget()
    budget.reserve(1e9)
    budget.settle(1e9, 2.0)
    assert budget.spent_usd == 2.0


def test_an_attempt_that_could_pass_the_cap_is_refused() -> None:
    budget = Budget(1.0)
    budget.reserve(0.6)
    budget.settle(0.6, 0.5)
    with pytest.raises(BudgetReached, match=r"\$0\.5000 spent"):
        budget.reserve(0.6)
    with pytest.raises(BudgetReached):
        budget.reserve(0.1)  # once refused, always refused


def test_an_attempt_waits_for_what_is_in_flight_and_then_has_room() -> None:
    budget, sent = Budget(1.0), Event()
    budget.reserve(0.8)

    def second() -> None:
        sent.set()
        budget.reserve(0.8)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second)
        assert sent.wait(5)
        assert not waiting.done()
        budget.settle(0.8, 0.1)
        waiting.result(5)


def test_many_threads_never_pass_the_cap() -> None:
    budget = Budget(1.0)

    def attempt(_: int) -> bool:
        try:
            budget.reserve(0.09)
        except BudgetReached:
            return False
        budget.settle(0.09, 0.03)
        return True

    with ThreadPoolExecutor(16) as pool:
        sent = sum(pool.map(attempt, range(200)))
    assert budget.spent_usd <= 1.0
    assert budget.spent_usd == pytest.approx(0.03 * sent)
    assert sent >= 30
