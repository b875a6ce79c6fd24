"""`wiki why`: from a page to the turns that it is based on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from agent_wiki.commands import completing
from agent_wiki.commands.selecting import paths_of
from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson, ExistingWiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.commands.visible import visible

if TYPE_CHECKING:
    from agent_wiki.retrieval.why import Cited, PageWhy, SessionPlace


def why(
    page: Annotated[
        str,
        typer.Argument(
            help="A page's path, id, slug or title, a session's id, or the beginning of one.",
            autocompletion=completing.pages,
        ),
    ],
    wiki: ExistingWiki = None,
    recordings: Annotated[
        list[str] | None,
        typer.Option("--recordings", help="A file or folder with recordings, also in a bucket; may be repeated."),
    ] = None,
    context: Annotated[int, typer.Option("--context", min=0, help="Characters shown on either side of a quote.")] = 160,
    as_json: AsJson = False,
) -> None:
    """Show the turns that a page is based on, and check each quote against its recording again."""
    from agent_wiki.retrieval.why import why as walk

    explained = walk(wiki_folder(wiki), page, paths_of(recordings or ()), context)
    if as_json:
        print_answer("why", explained.to_json(), is_ascii=True)
    else:
        for walked in explained.pages:
            print_lines(_page_lines(walked, explained.sessions, ""))
    print_lines(explained.problems, err=True)
    raise typer.Exit(explained.exit_code)


def _line(text: str) -> str:
    return visible(" ".join(text.split()))


def _page_lines(page: PageWhy, sessions: dict[str, SessionPlace], indent: str) -> Iterator[str]:
    yield f"{indent}{_line(page.path)}"
    yield f"{indent}{page.kind} {_line(page.id)}: {_line(page.title) or '(no title)'}"
    yield from (f"{indent}  found by the rule {_line(rule)}" for rule in page.rules)
    yield from (f"{indent}  {_line(cause)}" for cause in page.causes)
    yield from (f"{indent}  {_line(note)}" for note in page.notes)
    if page.kind == "summary" and not page.cited:
        yield f"{indent}  {_session_line(sessions.get(page.id))}"
    session_id = None
    for each in page.cited:
        if each.citation.session_id != session_id:
            session_id = each.citation.session_id
            yield f"{indent}  {_session_line(sessions.get(session_id))}"
        yield from (f"{indent}    {line}" for line in _cited_lines(each))
    for below in page.pages:
        yield from _page_lines(below, sessions, f"{indent}  ")


def _session_line(place: SessionPlace | None) -> str:
    if place is None:
        return "no session named"
    summary = ", ".join(place.summaries) if place.summaries else "no summary here"
    if place.recording is not None and not place.problem:
        where = f"recording {place.recording}{' (changed since the page was made)' if place.has_changed else ''}"
    elif place.problem:
        where = f"its recording cannot be read: {place.problem}"
    else:
        where = f"its recording {place.file or ''} is not here; name its folder with --recordings"
    return _line(f"session {place.session_id} ({summary}), {where}")


def _cited_lines(each: Cited) -> Iterator[str]:
    citation, shown = each.citation, each.shown
    speaker = ", ".join(
        part for part in (shown.role, shown.tool, shown.place if shown.place != "content" else "") if part
    )
    whose = shown.found_trust or citation.trust
    about = f"{citation.claim}{f', trust {whose}' if whose else ''}"
    yield _line(f"T{citation.turn}{f' {speaker}' if speaker else ''}: {about} [{shown.state}]")
    if shown.found_trust and citation.trust not in ("", shown.found_trust):
        yield _line(f"the page says trust {citation.trust}, the recording says {shown.found_trust}")
    if citation.quote and shown.state != "verified":
        yield _line(f"the page quotes: {citation.quote}")
    text = f"«{shown.quoted}»" if shown.quoted else ""
    text = f"{'…' * shown.is_cut_before}{shown.before}{text}{shown.after}{'…' * shown.is_cut_after}"
    if text:
        yield from (f"  │ {visible(line)}" for line in text.strip("\n").split("\n"))
