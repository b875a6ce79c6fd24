"""Setting up, moving, deploying: a workflow of shell commands, recognised by the number of different operations.

Steps are in an order that does not depend on the session where the order does not matter (format, lint, test), so
that the same workflow of two sessions has the same name.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.checks import is_common
from agent_wiki.engines.offline.recipes.drafts import Draft, listed, slug, tags
from agent_wiki.engines.offline.recipes.operations import CHECKS, RUN
from agent_wiki.engines.offline.recipes.parameters import Parameters
from agent_wiki.engines.offline.recipes.performed import Performed, attempts
from agent_wiki.engines.offline.recipes.steps import steps

_FEWEST_STEPS = 3

# Part of every session's work on code; says nothing about setting up or moving something.
_DEVELOPMENT = frozenset(
    {"branch", "commit", "push", "pull", "fetch", "merge", "rebase", "cherry-pick", "submodule", "bisect"}
    | {"read-review", "reply", "watch-checks", "open-pull-request", "diagnose"}
)


def chain_draft(operations: Sequence[Performed], parameters: Parameters) -> Draft | None:
    """Setting up, moving data, deploying: several different things that had to be done one after the other.

    A chain with a step that only its own session could run does not count.
    """
    kept = [each for each in operations if each.operation.verb not in _DEVELOPMENT]
    done = [tries[-1].operation for tries in attempts(kept)]
    verbs = list(dict.fromkeys(each.verb for each in done if each.verb != RUN))
    specific = [verb for verb in verbs if verb not in CHECKS and verb != "install"]
    links = steps(kept, parameters)
    if len(verbs) < _FEWEST_STEPS or not specific or is_common(done) or len(links) < len(done):
        return None
    tools = list(dict.fromkeys(each.tool for each in done if each.tool not in ("cp", "venv")))
    said, by = listed(verbs), listed(tools)
    return Draft(
        name=slug("-".join(verbs) + (f"-with-{tools[0]}" if len(tools) == 1 else "")),
        description=f"The steps that worked, in order: {said}, with {by}. Use when the same has to be done again from "
        "the beginning.",
        trigger=f"Something has to be brought up with {by}: {said}",
        overview=f"One way through that worked from the first step to the last: {said}.",
        when_to_use=f"The work is done with {by}, and nothing of it has been done yet.",
        steps=links,
        tags=tags(*tools[:3], *specific[:2]),
    )
