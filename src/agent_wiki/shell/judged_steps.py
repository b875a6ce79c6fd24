"""The steps of a call's command line by their verdict: which failed, which passed."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_MEMBER = regex(r"\.[A-Z]\w*(?:\(\))?")  # PowerShell: `(Invoke-WebRequest …).Content` is one command
_CANNOT_FAIL = frozenset({"head", "tail", "sort", "wc", "echo", "true"})


def called_steps(call: Call) -> tuple[SimpleCommand, ...]:
    """The steps of a shell call, of the first one where it reads on; none for other tools."""
    command = (call.continues or call).command()
    return () if command is None else steps_of(command)


def failed_steps(call: Call) -> Sequence[SimpleCommand]:
    """The step of a call that failed; all that do more than look where the verdict names none: each may be it."""
    steps, step = called_steps(call), verdict_of(call).step
    if step is not None and step < len(steps):
        step -= bool(step and _MEMBER.fullmatch(steps[step].program))
        return steps[step : step + 1]
    states = verdict_of(call).steps or ("unknown",) * len(steps)
    open_steps = [each for each, state in zip(steps, states, strict=False) if state != "passed"]
    may_be = [each for each in open_steps if each.program not in _CANNOT_FAIL]
    own = [each for each in steps if not _MEMBER.fullmatch(each.program)]
    return [each for each in own if shell_kind(each) != "look"] or may_be or steps


def passed_steps(call: Call) -> list[SimpleCommand]:
    """The steps of a call that passed, as far as is known."""
    steps, verdict = called_steps(call), verdict_of(call)
    if verdict.has_passed and not verdict.steps:
        return list(steps)
    return [step for step, state in zip(steps, verdict.steps, strict=False) if state == "passed"]
