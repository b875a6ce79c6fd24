"""What a person sees during a run: a progress bar on a terminal, plain lines elsewhere, and the report."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import typer

from agent_wiki.commands.visible import visible, visible_json

_LINE_EVERY_SECONDS = 10.0


class _Lines:
    """A plain line when a step begins, every ten seconds of a long one, and at the end of one that was counted."""

    def __init__(self) -> None:
        self._step = ""
        self._shown_at = 0.0

    def __call__(self, what: str, done: int, of: int) -> None:
        now = time.monotonic()
        if what != self._step or now - self._shown_at > _LINE_EVERY_SECONDS or done == of > 1:
            self._step, self._shown_at = what, now
            count = f": {done} of {of}" if of > 1 else ""
            sys.stderr.write(f"{what}{count}\n")


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Any]:
    """Yield a function `(what, done, of)` that shows a run's progress on standard error."""
    if quiet:
        from agent_wiki.engine import no_progress

        yield no_progress
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done, total=of)

        yield show


def print_json(values: Any, *, is_ascii: bool = False) -> None:
    """Print JSON values in UTF-8, whatever the terminal's encoding; with `is_ascii` hidden characters stay visible."""
    print_lines([visible_json(json.dumps(values, ensure_ascii=is_ascii, indent=2))])


def print_answer(command: str, values: Mapping[str, Any], *, is_ascii: bool = False) -> None:
    """Print what a command found as JSON, with the command and the version of its form."""
    print_json(versioned(command, values), is_ascii=is_ascii)


def versioned(command: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a command found, with the command and the version of its form, which `wiki schema` prints."""
    from agent_wiki.pipeline.report import SCHEMA_VERSION

    return {"command": command, "schema_version": SCHEMA_VERSION, **values}


def print_lines(lines: Iterable[str], *, err: bool = False, is_verbatim: bool = False) -> None:
    """Print lines in UTF-8, whatever the terminal's encoding. Nothing in them controls a terminal.

    `is_verbatim` keeps every character where the output is no terminal: quotes are taken from prompts.
    """
    stream = sys.stderr if err else sys.stdout
    takes_bytes = hasattr(stream, "buffer")
    for line in lines if is_verbatim and not stream.isatty() else map(visible, lines):
        typer.echo(line.encode("utf-8", "replace") if takes_bytes else line, err=err)


class Reportable(Protocol):
    """What a command prints at its end: a report, or an estimate."""

    @property
    def bugs(self) -> list[str]: ...

    @property
    def exit_code(self) -> int: ...

    def to_json(self) -> dict[str, Any]: ...

    def lines(self) -> list[str]: ...


def finish(report: Reportable, *, as_json: bool, extra: dict[str, Any] | None = None) -> None:
    """Print the report and exit with its exit code. As JSON it has its command and version, and `extra` besides."""
    if as_json:
        values = report.to_json()
        print_answer(values["command"], {**values, **(extra or {})})
    else:
        print_lines(report.lines())
    for bug in report.bugs:
        sys.stderr.write(visible(bug))
    raise typer.Exit(report.exit_code)
