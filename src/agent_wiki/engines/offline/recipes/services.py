"""Workflows of tool calls in a service's domain: look something up, then change it, as an agent for customers does.

Only where the recording's own reward says that the session worked. What belongs to the workflow is shown by the
flow of values: a look-up counts when something it found is an argument of a later step. Whatever else the
session looked at on the way does not, so that sessions with the same changes agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from agent_wiki.engines.offline.recipes.citations import raw_citation
from agent_wiki.engines.offline.recipes.drafts import Draft, DraftStep, slug, tags
from agent_wiki.engines.offline.tables import table
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import SHELL_TOOLS, Call
from agent_wiki.trajectory.lazily import regex

_WRITES = frozenset(table("names")["changes"].split())
# The agent's own tools, and ways to give up: not part of a service.
_NOT_A_SERVICE = regex(
    r"think|calculate|transfer_to_human|todo|^(?:task|agent|bash|edit|multiedit|read|write|glob|grep|ls|skill|"
    r"webfetch|websearch|websearchtool|update_plan|apply_patch|spawn_agent|wait_agent|send_input|write_stdin|"
    r"str_replace|create_file|write_file|read_file|replace|list_directory|search_file_content|submit|done|finish)",
    re.IGNORECASE,
)
_YES = regex(
    r"^\W*(?:yes|yep|yeah|sure|confirm|please (?:do|go|proceed)|go ahead|ok\b|okay|that works|correct|proceed)",
    re.IGNORECASE,
)
_CONFIRM = "Say exactly what will be changed, and wait for the customer's explicit yes."
_FEWEST_STEPS = 3
_SHORTEST_VALUE = 4
_LONGEST_NAME = 40


def service_draft(trajectory: Trajectory, calls: Sequence[Call]) -> Draft | None:
    """The look-ups and changes of a session whose recorded reward is full; None when there is no workflow."""
    if trajectory.source.resolved is not True and (trajectory.source.reward or 0) < 1:
        return None
    worked = [call for call in calls if _is_of_service(call) and call.result and not has_failed(call) and not call.mark]
    writes = [call for call in worked if _is_write(call)]
    if not writes:
        return None
    kept = _supported(worked, writes)
    steps = _steps(kept, _confirmed(trajectory, writes[0]))
    if sum(step.command is not None for step in steps) < _FEWEST_STEPS:
        return None
    return _draft(steps, kept, [call.name for call in writes])


def _is_of_service(call: Call) -> bool:
    name = call.name.lower()
    return (
        name not in SHELL_TOOLS
        and not _NOT_A_SERVICE.search(name)
        and re.fullmatch(r"[a-z][\w.-]{2,60}", name) is not None
    )


def _words(name: str) -> list[str]:
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rsplit("__", 1)[-1])
    return [word for word in re.split(r"[^a-z]+", split.lower()) if word]


def _is_write(call: Call) -> bool:
    return bool(_WRITES & set(_words(call.name)[:1]))


def _supported(worked: Sequence[Call], writes: Sequence[Call]) -> list[Call]:
    """The writes, and before them each look-up whose result holds an argument of a call that is kept."""
    kept: list[Call] = []
    wanted: set[str] = set()
    for call in reversed(worked):
        is_kept = call in writes or (
            call.position < writes[-1].position and any(value in (call.result or "") for value in wanted)
        )
        if is_kept:
            kept.append(call)
            wanted |= _values(call.arguments)
    return list(reversed(kept))


def _values(value: Any) -> set[str]:
    """The strings among arguments that are too long to coincide by chance."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and len(each) >= _SHORTEST_VALUE:
            found.add(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return found


def _steps(kept: Sequence[Call], is_confirmed: bool) -> list[DraftStep]:
    """One step a tool, in the order of first use; the customer's yes before the first change where it was asked."""
    steps: list[DraftStep] = []
    seen: set[str] = set()
    for call in kept:
        if call.name in seen:
            continue
        if _is_write(call) and is_confirmed and _CONFIRM not in [step.text for step in steps]:
            steps.append(DraftStep(_CONFIRM))
        seen.add(call.name)
        is_repeated = sum(other.name == call.name for other in kept) > 1
        text = " ".join(_words(call.name)).capitalize()
        steps.append(
            DraftStep(
                f"{text}{', each that may be meant' if is_repeated and not _is_write(call) else ''}.",
                _command(call),
                call,
            )
        )
    return steps


def _command(call: Call) -> str:
    """`cancel_reservation {"reservation_id": "<reservation-id>"}`: the tool with its arguments as parameters."""
    shown = {
        name: f"<{_parameter(name)}>" for name in sorted(call.arguments) if re.fullmatch(r"[A-Za-z]\w{0,40}", name)
    }
    return f"{call.name} {json.dumps(shown)}" if shown else call.name


def _parameter(name: str) -> str:
    return slug(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name)) or "value"


def _confirmed(trajectory: Trajectory, write: Call) -> bool:
    """True when the user's last words before the change were a yes."""
    for message in reversed(trajectory.messages[: write.turn - 1]):
        if message.role == "user" and message.mark is None:
            return _YES.match(message.content or "") is not None
    return False


def _draft(steps: list[DraftStep], kept: Sequence[Call], names: Sequence[str]) -> Draft:
    done = list(dict.fromkeys(tuple(_words(name)) for name in names))
    said = " and ".join(_phrase(words) for words in done)
    first = f", beginning with `{kept[0].name}`" if kept[0].name not in names else ""
    subject = _words(names[-1])[1:]
    return Draft(
        name=_name(done),
        description=f"Shows how to {said} for a customer with the service's tools: which calls to look up what is "
        "needed, and which make the change. Use when a customer asks for this.",
        trigger=f"A customer asks to {said}",
        overview=f"The calls that were enough to {said}{first}; each takes its values from the ones before.",
        when_to_use="The tools named below are there and the service's policy allows the change.",
        steps=steps,
        tags=tags(
            "customer-service", "tool-calls", *("-".join(_words(name)) for name in dict.fromkeys(names)), *subject
        ),
        descriptions={
            _parameter(name): f"`{name}`, as an earlier call or the customer gives it"
            for call in kept
            for name in call.arguments
        },
        evidence=[quote for quote in (raw_citation(call) for call in _first_of_each(kept)) if quote],
    )


def _first_of_each(kept: Sequence[Call]) -> list[Call]:
    return list({call.name: call for call in reversed(kept)}.values())[::-1]


def _phrase(words: Sequence[str]) -> str:
    """`cancel`, `reservation` → `cancel a reservation`."""
    if len(words) < 2 or words[-1].endswith("s") or words[1] in ("a", "an", "the", "to", "for"):
        return " ".join(words)
    article = "an" if words[1][0] in "aeiou" else "a"
    return " ".join([words[0], article, *words[1:]])


def _name(done: Sequence[Sequence[str]]) -> str:
    """`cancel reservation`, `book reservation` → `cancel-and-book-reservation`; empty when there is no short name."""
    phrases = [" ".join(words) for words in done]
    if len(done) > 1 and all(words[1:] == done[0][1:] for words in done):
        phrases = [*(words[0] for words in done[:-1]), phrases[-1]]
    whole = " and ".join(phrases)
    if len(whole) > _LONGEST_NAME:
        whole = " and ".join(dict.fromkeys(f"{words[0]} {words[-1]}" for words in done))
    return slug(whole) if len(whole) <= _LONGEST_NAME else ""
