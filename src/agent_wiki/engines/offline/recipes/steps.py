"""From performed operations to the steps of a skill: one for each operation, in its last form that worked."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.drafts import DraftStep, is_usable
from agent_wiki.engines.offline.recipes.operations import RUN
from agent_wiki.engines.offline.recipes.parameters import Parameters, parameterised
from agent_wiki.engines.offline.recipes.performed import Performed, attempts, met_conflicts
from agent_wiki.engines.offline.tables import table

STEP_TEXTS: dict[str, str] = table("steps")["texts"]
_DIAGNOSES: dict[str, str] = table("steps")["diagnoses"]


def steps(operations: Sequence[Performed], parameters: Parameters) -> list[DraftStep]:
    """The operations in the order of their last attempts, without those whose last attempt failed.

    Of several attempts that worked, the last usable one is taken; an operation without one is left out, and the same
    command occurs once.
    """
    found: list[DraftStep] = []
    for tries in attempts(operations):
        step = next((step for each in reversed(tries) if (step := step_of(each, parameters))), None)
        if step is not None and step.command not in [other.command for other in found]:
            found.append(step)
    return found


def step_of(each: Performed, parameters: Parameters) -> DraftStep | None:
    """One operation as a step; None when it did not work or holds values of its session alone."""
    if not each.has_worked:
        return None
    command = parameterised(each.pipeline, each.words, each.operation, parameters)
    if each.folder:
        command = f"cd {each.folder} && {command}"
    if not is_usable(command):
        return None
    return DraftStep(_text(each), command, each.call, each.pipeline.text, each.operation)


def _text(each: Performed) -> str:
    verb, task = each.operation.verb, each.operation.task
    if verb == "diagnose":
        subcommand, _, kind = task.partition("/")
        said = _DIAGNOSES.get(task) or _DIAGNOSES.get(subcommand, "Look at the state.")
        return said.format(kind=kind or "workload")
    if verb == RUN:
        return f"Run the task `{task}`."
    if task == "continue":
        return f"Go on with the {verb} until it is through."
    if verb in ("merge", "rebase") and met_conflicts(each):
        return f"{STEP_TEXTS[verb][:-1]}; it stops where both sides changed the same lines."
    return STEP_TEXTS.get(verb) or f"{verb.replace('-', ' ').capitalize()} with {each.operation.tool}."
