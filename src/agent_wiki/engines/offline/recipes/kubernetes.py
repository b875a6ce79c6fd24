"""A workload of a cluster diagnosed, changed and seen to be healthy."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.drafts import Draft, DraftStep, slug, tags
from agent_wiki.engines.offline.recipes.parameters import Parameters
from agent_wiki.engines.offline.recipes.performed import Performed
from agent_wiki.engines.offline.recipes.steps import STEP_TEXTS, steps

_MOST_LOOKS, _MOST_PROOFS = 5, 3


def kubernetes_draft(operations: Sequence[Performed], parameters: Parameters) -> Draft | None:
    """Looks at the cluster, a change that worked, and a look that shows it: all three, or None."""
    cluster = [each for each in operations if each.operation.tool in ("kubectl", "helm")]
    changes = [place for place, each in enumerate(cluster) if each.operation.verb == "change" and each.has_worked]
    if not changes:
        return None
    looks = steps(cluster[: changes[0]], parameters)[:_MOST_LOOKS]
    change = steps([cluster[place] for place in changes], parameters)
    after = [each for each in cluster[changes[-1] + 1 :] if each.operation.verb != "change"]
    proofs = [_as_proof(step) for step in steps(after, parameters)[:_MOST_PROOFS]]
    if not looks or not change or not proofs:
        return None
    tool = cluster[changes[-1]].operation.tool
    verb, _, kind = cluster[changes[-1]].operation.task.partition("/")
    kind = "release" if tool == "helm" else kind or "workload"
    return Draft(
        name=slug(f"diagnose-and-{verb}-kubernetes-{kind}"),
        description=f"Finds why a Kubernetes {kind} does not work and corrects it with `{tool} {verb}`. Use when pods "
        "stay pending, restart or do not answer.",
        trigger=f"A Kubernetes {kind} whose pods are pending, restarting, not ready or unreachable",
        overview=f"Look at the state and the events until the cause is known, {verb} only that, and see that the "
        "pods come up.",
        when_to_use="The cluster can be reached with `kubectl` and the cause of the trouble is not known yet.",
        steps=[*looks, *change, *proofs],
        tags=tags("kubernetes", tool, kind, "diagnosis"),
    )


def _as_proof(step: DraftStep) -> DraftStep:
    if step.text == STEP_TEXTS["verify"]:
        return step
    text = f"See that it is well now: {step.text[0].lower()}{step.text[1:]}"
    return DraftStep(text, step.command, step.call, step.quote, step.operation)
