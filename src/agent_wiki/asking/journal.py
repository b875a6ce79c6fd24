"""The journal: requests and answers, one JSON line each, on disk before anything uses them.

`.wiki/journal/` has one file per run, so that processes never write into each other's lines. A record is written whole
and synced before an answer counts as received; an answer in the journal is never requested again. Kinds of records:

    {"kind": "run", "run", "version"}                       the first line of a file
    {"kind": "answer", "request", "prompt", "stage", "model", …}  an answer, accepted or not
    {"kind": "endpoint", "endpoint", "model", "structure"}  how this endpoint supports structured output
    {"kind": "batch-begun" | "batch" | "batch-ended", …}    batches in progress (see `engines/anthropic_api/batches.py`)
    {"kind": "tool-result" | "text" | "left" | "segments", …}  what a model was shown (see `trajectory_views.py`)

Answers, requests of batches and what a model was shown say with `about` which session they belong to, or which sessions
or guidelines they compare: `wiki forget` takes them out (see `forgetting.py`).

A log of prompts and answers beside the work is an idea of simonw/llm.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from agent_wiki.asking.journal_lines import Record, line_of, parsed_line, redacted_record
from agent_wiki.asking.journal_store import JournalStore
from agent_wiki.errors import RunError
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.replacing import expect_no_link, write_all

VERSION = 1

Place = tuple[Path, int]
"""The file of a record and the offset of its line."""


def journal_folder(wiki: Path) -> Path:
    """Where a wiki keeps its journal."""
    return wiki / MACHINERY / "journal"


class Journal:
    """A wiki's journal: the records of earlier runs, and one file to append to. `folder` None turns it off.

    With a `store` all is kept there too, and what is not here is looked up there.
    Answers are kept by place, not in memory. `warnings` are lines that could not be read; a torn last line means that a
    run was killed.
    """

    def __init__(self, folder: Path | None, store: JournalStore | None = None) -> None:
        self.folder = folder
        self._store = store
        self.run = ""
        self.warnings: list[str] = []
        self._places: dict[str, Place] = {}
        self._answers: dict[str, list[Place]] = {}
        self._replacements: dict[tuple[str, str], Place] = {}
        self._has_together = False
        self._left: set[str] = set()
        self._cuts: dict[str, list[list[list[int]]]] = {}
        self._batches: list[Place] = []
        self._endpoints: dict[tuple[str, str], str] = {}
        self._is_loaded = False
        self._descriptor: int | None = None
        self._path: Path | None = None
        self._size = 0
        self._lock = RLock()

    def answer(self, request: str) -> Record | None:
        """The first record of an answer to a request, by the request's digest; None if it was never answered.

        This and the other methods raise `RunError` where the journal cannot be read.
        """
        with self._loaded():
            place = self._places.get(request)
        if place is not None:
            return _record_at(place)
        record = None if self._store is None else self._store.answer(request)
        if record is None:
            return None
        record = redacted_record(record)
        self._append(record)
        return record

    def answers_to(self, prompt: str) -> list[Record]:
        """All records of answers to a prompt, by the prompt's digest, from any model; the newest first."""
        with self._loaded():
            places = list(self._answers.get(prompt, ()))
        return [_record_at(place) for place in reversed(places)]

    def replacement(self, tool_use: str, content: str) -> Record | None:
        """The record of the text that a model saw instead, by the tool use's id ("" for other texts) and digest."""
        with self._loaded():
            place = self._replacements.get((tool_use, content))
        return None if place is None else _record_at(place)

    def has_together(self) -> bool:
        """Whether any answer is one to several questions on a trajectory."""
        with self._loaded():
            return self._has_together

    def is_left(self, tool_use: str, content: str) -> bool:
        """Whether a model saw that text whole."""
        with self._loaded():
            return f"{tool_use} {content}" in self._left

    def cuts(self, content: str) -> list[list[list[int]]]:
        """The segments that turns of that digest were cut into: `[first turn, last turn]` of each, oldest cut first."""
        with self._loaded():
            return list(self._cuts.get(content, ()))

    def has_cuts(self) -> bool:
        """Whether any trajectory was ever cut."""
        with self._loaded():
            return bool(self._cuts)

    def structure(self, endpoint: str, model: str) -> str | None:
        """How an endpoint was last found to support structured output; None if unknown."""
        with self._loaded():
            return self._endpoints.get((endpoint, model))

    def batch_records(self) -> list[Record]:
        """The records of batches, oldest first."""
        with self._loaded():
            places = list(self._batches)
        return [_record_at(place) for place in places]

    def refresh(self) -> None:
        """Read the files again: another process may have written to them."""
        with self._lock:
            if self.folder is not None:
                self._places, self._answers, self._replacements, self._batches = {}, {}, {}, []
                self._left, self._cuts, self._endpoints, self._is_loaded = set(), {}, {}, False
                self._has_together = False
                self.warnings.clear()

    def make_ready(self) -> None:
        """Open this run's file. Raises `RunError` if it cannot be written: better now than after paying."""
        with self._lock:
            if self.folder is None or self._descriptor is not None:
                return
            expect_no_link(self.folder.parent, self.folder)
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._path, self._descriptor = _new_file(self.folder)
            except OSError as error:
                raise self._unwritable(error) from error
            self.run = self._path.stem
            self._write({"kind": "run", "run": self.run, "version": VERSION})

    def append(self, record: Record) -> Record:
        """Write a record to disk, synced, and to the store; an answer without its secrets. Out: what was written.

        Raises `RunError` if it cannot be written.
        """
        record = redacted_record(record)
        self._append(record)
        if self._store is not None:
            self._store.put(record, self.run)
        return record

    def spent_today_usd(self) -> float:
        """What all runs with the same store spent on this day (UTC); 0 without a store."""
        if self._store is None:
            return 0.0
        with self._loaded():
            return self._store.spent_today_usd()

    def _append(self, record: Record) -> None:
        with self._loaded():
            offset = self._write(record)
            if self._path is not None:
                self._note(record, self._path, offset)
            elif record.get("kind") == "endpoint":
                self._endpoints[str(record["endpoint"]), str(record["model"])] = str(record["structure"])

    def close(self) -> None:
        """Close this run's file, if there is one."""
        with self._lock:
            if self._descriptor is None or self._path is None:
                return
            os.close(self._descriptor)
            if self._store is not None:
                self._store.close(self._path)
            self._descriptor = self._path = None

    def _write(self, record: Record) -> int:
        self.make_ready()
        if self._descriptor is None:
            return 0
        line = line_of(record)
        offset = self._size
        try:
            write_all(self._descriptor, line)
            os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):  # the first error is reported
                os.ftruncate(self._descriptor, offset)  # no partial line before the next one
            raise self._unwritable(error) from error
        self._size += len(line)
        return offset

    def _unwritable(self, error: OSError) -> RunError:
        return RunError(
            f"{self.folder}: the journal cannot be written ({error.strerror}); "
            "fix that, or run with --no-journal and risk paying twice"
        )

    def _unreadable(self, error: OSError) -> RunError:
        return RunError(
            f"{error.filename or self.folder}: the journal cannot be read ({error.strerror}); "
            "fix that, or its answers would be paid for again"
        )

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        """Hold the journal, read before."""
        with self._lock:
            self._load()
            yield

    def _load(self) -> None:
        if self._is_loaded or self.folder is None:
            return
        try:
            if self._store is not None:
                expect_no_link(self.folder.parent, self.folder)
                self._store.pull(self.folder)
            for path, offset, record in _lines(self.folder, self.warnings):
                self._note(record, path, offset)
        except OSError as error:
            raise self._unreadable(error) from error
        self._is_loaded = True  # not before: with half a journal, answers would be paid for again

    def _note(self, record: Record, path: Path, offset: int) -> None:
        kind = record.get("kind")
        if kind == "answer" and isinstance(record.get("request"), str):
            self._places.setdefault(record["request"], (path, offset))
            self._answers.setdefault(str(record.get("prompt")), []).append((path, offset))
            self._has_together |= is_of_several(str(record.get("stage")))
        elif kind in ("tool-result", "text") and isinstance(record.get("replacement"), str):
            self._replacements.setdefault(
                (str(record.get("toolUseId", "")), str(record.get("content"))), (path, offset)
            )
        elif kind in ("batch-begun", "batch", "batch-ended") and _is_of_batch(record):
            self._batches.append((path, offset))
        elif kind == "left" and isinstance(record.get("contents"), list):
            self._left.update(map(str, record["contents"]))
        elif kind == "segments" and isinstance(record.get("cuts"), list):
            self._cuts.setdefault(str(record.get("content")), []).append(record["cuts"])
        elif kind == "endpoint":
            self._endpoints[str(record.get("endpoint")), str(record.get("model"))] = str(record.get("structure"))


