"""`wiki ingest` and each stage as a command of its own."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import completing
from agent_wiki.commands.asking import asks
from agent_wiki.commands.executing import LOCAL, MACHINES_PANEL, Executor, RayAddress, RayOption, ray_options
from agent_wiki.commands.selecting import (
    PANEL,
    Exclude,
    Include,
    MaxObjects,
    Paths,
    ShardNumber,
    Since,
    paths_of,
    selection_of,
)
from agent_wiki.commands.show import finish, print_lines, progress_shown
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError
from agent_wiki.stages.order import STAGES

if TYPE_CHECKING:
    from agent_wiki.changes.fail_on import FailCondition
    from agent_wiki.pipeline.estimate import Estimate
    from agent_wiki.pipeline.ingest import Options
    from agent_wiki.pipeline.report import Report

_FOUND = "wiki, here or above"

Wiki = Annotated[
    Path | None, typer.Option("--wiki", help="The wiki's folder; created if it does not exist.", show_default=_FOUND)
]
ExistingWiki = Annotated[Path | None, typer.Option("--wiki", help="The wiki's folder.", show_default=_FOUND)]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="The engine that answers: offline, anthropic, claude-code, codex, gemini, command:'PROGRAM …', recorded, "
        "or one of another package.",
        show_default="offline",
        autocompletion=completing.engines,
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Workers; by default one per processor, at most 8.")]
MaxMinutes = Annotated[
    float | None, typer.Option("--max-minutes", min=0, help="Begin nothing new after this time; the rest waits.")
]
Rewrite = Annotated[bool, typer.Option("--rewrite", help="Ask and write again, even if nothing has changed.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print every list of the report to its end.")]
RetrySetAside = Annotated[
    bool,
    typer.Option(
        "--retry-set-aside",
        help="Read objects again that were set aside after three failed runs.",
        rich_help_panel=PANEL,
    ),
]
Night = Annotated[
    str,
    typer.Option(
        "--night",
        metavar="NAME",
        help="The night that this run belongs to, as its date: what fails in several runs of one has failed once.",
        show_default="each run is one",
    ),
]
ArchiveCovered = Annotated[
    bool, typer.Option("--archive-covered/--keep-covered", help="Archive guidelines that a skill covers.")
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FOLDER|s3://BUCKET/PREFIX",
        help="With --shard: write records for `wiki join` below this place; the wiki itself is only read.",
        show_default="the wiki",
        rich_help_panel=MACHINES_PANEL,
    ),
]
MaxNewPages = Annotated[
    int | None,
    typer.Option(
        "--max-new-pages",
        min=0,
        help="Publish at most N new lesson pages, the best first; the others wait for a later run.",
        show_default="all",
    ),
]
NewSince = Annotated[
    str,
    typer.Option(
        "--new-since",
        help="With --max-new-pages: count the pages that this revision in git does not have, as origin/main.",
        show_default="those of this run",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        help="What makes the run fail: failed=5%, failed=3, quarantine=10, cost=USD, check; several: a,b.",
        show_default="any failure",
    ),
]

Summaries = Annotated[
    str,
    typer.Option(
        "--summaries",
        metavar="PLACE",
        help="Where summaries and records lie from here on: pages (in git), or sidecar:PLACE, a folder or a bucket.",
        show_default="as _config.yaml says",
    ),
]

Pii = Annotated[
    str,
    typer.Option(
        "--pii",
        metavar="KEEP|REPLACE",
        help="Personal data from here on: replace (by stand-ins), or keep; the recordings are mined again.",
        show_default="as _config.yaml says, else replace",
    ),
]

Durable = Annotated[
    bool,
    typer.Option(
        "--durable",
        help="Have each file on the disk before the next is written: a machine that loses its power loses no page.",
    ),
]

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "paths": (Paths, inspect.Parameter.empty),
    "shard": (ShardNumber, None),
    "out": (Out, None),
    "since": (Since, ""),
    "include": (Include, None),
    "exclude": (Exclude, None),
    "max_objects": (MaxObjects, None),
    "retry_set_aside": (RetrySetAside, False),
    "wiki": (Wiki, None),
    "engine": (EngineName, None),
    "jobs": (Jobs, None),
    "executor": (Executor, LOCAL),
    "ray_address": (RayAddress, ""),
    "ray_option": (RayOption, None),
    "max_minutes": (MaxMinutes, None),
    "rewrite": (Rewrite, False),
    "dry_run": (DryRun, False),
    "archive_covered": (ArchiveCovered, True),
    "max_new_pages": (MaxNewPages, None),
    "new_since": (NewSince, ""),
    "night": (Night, ""),
    "fail_on": (FailOn, None),
    "summaries": (Summaries, ""),
    "pii": (Pii, ""),
    "durable": (Durable, False),
    "verbose": (Verbose, False),
    "as_json": (AsJson, False),
}
_ON_THE_WIKI = {"wiki": (ExistingWiki, None)} | {
    each: _OPTIONS[each] for each in ("engine", "dry_run", "verbose", "as_json")
}
_SELECTING = ("since", "include", "exclude", "max_objects")
_SHARDING = ("shard", "out")
_EXECUTING = ("executor", "ray_address", "ray_option")
_OF_INGEST = (*_SHARDING, "max_new_pages", "new_since", "night", "fail_on", "summaries", "pii", "durable")


def stage_commands() -> Iterator[tuple[str, str, Callable[..., None]]]:
    """Name, help and function of `ingest` and of each stage that asks something."""
    yield "ingest", "Run all stages: recordings in, wiki out.", _stage_command("ingest", _OPTIONS)
    for stage in STAGES:
        if stage.scope == "session":
            without = {*_OF_INGEST, *(() if stage.may_archive else ("archive_covered",))}
            options = {name: each for name, each in _OPTIONS.items() if name not in without}
            yield stage.name, stage.help, _stage_command(stage.name, options)
        elif stage.scope == "corpus":
            yield stage.name, stage.help, _stage_command(stage.name, _ON_THE_WIKI)


def _stage_command(name: str, options: Mapping[str, tuple[Any, Any]]) -> Callable[..., None]:
    """The command that runs the stages that `name` means; each option comes with its annotation and default."""

    def command(*, asking: AskingOptions, **given: Any) -> None:
        _run(name, given.pop("paths", []), given.pop("wiki"), asking=asking, **given)

    vars(command)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for option, (annotation, default) in options.items()
        ]
    )
    return asks(command)


def _run(command: str, paths: list[str], named: Path | None, *, verbose: bool, as_json: bool, **options: Any) -> None:
    from agent_wiki.engines import default_engine
    from agent_wiki.pipeline.ingest import STAGES_OF_COMMAND, Options, run
    from agent_wiki.pipeline.new_pages import at_most
    from agent_wiki.pipeline.report import Report
    from agent_wiki.pipeline.stopping import StopSignal
    from agent_wiki.pipeline.workers import default_jobs
    from agent_wiki.wiki.replacing import durable
    from agent_wiki.wiki.store import WikiFolder

    _check_words_of_config(options)
    wiki = wiki_folder(named)
    if not paths:  # then only a wiki with sessions is worked on
        WikiFolder(wiki).check_place(may_be_new=False)
    is_hinted = command == "ingest" and not options["engine"] and not as_json
    if "engine" in options:  # catalog asks nobody
        options["engine"] = options["engine"] or default_engine(wiki)
    jobs = options.pop("jobs", None) or default_jobs()
    stop = StopSignal(is_heard=True, most_minutes=options.pop("max_minutes", None))
    shard, out = (options.pop(name, None) for name in _SHARDING)
    if paths:
        options["selection"] = selection_of(*(options.pop(name) for name in _SELECTING))
        options["ray"] = ray_options(*(options.pop(name) for name in _EXECUTING))
    options["new_pages"] = at_most(options.pop("max_new_pages", None), options.pop("new_since", ""), wiki)
    conditions, is_durable = _conditions(options.pop("fail_on", None)), options.pop("durable", False)
    chosen = Options(wiki, STAGES_OF_COMMAND[command], jobs=jobs, stop=stop, **options)
    work = run
    if shard is not None or out is not None:
        chosen, work = _of_shard(chosen, shard, out)
    report = Report(command, str(wiki), is_dry_run=chosen.dry_run, is_verbose=verbose)
    with progress_shown(quiet=as_json) as progress, durable(is_wanted=is_durable):
        made = _done(chosen, report, lambda each: work(paths_of(paths), each, report, progress))
    _judge(made, conditions, chosen)
    if is_hinted and isinstance(made, Report) and made.sessions.get("mined"):
        _print_hint()
    finish(made, as_json=as_json)


def _check_words_of_config(options: Mapping[str, Any]) -> None:
    """Raises `UsageError` for an option that goes into `_config.yaml` and is none of its words."""
    from agent_wiki.wiki.config import what_to_write

    for name in ("summaries", "pii"):
        if words := what_to_write(name, options.get(name) or None):
            raise UsageError(f"--{name}: write {words}")


def _of_shard(options: Options, shard: str | None, out: str | None) -> tuple[Options, Callable[..., Report]]:
    """How one machine's share is mined, and by what: into the wiki, or to where `wiki join` finds it."""
    from agent_wiki.pipeline.ingest import run
    from agent_wiki.pipeline.mine_shard import mine_shard, share_of
    from agent_wiki.pipeline.shards import shard_named
    from agent_wiki.readers.buckets import path_of

    chosen = options if shard is None else share_of(options, shard_named(shard, os.environ))
    return chosen, run if out is None else partial(mine_shard, path_of(out))


