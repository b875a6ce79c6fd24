"""The checks in a call, as acts see them: what each covers is decided in `shell/same_check`."""

from __future__ import annotations

from agent_wiki.engines.offline.acts import Act, check_key
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.same_check import CheckRun, check_run


def check_runs(act: Act) -> list[CheckRun]:
    """The checks in a call, at least one: a script run to see is one, identified by its whole command."""
    if act.kind == "probe":
        return [CheckRun(check_key(act), frozenset())]
    found = [check_run(each) for each in act.commands if is_check(each)]
    return found or [CheckRun(check_key(act), frozenset())]
