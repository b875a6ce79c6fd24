"""The pages in `_quarantine/`: what is held back, shown as inert text with the reason, for a person who decides."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from agent_wiki.pages.catalog import Catalog
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.judged import texts_of_entry
from agent_wiki.pages.model import BODY, front_matter, page_text
from agent_wiki.pages.safety.finding import RULES, visible
from agent_wiki.pages.safety.judge import findings_in_script
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.skill import SkillEntry, fence_of
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.subtasks import withheld_subtasks
from agent_wiki.pages.summary_names import summary_name
from agent_wiki.pages.withheld import Withheld, WithheldLesson, released_texts, said_on, why_of, why_of_parts
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Release
from agent_wiki.wiki.layout import guideline_path, is_quarantined, kind_of, page_id, quarantined, subtask_path
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import text_or_none

_MOST_TITLE = 120
_MOST_SESSIONS = 10
_MOST_SHOWN = 20_000  # characters of what a page says


@dataclass(frozen=True, slots=True)
class QuarantinedPage:
    """A page that is held back. `path` is where it lies now; `texts` are the digests that a release lets through."""

    id: str
    type: str
    kind: str
    title: str
    findings: list[dict[str, str]]
    texts: list[str]
    sessions: list[str]
    path: str = field(metadata=BODY)
    says: str = field(metadata=BODY)

    @property
    def release_words(self) -> tuple[str, ...]:
        """The words of the command that publishes it, with a place for the reason."""
        return "release", plain_line(visible(self.id), _MOST_TITLE), "--why", "REASON"

    @property
    def removal_words(self) -> tuple[str, ...]:
        """The same of the command that removes it for good. A summary goes with its session."""
        if self.kind == "summary" and self.sessions:
            return "forget", plain_line(visible(self.sessions[0]), _MOST_TITLE)
        return "reject", plain_line(visible(self.id), _MOST_TITLE), "--why", "REASON"

    def text(self, templates: Templates) -> str:
        """The page as text: what it says is in a fence, and nothing of it is hidden."""
        shown = visible(self.says[:_MOST_SHOWN])
        why = [{"excerpt": "", **each, "says": RULES.get(each["rule"], "")} for each in self.findings]
        excerpts = [each.get("excerpt", "") for each in self.findings]
        fence = fence_of("\n".join([shown, *excerpts]))
        words = {"release": self.release_words, "removal": self.removal_words}
        commands = {name: shlex.join(["wiki", *each]) for name, each in words.items()}
        body = templates.render("quarantined.md", title=self.title, why=why, says=shown, fence=fence, **commands)
        return page_text(front_matter(self), body)


class HeldBack(NamedTuple):
    """What is held back: its id, the path of its page, the rules that it meets, and what makes the page."""

    id: str
    path: str
    rules: list[str]
    page: Callable[[], QuarantinedPage]


def held_lessons(view: WikiView) -> Iterator[HeldBack]:
    """The guidelines and skills that are held back. What is answered over several pages has no part in them."""
    for name, lesson in view.withheld.items():
        path, rules = _path_of_lesson(name, lesson), [each.rule for each in lesson.why.findings]
        yield HeldBack(name, path, rules, partial(_lesson_page, name, lesson, path))


def held_besides(catalog: Catalog) -> Iterator[HeldBack]:
    """Everything else that a wiki holds back, pages of others included, which stay where they are."""
    for page in _pages_besides(catalog):
        yield HeldBack(page.id, page.path, [each["rule"] for each in page.findings], partial(_as_made, page))


def _as_made(page: QuarantinedPage) -> QuarantinedPage:
    return page


def withheld_in(catalog: Catalog) -> list[QuarantinedPage]:
    """The pages of everything that a wiki holds back, by path."""
    lessons = (each.page() for each in held_lessons(catalog.view))
    return sorted(chain(lessons, _pages_besides(catalog)), key=lambda page: page.path)


def _pages_besides(catalog: Catalog) -> Iterator[QuarantinedPage]:
    view = catalog.view
    for session in view.sessions.values():
        yield from _summary_pages(session, catalog)
    for name, page in (*view.withheld_pages.items(), *catalog.withheld_further.items()):
        path = page.path if page.is_foreign else quarantined(page.path)
        title = page.text.strip().partition("\n")[0].removeprefix("# ")
        yield _page(name, kind_of(page.path) or "page", path, title, page.why, page.text)
    for name, answer, why in withheld_subtasks(catalog):
        said = json.dumps(answer, ensure_ascii=False, indent=1)
        sessions = [str(answer["parent_session_id"])]
        yield _page(f"subtask:{name}", "subtask", quarantined(subtask_path(name)), answer["title"], why, said, sessions)


def unreleased_edits(edited: Mapping[str, Page], released: Mapping[str, Release]) -> Iterator[QuarantinedPage]:
    """Of the pages that a person edited those that say what would be held back, until released; they stay in place."""
    for path, page in edited.items():
        part, name = said_on(path, page), _edited_name(path, page)
        if (why := why_of_parts([part], released_texts(name, released))) is not None:
            yield _page(name, kind_of(path) or "page", path, page.title, why, part[0])


def _edited_name(path: str, page: Page) -> str:
    if kind_of(path) != "summary":
        return page_id(path)
    return summary_name(path, text_or_none(page.fields.get("session_id")) or "")


def unreleased_scripts(scripts: Mapping[str, str], view: WikiView) -> Iterator[QuarantinedPage]:
    """The same of scripts, texts by path, that no record has; their skill's id is theirs."""
    recorded = {script.text for joined in view.skills.values() for script in joined.entry.scripts}
    for path, text in scripts.items():
        if text not in recorded:
            _, slug, _, file = path.split("/", 3)
            name = f"skill:{slug}"
            texts = released_texts(name, view.state.config.released)
            if (why := why_of_parts([(text, findings_in_script(file, text))], texts)) is not None:
                yield _page(name, "script", path, file, why, text)