def _print_hint() -> None:
    """Say in one line which engines are there, to who named none."""
    from agent_wiki.engines.at_hand import hint

    print_lines(filter(None, [hint(os.environ)]), err=True)


def _conditions(words: Sequence[str] | None) -> list[FailCondition] | None:
    """What makes the run fail; None where the owner named nothing."""
    if not words:
        return None
    from agent_wiki.changes.fail_on import conditions_of

    return conditions_of(words)


def _judge(made: Report | Estimate, conditions: list[FailCondition] | None, options: Options) -> None:
    """Note in a report why the run fails, where the owner named conditions; an estimate runs nothing."""
    from agent_wiki.pipeline.report import Report

    if conditions is not None and isinstance(made, Report):
        from agent_wiki.changes.fail_on import reasons_to_fail, warnings_of

        made.warnings += warnings_of(conditions, made)
        made.failed_on = reasons_to_fail(conditions, made, options)


def _done(options: Options, report: Report, work: Callable[[Options], Report]) -> Report | Estimate:
    """The report of `work`; with `--estimate`, its estimate."""
    if options.asking.is_exact and not options.asking.is_estimate:
        raise UsageError("--exact needs --estimate")
    if not options.asking.is_estimate:
        return work(options)
    from agent_wiki.pipeline.estimate import estimate

    return estimate(options, report, work)


