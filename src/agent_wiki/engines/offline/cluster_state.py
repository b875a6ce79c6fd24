"""What a cluster showed before and after it was changed: the check of work that no test runner sees.

Workloads that were seen unhealthy and are seen healthy after the last change show that the fault is gone. A
cluster that looked healthy all along shows nothing, whatever was changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import named
from agent_wiki.shell.result_lines import lines_of, quoted
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import dataclass, regex

_CLUSTER_TOOLS = frozenset({"kubectl", "oc", "helm"})
_CHANGES = named("cluster_changes")
_ROW = regex(r"^(?:\S{1,253}\s+)??(?P<name>\S{1,253})\s+(?P<ready>\d{1,5})/(?P<wanted>\d{1,5})\s+(?P<state>\S{1,80})")
_ROLLED_OUT = regex(r'^(?:deployment|statefulset|daemon set|daemonset) "(?P<name>[^"\s]{1,253})" successfully rolled')
_POD_SUFFIX = regex(r"(?:-[0-9a-f]{8,10})?-[a-z0-9]{5}$|-\d{1,3}$")
_DONE = frozenset({"Completed", "Succeeded"})
_STUCK = named("stuck_states")
_STATES = _DONE | _STUCK | {"Running", "Complete", "Suspended"}


@dataclass(frozen=True, slots=True)
class _Sight:
    """A workload as one line of a result shows it."""

    workload: str
    is_healthy: bool
    is_stuck: bool  # in a state that waiting does not resolve
    act: Act
    line: str


def healthy_cluster(stretch: Stretch) -> Shown | None:
    """Success when every workload seen unhealthy before is healthy in the last look after the last change.

    None when nothing was changed, nothing was unhealthy, or something still is.
    """
    changes = [act for act in stretch.acts if act.has_worked and any(map(is_cluster_change, act.commands))]
    if not changes:
        return None
    first_change, last_change = changes[0].call.position, changes[-1].call.position
    sights = list(_sights(stretch.acts))
    broken = _broken([sight for sight in sights if sight.act.call.position < first_change])
    after = {sight.workload: sight for sight in sights if sight.act.call.position > last_change}
    if not broken or not broken <= after.keys() or not all(sight.is_healthy for sight in after.values()):
        return None
    shown = max((after[name] for name in broken), key=lambda sight: sight.act.call.position)
    return Shown("success", "cluster", shown.act.end, quoted(shown.line), shown.act)


def _broken(sights: list[_Sight]) -> set[str]:
    """The workloads that were stuck, or not ready in two looks: once may be a slow start."""
    unready = [sight.workload for sight in sights if not sight.is_healthy]
    stuck = {sight.workload for sight in sights if sight.is_stuck}
    return stuck | {name for name, times in Counter(unready).items() if times > 1}


def is_cluster_change(command: SimpleCommand) -> bool:
    """Whether the command changes what runs in a cluster."""
    if command.program not in _CLUSTER_TOOLS or _CHANGES.isdisjoint(command.words[1:4]):
        return False
    return not any(word.startswith("--dry-run") and word != "--dry-run=none" for word in command.words)


def _sights(acts: list[Act]) -> Iterator[_Sight]:
    """Every workload that a result shows, in recorded order."""
    for act in acts:
        if act.call.result is None or not any(each.program in _CLUSTER_TOOLS for each in act.commands):
            continue
        for line in lines_of(act.call.result):
            row, rolled_out = _ROW.match(line), _ROLLED_OUT.match(line)
            if rolled_out:
                yield _Sight(rolled_out["name"], is_healthy=True, is_stuck=False, act=act, line=line)
            elif row and row["state"] != "Terminating" and row["name"] not in _STATES:  # a job's state comes first
                workload, is_stuck = _workload(row["name"]), row["state"] in _STUCK
                yield _Sight(workload, _is_healthy_row(row), is_stuck, act, row.group())


def _workload(name: str) -> str:
    """`pod/web-6f7d9c5b4-x2x4z` and `deployment.apps/web` are both `web`."""
    return _POD_SUFFIX.sub("", name.rpartition("/")[2])


def _is_healthy_row(row: re.Match[str]) -> bool:
    """Ready as wanted, and in no other state than running; tables without a state have a number there."""
    is_ready = int(row["ready"]) >= int(row["wanted"])
    return row["state"] in _DONE or (is_ready and (row["state"] == "Running" or row["state"][0].isdigit()))
