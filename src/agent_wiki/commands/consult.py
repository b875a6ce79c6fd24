"""`wiki consult`: pages that apply to a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands.show import print_json, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import shared_wiki_folder
from agent_wiki.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_wiki.retrieval import Hit

_MOST_TOKENS = 2_000


def consult(
    words: Annotated[
        list[str], typer.Argument(metavar="TASK", help="What you are about to do, in a few words.", show_default=False)
    ],
    read: Annotated[bool, typer.Option("--read", help="Print the pages themselves.")] = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            min=1,
            help="The most tokens to print with --read, at two bytes per token.",
            show_default=str(_MOST_TOKENS),
        ),
    ] = None,
    tags: Annotated[
        str, typer.Option("--tags", help="Only pages with one of these tags: a,b.", show_default=False)
    ] = "",
    kind: Annotated[
        str,
        typer.Option(
            "--kind", help="Only cluster, skill, guideline, task, subtask or episode; several: a,b.", show_default=False
        ),
    ] = "",
    repository: Annotated[
        str,
        typer.Option(
            "--repository", help="Where you work: name, owner/name or URL.  [default: the one here]", show_default=False
        ),
    ] = "",
    wiki: ExistingWiki = None,
    as_json: AsJson = False,
) -> None:
    """Print the two to five pages that apply to what you are about to do; nothing if none does."""
    from agent_wiki import retrieval
    from agent_wiki.retrieval.elsewhere import nothing_applies, unknown_repository, unknown_tags
    from agent_wiki.retrieval.terminal import hit_lines
    from agent_wiki.trajectory.repository import repository_here

    task = " ".join(words)
    if not task.strip():
        raise UsageError('consult: say what you are about to do, as in: wiki consult "fix the failing test"')
    if read and as_json:
        raise UsageError("consult: --read prints pages and --json prints rows; use only one of them")
    if max_tokens is not None and not read:
        raise UsageError("consult: --max-tokens limits what --read prints; give both")
    folder, with_tags, of_kinds = shared_wiki_folder(wiki), _listed(tags), _listed(kind)
    here = repository or repository_here(Path.cwd())
    hits = retrieval.consult(folder, task, tags=with_tags, kinds=of_kinds, repository=here)
    if as_json:
        print_json([hit.to_json() for hit in hits], is_ascii=True)
    elif read:
        most = max_tokens or _MOST_TOKENS
        typer.echo(retrieval.read_pages(hits, most) or _nothing_fits(hits, most), nl=False)
    else:
        for position, hit in enumerate(hits, start=1):
            print_lines(hit_lines(hit, position))
    if with_tags and (line := unknown_tags(folder, with_tags)):
        print_lines([line], err=True)
    if repository and (line := unknown_repository(folder, repository)):
        print_lines([line], err=True)
    if not hits:
        print_lines([nothing_applies(folder, task, with_tags, of_kinds, here)], err=True)


def _nothing_fits(hits: Sequence[Hit], max_tokens: int) -> str:
    from agent_wiki.retrieval.terminal import one_line

    if not hits:
        return ""
    apply = "1 page applies and does not fit" if len(hits) == 1 else f"{len(hits)} pages apply, none fits"
    return f"{apply} in {max_tokens} tokens; best: {one_line(hits[0].link)}\n"


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())
