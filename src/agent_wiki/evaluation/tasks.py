"""The task file of an experiment: prompts, and what a correct answer must contain.

A YAML or JSON list of tasks (or a mapping with the list under `tasks`), each with `id` and, as needed, `prompt`,
`family` (or `seed`), `outcome_match_all`, `outcome_match_any`, `expected_guideline_filenames`; other keys are ignored.
The format is that of the agent-wiki of AgentToolkit/altk-evolve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from agent_wiki.errors import UsageError
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.yaml_syntax import load_yaml, why_not_yaml

_LEAST_CONTAINED = 20  # characters of a prompt that may be part of a longer request; shorter ones occur by chance


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """One task. `match_all` and `match_any` are texts searched in the final answer, ignoring case."""

    id: str
    prompt: str = ""
    family: str | None = None
    match_all: tuple[str, ...] = ()
    match_any: tuple[str, ...] = ()
    expected_pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on a final answer; None where the task has no such rule."""

    outcome: bool | None
    matched_all: bool | None
    matched_any: bool | None


def judged(task: EvaluationTask, answer: str) -> Judged:
    """An answer is right if it contains all of `match_all` and, if there is a `match_any`, one of those."""
    spoken = answer.lower()
    every = all(text.lower() in spoken for text in task.match_all) if task.match_all else None
    some = any(text.lower() in spoken for text in task.match_any) if task.match_any else None
    rules = [each for each in (every, some) if each is not None]
    return Judged(all(rules) if rules else None, every, some)


def has_cited(task: EvaluationTask, spoken: str) -> bool | None:
    """Whether any reply of the session named an expected page or one of `match_any`.

    None if the task expects neither. This is the original tool's score of that name.
    """
    looked_for = (*task.expected_pages, *task.match_any)
    return any(text.lower() in spoken.lower() for text in looked_for) if looked_for else None


class TaskSet:
    """The tasks of one file, found by id, by request, or by a recording's path."""

    def __init__(self, tasks: Iterable[EvaluationTask]) -> None:
        self._by_id = {task.id: task for task in tasks}
        self._by_length = sorted(self._by_id.values(), key=lambda task: (-len(task.prompt), task.id))

    def families(self) -> dict[str, str]:
        """Task id → family, for tasks that have one."""
        return {task.id: task.family for task in self._by_id.values() if task.family}

    def named(self, task_id: str | None) -> EvaluationTask | None:
        """The task with that id."""
        return self._by_id.get(task_id) if task_id is not None else None

    def asked(self, request: str) -> EvaluationTask | None:
        """The task whose prompt is the request or part of it, the longest prompt first; None if two tasks share it."""
        request = _folded(request)
        whole = [task for task in self._by_length if task.prompt and task.prompt == request]
        long_ones = [task for task in self._by_length if len(task.prompt) >= _LEAST_CONTAINED]
        found = whole or [task for task in long_ones if task.prompt in request]
        if not found or (len(found) > 1 and found[1].prompt == found[0].prompt):
            return None
        return found[0]

    def of_path(self, parts: Iterable[str]) -> EvaluationTask | None:
        """The task whose id is a folder's name or a part (between `__`) of a file's name, the closest first."""
        for part in parts:
            for name in (part, part.partition(".")[0], *part.partition(".")[0].split("__")):
                if name in self._by_id:
                    return self._by_id[name]
        return None


def parse_tasks(text: str, place: str) -> TaskSet:
    """The tasks of a file's text. Raises `UsageError` with the file, the task and the problem."""
    try:
        value = load_yaml(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(why_not_yaml(error, place)) from error
    if isinstance(value, dict) and "tasks" in value:
        value = value["tasks"]
    if not isinstance(value, list):
        raise UsageError(f"{place}: not a list of tasks")
    tasks: dict[str, EvaluationTask] = {}
    for position, entry in enumerate(value, start=1):
        task = _task(entry, f"{place}: task {position}")
        if task.id in tasks:
            raise UsageError(f"{place}: task {position}: another task already has the id {task.id!r}")
        tasks[task.id] = task
    return TaskSet(tasks.values())


def _task(entry: Any, place: str) -> EvaluationTask:
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: not a mapping with an id")
    task_id = _text(entry, "id", place)
    if not task_id:
        raise UsageError(f"{place}: it has no id")
    place = f"{place} ({task_id})"
    return EvaluationTask(
        id=task_id,
        prompt=_folded(_text(entry, "prompt", place)),
        family=_text(entry, "family", place) or _text(entry, "seed", place) or None,
        match_all=_texts(entry, "outcome_match_all", place),
        match_any=_texts(entry, "outcome_match_any", place),
        expected_pages=_texts(entry, "expected_guideline_filenames", place),
    )


def _text(entry: Mapping[str, Any], name: str, place: str) -> str:
    value = entry.get(name)
    if value is None:
        return ""
    if isinstance(value, bool | list | dict):
        raise UsageError(f"{place}: {name}: not a string; quote it")
    return str(value).strip()


def _texts(entry: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
    """The texts of a list, or a single one. An empty text would match every answer, so it is rejected."""
    value = entry.get(name)
    values = value if isinstance(value, list) else [] if value is None else [value]
    for each in values:
        if isinstance(each, bool | list | dict) or each is None or not str(each).strip():
            raise UsageError(f"{place}: {name}: {each!r} is not a non-empty string; quote it")
    return tuple(str(each) for each in values)


def _folded(text: str) -> str:
    return " ".join(text.split())
