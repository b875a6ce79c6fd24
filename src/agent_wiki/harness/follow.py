"""The logs of hooks and of runs, followed as they grow."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

from agent_wiki.harness.hook_log import LOG
from agent_wiki.harness.projects import project_root
from agent_wiki.harness.saving import evolve_folder
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.wiki.layout import AUDIT_LOG

_EVERY_SECONDS = 0.5
_MOST_VALUE = 60


def logs_of(wiki: Path, cwd: Path, environment: Mapping[str, str]) -> list[Path]:
    """What hooks write in the project, and what runs, nightly ones too, write in the wiki."""
    return [evolve_folder(project_root(cwd), environment) / LOG, wiki / AUDIT_LOG]


def followed(logs: Sequence[Path], most: int, *, is_following: bool) -> Iterator[str]:
    """The last `most` lines of each log, then each line as it is written.

    A log that is cut, as the hook's is when it gets long, is followed from its end on.
    """
    places = {path: _size(path) for path in logs}
    for path in logs:
        yield from (_shown(path, line) for line in _last(path, most))
    while is_following:
        for path in logs:
            places[path] = yield from _grown(path, places[path])
        time.sleep(_EVERY_SECONDS)


def _grown(path: Path, place: int) -> Generator[str, None, int]:
    """Yield what was written behind `place`, whole lines alone; returns the new place."""
    size = _size(path)
    if size <= place:
        return size
    with path.open("rb") as stream:
        stream.seek(place)
        whole, newline, _ = stream.read(size - place).rpartition(b"\n")
    yield from (_shown(path, line) for line in whole.decode("utf-8", "replace").split("\n") if line)
    return place + len(whole) + len(newline)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _last(path: Path, most: int) -> list[str]:
    if not most or not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return [line for line in text.split("\n") if line][-most:]


def _shown(path: Path, line: str) -> str:
    """`hook  …` as it is in the log, `run  …` with the fields of the audit log's object in words."""
    if path.name == LOG:
        return f"hook  {line}"
    entry = object_in(line)
    if entry is None:
        return f"run   {line}"
    shown = {name: value for name, value in entry.items() if name not in ("ts", "action")}
    said = " ".join(f"{name}={str(value)[:_MOST_VALUE]}" for name, value in shown.items())
    return f"run   {entry.get('ts', '')} {entry.get('action', '')} {said}"
