"""`wiki review` and `wiki release`: the pages that need a look, and those that are held back."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands.show import finish, print_json, print_lines
from agent_wiki.commands.stages import AsJson, DryRun, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_wiki.pages.quarantine import QuarantinedPage
    from agent_wiki.retrieval.review import EditedPage, Reviewed

_EXIT_UNREADABLE = 1
_MOST_SHOWN = 2_000  # characters of what a page says; its file has more


def review(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """List the pages that are held back, with the reason, those that harmed or misled a session, and edited ones.

    What to do with a page that is held back: `wiki release` publishes it, `wiki reject` removes it for good. With an
    edited page, shown with a diff: `wiki keep` makes it yours for good, `wiki restore` renders it again. A bad page is
    retired for good with `wiki reject`. Last come the exceptions that `_config.yaml` has: pages that were released, and
    what was allowed although it looks like a secret. Take a line out there, and it is found again.
    """
    from agent_wiki.pages.quarantine import as_values
    from agent_wiki.pipeline.released import exceptions
    from agent_wiki.retrieval.review import to_review
    from agent_wiki.wiki.missing import require_folder

    folder = wiki_folder(wiki)
    require_folder(folder)
    waiting, let_pass = to_review(folder), exceptions(folder)
    if as_json:
        used = [each.to_json() for each in waiting.used]
        others = [*used, *(each.to_json() for each in waiting.edited), *let_pass]
        print_json([*map(as_values, waiting.held), *others], is_ascii=True)
    else:
        for withheld in waiting.held:
            print_lines(_withheld_lines(withheld, folder))
        for each in waiting.used:
            print_lines(_review_lines(folder, each))
        for page in waiting.edited:
            print_lines(_edited_lines(page, folder))
        print_lines(_exception_line(each) for each in let_pass)
        if not (waiting.held or waiting.used or waiting.edited):
            typer.echo("nothing is held back, and no page has harmed or misled a session", err=True)
    print_lines((f"wiki: {failure}" for failure in waiting.failures), err=True)
    raise typer.Exit(_EXIT_UNREADABLE if waiting.failures else 0)


def _exception_line(each: Mapping[str, str]) -> str:
    from agent_wiki.retrieval.terminal import one_line

    return one_line(f"{each['link']} [{each['key']}: {each['id']}]: {each['why']}")


def _edited_lines(page: EditedPage, folder: Path) -> list[str]:
    from agent_wiki.retrieval.terminal import one_line, plain_text

    note = "" if page.is_supported else "; no session supports it any more"
    diff = [f"   {line}" for line in plain_text(page.diff).split("\n")]
    wiki = ["--wiki", str(folder)]
    undone = "render it again" if page.is_supported else "remove it"
    choices = (("keep your words", "keep"), (undone, "restore"))
    commands = (f"   to {what}: {shlex.join(['wiki', name, page.link, *wiki])}" for what, name in choices)
    return [f"{one_line(page.link)} [edited{note}]", *map(one_line, commands), *diff]


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


def _withheld_lines(page: QuarantinedPage, folder: Path) -> list[str]:
    from agent_wiki.pages.safety.finding import RULES
    from agent_wiki.retrieval.terminal import one_line, plain_text

    lines = [f"{one_line(page.path)} [held back: {one_line(page.title)}]"]
    for each in page.findings:
        excerpt = f": {one_line(each['excerpt'])}" if "excerpt" in each else ""
        lines.append(f"   {each['rule']}{excerpt}")
        lines.append(f"      {RULES.get(each['rule'], '')}")
    lines += [f"   in {one_line(each)}" for each in page.sessions]
    for what, words in (("publish", page.release_words), ("remove", page.removal_words)):
        lines.append(one_line(f"   to {what} it: {shlex.join(['wiki', *words, '--wiki', str(folder)])}"))
    return [*lines, *(f"   > {line}" for line in plain_text(page.says[:_MOST_SHOWN]).split("\n"))]


def release(
    pages: Annotated[
        list[str], typer.Argument(help="Pages that are held back: a path, an id, a slug, or the beginning of an id.")
    ],
    why: Annotated[str, typer.Option("--why", help="Why they may be trusted; it is remembered.")],
    wiki: ExistingWiki = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Publish pages that are held back, as they are now.

    They are listed under `released:` in `_config.yaml` with a digest of what they say: no run holds that back again,
    but a page that says something else under the same id is held back. `_audit.log` has a line of it. A page that you
    edited and a script that you wrote are published anyway; once released, `wiki check` no longer reports them.
    """
    from agent_wiki.pipeline.released import release as made_released
    from agent_wiki.pipeline.report import Report
    from agent_wiki.retrieval.terminal import one_line

    folder = wiki_folder(wiki)
    report, released = made_released(folder, pages, why, Report("release", str(folder), is_dry_run=dry_run))
    if not as_json:
        would = "would be " if dry_run else ""
        print_lines(f"{would}released: {one_line(page.id)} ({one_line(page.title)})" for page in released)
    finish(report, as_json=as_json, extra={"released": [page.id for page in released]})