def is_of_several(stage: str) -> bool:
    """Whether a prompt with that stage puts several questions."""
    return "+" in stage


def _is_of_batch(record: Record) -> bool:
    """Whether a record has all the fields that batches need."""
    if record["kind"] != "batch-begun" and not isinstance(record.get("batch"), str):
        return False
    if record["kind"] == "batch-ended":
        return True
    heads = record.get("requests")
    return isinstance(heads, list) and all(isinstance(each, dict) and "request" in each for each in heads)


def _record_at(place: Place) -> Record:
    """The record of that place. Raises `RunError` where it is gone, as after a `wiki forget` of another process."""
    path, offset = place
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return redacted_record(json.loads(stream.readline()))  # an older version, or a person, may have written it
    except OSError as error:
        raise RunError(f"{path}: the journal cannot be read ({error.strerror}); run the command again") from error
    except ValueError as error:
        raise RunError(f"{path}: the journal was changed by another process; run the command again") from error


def records(folder: Path, warnings: list[str]) -> Iterator[Record]:
    """Every record of a journal, oldest run first; each has its `run`. Unreadable lines become warnings."""
    for path, _, record in _lines(folder, warnings):
        yield {**record, "run": path.stem}


def _lines(folder: Path, warnings: list[str]) -> Iterator[tuple[Path, int, Record]]:
    for path in sorted(folder.glob("*.jsonl")):
        offset = 0
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                record = parsed_line(line)
                if record is None:
                    what = "a line" if line.endswith(b"\n") else "a torn last line"
                    warnings.append(f"journal/{path.name}:{number}: {what} that is not a record, skipped")
                else:
                    yield path, offset, record
                offset += len(line)


def _new_file(folder: Path) -> tuple[Path, int]:
    """A file of this run only, named by time and process, so that names sort by time."""
    began = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    path = folder / f"{began}-{os.getpid()}.jsonl"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    return path, os.open(path, flags, 0o600)
