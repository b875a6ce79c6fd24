"""What the calls that ran at the same time as a failed one say of its cause: harnesses start several calls at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.tools import is_escalated
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.call_effects import asked_in, comparable, doing
from agent_wiki.stages.run_again import options_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_NOT_STARTED = regex(r"CreateProcess|execution error|failed to (?:start|spawn|launch)|spawn \w+ E[A-Z]+", re.IGNORECASE)


def doubt_of_batch(calls: Sequence[Call], event: Call, remedies: Sequence[Call], confirming: Call) -> str:
    """Why calls of the failed one's batch leave a remedy in doubt, as a clause; empty where they do not.

    In: all calls of the session, the one that failed, those at the remedy's turn, and the one that passed later.
    """
    if race := _race(calls, event, remedies, confirming):
        return race
    beside = _started_beside(calls, event, confirming)
    return "" if beside is None else f"another call was started in T{beside.turn} without what was changed"


def _race(calls: Sequence[Call], event: Call, remedies: Sequence[Call], confirming: Call) -> str:
    """None of the batch can have met the failure, and none is sure to run first."""
    asked = asked_in(event)
    seen = asked.result_turn or asked.turn
    early = next((call for call in [*remedies, asked_in(confirming)] if call.turn < seen), None)
    if early is not None:
        return f"T{early.turn} was called before the failure was seen"
    done = [step for call in remedies if call.turn < asked_in(confirming).turn for step in doing(call)]
    others = (call for call in _batch_of(calls, asked) if call is not asked)
    same = next(
        (call for call in others if any(is_same_check(one, step) for one in done for step in doing(call))), None
    )
    return f"T{same.turn} did the same at the same time" if same else ""


def _started_beside(calls: Sequence[Call], event: Call, confirming: Call) -> Call | None:
    """A call of the batch that was started with the options that are said to be why another one could not be started.

    What a command fails by is its own matter, and so is what a sandbox allows it.
    """
    one, other, said = asked_in(event), asked_in(confirming), f"{verdict_of(event).line}\n{event.result or ''}"
    options, line = options_of(one, said), comparable(verdict_of(event).line)
    is_of_start = _NOT_STARTED.search(line) is not None
    if not is_of_start or one.command() is None or one.command() != other.command() or is_escalated(other):
        return None
    others = (call for call in _batch_of(calls, one) if call.name == one.name and call is not one)
    same = (call for call in others if options_of(call, said) == options != options_of(other, said))
    return next((call for call in same if call.result and comparable(verdict_of(call).line) != line), None)


def _batch_of(calls: Sequence[Call], asked: Call) -> list[Call]:
    """The calls that ran at the same time as one, itself among them."""
    seen = asked.result_turn or asked.turn
    return [call for call in calls if call.turn < seen and (call.result_turn or call.turn) > asked.turn]
