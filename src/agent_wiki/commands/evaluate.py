"""`wiki eval`: what sessions cost and achieved, and whether one way of running them is better than another."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.commands.files import text_in, write_bytes
from agent_wiki.commands.selecting import Exclude, Include, Paths, Since, paths_of, selection_of
from agent_wiki.commands.show import finish, print_answer, print_lines, progress_shown
from agent_wiki.commands.stages import AsJson
from agent_wiki.commands.visible import visible_json
from agent_wiki.errors import UsageError
from agent_wiki.wiki.text import counted

if TYPE_CHECKING:
    from agent_wiki.evaluation.arms import Arm, Read
    from agent_wiki.evaluation.compare import Comparison
    from agent_wiki.evaluation.tasks import TaskSet

_EXIT_BAD_ROWS = 1
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_LABELS = ("task", "family", "condition", "trial")  # measured fields that a person may override

TaskFile = Annotated[
    Path | None, typer.Option("--tasks", help="The task file: prompts, families, outcome_match_all and _any.")
]


def metrics(
    paths: Paths,
    tasks: TaskFile = None,
    labels: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE added to each row, such as batch=2 or condition=with-wiki."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the rows to this file instead of standard output."),
    ] = None,
    since: Since = "",
    include: Include = None,
    exclude: Exclude = None,
    as_json: AsJson = False,
) -> None:
    """Measure each session: a JSON line of cost, time, calls, reads and outcome."""
    from agent_wiki.evaluation.recordings import rows_of
    from agent_wiki.pipeline.report import Report, as_lines, listed_lines

    report = Report("eval metrics", "")
    known, chosen = _tasks(tasks), _labels(labels or ())
    selection = selection_of(since, include, exclude)
    with progress_shown(quiet=as_json) as progress:
        rows = rows_of(paths_of(paths), known, chosen, report, progress, selection)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if out is not None:
        write_bytes(out, text.encode("utf-8", "replace"))
        report.written.append(str(out))
    if as_json:
        finish(report, as_json=True, extra={"rows": rows})
    if out is None:
        print_lines([visible_json(text.removesuffix("\n"))] if text else [])
    listed = (("left out", report.left_out), ("warning", report.warnings), ("FAILED", report.failures))
    print_lines((line for title, entries in listed for line in listed_lines(title, as_lines(entries))), err=True)
    print_lines(report.bugs, err=True)
    if out is not None:
        typer.echo(f"{out}: {counted(len(rows), 'row')} of {counted(report.files['recordings'], 'recording')}")
    raise typer.Exit(report.exit_code)


def compare(
    files: Annotated[list[Path], typer.Argument(metavar="ARM", help="Files of rows, one per arm.")],
    by: Annotated[
        str | None,
        typer.Option("--by", help="Make one arm per value of this field, such as batch, instead of one per file."),
    ] = None,
    first: Annotated[
        str | None, typer.Option("--first", help="The arm that the others are compared with; by default the first.")
    ] = None,
    tasks: TaskFile = None,
    as_json: AsJson = False,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the report to this file.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the main figures to this file (.svg or .png).")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the bootstrap; the same seed gives the same figures.")
    ] = 0,
    resamples: Annotated[
        int, typer.Option("--resamples", min=100, max=100_000, help="Resamples of the bootstrap.")
    ] = 2_000,
) -> None:
    """Compare arms over all trials, by family and by task, with intervals."""
    from agent_wiki.evaluation import render
    from agent_wiki.evaluation.compare import compare as compare_arms
    from agent_wiki.pipeline.report.entries import as_lines, listed_lines, one_line

    if plot is not None and plot.suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"{plot}: the name of a plot must end in .svg or .png")
    read = _read(files)
    arms = _arms(read, by, first, _tasks(tasks))
    compared = compare_arms(arms, seed, resamples)
    report = render.to_markdown(compared)
    if markdown is not None:
        write_bytes(markdown, report.encode("utf-8", "replace"))
    if plot is not None:
        write_bytes(plot, _drawn(compared, arms, plot))
    exit_code = _EXIT_BAD_ROWS if read.problems else 0
    notes = [f"{counted(read.subagents, 'row')} of subagents left out: they are part of their session"] * bool(
        read.subagents
    )
    if as_json:
        values = {**render.to_json(compared), "problems": read.problems, "notes": notes}
        print_answer("eval compare", {**values, "exit_code": exit_code})
    else:
        print_lines([report.removesuffix("\n")])
    print_lines(listed_lines("warning", as_lines(notes)), err=True)
    print_lines(listed_lines("FAILED", [*map(one_line, read.problems)]), err=True)  # in the order of lines
    raise typer.Exit(exit_code)


def _read(files: Sequence[Path]) -> Read:
    from agent_wiki.evaluation.arms import Read, read_rows

    read = Read()
    for file in files:
        read_rows(text_in(file), str(file), read)
    return read


def _arms(read: Read, by: str | None, first: str | None, tasks: TaskSet | None) -> list[Arm]:
    from agent_wiki.evaluation.arms import arms_of, with_families

    try:
        arms = arms_of(read, by, first)
    except KeyError:
        names = ", ".join(arm.name for arm in arms_of(read, by))
        raise UsageError(f"--first {first}: no such arm; there are: {names}") from None
    if not arms:
        why = f" ({' '.join(read.problems[0].split())})" if read.problems else ""
        raise UsageError(f"nothing to compare: no valid row{why}")
    return with_families(arms, tasks.families()) if tasks is not None else arms


def _drawn(compared: Comparison, arms: Sequence[Arm], file: Path) -> bytes:
    from agent_wiki.evaluation.plot import picture, to_png, to_svg

    drawn = picture(compared, arms)
    return to_png(drawn) if file.suffix.lower() == ".png" else to_svg(drawn).encode("utf-8", "replace")


def _tasks(file: Path | None) -> TaskSet | None:
    from agent_wiki.evaluation.tasks import parse_tasks

    return None if file is None else parse_tasks(text_in(file), str(file))


def _labels(values: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` pairs; integers are parsed. Measured fields cannot be set."""
    from agent_wiki.evaluation.metrics import MEASURED

    labels: dict[str, Any] = {}
    for pair in values:
        name, equals, value = pair.partition("=")
        if not equals or not _FIELD.fullmatch(name) or not value:
            raise UsageError(f"--set {pair}: not NAME=VALUE")
        if name in MEASURED and name not in _LABELS:
            raise UsageError(f"--set {pair}: {name} is measured")
        labels[name] = int(value) if re.fullmatch(r"-?[0-9]{1,9}", value) else value
    return labels
