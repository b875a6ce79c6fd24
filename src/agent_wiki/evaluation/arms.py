"""Rows of measurements → the arms of an experiment: one arm per file, or all rows split by a field.

A row is written by `wiki eval metrics`, or by another tool with the same names. A value that is missing or
null is unknown. A line that is not a valid row is reported; the others count.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from agent_wiki.trajectory import without_surrogates
from agent_wiki.trajectory.lazily import dataclass

NO_SESSION = "?"  # written by the original tool for a trial without a session
_TEXTS = ("session_id", "task", "family", "condition", "parent_session_id")
_VERDICTS = ("outcome_match", "resolved")
_NUMBERS = frozenset(
    {"duration_s", "total_cost_usd", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
     "output_tokens", "billable_tokens_proxy", "turns", "tool_calls", "errors", "wiki_reads_total", "guideline_reads",
     "cluster_reads", "skill_reads", "task_reads", "summary_reads"}
)  # fmt: skip
_FIELDS = _NUMBERS.union(_TEXTS, _VERDICTS, ("reward",))


@dataclass(frozen=True, slots=True)
class Trial:
    """One measured session. `numbers` has the known values; `outcome` is None if nothing judged it."""

    session_id: str | None
    task: str | None
    family: str | None
    outcome: bool | None
    numbers: Mapping[str, float]
    fields: Mapping[str, Any]  # the unchanged row
    place: str = ""


@dataclass(frozen=True, slots=True)
class Arm:
    """The name and the trials of one arm."""

    name: str
    trials: tuple[Trial, ...]


@dataclass(slots=True)
class Read:
    """The rows read from files. `problems` are lines that do not count; rows of subagents are only counted."""

    files: list[tuple[str, list[Trial]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    subagents: int = 0


class _BadRow(ValueError):
    """Why a line is not a row."""


def read_rows(text: str, place: str, read: Read) -> None:
    """Add the rows of one file: JSON lines, or one JSON value with the rows in a list or under `rows`.

    In: the file's text and its name for messages. Rows of subagents are counted and left out: they are part of the
    session that started them.
    """
    trials: list[Trial] = []
    for line, value in _values(text):
        where = f"{place}:{line}"
        try:
            trial = _trial(value, where)
        except _BadRow as error:
            read.problems.append(f"{where}: {error}")
            continue
        if trial.fields.get("parent_session_id"):
            read.subagents += 1
        else:
            trials.append(trial)
    if not trials and not any(problem.startswith(f"{place}:") for problem in read.problems):
        read.problems.append(f"{place}: no rows")
    read.files.append((place, trials))


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """Each row with its line; a row that is not JSON is replaced by the error."""
    whole = _whole(text)
    if whole is not None:
        yield from ((1, value) for value in whole)
        return
    for line, words in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if words.strip():
            try:
                yield line, json.loads(words)
            except ValueError as error:
                yield line, _BadRow(f"not JSON ({error.args[0] if error.args else 'damaged'})")
            except RecursionError:
                yield line, _BadRow("not JSON (nested too deeply)")


def _whole(text: str) -> list[Any] | None:
    """The rows of a file that is one JSON value over several lines, or a list; None for JSON lines."""
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start not in ("{", "["):
        return None
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    rows = value.get("rows") if isinstance(value, dict) else value
    return rows if isinstance(rows, list) else None


def _trial(value: Any, place: str) -> Trial:
    if isinstance(value, _BadRow):
        raise value
    if not isinstance(value, dict):
        raise _BadRow(f"a row is a JSON object, not {type(value).__name__}")
    if value and _FIELDS.isdisjoint(value):
        raise _BadRow("no field of a row; of a recording, `wiki eval metrics` makes rows")
    texts = {name: _text(value, name) for name in _TEXTS}
    numbers = {name: number for name in value if name in _NUMBERS and (number := _number(value, name)) is not None}
    if numbers.get("total_cost_usd") == 0 and numbers.get("output_tokens"):
        del numbers["total_cost_usd"]  # of a model without a price: unknown, not free
    session_id = texts["session_id"] if texts["session_id"] != NO_SESSION else None
    return Trial(session_id, texts["task"], texts["family"], _outcome(value), numbers, value, place)


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, bool | list | dict):
        raise _BadRow(f"{name}: not a string: {_shown(value)}")
    return without_surrogates(str(value))


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row[name]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadRow(f"{name}: not a number: {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise _BadRow(f"{name}: not a finite number of at least 0: {_shown(value)}")
    return number


def _outcome(row: Mapping[str, Any]) -> bool | None:
    """The verdict of the task file, else the recorded one, else whether the recorded reward is full."""
    for name in _VERDICTS:
        value = row.get(name)
        if value is not None and not isinstance(value, bool):
            raise _BadRow(f"{name}: neither true nor false: {_shown(value)}")
    verdict = next((row[name] for name in _VERDICTS if row.get(name) is not None), None)
    reward = row.get("reward")
    if verdict is None and reward is not None:
        if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
            raise _BadRow(f"reward: not a number: {_shown(reward)}")
        verdict = reward >= 1
    return verdict


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def arms_of(read: Read, by: str | None = None, first: str | None = None) -> list[Arm]:
    """The arms: one per file, or with `by` one per value of that field over the rows of all files, in order of values.

    `first` names the arm that the others are compared with; by default the first file or value. A row without the
    field, and a session that an arm already has, is a problem. Raises `KeyError` if no arm has the name `first`.
    """
    named = _by_field(read, by) if by else _by_file(read)
    arms = [Arm(name, tuple(_each_once(trials, read))) for name, trials in named]
    arms = [arm for arm in arms if arm.trials]
    if first is not None:
        found = [arm for arm in arms if first in (arm.name, arm.name.removeprefix(f"{by} "))]
        if not found:
            raise KeyError(first)
        arms.sort(key=lambda arm: arm is not found[0])
    return arms


def _by_file(read: Read) -> list[tuple[str, list[Trial]]]:
    """Arms named after their files, by the shortest part of the path that is unique."""
    paths = [place.replace("\\", "/").split("/") for place, _ in read.files]
    stems = [_stem(parts[-1]) for parts in paths]
    for depth in range(2, max(map(len, paths), default=0) + 1):
        if len(set(stems)) == len(stems):
            break
        stems = ["/".join([*parts[-depth:-1], _stem(parts[-1])]) for parts in paths]
    merged: dict[str, list[Trial]] = {}
    for stem, (_, trials) in zip(stems, read.files, strict=True):
        merged.setdefault(stem, []).extend(trials)
    return list(merged.items())


def _stem(name: str) -> str:
    for ending in (".jsonl", ".json", ".metrics"):
        name = name.removesuffix(ending)
    return name or "rows"


def _by_field(read: Read, by: str) -> list[tuple[str, list[Trial]]]:
    found: dict[tuple[int, float, str], list[Trial]] = {}
    for _, trials in read.files:
        for trial in trials:
            value = trial.fields.get(by)
            if value is None or isinstance(value, list | dict):
                read.problems.append(f"{trial.place}: it has no field {by!r} that says its arm")
                continue
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            name = without_surrogates(json.dumps(value) if isinstance(value, bool) else str(value))
            found.setdefault((0, float(value), name) if is_number else (1, 0.0, name), []).append(trial)
    return [(f"{by} {key[2]}" if key[0] == 0 else key[2], found[key]) for key in sorted(found)]


def _each_once(trials: Iterable[Trial], read: Read) -> Iterator[Trial]:
    seen: dict[str, str] = {}
    for trial in trials:
        if trial.session_id is not None and trial.session_id in seen:
            read.problems.append(f"{trial.place}: session {trial.session_id} is already in {seen[trial.session_id]}")
            continue
        if trial.session_id is not None:
            seen[trial.session_id] = trial.place
        yield trial


def with_families(arms: Sequence[Arm], family_of: Mapping[str, str]) -> list[Arm]:
    """The arms, with families added to trials whose rows have none."""
    return [Arm(arm.name, tuple(_with_family(trial, family_of) for trial in arm.trials)) for arm in arms]


def _with_family(trial: Trial, family_of: Mapping[str, str]) -> Trial:
    return replace(trial, family=trial.family or family_of.get(trial.task or ""))
