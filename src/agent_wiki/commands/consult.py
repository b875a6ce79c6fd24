"""`wiki consult` and `wiki review`: pages that apply to a task, and pages that need a look."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands.show import print_json, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import shared_wiki_folder, wiki_folder
from agent_wiki.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_wiki.errors import UnreadablePage
    from agent_wiki.retrieval import Hit
    from agent_wiki.retrieval.review import EditedPage, Reviewed

_MOST_TOKENS = 2_000
_EXIT_UNREADABLE = 1


def consult(
    task: Annotated[str, typer.Argument(help="What you are about to do, in a few words.", show_default=False)],
    read: Annotated[bool, typer.Option("--read", help="Print the pages themselves.")] = False,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="The most tokens to print with --read, at two bytes per token.")
    ] = _MOST_TOKENS,
    tags: Annotated[
        str, typer.Option("--tags", help="Only pages with one of these tags: a,b.", show_default=False)
    ] = "",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="Only cluster, skill, guideline, task, subtask or episode; several: a,b.",
            show_default=False,
        ),
    ] = "",
    repository: Annotated[
        str, typer.Option("--repository", help="Where you work, by name.  [default: the one here]", show_default=False)
    ] = "",
    wiki: ExistingWiki = None,
    as_json: AsJson = False,
) -> None:
    """Print the two to five pages that apply to what you are about to do; nothing if none does."""
    from agent_wiki import retrieval
    from agent_wiki.retrieval.terminal import hit_lines
    from agent_wiki.trajectory.repository import repository_here
    from agent_wiki.wiki.kinds import INDEXED

    kinds = _listed(kind)
    for each in kinds:
        if each not in INDEXED:
            raise UsageError(f"consult: --kind {each!r} is not one of {', '.join(INDEXED)}")
    if read and as_json:
        raise UsageError("consult: --read prints pages and --json prints rows; use only one of them")
    here = repository.lower() or repository_here(Path.cwd())
    hits = retrieval.consult(shared_wiki_folder(wiki), task, tags=_listed(tags), kinds=kinds, repository=here)
    if as_json:
        print_json([hit.to_json() for hit in hits], is_ascii=True)
    elif read:
        typer.echo(retrieval.read_pages(hits, max_tokens) or _nothing_fits(hits, max_tokens), nl=False)
    else:
        for position, hit in enumerate(hits, start=1):
            print_lines(hit_lines(hit, position))
    if not hits:
        typer.echo("nothing in the wiki applies", err=True)


def _nothing_fits(hits: Sequence[Hit], max_tokens: int) -> str:
    from agent_wiki.retrieval.terminal import one_line

    if not hits:
        return ""
    apply = "1 page applies and does not fit" if len(hits) == 1 else f"{len(hits)} pages apply, none fits"
    return f"{apply} in {max_tokens} tokens; best: {one_line(hits[0].link)}\n"


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())


def review(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """List the pages that harmed or misled a session, the worst first, and those that a person edited, with a diff.

    What to do with an edited page: `wiki keep` makes it yours for good, `wiki restore` renders it again. A bad page is
    retired for good with `wiki reject`.
    """
    from agent_wiki.retrieval.review import edited_pages
    from agent_wiki.retrieval.review import review as found_in

    folder = wiki_folder(wiki)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such wiki")
    problems: list[UnreadablePage] = []
    found, edited = found_in(folder, problems), edited_pages(folder)
    if as_json:
        print_json([*(each.to_json() for each in found), *(each.to_json() for each in edited)], is_ascii=True)
    else:
        for each in found:
            print_lines(_review_lines(folder, each))
        for page in edited:
            print_lines(_edited_lines(page))
        if not found and not edited:
            typer.echo("no page has harmed or misled a session", err=True)
    print_lines((f"wiki: {problem}" for problem in problems), err=True)
    raise typer.Exit(_EXIT_UNREADABLE if problems else 0)


def _edited_lines(page: EditedPage) -> list[str]:
    from agent_wiki.retrieval.terminal import one_line, plain_text

    note = "" if page.is_supported else "; no session supports it any more"
    diff = [f"   {line}" for line in plain_text(page.diff).split("\n")]
    return [f"{one_line(page.link)} [edited{note}]", *diff]


def _review_lines(folder: Path, each: Reviewed) -> list[str]:
    from agent_wiki.retrieval.terminal import plain_text
    from agent_wiki.wiki.text import plain_line

    counts = ", ".join(f"{status} {count}" for status, count in each.counts.items())
    sunk = "; last in `wiki consult`" if each.has_sunk else ""
    lines = [
        f"{plain_line(each.title, 120)} [{each.tier}: {counts}{sunk}]",
        f"   {plain_text(str(folder / each.link))}",
    ]
    for recall in each.against:
        quote = f": “{plain_line(recall.quote, 200)}”" if recall.quote else ""
        lines.append(f"   {recall.status} in {plain_line(recall.session_id, 60)}{quote}")
    return lines
