"""How sure the cause of one turning in a scripted session is, and what a check prints that fails or passes."""

from __future__ import annotations

from agent_wiki.stages.causes import graded
from agent_wiki.stages.turnings import Grade, Turning
from tests.engines.scripted_session import Script

RED, GREEN = "FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed", "3 passed"


def grade_of(session: Script, turning: tuple[int, int | None, int | None], *quotes: tuple[int, str]) -> Grade:
    return graded(session.done(), Turning(*turning), quotes)


def cause_of(session: Script, *turning: int | None) -> str:
    event, remedy, confirmation = turning
    assert event is not None
    return graded(session.done(), Turning(event, remedy, confirmation), []).cause
