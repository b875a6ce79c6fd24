"""The workloads that the tools of a cluster show, and whether they are healthy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_wiki.shell.result_lines import lines_of
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import dataclass, regex

_CLUSTER_TOOLS = frozenset({"kubectl", "oc", "helm"})
_CHANGES = frozenset(
    {"apply", "patch", "edit", "set", "scale", "delete", "create", "replace", "label", "annotate", "taint", "cordon",
     "uncordon", "drain", "autoscale", "expose", "upgrade", "install", "rollback", "uninstall", "restart", "undo"}
)  # fmt: skip
_ROW = regex(r"^(?:\S{1,253}\s+)??(?P<name>\S{1,253})\s+(?P<ready>\d{1,5})/(?P<wanted>\d{1,5})\s+(?P<state>\S{1,80})")
_ROLLED_OUT = regex(r'^(?:deployment|statefulset|daemon set|daemonset) "(?P<name>[^"\s]{1,253})" successfully rolled')
_POD_SUFFIX = regex(r"(?:-[0-9a-f]{8,10})?-[a-z0-9]{5}$|-\d{1,3}$")
_DONE = frozenset({"Completed", "Succeeded"})
_STUCK = frozenset(  # states that waiting does not resolve
    {"Pending", "CrashLoopBackOff", "Error", "ImagePullBackOff", "ErrImagePull", "OOMKilled", "Evicted", "Failed",
     "CreateContainerConfigError", "CreateContainerError", "InvalidImageName", "RunContainerError", "Unknown"}
)  # fmt: skip
_STATES = _DONE | _STUCK | {"Running", "Complete", "Suspended"}


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload as one `line` of a result shows it; `is_stuck`: in a state that waiting does not resolve."""

    name: str
    is_healthy: bool
    is_stuck: bool
    line: str


def is_cluster_change(command: SimpleCommand) -> bool:
    """Whether the command changes what runs in a cluster."""
    if command.program not in _CLUSTER_TOOLS or _CHANGES.isdisjoint(command.words[1:4]):
        return False
    return not any(word.startswith("--dry-run") and word != "--dry-run=none" for word in command.words)


def workloads_in(commands: Sequence[SimpleCommand], result: str) -> Iterator[Workload]:
    """Every workload that the result of a cluster's tool shows, in its order."""
    if not any(each.program in _CLUSTER_TOOLS for each in commands):
        return
    for line in lines_of(result):
        row, rolled_out = _ROW.match(line), _ROLLED_OUT.match(line)
        if rolled_out:
            yield Workload(rolled_out["name"], is_healthy=True, is_stuck=False, line=line)
        elif row and row["state"] != "Terminating" and row["name"] not in _STATES:  # a job's state comes first
            # `pod/web-6f7d9c5b4-x2x4z` and `deployment.apps/web` are both `web`.
            name = _POD_SUFFIX.sub("", row["name"].rpartition("/")[2])
            is_ready = int(row["ready"]) >= int(row["wanted"])
            is_running = row["state"] == "Running" or row["state"][0].isdigit()  # tables without a state have a number
            is_healthy = row["state"] in _DONE or (is_ready and is_running)
            yield Workload(name, is_healthy, row["state"] in _STUCK, row.group())
