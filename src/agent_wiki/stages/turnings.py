"""The turns that a lesson rests on, and how sure its cause is: what the grading of causes takes in and gives."""

from __future__ import annotations

from agent_wiki.pages.guideline import Cause
from agent_wiki.trajectory.lazily import dataclass

NOBODY = 0


@dataclass(frozen=True, slots=True)
class Turning:
    """The turns that a lesson rests on, counted from 1; None for one that it does not name.

    `event`: what cost something; `remedy`: what was done differently; `confirmation`: what shows that it helped.
    `reason`: where somebody says why, `NOBODY` where the lesson says that nobody does; None where it leaves that open,
    so that the words of what it cites decide. `is_known`: the error is one that a table gives a remedy for, which the
    confirming call has and the failed one had not: what else was written otherwise is then no rival cause.
    """

    event: int
    remedy: int | None = None
    confirmation: int | None = None
    reason: int | None = None
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Grade:
    """How sure a cause is, and the sentence that says why. `contradiction`: the later turn that speaks against it."""

    cause: Cause
    reason: str
    contradiction: str = ""
