"""`wiki report`: what a wiki has gained against another revision of it, as the body of a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.files import write_bytes
from agent_wiki.commands.show import print_answer, print_lines, versioned
from agent_wiki.commands.stages import ArchiveCovered, AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError

_NOTHING_NEW = 3
_STANDARD_OUTPUT = Path("-")


def report(
    wiki: ExistingWiki = None,
    base: Annotated[
        str,
        typer.Option(
            "--base",
            help="The revision to compare with; of another branch, where this one left it.",
            show_default="the last commit",
        ),
    ] = "",
    seen: Annotated[
        str,
        typer.Option(
            "--seen",
            help="A revision that you have looked at: pages that differ from it are marked and come first.",
            show_default="none",
        ),
    ] = "",
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", help="The saved output of `wiki ingest --json`; may be given several times."),
    ] = None,
    pr: Annotated[
        Path | None,
        typer.Option(
            "--pr",
            help="Write the body to this file and the same as JSON beside it, with the ending .json; - prints it.",
            show_default="standard output",
        ),
    ] = None,
    link_base: Annotated[
        str,
        typer.Option(
            "--link-base",
            help="Address of the repository's files, such as https://github.com/O/R/blob/BRANCH.",
            show_default="no links, paths",
        ),
    ] = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 3 if there is nothing new to review.")
    ] = False,
    archive_covered: ArchiveCovered = True,
    as_json: AsJson = False,
) -> None:
    """Show what is new, changed and retired since a revision in git, with what was read, as a pull request's body.

    Sessions or pages that differ are news. What a run did (failures, cost, what was set aside) is known from its
    report alone: save what `wiki ingest --json` prints, and name the file with --run.
    """
    from agent_wiki.changes.body import pull_request_body
    from agent_wiki.changes.facts import gathered
    from agent_wiki.changes.markdown import Links
    from agent_wiki.changes.revision import revision_of
    from agent_wiki.changes.runs import run_facts

    if pr is not None and pr != _STANDARD_OUTPUT and pr.suffix != ".md":
        raise UsageError(f"--pr {pr}: name a file that ends in .md; the JSON is written beside it")
    revision = revision_of(wiki_folder(wiki), base)
    links = Links(link_base, revision.folder)
    looked_at = revision_of(revision.wiki, seen, "--seen") if seen else None
    facts = gathered(revision, run_facts(runs or ()), looked_at, archive_covered=archive_covered)
    beside = pr.with_suffix(".json") if pr and pr != _STANDARD_OUTPUT else None
    body = pull_request_body(facts, links, f"`{beside.name}`" if beside else "the JSON (`--json`)")
    if pr is not None and beside is not None:
        write_bytes(pr, body.encode("utf-8", "replace"))
        write_bytes(beside, json_bytes(versioned("report", facts.to_json())))
        print_lines([f"{facts.title}: {len(body):,} characters in {pr}"], err=as_json)
    if as_json:
        print_answer("report", facts.to_json())
    elif beside is None:
        print_lines([body])
    if exit_code and not facts.has_news:
        raise typer.Exit(_NOTHING_NEW)


def json_bytes(values: object) -> bytes:
    """JSON values as a file holds them."""
    import json

    return f"{json.dumps(values, ensure_ascii=False, indent=1)}\n".encode("utf-8", "replace")
