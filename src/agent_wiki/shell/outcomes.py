"""The verdict on a call as a value: how it went, which step failed, what shows it."""

from __future__ import annotations

from typing import Literal

from agent_wiki.trajectory.lazily import dataclass

State = Literal["passed", "failed", "masked", "refused", "called off", "running", "unknown"]
StepState = Literal["passed", "failed", "masked", "unknown", "not run"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a call went. `masked`: a step failed, and the call's own status hides it (a pipe, `; …`, `|| true`).

    `line`: what shows it, a verbatim part of the result, empty where only the recorded flag does. `turn`: where
    that is. `step`: the position of the failed step among `simple_commands.steps_of` the command line; `steps`: how
    each of them went.
    """

    state: State
    line: str = ""
    turn: int | None = None
    step: int | None = None
    steps: tuple[StepState, ...] = ()

    @property
    def has_failed(self) -> bool:
        """It failed by its own fault: it was neither refused nor called off."""
        return self.state in ("failed", "masked")

    @property
    def has_passed(self) -> bool:
        """It passed, and nothing says that any part of it failed."""
        return self.state == "passed"
