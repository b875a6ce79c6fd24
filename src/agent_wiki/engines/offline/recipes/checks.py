"""The checks that a change has to pass, as a repository runs them."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.drafts import Draft, DraftStep, listed, slug, tags
from agent_wiki.engines.offline.recipes.operations import CHECKS, Operation
from agent_wiki.engines.offline.recipes.parameters import Parameters
from agent_wiki.engines.offline.recipes.performed import Performed
from agent_wiki.engines.offline.recipes.steps import steps

_FEWEST_KINDS = 3
_TARGETED = ("<test-name", "<test-file", "<package")  # a check of one place does not check the change


def in_check_order(operations: Sequence[Performed]) -> list[Performed]:
    """The checks among the operations, sorted so that sessions agree; attempts at one thing stay in order."""
    checks = [each for each in operations if each.operation.verb in CHECKS]
    return sorted(
        checks, key=lambda each: (CHECKS.index(each.operation.verb), each.operation.task, each.operation.tool)
    )


def runner_of(operations: Sequence[Operation]) -> str:
    """The tool that most of the repository's own tasks are run with; empty when there are none."""
    specific = [each.tool for each in operations if each.is_specific]
    return max(sorted(set(specific)), key=specific.count, default="")


def is_common(operations: Sequence[Operation]) -> bool:
    """What anyone would type without instructions: the default commands of one or two tools."""
    return not any(each.is_specific for each in operations) and len({each.tool for each in operations}) < 3


def check_steps(operations: Sequence[Performed], parameters: Parameters) -> tuple[list[DraftStep], str]:
    """The checks of a whole change in the order to run them, and their runner (empty when there is none).

    Where the repository's runner does a kind of check, other ways to do it are left out; and of the rest all
    that checks one place only, unless there is nothing else.
    """
    found = steps(in_check_order(operations), parameters)
    whole = [step for step in found if not any(mark in (step.command or "") for mark in _TARGETED)] or found
    runner = runner_of(_operations(whole))
    by_runner = {each.verb for each in _operations(whole) if each.tool == runner}
    kept = [
        step
        for step, each in zip(whole, _operations(whole), strict=True)
        if each.tool == runner or each.verb not in by_runner
    ]
    return kept, runner


def _operations(found: Sequence[DraftStep]) -> list[Operation]:
    return [step.operation for step in found if step.operation is not None]


def checks_draft(operations: Sequence[Performed], parameters: Parameters) -> Draft | None:
    """At least three kinds of check, not all of them common knowledge, or None."""
    kept, _ = check_steps(operations, parameters)
    done = _operations(kept)
    verbs = [verb for verb in CHECKS if verb in {each.verb for each in done}]
    if len(verbs) < _FEWEST_KINDS or is_common(done):
        return None
    tools = list(dict.fromkeys(each.tool for each in done))
    said, by = listed(verbs), listed(tools)
    return Draft(
        name=slug(f"{'-'.join(verbs)}-with-{'-'.join(tools)}"),
        description=f"Runs the checks a change has to pass ({said}) with {by}. Use before committing or handing over "
        "a change in a repository that is checked this way.",
        trigger=f"A change is to be checked before a commit in a repository that uses {by}",
        overview=f"The checks in the order that finds mistakes early: {said}.",
        when_to_use=f"The repository defines its checks with {by} and a change is finished.",
        steps=kept,
        tags=tags(*tools[:3], "checks", *verbs[:2]),
    )
