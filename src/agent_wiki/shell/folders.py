"""The folder in which each command ran, as far as a recording shows it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import lru_cache

from agent_wiki.shell.judged_steps import called_steps
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import regex

_STAYS = "Bash"  # the shell of Claude Code; others begin each call where the session began
_ARGUMENTS = ("workdir", "cwd", "working_directory", "dir_path", "directory")
_MOVERS = frozenset({"cd", "chdir", "pushd", "Set-Location", "set-location", "sl", "Push-Location"})
_PATH_FLAGS = frozenset({"-path", "-literalpath"})  # PowerShell's, before a folder
_DRIVE = regex(r"[A-Za-z]:[\\/]")
_PUT_BACK = regex(r"Shell cwd was reset to (\S.{0,300})")


def folders_in(trajectory: Trajectory) -> dict[int, tuple[str, ...]]:
    """Those of all calls of a session, relative to where it began. They are walked once."""
    return trajectory.worked_out(_folders_in)


def _folders_in(trajectory: Trajectory) -> dict[int, tuple[str, ...]]:
    return folders_of(paired_calls(trajectory), trajectory.source.cwd)


def folders_of(calls: Sequence[Call], start: str | None) -> dict[int, tuple[str, ...]]:
    """The position of each shell call → the folder of each of its steps, relative to `start` where it is below it.

    One kind of shell keeps the folder of its last `cd` from call to call. A `cd` in a subshell, and one that failed,
    moves nothing.
    """
    root = start or "."
    current, found = root, {}
    for call in calls:
        steps = called_steps(call)
        if not steps:
            continue
        named = next((value for key in _ARGUMENTS if isinstance(value := call.arguments.get(key), str)), None)
        places, last = _walk(call, steps, posixpath.join(root, named) if named else current)
        found[call.position] = tuple(_below(root, place) for place in places)
        current = last if call.name == _STAYS else current
        if back := _PUT_BACK.search((call.result or "")[-600:]):
            current = back[1].strip()
    return found


def _walk(call: Call, steps: Sequence[SimpleCommand], start: str) -> tuple[list[str], str]:
    """The folder of each step, and the one in which the shell is left."""
    outer = inner = start
    places: list[str] = []
    for step, moves in zip(steps, _moves(call, steps), strict=True):
        is_inner = step.start < 0
        inner = inner if is_inner else outer
        place = inner if is_inner else outer
        places.append(posixpath.normpath(posixpath.join(place, step.called[2])) if _has_place(step) else place)
        if moves:
            inner = _moved(start, place, step.words[-1])
            outer = outer if is_inner else inner
    return places, outer


def _moved(start: str, place: str, target: str) -> str:
    """Where `cd target` leads. Into a folder of the name of the present one: then the shell was back at its start."""
    if target.startswith(("~", "$")):
        return target
    if _DRIVE.match(target):
        return posixpath.normpath(target.replace("\\", "/"))
    is_again = not target.startswith((".", "/")) and f"{place}/".endswith(f"/{target.rstrip('/')}/")
    base = place[: -len(target.rstrip("/")) - 1] if is_again else place
    return posixpath.normpath(posixpath.join(base or start, target))


def _moves(call: Call, steps: Sequence[SimpleCommand]) -> Iterator[bool]:
    states = verdict_of(call).steps
    for at, step in enumerate(steps):
        has_failed = at < len(states) and states[at] in ("failed", "not run")
        words = [word for word in step.words if word.lower() not in _PATH_FLAGS]
        yield len(words) == 2 and words[0] in _MOVERS and words[1] != "-" and not has_failed


def _has_place(step: SimpleCommand) -> bool:
    return step.called[:2] == ("git", "-C") and len(step.called) > 3


@lru_cache(maxsize=512)  # a session's commands run in few folders
def _below(root: str, place: str) -> str:
    """`place` seen from `root`; an address elsewhere stays whole."""
    inside = posixpath.relpath(place, root) if place.startswith(root.rstrip("/") + "/") or place == root else place
    return posixpath.normpath(inside)
