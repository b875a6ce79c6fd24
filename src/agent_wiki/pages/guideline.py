"""The guideline page: one rule, joined over the sessions that state it. What a session contributes, and the page."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal, get_args

from agent_wiki.pages.model import BODY, body_of, front_matter, page_text
from agent_wiki.pages.plain import PlainLine
from agent_wiki.pages.safety.finding import SafetyFinding
from agent_wiki.pages.scope import scope_shown
from agent_wiki.pages.support import Contribution, Counted, Evidence, Joined, evidence_field, sources_section
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import cluster_path
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

EXTRACT_GUIDELINES = "extract-guidelines"

Cause = Literal["checked", "stated", "asserted"]
"""How sure the cause in a lesson is: the turns show it, somebody in the session says it, or neither."""
CAUSES: tuple[Cause, ...] = get_args(Cause)


@dataclass(frozen=True, slots=True)
class GuidelineEntry:
    """One lesson of one session, checked, as its record holds it. `rule_id` is the embedded engine's own rule.

    `cause`: how sure the cause is (`stages/causes`), and in words why; None in records made before causes were graded.
    `scope`: how far it holds, `general`, `tool:<name>` or `repository` (that of its session); None for unknown.
    `event`, `remedy` and `confirmation` are the turns that it rests on, and `reason` is where somebody says why, as far
    as they are named (0: nobody does). `findings`: why it is held back (`pages/judged`).
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    id: str
    title: PlainLine
    rule: PlainLine
    trigger: PlainLine
    rationale: PlainLine
    type: str = "guideline"
    tags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    rule_id: str | None = None
    cause: Cause | None = None
    cause_shown: PlainLine = ""
    event: int | None = None
    remedy: int | None = None
    confirmation: int | None = None
    reason: int | None = None
    scope: str | None = None
    findings: tuple[SafetyFinding, ...] = ()

    @property
    def claim(self) -> str:
        """What its evidence has to bear."""
        return f"{self.title} {self.rule} {self.trigger}"


@dataclass(frozen=True, slots=True)
class GuidelinePage:
    """What a guideline page stores; the fields in the order of its frontmatter."""

    id: str
    type: str
    trigger: str
    agent: str | None
    tags: list[str]
    sources: list[str] | None
    related_summary: str | None
    cluster: str | None
    superseded_by: str | None
    archived: dict[str, str] | None
    support: dict[str, int]
    trust: str
    cause: str | None
    scope: str | None
    verified_at: str | None
    evidence: list[dict[str, Any]]
    made_by: str
    counted: Counted | None = field(metadata=BODY)
    title: str = field(metadata=BODY)
    rule: str = field(metadata=BODY)
    rationale: str = field(metadata=BODY)
    used_by: str = field(metadata=BODY)
    sources_shown: str = field(metadata=BODY)
    cause_shown: str = field(metadata=BODY)

    def text(self, templates: Templates) -> str:
        """The page as text."""
        shown = {"cause": self.cause_shown, "sources": self.sources_shown}
        return page_text(front_matter(self), body_of(self, "guideline.md", templates, **shown))

    def index_row(self) -> dict[str, Any]:
        """What the index says of it besides what it says of every page."""
        row: dict[str, Any] = {"cluster": self.cluster}
        if self.superseded_by:
            row["superseded_by"] = self.superseded_by
        if self.cause:
            row["cause"] = self.cause
        if self.scope:
            row["scope"] = self.scope
        return row

    @property
    def gist(self) -> str:
        return self.rule


def guideline_page(
    joined: Joined[GuidelineEntry],
    *,
    tags: list[str],
    used_by: str,
    cluster: str | None = None,
    archived: tuple[str, str] | None = None,
) -> GuidelinePage:
    """The page of one rule. `tags` are the configured ones; `archived` is reason and id of the page that covers it."""
    shown = joined.shown()
    entry, session, cited = joined.entry, joined.first.session, shown.cited()
    surest = _surest(joined)
    return GuidelinePage(
        id=entry.id,
        type=entry.type,
        trigger=entry.trigger,
        agent=session.record.agent,
        tags=tags,
        sources=shown.sources() or None,
        related_summary=session.path_of_turn(cited[0][1].turn) if cited else session.paths[0],
        cluster=cluster,
        superseded_by=cluster_path(cluster).partition("/")[2] if cluster else None,
        archived={"reason": archived[0], "by": archived[1]} if archived else None,
        support=shown.support(),
        trust=shown.trust(),
        cause=surest.entry.cause,
        scope=scope_shown(joined),
        verified_at=shown.date(),
        evidence=evidence_field(cited),
        made_by=joined.engines(EXTRACT_GUIDELINES),
        counted=joined.counted(),
        title=entry.title,
        rule=entry.rule,
        rationale=entry.rationale,
        used_by=used_by,
        sources_shown=sources_section(cited, "../"),
        cause_shown=_cause_shown(surest, is_only=len(joined.contributions) == 1),
    )


def _surest(joined: Joined[GuidelineEntry]) -> Contribution[GuidelineEntry]:
    """The contribution whose cause is the surest; of equals the one with the fewest turns up to the confirmation."""

    def doubt(each: Contribution[GuidelineEntry]) -> tuple[int, bool, int]:
        event, confirmation = each.entry.event, each.entry.confirmation
        is_unknown = event is None or confirmation is None
        return (*CAUSES, None).index(each.entry.cause), is_unknown, (confirmation or 0) - (event or 0)

    return min(joined.contributions, key=doubt)


def _cause_shown(surest: Contribution[GuidelineEntry], *, is_only: bool) -> str:
    """How sure the cause is, as a sentence; empty where nobody graded it."""
    entry = surest.entry
    if entry.cause is None:
        return ""
    where = "" if is_only else f" (in “{next(iter(surest.session.titles().values()))}”)"
    return f"{entry.cause.capitalize()}: {plain_line(entry.cause_shown, 300)}{where}."
