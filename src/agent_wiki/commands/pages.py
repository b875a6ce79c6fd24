"""`wiki init` and `wiki dump`: the wiki's own files, and its pages as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_wiki.commands.show import finish, print_json, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UnreadablePage, UsageError


def init(
    wiki: Annotated[Path, typer.Option("--wiki", help="The wiki's folder.")] = Path("wiki"),
    eject: Annotated[
        bool, typer.Option("--eject", help="Copy templates and prompts into the wiki, to change them there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create an empty wiki, or (with --eject) copy its templates and prompts to change them."""
    from agent_wiki.engine import no_progress
    from agent_wiki.pipeline.ingest import Options, run
    from agent_wiki.pipeline.report import Report
    from agent_wiki.wiki.store import WikiFolder
    from agent_wiki.wiki.templates import PLACES, shipped_folder, shipped_names

    report = run([], Options(wiki, ("catalog",), new_pages="unlisted"), Report("init", str(wiki)), no_progress)
    if eject:
        folder = WikiFolder(wiki)
        for kind in PLACES:
            for name in shipped_names(kind):
                if folder.read_text(f"{kind}/{name}") is None:
                    folder.write_text(f"{kind}/{name}", (shipped_folder(kind) / name).read_text(encoding="utf-8"))
        report.written += folder.written
    if as_json:
        finish(report, as_json=True)
    print_lines(
        [f"{wiki}/{path}" for path in sorted(report.written)] or [f"{wiki} is a wiki already; nothing to write"]
    )


def dump(
    what: Annotated[str, typer.Argument(help="guidelines or summaries")],
    archived: Annotated[bool, typer.Option("--archived", help="Include archived pages.")] = False,
    wiki: ExistingWiki = None,
    as_json: Annotated[bool, typer.Option("--json", help="The output is always JSON.")] = True,  # noqa: ARG001 - known, as everywhere
) -> None:
    """Print the wiki's guidelines or summaries as JSON."""
    from agent_wiki.retrieval.rows import index_fields
    from agent_wiki.wiki.layout import ARCHIVE, INDEX, kind_of
    from agent_wiki.wiki.missing import require_folder
    from agent_wiki.wiki.store import WikiFolder

    kinds = {"guidelines": "guideline", "summaries": "summary"}
    if what not in kinds:
        raise UsageError(f"dump: {what!r} is neither guidelines nor summaries")
    folder = wiki_folder(wiki)
    require_folder(folder)
    problems: list[UnreadablePage] = []
    store = WikiFolder(folder)
    index = store.text_or_empty(INDEX).encode()
    rows = {row["link"]: row for row in index_fields(index)}  # which count all sessions, where a page shows some
    entries = []
    for path in store.page_paths():
        if kind_of(path) == kinds[what] and (archived or not path.startswith(f"{ARCHIVE}/")):
            try:
                page = store.read_page(path)[1]
            except UnreadablePage as error:
                problems.append(error)
                continue
            exact = {name: rows[path][name] for name in ("support", "verified_at") if name in rows.get(path, ())}
            entries.append({"link": path, "title": page.title, **page.fields, **exact, "body": page.body})
    print_json(entries)
    print_lines((f"wiki: {problem}" for problem in problems), err=True)
    raise typer.Exit(1 if problems else 0)
