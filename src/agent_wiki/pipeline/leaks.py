"""The gate before a wiki leaves the machine: the search for secrets once more, over every file of a finished wiki.

What an engine answers and a recording holds was redacted before it was written. Pages that a person edited, that
another tool wrote or that git merged were not, nor what an earlier version wrote.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from agent_wiki.errors import RunError
from agent_wiki.pipeline.find_secrets import FoundSecret, SecretsReport
from agent_wiki.pipeline.second_detector import Detector, with_second
from agent_wiki.redaction.places import secret_places
from agent_wiki.redaction.redact import redact_text, text_spans
from agent_wiki.report import Failure
from agent_wiki.wiki.layout import MACHINERY

_STAYS_HERE = frozenset({MACHINERY, ".git"})
_JSON = (".json", ".jsonl", ".log")
_MOST_NAMED = 5


def leaks(wiki: Path, clean: Container[str] = ()) -> list[FoundSecret]:
    """The secrets in the files and file names of a wiki, by file, line and kind, never by value; only none may leave.

    `.wiki/`, which git ignores, and `.git/` are left out, and files that are known to be `clean`. Raises `OSError` for
    a file that cannot be read: what nobody looked at must not leave either.
    """
    return [found for path in _paths(wiki) if path not in clean for found in _in_file(wiki, path)]


def refuse_leaks(wiki: Path, what: str, clean: Container[str] = ()) -> None:
    """Raise `RunError`, naming files and kinds, where a wiki holds secrets; `what` says what is not done then."""
    if found := leaks(wiki, clean):
        raise RunError(refusal(found, what))


def refusal(found: Iterable[FoundSecret], what: str) -> str:
    """The line that says why something is not done: what was found where, and what to do about it."""
    every = sorted({f"{each.file} ({each.kind})" for each in found})
    more = f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    return f"secrets in {', '.join(every[:_MOST_NAMED])}{more}: {what}; `wiki secrets --wiki` names each line"


def leaks_report(wiki: Path, detector: Detector | None = None) -> SecretsReport:
    """The same as the report of `wiki secrets`; a file that cannot be read is a failure.

    A second detector adds what it finds besides.
    """
    report = SecretsReport()
    for path in _paths(wiki):
        try:
            report.found += _in_file(wiki, path, detector)
        except OSError as error:
            report.failures.append(Failure("file", _shown(path), error.strerror or type(error).__name__))
        else:
            report.files.append(_shown(path))
    return report


def _paths(wiki: Path) -> Iterator[str]:
    """Every file of a wiki by its path in it, in order. A link leads elsewhere, and leaves as a link."""

    def fail(error: OSError) -> None:
        raise error

    for folder, names, files in os.walk(wiki, onerror=fail):
        if Path(folder) == wiki:
            names[:] = [each for each in names if each not in _STAYS_HERE]
        names.sort()
        yield from (Path(folder, each).relative_to(wiki).as_posix() for each in sorted(files))


def _in_file(wiki: Path, path: str, detector: Detector | None = None) -> Iterator[FoundSecret]:
    name = _shown(path)
    yield from (FoundSecret(name, kind, end - start) for start, end, kind in text_spans(path))
    file = wiki / path
    if file.is_symlink():
        return
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    for place in with_second(detector, lines, secret_places(lines, is_json=path.endswith(_JSON))):
        yield FoundSecret(name, place.kind, place.length, place.line, place.column)


def _shown(path: str) -> str:
    return redact_text(path)[0]
