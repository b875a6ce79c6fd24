"""Work on a branch that others are part of: taking another branch in, and acting on a review."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_wiki.engines.offline.recipes.checks import check_steps
from agent_wiki.engines.offline.recipes.drafts import Draft, DraftStep, slug, tags
from agent_wiki.engines.offline.recipes.parameters import Parameters
from agent_wiki.engines.offline.recipes.performed import Performed, met_conflicts
from agent_wiki.engines.offline.recipes.steps import step_of, steps

_RESOLVE = "Resolve each conflict: keep what both sides meant, until no conflict marker is left."
_JUDGE = "Judge each comment against the code; correct the code where the comment is right."
_ENDING = ("commit", "push", "reply")


def _last(operations: Sequence[Performed], is_wanted: Callable[[Performed], bool]) -> int | None:
    """The place of the last wanted operation."""
    return next((place for place in reversed(range(len(operations))) if is_wanted(operations[place])), None)


def _is_stopped_join(each: Performed) -> bool:
    return each.operation.verb in ("merge", "rebase") and not each.operation.task and met_conflicts(each)


def _name(what: str, runner: str) -> str:
    """A name that says how this repository checks."""
    return slug(f"{what}-with-{runner}-checks" if runner else what)


def conflicts_draft(operations: Sequence[Performed], parameters: Parameters) -> Draft | None:
    """A branch taken in, its conflicts resolved, checked and committed."""
    place = _last(operations, _is_stopped_join)
    join = step_of(operations[place], parameters) if place is not None else None
    if place is None or join is None:
        return None
    verb, after = operations[place].operation.verb, operations[place + 1 :]
    ending = steps([each for each in after if each.operation.verb in ("commit", "push", verb)], parameters)
    if not any(step.operation and step.operation.verb in ("commit", verb) for step in ending):
        return None
    fetches = steps([each for each in operations[:place] if each.operation.verb == "fetch"], parameters)
    checks, runner = check_steps(after, parameters)
    return Draft(
        name=_name(f"resolve-{verb}-conflicts", runner),
        description=f"Takes another branch in with `git {verb}`, resolves the conflicts, checks the result and commits "
        "it. Use when a branch has fallen behind and no longer merges cleanly.",
        trigger=f"A branch that has to take in another one and `git {verb}` reports conflicts",
        overview="Fetch, take the other branch in, resolve the conflicts, and commit only after the checks pass.",
        when_to_use="The working tree is clean, and both branches have changed the same lines.",
        steps=[
            *fetches[-1:],
            join,
            DraftStep(_RESOLVE),
            *_checked(verb, checks, ending),
        ],
        tags=tags("git", verb, "merge-conflicts", runner),
    )


def _checked(verb: str, checks: list[DraftStep], ending: list[DraftStep]) -> list[DraftStep]:
    """A merge is checked before it is committed, a rebase when it is through."""
    through = [step for step in ending if verb == "rebase" and step.operation and step.operation.verb == verb]
    return [*through, *checks, *(step for step in ending if step not in through)]


def review_draft(operations: Sequence[Performed], parameters: Parameters) -> Draft | None:
    """Review comments read, acted on, checked, pushed or answered."""
    places = [place for place, each in enumerate(operations) if each.operation.verb == "read-review"]
    reading = steps([operations[place] for place in places], parameters)
    if not reading:
        return None
    after = operations[places[0] + 1 :]
    ended = [each for each in after if each.operation.verb in _ENDING]
    ending = steps(sorted(ended, key=lambda each: _ENDING.index(each.operation.verb)), parameters)
    if not any(step.operation and step.operation.verb in ("push", "reply") for step in ending):
        return None
    checks, runner = check_steps(after, parameters)
    return Draft(
        name=_name("address-review-comments", runner),
        description="Reads the review comments of a pull request with `gh`, corrects what is right in them, checks, "
        "pushes and answers. Use when asked to address the review of a pull request.",
        trigger="A pull request has review comments that are to be addressed",
        overview="Read all comments, judge each against the code, correct, check, push, and answer where it was asked.",
        when_to_use="The pull request is on GitHub and `gh` is logged in.",
        steps=[*reading[:1], DraftStep(_JUDGE), *checks, *ending],
        tags=tags("github", "pull-request", "code-review", runner),
    )
