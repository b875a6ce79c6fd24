"""States of a Kubernetes cluster that name their own cause, and the change that clears each of them.

An entry alone is no lesson: a session has to show the state, then make the change, then see the cluster healthy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_wiki.engines.offline.lessons import Wording


@dataclass(frozen=True, slots=True)
class ClusterState:
    """`shown` is looked for in what the cluster answers, `change` in the command that changes it."""

    wording: Wording
    shown: re.Pattern[str]
    change: re.Pattern[str]


def _state(rule_id: str, title: str, rule: str, trigger: str, tag: str, shown: str, change: str) -> ClusterState:
    return ClusterState(
        Wording(rule_id, title, rule, trigger, ("kubernetes", tag)), re.compile(shown), re.compile(change)
    )


CLUSTER_STATES: tuple[ClusterState, ...] = (
    _state(
        "kubernetes/host-port",
        "Remove conflicting hostPort from deployments",
        "Remove the `hostPort` from the deployment whose pods stay `Pending` for want of free ports "
        "(`kubectl patch deployment <name> --type=json`): the service reaches them without it.",
        "A pod stays `Pending`, and its events say `didn't have free ports for the requested pod ports`.",
        "scheduling",
        r"didn't have free ports for the requested pod ports",
        r"hostPort|/ports\b",
    ),
    _state(
        "kubernetes/image-name",
        "Correct image names of failing pulls",
        "Set the image name and tag of the deployment right (`kubectl set image deployment/<name> "
        "<container>=<image>`) when "
        "its image cannot be pulled; compare with the images of its siblings.",
        "A pod shows `ImagePullBackOff`, `ErrImagePull` or `InvalidImageName`.",
        "images",
        r"ImagePullBackOff|ErrImagePull|InvalidImageName",
        r"set image|[\"']?image[\"']?\s*:|/image\b",
    ),
    _state(
        "kubernetes/memory-limit",
        "Raise memory limits of killed pods",
        "Raise the memory limit of a container that is killed for want of memory (`kubectl set resources`).",
        "A container ends with `OOMKilled` or exit code 137.",
        "resources",
        r"OOMKilled|[Ee]xit [Cc]ode:?\s+137",
        r"set resources|memory",
    ),
    _state(
        "kubernetes/node-selector",
        "Match node selectors to real nodes",
        "Compare a pending pod's node selector, affinity and tolerations with the nodes' labels and taints, and "
        "change the "
        "side that is wrong.",
        "A pod stays `Pending`, and its events speak of node affinity, a selector or an untolerated taint.",
        "scheduling",
        r"didn't match (?:Pod's )?node (?:affinity|selector)|untolerated taint|node\(s\) were unschedulable|had taint",
        r"nodeSelector|nodeName|affinity|toleration|\btaint\b|uncordon|label nodes?\b",
    ),
    _state(
        "kubernetes/resource-requests",
        "Lower resource requests to what nodes offer",
        "Lower the requests of a pod that no node has room for, or make room, and watch it get scheduled.",
        "A pod stays `Pending`, and its events say `Insufficient cpu` or `Insufficient memory`.",
        "resources",
        r"Insufficient (?:cpu|memory)",
        r"set resources|requests|/resources|scale\b",
    ),
    _state(
        "kubernetes/resource-quota",
        "Check resource quotas before scaling",
        "Look at the namespace's resource quotas when no pods are created, and raise the quota or lower the requests.",
        "A replica set cannot create pods: `exceeded quota`.",
        "resources",
        r"exceeded quota|forbidden: failed quota",
        r"resourcequota|quota|set resources",
    ),
    _state(
        "kubernetes/missing-config",
        "Create missing config maps and secrets",
        "Create the config map or secret that a pod names, or correct the name it uses; its events say which is "
        "missing.",
        "A pod shows `CreateContainerConfigError`, or its events say that a config map or secret is not found.",
        "configuration",
        r"(?:configmap|secret) \"[^\"\n]{1,120}\" not found|CreateContainerConfigError",
        r"create (?:configmap|secret|cm)\b|kind: (?:ConfigMap|Secret)|configMap|secret(?:Ref|Name|KeyRef)",
    ),
    _state(
        "kubernetes/volume-claim",
        "Bind volume claims of pending pods",
        "Compare the claim a pending pod uses with the volumes and storage classes there are, and correct what "
        "does not match.",
        "A pod stays `Pending`, and its events speak of an unbound or missing persistent volume claim.",
        "storage",
        r"unbound immediate PersistentVolumeClaims|persistentvolumeclaim \"[^\"\n]{1,120}\" not found"
        r"|ProvisioningFailed",
        r"PersistentVolume|\bpvc?\b|storageClass|claimName",
    ),
    _state(
        "kubernetes/failing-probe",
        "Correct probes that restart healthy pods",
        "Compare a failing probe's port, path and delays with what the container serves, and correct the probe.",
        "A pod restarts or stays unready, and its events say that a probe failed.",
        "probes",
        r"(?:Readiness|Liveness|Startup) probe (?:failed|errored)",
        r"(?:readiness|liveness|startup)Probe",
    ),
    _state(
        "kubernetes/service-selector",
        "Compare service selectors with pod labels",
        "Compare the selector and target port of a service that has no endpoints with its pods' labels and "
        "ports, and correct "
        "the service.",
        "Requests to a service fail while its pods run, and `kubectl get endpoints` shows `<none>`.",
        "services",
        r"(?m)^\S{1,120}\s{1,80}<none>\s{1,20}\d{1,6}[smhd]|Endpoints:\s{1,40}(?:<none>|$)",
        r"(?:patch|edit) (?:svc|services?)\b|kind: Service|selector|targetPort",
    ),
    _state(
        "kubernetes/zero-replicas",
        "Scale deployments back from zero",
        "Look for deployments with zero replicas when a service is down without a failing pod, and scale them up.",
        "A service is unreachable, and its deployment shows `0/0`.",
        "scaling",
        r"(?m)^\S{1,120}\s{1,80}0/0\s",
        r"\bscale\b|\breplicas\b",
    ),
    _state(
        "kubernetes/network-policy",
        "Remove network policies that block services",
        "List the network policies when running pods cannot reach each other, and remove or correct the one that "
        "blocks them.",
        "Calls between services time out although all pods run.",
        "network",
        r"(?m)^[\w-]*(?:deny|block|isolat)[\w-]*\s|kind: NetworkPolicy|networkpolicy\.networking",
        r"(?:delete|patch|edit|apply)\b.{0,80}(?:networkpolic|netpol)",
    ),
    _state(
        "kubernetes/missing-permissions",
        "Grant the permissions that pods lack",
        "Give the service account the role that the refused call needs (`kubectl create rolebinding`).",
        'A pod\'s log says `is forbidden: User "system:serviceaccount:…" cannot …`.',
        "permissions",
        r"is forbidden: User \"system:serviceaccount",
        r"rolebinding|clusterrole|kind: Role|serviceAccount",
    ),
    _state(
        "kubernetes/database-user",
        "Restore database users of failing services",
        "Create the database user or give it back its roles, as the database's own set-up script does, when a "
        "service's log "
        "shows refused database calls; then restart the service.",
        "A service's log shows `Authentication failed`, `not authorized on` or `could not find user` for its database.",
        "databases",
        r"(?:not authorized on \S+ to execute|Authentication failed|[Cc]ould not find user|requires authentication)",
        r"createUser|grantRolesToUser|db\.auth|updateUser|CREATE USER|GRANT ",
    ),
    _state(
        "kubernetes/container-command",
        "Correct commands of crashing containers",
        "Set the container's command and arguments right when it cannot even start; compare with the image's own "
        "entry point.",
        "A container shows `RunContainerError` or `CrashLoopBackOff`, and the message says that its command was "
        "not found.",
        "configuration",
        r"exec: \\?\"[^\"\n]{1,120}\\?\": (?:stat |executable file not found|no such file)|RunContainerError",
        r"/command|/args|[\"']?command[\"']?\s*:|[\"']?args[\"']?\s*:",
    ),
)