def _path_of_lesson(name: str, lesson: WithheldLesson) -> str:
    entry: GuidelineEntry | SkillEntry = lesson.joined.entry
    if isinstance(entry, SkillEntry):
        return quarantined(f"skills/{entry.name}.md")  # under another name than that by which agents find skills
    return quarantined(guideline_path(entry.title, name))


def _lesson_page(name: str, lesson: WithheldLesson, path: str) -> QuarantinedPage:
    entry: GuidelineEntry | SkillEntry = lesson.joined.entry
    kind = "skill" if isinstance(entry, SkillEntry) else "guideline"
    says, ids = "\n\n".join(texts_of_entry(entry)), list(lesson.joined.session_ids)
    return _page(name, kind, path, entry.title, lesson.why, says, ids)


def _summary_pages(session: Session, catalog: Catalog) -> Iterator[QuarantinedPage]:
    released = catalog.view.state.config.released
    for path, arc in zip(session.paths, session.arcs, strict=True):
        if is_quarantined(path):
            name = summary_name(path, session.session_id)
            why = why_of(arc, released_texts(name, released))
            assert why is not None
            says = "\n\n".join(texts_of_entry(arc))
            yield _page(name, "summary", path, arc.title or arc.goal, why, says, [session.session_id])


def _page(
    name: str, kind: str, path: str, title: str, why: Withheld, says: str, sessions: list[str] | None = None
) -> QuarantinedPage:
    return QuarantinedPage(
        id=name,
        type="quarantined",
        kind=kind,
        title=plain_line(visible(str(title)), _MOST_TITLE),
        findings=[{"rule": each.rule, **({"excerpt": each.excerpt} if each.excerpt else {})} for each in why.findings],
        texts=list(why.texts),
        sessions=(sessions or [])[:_MOST_SESSIONS],
        path=path,
        says=says,
    )


def as_values(page: QuarantinedPage) -> Mapping[str, Any]:
    """A page as reviews show it."""
    return {
        "link": page.path,
        "reason": "quarantine",
        "id": page.id,
        "kind": page.kind,
        "title": page.title,
        "findings": [{**each, "says": RULES.get(each["rule"], "")} for each in page.findings],
        "sessions": page.sessions,
        "text": visible(page.says[:_MOST_SHOWN]),
    }
