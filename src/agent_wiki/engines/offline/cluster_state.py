"""What a cluster showed before and after it was changed: the check of work that no test runner sees.

Workloads that were seen unhealthy and are seen healthy after the last change show that the fault is gone. A
cluster that looked healthy all along shows nothing, whatever was changed.
"""

from __future__ import annotations

from collections import Counter

from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.shell.result_lines import quoted
from agent_wiki.shell.workloads import Workload, is_cluster_change, workloads_in


def healthy_cluster(stretch: Stretch) -> Shown | None:
    """Success when every workload seen unhealthy before is healthy in the last look after the last change.

    None when nothing was changed, nothing was unhealthy, or something still is.
    """
    changes = [act for act in stretch.acts if act.has_worked and any(map(is_cluster_change, act.commands))]
    if not changes:
        return None
    first_change, last_change = changes[0].call.position, changes[-1].call.position
    seen = [(act, each) for act in stretch.acts for each in workloads_in(act.commands, act.call.result or "")]
    broken = _broken([each for act, each in seen if act.call.position < first_change])
    after = {each.name: (act, each) for act, each in seen if act.call.position > last_change}
    if not broken or not broken <= after.keys() or not all(each.is_healthy for _, each in after.values()):
        return None
    act, shown = max((after[name] for name in broken), key=lambda pair: pair[0].call.position)
    return Shown("success", "cluster", act.end, quoted(shown.line), act)


def _broken(seen: list[Workload]) -> set[str]:
    """The workloads that were stuck, or not ready in two looks: once may be a slow start."""
    unready = [each.name for each in seen if not each.is_healthy]
    stuck = {each.name for each in seen if each.is_stuck}
    return stuck | {name for name, times in Counter(unready).items() if times > 1}
