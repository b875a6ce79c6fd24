"""The pages of lessons and sessions, each made only if its content differs from what lies there."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic_core import to_json

from agent_wiki.engine import Progress
from agent_wiki.site import addresses
from agent_wiki.site.contents import SiteContents, SiteLesson
from agent_wiki.site.lesson_page import lesson_shown
from agent_wiki.site.markdown import html_of
from agent_wiki.site.output import Made, SiteFolder
from agent_wiki.site.recorded import Recorded
from agent_wiki.site.session_page import SessionShown, session_shown
from agent_wiki.site.templates import SiteTemplates
from agent_wiki.wiki.two_processes import has_two_processors, parts_of, worked_by_two

_FEWEST = 2_000  # new pages: fewer are written sooner than a second process begins

_Job = Callable[[], None]


class PageWriter:
    """Makes pages from templates, those alone whose content differs from what lies there."""

    def __init__(self, folder: SiteFolder, templates: SiteTemplates, title: str) -> None:
        self.folder, self._templates, self._title = folder, templates, title

    def inputs(self, *shown: object) -> str:
        """The digest of all that a page is made from."""
        content = to_json([self._title, *shown], fallback=str)
        return hashlib.blake2b(content + self._templates.digest.encode(), digest_size=12).hexdigest()

    def page(self, file: str, template: str, section: str, shown: object, **more: Any) -> None:
        """Make one page of what it shows."""
        inputs = self.inputs(template, shown, more)
        if not self.folder.is_current(file, inputs):
            self.render(file, template, section, shown, inputs, more)

    def render(
        self, file: str, template: str, section: str, shown: object, inputs: str, more: Mapping[str, Any]
    ) -> None:
        """Make one page, whatever lies there."""
        up = addresses.way_up(file)
        links: Mapping[str, str] = getattr(shown, "links", {})

        def resolve(address: str) -> str | None:
            return up + links[address] if address in links else None

        def markdown(text: str, turns_at: str | None = None, label: str = "Page") -> Any:
            return html_of(text, resolve, up + turns_at if turns_at else turns_at, label)

        named = {"site_title": self._title, "up": up, "section": section, "shown": shown, "markdown": markdown}
        self.folder.write(file, self._templates.render(template, {**named, **more}), inputs)

    def text(self, file: str, text: str) -> None:
        """Make one file of exactly this text."""
        inputs = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
        if not self.folder.is_current(file, inputs):
            self.folder.write(file, text, inputs)


def write_pages(writer: PageWriter, contents: SiteContents, recorded: Recorded, progress: Progress) -> int:
    """The pages of all lessons and sessions: first of sessions whose recording is here, by recording, then the others.

    Out: how many have a recording.
    """
    made: set[str] = set()
    for each in recorded.sessions(partial(_is_current, writer, contents)):
        made.add(each.session_id)
        if each.trajectory is not None:
            session = contents.sessions[each.session_id]
            shown = session_shown(session, contents, each.trajectory)
            digest = _inputs(writer, contents, session_shown(session, contents, None), each.sha256)
            writer.render(addresses.session_file(each.session_id), "session", "sessions", shown, digest, {})
    jobs: list[_Job] = [partial(_write_lesson, writer, contents, each) for each in contents.lessons.values()]
    jobs += [partial(_write_bare, writer, contents, name) for name in contents.sessions if name not in made]
    _write_all(writer.folder, jobs, progress)
    return len(made)


def _write_lesson(writer: PageWriter, contents: SiteContents, lesson: SiteLesson) -> None:
    writer.page(lesson.file, "lesson", f"{lesson.kind}s", lesson_shown(lesson, contents))


def _write_bare(writer: PageWriter, contents: SiteContents, name: str) -> None:
    """The page of a session without its recording."""
    file, shown = addresses.session_file(name), session_shown(contents.sessions[name], contents, None)
    digest = _inputs(writer, contents, shown, "")
    if not writer.folder.is_current(file, digest):
        writer.render(file, "session", "sessions", shown, digest, {})


def _inputs(writer: PageWriter, contents: SiteContents, shown: SessionShown, source: str) -> str:
    return writer.inputs("session", shown, source, contents.view.state.config.keeps_personal_data)


def _is_current(writer: PageWriter, contents: SiteContents, name: str, sha256: str) -> bool:
    shown = session_shown(contents.sessions[name], contents, None)
    return writer.folder.is_current(addresses.session_file(name), _inputs(writer, contents, shown, sha256))


def _write_all(folder: SiteFolder, jobs: Sequence[_Job], progress: Progress) -> None:
    """Write many pages, in two processes where most do not lie there yet."""
    parts = parts_of(len(jobs))
    left = set(range(len(parts)))

    def write(number: int) -> Made:
        count = len(folder.made)
        for at in parts[number]:
            progress("pages", at + 1, len(jobs))
            jobs[at]()
        return folder.made_since(count)

    def here(number: int) -> list[None]:
        write(number)
        return []

    def taken_over(made: Made) -> list[None]:
        folder.take_over(made)
        return []

    if len(jobs) - len(folder.listed) >= _FEWEST and has_two_processors():
        deque(worked_by_two(left, here, write, taken_over), 0)
        folder.note_listed()
    for number in sorted(left):
        write(number)
