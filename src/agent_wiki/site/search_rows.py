"""What the search finds: one row a lesson and a session, in files that a page opened from disk can load.

A browser that shows a page from disk lets it load scripts, but fetch nothing; so each file of rows is a script that
calls `wikiRows`. Ten thousand rows a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agent_wiki.pages.sessions import Session
from agent_wiki.site.addresses import href, session_file
from agent_wiki.site.contents import SiteContents, SiteLesson, session_title
from agent_wiki.wiki.layout import is_quarantined
from agent_wiki.wiki.text import plain_line

MOST_ROWS = 10_000
_MOST_SUMMARY = 200
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Row = list[Any]
"""Address, kind, title, trigger, summary, tags, scope, repositories, trust, cause, date, outcome."""


def rows_of(contents: SiteContents) -> list[Row]:
    """A row for each lesson that is not archived, then for each session."""
    lessons = [_of_lesson(each) for each in contents.lessons.values() if not each.is_archived]
    return [*lessons, *(_of_session(each, contents) for each in contents.sessions.values())]


def row_files(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """Name and text of each file of rows."""
    for number, start in enumerate(range(0, max(len(rows), 1), MOST_ROWS), start=1):
        lines = ",\n".join(map(_ENCODE, rows[start : start + MOST_ROWS]))
        yield f"search/rows-{number}.js", f"wikiRows([\n{lines}\n]);\n".replace("</", "<\\/")


def _of_lesson(lesson: SiteLesson) -> Row:
    return [
        lesson.href, lesson.kind, lesson.title, lesson.trigger, lesson.gist[:_MOST_SUMMARY], list(lesson.tags),
        lesson.scope or "", list(lesson.repositories), lesson.trust or "", lesson.cause or "", lesson.date or "", "",
    ]  # fmt: skip


def _of_session(session: Session, contents: SiteContents) -> Row:
    record, arc = session.record, session.arcs[0]
    repositories = [plain_line(record.repository, 60)] if record.repository else []
    task = contents.catalog.task_of.get(session.session_id)
    is_held = is_quarantined(session.paths[0])
    title, words = session_title(session), "" if is_held else plain_line(arc.narrative or arc.goal, _MOST_SUMMARY)
    tags = [each for each in (task, record.agent, record.model, record.condition) if each]
    return [
        href(session_file(session.session_id)), "session", title, "", words, [plain_line(tag, 40) for tag in tags],
        "", repositories, "", "", record.date or "", session.outcome,
    ]  # fmt: skip
