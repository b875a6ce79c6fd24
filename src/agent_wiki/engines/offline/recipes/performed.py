"""The operations a session performed, each with whether it worked and the turn that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agent_wiki.engines.offline.recipes.operations import Operation, operation
from agent_wiki.engines.offline.recipes.pipelines import Pipeline, pipelines
from agent_wiki.shell.simple_commands import steps_of
from agent_wiki.shell.syntax import Word
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex

# What only shows a part of an output and says nothing about how the command went.
_VIEWERS = frozenset({"head", "tail", "cat", "less", "more", "tee", "grep", "egrep", "rg", "wc", "sort", "uniq"})
_CONFLICT = regex(r"^CONFLICT \(", re.MULTILINE)  # a merge that stops here did what it can


@dataclass(slots=True)
class Performed:
    """One operation as it was performed. `words` is the part of `pipeline` that does it."""

    operation: Operation
    pipeline: Pipeline
    words: list[Word]
    call: Call
    has_worked: bool
    folder: str = ""  # a folder of the repository it was run in

    @property
    def key(self) -> tuple[str, str, str]:
        """Two performances of one key are attempts at the same thing."""
        return self.operation.verb, self.operation.tool, self.operation.task


def performed(calls: Iterable[Call]) -> list[Performed]:
    """Every operation in recorded order; calls that were refused or never answered do not count."""
    found: list[Performed] = []
    for call in calls:
        command = call.command()
        if command is None or call.result is None or call.mark is not None:
            continue
        found += _in_call(call, pipelines(command), _states(call, command))
    return found


def attempts(operations: Iterable[Performed]) -> list[list[Performed]]:
    """The attempts at each operation whose last attempt worked, in the order of the last attempts."""
    by_key: dict[tuple[str, str, str], list[Performed]] = {}
    for each in operations:
        tries = by_key.pop(each.key, [])  # removed and inserted again: the last attempt decides the order
        tries.append(each)
        by_key[each.key] = tries
    return [tries for tries in by_key.values() if tries[-1].has_worked]


def met_conflicts(each: Performed) -> bool:
    """True for a merge or rebase that stopped with conflicts."""
    return _CONFLICT.search(each.call.result or "") is not None


def _states(call: Call, command: str) -> dict[int, str]:
    """How each step of a call went, by the place of its first word in the line."""
    verdict = verdict_of(call.ended_by or call)
    return {step.start: state for step, state in zip(steps_of(command), verdict.steps, strict=False)}


def _in_call(call: Call, parts: Sequence[Pipeline], states: Mapping[int, str]) -> list[Performed]:
    found: list[Performed] = []
    folder = ""
    for pipeline in parts:
        words = _working_part(pipeline)
        if words is None:
            folder = _folder(pipeline) if pipeline.commands[0][0].value == "cd" else folder
            continue
        done = operation([word.value for word in words])
        if done is not None:
            state = states.get(pipeline.start + words[0].start, "unknown")
            has_worked = state == "passed" or (state != "not run" and _CONFLICT.search(call.result or "") is not None)
            found.append(Performed(done, pipeline, words, call, has_worked, folder))
    return found


def _working_part(pipeline: Pipeline) -> list[Word] | None:
    """The one command of a pipeline that does the work; None when none or several do."""
    first = pipeline.commands[0]
    if first[0].value == "cd" or pipeline.joint == "||":
        return None
    rest = [words[0].value for words in pipeline.commands[1:]]
    return first if all(name in _VIEWERS or name in ("jq", "sed", "awk", "cut") for name in rest) else None


def _folder(pipeline: Pipeline) -> str:
    """`cd frontend` → `frontend`; nothing for a folder of one machine."""
    words = pipeline.commands[0]
    target = words[1].value if len(words) > 1 else ""
    return target if re.fullmatch(r"[\w][\w./-]*", target) else ""
