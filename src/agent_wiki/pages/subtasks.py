"""The pages of sessions worth one of their own, as the answers over several pages describe them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agent_wiki.pages.cross_references import CrossReferences
from agent_wiki.pages.judged import part_of_subtask
from agent_wiki.pages.rejected import is_rejected_subtask
from agent_wiki.pages.sessions import NotedTurn, Session
from agent_wiki.pages.settled import SUBTASK
from agent_wiki.pages.task import SubtaskPage
from agent_wiki.pages.withheld import Withheld, why_of_parts
from agent_wiki.wiki.layout import slug
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import texts_of


def subtask_pages(wiki: CrossReferences) -> list[SubtaskPage]:
    """A page for each answer that describes one session, in the order of the sessions."""
    return [
        _subtask_page(each.slug, each.session, each.answer, each.made_by, wiki)
        for each in _subtasks(wiki)
        if each.why is None
    ]


def withheld_subtasks(wiki: CrossReferences) -> Iterator[tuple[str, Mapping[str, Any], Withheld]]:
    """The answers that are held back: slug, answer, and why."""
    return ((each.slug, each.answer, each.why) for each in _subtasks(wiki) if each.why is not None)


class _Subtask(NamedTuple):
    slug: str
    session: Session
    answer: Mapping[str, Any]
    made_by: str
    why: Withheld | None


def _subtasks(wiki: CrossReferences) -> list[_Subtask]:
    state = wiki.view.state
    found: list[tuple[Session, dict[str, Any], str]] = []
    for record in state.corpus.values():
        for answer in record.answer["subtasks"] if record.kind == SUBTASK else ():
            session = wiki.view.sessions.get(str(answer["parent_session_id"]))
            if session is not None:
                found.append((session, answer, record.made_by.short))
    found.sort(key=lambda each: each[0].session_id)
    subtasks: dict[str, _Subtask] = {}
    for session, answer, made_by in found:
        name = str(answer["slug"])
        if name in subtasks:
            name = slug(f"{name}-{session.session_id}")
        turns = [each["turn"] for each in answer["key_steps"]]
        if is_rejected_subtask(name, session.session_id, turns, state.config.rejected, state.corpus):
            continue
        if f"{SUBTASK}:{name}" in wiki.view.waiting:
            continue
        release = state.config.released.get(f"{SUBTASK}:{name}")
        why = why_of_parts([part_of_subtask(answer)], release.texts if release else ())
        subtasks[name] = _Subtask(name, session, answer, made_by, why)
    return list(subtasks.values())


def _subtask_page(
    name: str, session: Session, answer: Mapping[str, Any], made_by: str, wiki: CrossReferences
) -> SubtaskPage:
    family = wiki.task_of.get(session.session_id)
    entry = wiki.view.state.config.tasks.get(family, {}) if family else {}
    condition = session.record.condition
    tags = {*texts_of(entry.get("tags")), *([slug(condition)] if condition and family else ())}
    return SubtaskPage(
        id=f"subtask:{name}",
        type="subtask",
        slug=name,
        title=plain_line(str(answer["title"]), 120),
        tags=sorted(tags),
        parent_session_id=session.session_id,
        parent_summary=session.paths[0],
        parent_title=session.titles()[session.paths[0]],
        verified_at=session.record.date,
        made_by=made_by,
        narrative=plain_line(str(answer["narrative"]), 2_000),
        key_steps=tuple(NotedTurn(each["turn"], plain_line(str(each["text"]), 300)) for each in answer["key_steps"]),
    )
