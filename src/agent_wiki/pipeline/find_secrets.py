"""`wiki secrets`: where live-looking secrets stand in recordings. Nothing of a secret leaves this module."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, field
from typing import Any

from agent_wiki.engine import Progress
from agent_wiki.errors import EmptyRecording, UnreadableRecording, system_reason
from agent_wiki.pipeline.inputs import InputFile, Selection, inputs_of
from agent_wiki.pipeline.report import Failure, as_lines, as_values
from agent_wiki.pipeline.second_detector import Detector, with_second
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.readers.zip_members import json_members
from agent_wiki.redaction.places import json_spans, secret_places
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret of a file: where it stands in it, how many characters it has there, and its kind; never a part of it.

    Of a table `line` is the row, of a zip there is a `member` instead. Neither has columns. `str()` is one line.
    """

    file: str
    kind: str
    length: int
    line: int | None = None
    column: int | None = None
    member: str | None = None

    def __str__(self) -> str:
        place = [str(each) for each in (self.file, self.member, self.line, self.column) if each is not None]
        return f"{':'.join(place)}: {self.kind}, {counted(self.length, 'character')}"


@dataclass(frozen=True, slots=True)
class ExcusedSecret:
    """What was found and the owner of the wiki allows (`allowed_secrets` in `_config.yaml`), and why."""

    found: FoundSecret
    why: str


@dataclass(slots=True)
class SecretsReport:
    """What was found, by file and place, and which files were read, were none, or could not be read.

    `allowed`: what the owner of a finished wiki makes an exception of.
    """

    found: list[FoundSecret] = field(default_factory=list)
    allowed: list[ExcusedSecret] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    passed_over: list[Failure] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    bugs: list[str] = field(default_factory=list)
    is_verbose: bool = False

    @property
    def exit_code(self) -> int:
        """0 when nothing was found; 1 when something was, or a file could not be read."""
        return int(bool(self.found or self.failures))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, keys always the same."""
        return {
            "command": "secrets",
            "secrets": [asdict(each) for each in self.found],
            "allowed": [{**asdict(each.found), "why": each.why} for each in self.allowed],
            "kinds": dict(sorted(Counter(each.kind for each in self.found).items())),
            "files": self.files,
            "passed_over": as_values(self.passed_over),
            "failures": as_values(self.failures),
            "warnings": as_values(self.warnings),
            "exit_code": self.exit_code,
        }

    def lines(self) -> list[str]:
        """A line for each secret, then what was read; each file where that is asked for."""
        lines = [str(each) for each in self.found]
        lines += [f"allowed: {each.found}: {each.why}" for each in self.allowed]
        by_file = Counter(each.file for each in self.found)
        if self.is_verbose:
            lines += [f"read: {file}: {counted(by_file[file], 'secret')}" for file in self.files]
            lines += [f"passed over: {each}" for each in as_lines(self.passed_over)]
        lines += [f"warning: {each}" for each in as_lines(self.warnings)]
        lines += [f"FAILED: {each}" for each in as_lines(self.failures)]
        where = f"{len(by_file)} of {counted(len(self.files), 'file')}"
        others = f", {counted(len(self.passed_over), 'other file')} passed over" if self.passed_over else ""
        allowed = f", {len(self.allowed)} allowed" if self.allowed else ""
        return [*lines, f"{counted(len(self.found), 'secret')} in {where}{others}{allowed}"]


def find_secrets(
    paths: Iterable[RecordingPath], selection: Selection, progress: Progress, detector: Detector | None = None
) -> SecretsReport:
    """Where secrets stand in recordings, in any JSON, and in text files that are named themselves.

    A second detector adds what it finds in lines, but not in tables and archives.

    Raises `UsageError` for a path that does not exist.
    """
    report = SecretsReport()
    files = inputs_of(paths, selection).files
    for position, file in enumerate(files):
        progress("secrets", position, len(files))
        name = redact_text(file.name)[0]
        recording = Recording(file.path, name)
        try:
            report.found += _found_in(recording, file, name, detector)
            report.files.append(name)
        except EmptyRecording:
            report.files.append(name)
        except UnreadableRecording as error:
            is_other = error.is_foreign and not file.is_named
            (report.passed_over if is_other else report.failures).append(Failure.of(error))
        except (OSError, MemoryError) as error:
            report.failures.append(Failure("recording", name, system_reason(error)))
        report.warnings += [redact_text(each)[0] for each in recording.warnings]
    return report


def _found_in(recording: Recording, file: InputFile, name: str, detector: Detector | None) -> Iterator[FoundSecret]:
    """The secrets of one file. Raises `UnreadableRecording` and `OSError`."""
    try:
        sample = recording.sample()
    except UnreadableRecording as error:
        if isinstance(error, EmptyRecording) or (error.is_foreign and not file.is_named) or "\0" in recording.head():
            raise
        return _in_lines(
            recording, name, detector, is_json=not error.is_foreign
        )  # damaged JSON, or a text that was named
    if sample.shape == "zip":
        return _in_members(recording, name, sample.values)
    if recording.is_table():
        return _in_rows(recording, name)
    if sample.shape == "text" and not file.is_named:
        reader_of(recording)  # which raises for Markdown that is no recording
    return _in_lines(recording, name, detector, is_json=sample.shape != "text")


def _in_lines(recording: Recording, name: str, detector: Detector | None, *, is_json: bool) -> Iterator[FoundSecret]:
    if detector is None:
        places = secret_places(recording.text_lines(), is_json=is_json)
    else:
        lines = [*recording.text_lines()]
        places = with_second(detector, lines, secret_places(lines, is_json=is_json))
    for place in places:
        yield FoundSecret(name, place.kind, place.length, place.line, place.column)


def _in_members(recording: Recording, name: str, members: list[str]) -> Iterator[FoundSecret]:
    files = (each for each in members if each.endswith(".json"))
    for member, value in json_members(recording.path, recording.name, files, recording.warnings):
        for start, end, kind in json_spans(json.dumps(value, ensure_ascii=False)):
            yield FoundSecret(name, kind, end - start, member=redact_text(member)[0])


def _in_rows(recording: Recording, name: str) -> Iterator[FoundSecret]:
    for row, value in recording.lines():
        for start, end, kind in json_spans(json.dumps(value, ensure_ascii=False, default=str)):
            yield FoundSecret(name, kind, end - start, row)
