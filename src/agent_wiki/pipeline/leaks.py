"""The gate before a wiki leaves the machine: the search for secrets once more, over every file of a finished wiki.

What an engine answers and a recording holds was redacted before it was written. Pages that a person edited, that
another tool wrote or that git merged were not, nor what an earlier version wrote.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from agent_wiki.errors import RunError
from agent_wiki.pipeline.find_secrets import ExcusedSecret, FoundSecret, SecretsReport
from agent_wiki.pipeline.report import Failure
from agent_wiki.pipeline.second_detector import Detector, with_second
from agent_wiki.redaction.places import secret_places, value_digest
from agent_wiki.redaction.redact import redact_text, text_spans
from agent_wiki.wiki.config import AllowedSecret, parse_config
from agent_wiki.wiki.layout import CONFIG, MACHINERY
from agent_wiki.wiki.text import some_of
from agent_wiki.wiki.two_processes import work_in_parts

_STAYS_HERE = frozenset({MACHINERY, ".git"})
_JSON = (".json", ".jsonl", ".log")
_MOST_NAMED = 5
_FEWEST = 2_000  # files: fewer are searched sooner than a second process begins

_Found = tuple[str, FoundSecret, str]
"""A file, something in it that looks like a secret, and the digest of its value."""


def leaks(wiki: Path) -> list[FoundSecret]:
    """The secrets in the files and file names of a wiki, by file, line and kind, never by value; only none may leave.

    `.wiki/`, which git ignores, and `.git/` are left out. Raises `OSError` for a file that cannot be read: what nobody
    looked at must not leave either.
    """
    return [found for _, found, why in _searched(wiki) if why is None]


def refuse_leaks(wiki: Path, what: str, clean: Container[str] = ()) -> frozenset[str]:
    """Raise `RunError`, naming files and kinds, where a wiki holds secrets; `what` says what is not done then.

    Files that are known to be `clean` are not read. Out: those with something that only an exception of its owner lets
    pass.
    """
    searched = list(_searched(wiki, clean))
    if found := [found for _, found, why in searched if why is None]:
        raise RunError(refusal(found, what))
    return frozenset(path for path, _, _ in searched)


def _searched(wiki: Path, clean: Container[str] = ()) -> Iterator[tuple[str, FoundSecret, str | None]]:
    """What looks like a secret in each file, by its path, and why the owner allows it; None where nobody does."""
    allowed = allowed_secrets(wiki)
    for path, found, digest in _looked_at(wiki, [path for path in files_that_leave(wiki) if path not in clean]):
        yield path, found, allowed[digest].why if digest in allowed else None


def _looked_at(wiki: Path, paths: Sequence[str]) -> list[_Found]:
    """What looks like a secret in each file, in their order; many files are searched by two processes."""

    def look(part: range) -> list[tuple[int, _Found]]:
        return [(at, (paths[at], *each)) for at in part for each in in_file(wiki, paths[at])]

    found = work_in_parts(len(paths), look, look, iter, is_large=len(paths) >= _FEWEST)
    return [each for _, each in sorted(found, key=itemgetter(0))]  # a stable sort: those of a file stay in order


def allowed_secrets(wiki: Path) -> Mapping[str, AllowedSecret]:
    """What a wiki's owner says only looks like a secret, by digest; nothing where the configuration is not readable."""
    try:
        return parse_config((wiki / CONFIG).read_text(encoding="utf-8")).allowed_secrets
    except (OSError, ValueError, RunError):
        return {}


def refusal(found: Iterable[FoundSecret], what: str) -> str:
    """The line that says why something is not done: what was found where, and what to do about it."""
    every = sorted({f"{each.file} ({each.kind})" for each in found})
    return (
        f"secrets in {some_of(every, _MOST_NAMED)}: {what}; `wiki secrets --wiki` names each line, and "
        "--allow excuses what is no secret"
    )


def leaks_report(wiki: Path, detector: Detector | None = None) -> SecretsReport:
    """The same as the report of `wiki secrets`; a file that cannot be read is a failure.

    A second detector adds what it finds besides.
    """
    report, allowed = SecretsReport(), allowed_secrets(wiki)
    for path in files_that_leave(wiki):
        try:
            for found, digest in in_file(wiki, path, detector):
                if digest in allowed:
                    report.allowed.append(ExcusedSecret(found, allowed[digest].why))
                else:
                    report.found.append(found)
        except OSError as error:
            report.failures.append(Failure("file", _shown(path), error.strerror or type(error).__name__))
        else:
            report.files.append(_shown(path))
    return report


def files_that_leave(wiki: Path) -> Iterator[str]:
    """Every file of a wiki by its path in it, in order. A link leads elsewhere, and leaves as a link."""

    def fail(error: OSError) -> None:
        raise error

    for folder, names, files in os.walk(wiki, onerror=fail):
        if Path(folder) == wiki:
            names[:] = [each for each in names if each not in _STAYS_HERE]
        names.sort()
        yield from (Path(folder, each).relative_to(wiki).as_posix() for each in sorted(files))


def in_file(wiki: Path, path: str, detector: Detector | None = None) -> Iterator[tuple[FoundSecret, str]]:
    """What looks like a secret in a file of a wiki and in its name, allowed or not, each with its value's digest."""
    name = _shown(path)
    for start, end, kind in text_spans(path):
        yield FoundSecret(name, kind, end - start), value_digest(path[start:end])
    file = wiki / path
    if file.is_symlink():
        return
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    for place in with_second(detector, lines, secret_places(lines, is_json=path.endswith(_JSON))):
        yield FoundSecret(name, place.kind, place.length, place.line, place.column), place.digest


def _shown(path: str) -> str:
    return redact_text(path)[0]
