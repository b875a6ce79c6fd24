"""A page's neighbourhood as a drawing: what it is connected with, and what that is connected with in turn.

Laid out when the site is made, so that it needs no script: the page in the middle, its neighbours on a ring around it,
theirs on a second one. A drawing of a whole wiki would say nothing; this one has at most `MOST_NODES` and says how
many it leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from agent_wiki.pages.sessions import Session
from agent_wiki.site.addresses import href, session_file
from agent_wiki.site.contents import SiteContents, SiteLesson, session_title
from agent_wiki.trajectory.lazily import dataclass

MOST_NODES = 300
_MOST_NEAR = 24
_MOST_FAR = 60
_NEAR, _FAR = 150.0, 250.0  # radius of the rings
_MOST_LABEL = 26
_ALONE = 1


@dataclass(frozen=True, slots=True)
class Node:
    """A page in the drawing; `label` is cut, `title` is not. `ring` is 0 for the page itself."""

    x: float
    y: float
    ring: int
    kind: str
    title: str
    label: str
    anchor: str
    href: str


@dataclass(frozen=True, slots=True)
class Line:
    """A connection of two nodes."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The drawing. `left_out`: how many neighbours are not in it."""

    nodes: list[Node]
    lines: list[Line]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Page:
    name: str
    kind: str
    title: str
    href: str


def neighbourhood(lesson: SiteLesson, contents: SiteContents) -> Neighbourhood:
    """The neighbourhood of a lesson."""
    centre = _of_lesson(lesson)
    near = list(_around(lesson, contents))
    shown = near[:_MOST_NEAR]
    nodes = [_node(centre, 0.0, 0.0, 0)]
    lines: list[Line] = []
    seen = {centre.name, *(each.name for each in near)}
    far: list[tuple[_Page, Node]] = []
    left_out = len(near) - len(shown)
    for position, page in enumerate(shown):
        node = _placed(page, position, len(shown), _NEAR, 1)
        nodes.append(node)
        lines.append(Line(0.0, 0.0, node.x, node.y))
        for beyond in _beyond(page, contents):
            if beyond.name not in seen:
                seen.add(beyond.name)
                far.append((beyond, node))
    for position, (page, by) in enumerate(far[:_MOST_FAR]):
        node = _placed(page, position, min(len(far), _MOST_FAR), _FAR, 2)
        nodes.append(node)
        lines.append(Line(by.x, by.y, node.x, node.y))
    return Neighbourhood(nodes, lines, left_out + max(len(far) - _MOST_FAR, 0))


def _around(lesson: SiteLesson, contents: SiteContents) -> Iterator[_Page]:
    """The pages that a lesson is connected with: what covers it, what it covers, and its sessions."""
    catalog, slug = contents.catalog, lesson.id.partition(":")[2]
    if lesson.kind == "cluster":
        members = contents.view.state.config.clusters.get(slug, {}).get("members") or ()
        yield from (_of_lesson(contents.by_id[str(each)]) for each in members if str(each) in contents.by_id)
        return
    if lesson.kind == "task":
        yield from (_of_session(contents.sessions[each]) for each in catalog.task_sessions.get(slug, ()))
        return
    above = contents.by_id.get(f"cluster:{catalog.cluster_of.get(lesson.id)}")
    if above is not None:
        yield _of_lesson(above)
    joined = contents.joined(lesson)
    yield from (_of_session(each) for each in (joined.sessions if joined is not None else ()))
    users = dict.fromkeys(each.session_id for each in catalog.recalls.get(lesson.id, ()))
    known = set(joined.session_ids) if joined is not None else set()
    yield from (
        _of_session(contents.sessions[each]) for each in users if each in contents.sessions and each not in known
    )


def _beyond(page: _Page, contents: SiteContents) -> Iterator[_Page]:
    """What a neighbour is connected with: a session with what it taught and its task, a lesson with its own."""
    if page.kind == "session":
        yield from (_of_lesson(each) for each in contents.taught.get(page.name, ()))
        task = contents.by_id.get(f"task:{contents.catalog.task_of.get(page.name)}")
        yield from [_of_lesson(task)] if task is not None else []
    elif page.name in contents.by_id:
        yield from _around(contents.by_id[page.name], contents)


def _of_lesson(lesson: SiteLesson) -> _Page:
    return _Page(lesson.id, lesson.kind, lesson.title, lesson.href)


def _of_session(session: Session) -> _Page:
    return _Page(session.session_id, "session", session_title(session), href(session_file(session.session_id)))


def _placed(page: _Page, position: int, count: int, radius: float, ring: int) -> Node:
    angle = 2 * math.pi * (position + (0.5 if ring > _ALONE else 0.0)) / max(count, 1) - math.pi / 2
    return _node(page, radius * math.cos(angle) * 1.55, radius * math.sin(angle), ring)


def _node(page: _Page, x: float, y: float, ring: int) -> Node:
    title = page.title.replace("`", "")
    label = title if len(title) <= _MOST_LABEL else f"{title[: _MOST_LABEL - 1].rstrip()}…"
    anchor = "middle" if abs(x) < 1 else "start" if x > 0 else "end"
    return Node(round(x, 1), round(y, 1), ring, page.kind, title, label, anchor, page.href)


def is_worth_drawing(drawing: Neighbourhood, least: int = 2) -> bool:
    """Whether a drawing says more than the page does."""
    return len(drawing.nodes) > least


def kinds_in(nodes: Sequence[Node]) -> list[str]:
    """The kinds of pages in a drawing, for its legend."""
    return sorted({node.kind for node in nodes})
