"""The checks in a call, as acts see them: what each covers is decided in `shell/same_check`."""

from __future__ import annotations

from dataclasses import replace

from agent_wiki.engines.offline.acts import Act, check_key
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.same_check import CheckRun, check_run, stopped_at
from agent_wiki.shell.simple_commands import SimpleCommand

_PASSED = {"passed": True, "failed": False, "masked": False}


def check_runs(act: Act) -> list[CheckRun]:
    """The checks in a call, at least one: a script run to see is one, identified by its whole command."""
    if act.kind == "probe":
        return [CheckRun(check_key(act), frozenset())]
    found = [_run(each) for each in act.commands if is_check(each)]
    return found or [CheckRun(check_key(act), frozenset())]


def check_verdicts(act: Act) -> list[tuple[CheckRun, bool]]:
    """The checks in a call that gave a verdict, each with its own: of a chain one step may fail alone."""
    if act.finding is None or act.finding.passed is None:
        return []
    steps = act.judged_steps if act.kind == "check" else []
    stopped = stopped_at(act.call.result or "")
    states = [(_run(step), state) for step, state in steps if is_check(step)]
    known = [
        (run if _PASSED[state] else replace(run, stopped=stopped), _PASSED[state])
        for run, state in states
        if state in _PASSED
    ]
    if act.finding.passed is not all(passed for _, passed in known):
        known = []
    return known or [(run, act.finding.passed) for run in check_runs(act)]


def _run(command: SimpleCommand) -> CheckRun:
    """A command as a check. `lint:fix` repairs what `lint` reports and says what it could not repair."""
    run = check_run(command)
    return replace(run, family=run.family.replace(":fix", ""))
