"""What a session looked up and what failed in it, in one short line each, by which trials of a task differ.

get_user_details(user_id=ann_lee_12)                                       a look-up
book_reservation(cabin=economy; payment=100) -> Error: amounts differ      a write that was refused
shell: make test -> 2 checks failed                                        a failure
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent_wiki.pages.compare.writes import changes_something, with_arguments, write_of
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

MOST_LOOK_UPS = 12
MOST_FAILURES = 8

_LONGEST_LOOK_UP = 120
_LONGEST_CALL = 240
_LONGEST_LINE = 140
_TIMES = regex(r" \(\d+ times\)$")


def look_ups(calls: Sequence[Call], cwd: str | None = None) -> tuple[str, ...]:
    """What was looked up through a tool of its own, with its arguments, each once, in order; at most twelve."""
    found: dict[str, None] = {}
    for call in calls:
        name = call.name.rpartition("__")[2] or call.name
        if call.command() is None and call.arguments and not changes_something(name) and _went_well(call):
            found[plain_line(_below(cwd, with_arguments(name, call.arguments)), _LONGEST_LOOK_UP)] = None
            if len(found) == MOST_LOOK_UPS:
                break
    return tuple(found)


def _went_well(call: Call) -> bool:
    return call.result is not None and verdict_of(call).state not in ("failed", "masked", "refused", "called off")


def failures(calls: Sequence[Call], cwd: str | None = None) -> tuple[str, ...]:
    """What failed or was refused, with the line that says so and how often; at most eight, in order."""
    found = Counter(_failure(call, cwd) for call in calls if verdict_of(call).state in ("failed", "masked", "refused"))
    return tuple(
        f"{text} ({count} times)" if count > 1 else text for text, count in list(found.items())[:MOST_FAILURES]
    )


def call_and_line(failure: str) -> tuple[str, str]:
    """Of a failure in one line the call and the line that said so, without how often."""
    call, _, line = failure.partition(" -> ")
    return call, _TIMES.sub("", line)


def _failure(call: Call, cwd: str | None) -> str:
    write = next(iter(write_of(call, cwd)), None) if call.command() is None else None
    lines = (line for line in (call.result or "")[:2_000].split("\n") if line.strip())
    line = verdict_of(call).line or next(lines, "")
    label = plain_line(_below(cwd, write or _called(call)), _LONGEST_CALL)
    return f"{label} -> {plain_line(_below(cwd, line), _LONGEST_LINE)}"


def _below(cwd: str | None, text: str) -> str:
    """The text with paths of the working folder as seen from it: trials ran in folders of their own."""
    return text.replace(f"{cwd.rstrip('/')}/", "") if cwd and len(cwd) > 1 else text


def _called(call: Call) -> str:
    command = call.command()
    if command is None:
        return call.name
    step = verdict_of(call).step
    steps = [each.text() for each in simple_commands(command)]
    return f"shell: {steps[step] if step is not None and step < len(steps) else command}"