def catalog(
    wiki: ExistingWiki = None,
    dry_run: DryRun = False,
    max_new_pages: MaxNewPages = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Update backlinks, indexes and everything else that is derived."""
    _run("catalog", [], wiki, verbose=verbose, as_json=as_json, dry_run=dry_run, max_new_pages=max_new_pages)


@asks
def join(
    others: Annotated[
        list[str], typer.Argument(help="Other wikis, shards, or places where shards lie, also s3://BUCKET/PREFIX.")
    ],
    wiki: Wiki = None,
    engine: EngineName = None,
    dry_run: DryRun = False,
    max_new_pages: MaxNewPages = None,
    new_since: NewSince = "",
    fail_on: FailOn = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    *,
    asking: AskingOptions,
) -> None:
    """Add the contributions of other wikis' sessions, and of shards, to this wiki, in any order."""
    from agent_wiki.engines import default_engine
    from agent_wiki.pipeline.ingest import Options
    from agent_wiki.pipeline.join_wikis import join_wikis
    from agent_wiki.pipeline.new_pages import at_most
    from agent_wiki.pipeline.report import Report

    folder = wiki_folder(wiki)
    engine, conditions = engine or default_engine(folder), _conditions(fail_on)
    report = Report("join", str(folder), is_dry_run=dry_run, is_verbose=verbose)
    new_pages = at_most(max_new_pages, new_since, folder)
    options = Options(folder, engine=engine, dry_run=dry_run, new_pages=new_pages, asking=asking)
    with progress_shown(quiet=as_json) as progress:
        made = _done(options, report, lambda each: join_wikis(paths_of(others), each, report, progress))
    _judge(made, conditions, options)
    finish(made, as_json=as_json)
