"""A page that git merged from two branches: is all its prose this program's, or did somebody write into it?

Both branches rendered the page over their own sessions, so that its digest fits neither. What the sessions say is
known from their records: a line that none of them explains, or one of theirs that is missing, is a person's edit.
Where git merged a record itself, what its other version said is not known, and the page is rendered again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from agent_wiki.pages.guideline import guideline_page
from agent_wiki.pages.skill import skill_page
from agent_wiki.pages.state import WikiView
from agent_wiki.pages.summary import summary_pages
from agent_wiki.wiki.generated import CONFLICT_MARKERS
from agent_wiki.wiki.layout import kind_of, page_id
from agent_wiki.wiki.templates import Templates

_DERIVED = ("## Cause", "## Used by", "## Sources", "## Recalled guidelines", "## Lessons")


def is_written_into(
    path: str,
    text: str,
    view: WikiView,
    templates: Templates,
    merged_sessions: Collection[str] = (),
    sides: Sequence[str] = (),
) -> bool:
    """Whether a person's words are in a merged page, or were removed from it. `merged_sessions` have merged records.

    `sides` are what this program had rendered on the two branches, where that is known: of a session that grew on both
    the records hold one version. Pages of which the prose itself is counted from the sessions (clusters, tasks,
    indexes) are nobody's: False.
    """
    if sides and kind_of(path) in ("summary", "guideline", "skill"):
        return _has_other_prose(text, sides)
    found = dict(_renderings(path, view, templates))
    if not found or not found.keys().isdisjoint(merged_sessions):
        return False
    return _has_other_prose(text, found.values())


def _has_other_prose(text: str, rendered: Collection[str]) -> bool:
    """Whether a page says what none of these renderings says, or misses what all say.

    Where git put one page below the other, the lines before the second title are front matter, not prose.
    """
    renderings, prose = [_prose(each) for each in rendered], _prose(text)
    known = {line.rstrip() for each in rendered for line in each.splitlines()}
    return not _left_by_all(renderings, prose) <= prose or not prose <= known


def _left_by_all(renderings: Sequence[set[str]], prose: set[str]) -> set[str]:
    """The lines that no branch's rendering took out of the page: those of every session that may have spoken for it.

    A session spoke for the page on a branch only where the page has each line that is in its words alone.
    """
    spoke = [
        own
        for position, own in enumerate(renderings)
        if own.difference(*renderings[:position], *renderings[position + 1 :]) <= prose
    ]
    return set.intersection(*(spoke or renderings))


def _renderings(path: str, view: WikiView, templates: Templates) -> Iterator[tuple[str, str]]:
    """Of each contributing session, the one that speaks for the page first: its id, and the page in its words."""
    kind, name = kind_of(path), page_id(path)
    if kind == "guideline" and name in view.guidelines:
        rule = view.guidelines[name]
        for said in rule.contributions:
            page = guideline_page(replace(rule, contributions=(said,)), tags=[], used_by="")
            yield said.session.session_id, page.text(templates)
    elif kind == "skill" and (slug := path.split("/")[1]) in view.skills:
        workflow = view.skills[slug]
        for shown in workflow.contributions:
            own = skill_page(slug, replace(workflow, contributions=(shown,)), used_by="")
            yield shown.session.session_id, own.text(templates)
    elif kind == "summary":
        session = next((each for each in view.sessions.values() if path in each.paths and each.page is None), None)
        if session is not None:
            summary = summary_pages(session, tags={}, contributed={}, lessons={}, links={}, made_by="")[path]
            yield session.session_id, summary.text(templates)


def _prose(text: str) -> set[str]:
    """The lines from the title on, but for the sections that are derived from other pages."""
    lines = iter(text.splitlines())
    found: set[str] = set()
    is_prose = False
    for line in lines:
        if line.startswith("# "):
            is_prose = True
        elif line.startswith("## ") and (is_prose or found):
            is_prose = line.strip() not in _DERIVED
        if is_prose and line.strip() and not line.startswith(CONFLICT_MARKERS):
            found.add(line.rstrip())
    return found
