"""extract-guidelines: one trajectory → at most five guideline pages, often none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agent_wiki.engine import Answer, Engine, Problem
from agent_wiki.recall.recalled_text import independent, recalled_text
from agent_wiki.stages.summarize import SummaryAnswer
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import is_verbatim, trust_of
from agent_wiki.wiki.join import Contribution, Joined
from agent_wiki.wiki.layout import content_id, slug
from agent_wiki.wiki.page import Page, split_body
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

STAGE = "extract-guidelines"
MOST_PER_SESSION = 5

GuidelineType = Literal["guideline", "workflow", "script", "command-template"]


class CitedQuote(Answer):
    """Evidence: a turn and a verbatim quote from its content, thinking or call arguments."""

    turn: int = Field(ge=1, description="Position of the message in the trajectory, counted from 1.")
    quote: str = Field(min_length=1, max_length=200, description="Copied character for character from that turn.")


class GuidelineAnswer(Answer):
    """One lesson, as a proactive recommendation."""

    type: GuidelineType = Field(default="guideline", description="What the rule mainly hands on.")
    title: str = Field(description="Imperative, 3 to 7 words, no file or id of this session.")
    rule: str = Field(description='The recommendation, standing alone: "use X", not "don\'t use Y".')
    rationale: str = Field(description="Why, from what happened: what failed, what worked.")
    trigger: str = Field(
        description="The broad situation, recognisable before the event: an error text, a kind of task."
    )
    tags: list[str] = Field(min_length=1, max_length=6, description="Short, stable, lower case, dashes.")
    evidence: list[CitedQuote] = Field(
        min_length=1, max_length=4, description="The event that cost something, and the turning point."
    )
    rule_id: SkipJsonSchema[str | None] = None  # what in an engine with rules of its own found it; a model has none


class GuidelinesAnswer(Answer):
    """All lessons of one trajectory. An empty list is a good answer."""

    guidelines: list[GuidelineAnswer] = Field(
        default_factory=list, max_length=MOST_PER_SESSION, description="The most valuable first; often empty."
    )


@dataclass(frozen=True, slots=True)
class GuidelinesQuestion:
    """Asks for the lessons of one trajectory, its summary known."""

    trajectory: Trajectory
    summary: SummaryAnswer
    stage: str = STAGE
    answer_type: type[GuidelinesAnswer] = GuidelinesAnswer

    def fields(self) -> dict[str, Any]:
        return {"trajectory": self.trajectory, "summary": self.summary}

    def problems(self, answer: GuidelinesAnswer) -> list[Problem]:
        """Quotes that are not verbatim, and lessons without evidence or words."""
        return check(answer, self.trajectory)[1]


def check(answer: GuidelinesAnswer, trajectory: Trajectory) -> tuple[list[GuidelineAnswer], list[Problem]]:
    """Drop quotes that are not verbatim and lessons that are left without evidence or without words.

    Returns the lessons that stand, one an id, and what was dropped.
    """
    kept: dict[str, GuidelineAnswer] = {}
    dropped: list[Problem] = []
    for guideline in answer.guidelines:
        evidence = [cited for cited in guideline.evidence if is_verbatim(trajectory, cited.turn, cited.quote)]
        dropped.extend(
            Problem(guideline.title, f"not verbatim in turn {cited.turn}: {cited.quote[:60]!r}", is_on_citation=True)
            for cited in guideline.evidence
            if cited not in evidence
        )
        reason = _unfit(guideline)
        if reason or not evidence:
            dropped.append(Problem(guideline.title, reason or "no evidence that stands"))
            continue
        kept.setdefault(content_id(guideline.rule), guideline.model_copy(update={"evidence": evidence}))
    return list(kept.values())[:MOST_PER_SESSION], dropped


def without_recalled(
    guidelines: list[GuidelineAnswer], trajectory: Trajectory
) -> tuple[list[GuidelineAnswer], list[Problem]]:
    """Lessons that are the session's own, and those that it got from the wiki.

    Not a part of `check`: such a lesson is true, so no engine is asked to mend its answer.
    """
    recalled = recalled_text(trajectory) if guidelines else None
    if recalled is None or not recalled.shown:
        return guidelines, []
    kept: list[GuidelineAnswer] = []
    dropped: list[Problem] = []
    for guideline in guidelines:
        evidence = [cited for cited in guideline.evidence if not recalled.is_recalled(cited.turn, cited.quote)]
        shown_at = recalled.rule_shown_at(guideline.title, guideline.rule)
        if not evidence:
            dropped.append(Problem(guideline.title, "its quotes are text of the wiki"))
        elif not independent((cited.turn for cited in guideline.evidence), shown_at):
            dropped.append(Problem(guideline.title, f"the session read this rule in the wiki (turn {shown_at})"))
        else:
            kept.append(guideline.model_copy(update={"evidence": evidence}))
    return kept, dropped


def _unfit(guideline: GuidelineAnswer) -> str | None:
    """Why the words of a lesson cannot stand on a page."""
    words = len(guideline.title.split())
    if not 3 <= words <= 7:
        return f"title has {words} words, not 3 to 7"
    for name in ("rule", "rationale", "trigger"):
        if not plain_line(getattr(guideline, name), 600):
            return f"{name} is empty"
    return None


def contribution(guideline: GuidelineAnswer, trajectory: Trajectory) -> tuple[str, Contribution]:
    """One checked lesson as `(guideline id, what this session contributes to that page)`."""
    wording = {
        "type": guideline.type,
        "title": plain_line(guideline.title, 100),
        "rule": plain_line(guideline.rule, 600),
        "trigger": plain_line(guideline.trigger, 300),
        "rationale": plain_line(guideline.rationale, 600),
        "tags": sorted({slug(tag) for tag in guideline.tags}),
    }
    evidence = tuple(
        cited_entry(trajectory, cited) for cited in sorted(guideline.evidence, key=lambda each: (each.turn, each.quote))
    )
    return content_id(guideline.rule), Contribution(trajectory.session_id, wording, evidence)


def cited_entry(trajectory: Trajectory, cited: CitedQuote) -> dict[str, Any]:
    """A checked quote as pages store it; `trust` says whose words it is."""
    return {
        "session_id": trajectory.session_id,
        "turn": cited.turn,
        "quote": cited.quote,
        "trust": trust_of(trajectory, cited.turn),
    }


def wording_of(page: Page) -> dict[str, Any]:
    """The wording a guideline page shows, as its speaker contributed it.

    `wording` in the frontmatter holds what the body of an owner's template does not show in its usual place.
    """
    unshown = page.fields.get("wording")
    return {
        "type": page.fields.get("type", "guideline"),
        "title": page.title,
        "rule": page.lead,
        "trigger": page.fields.get("trigger", ""),
        "rationale": (page.section("Rationale") or "").strip(),
        "tags": page.fields.get("stage_tags", page.fields.get("tags", [])),
    } | (unshown if isinstance(unshown, dict) else {})


def to_page(guideline_id: str, joined: Joined, templates: Templates) -> Page:
    """The page of one rule. What depends on other pages (support, sources, used by) is left to catalog."""
    wording = joined.speaker.wording
    fields: dict[str, Any] = {
        "id": guideline_id,
        "type": wording["type"],
        "trigger": wording["trigger"],
        "tags": wording["tags"],
        "evidence": joined.evidence,
        "variants": joined.variants or None,
        "made_by": {"stage": STAGE},
    }
    body = templates.render(
        "guideline.md", title=wording["title"], rule=wording["rule"], rationale=wording["rationale"]
    )
    page = Page({name: value for name, value in fields.items() if value is not None}, split_body(body))
    shown = wording_of(page)
    unshown = {name: wording[name] for name in ("title", "rule", "rationale") if shown[name] != wording[name]}
    return page.with_fields({"wording": unshown}) if unshown else page


def extract_guidelines(
    trajectory: Trajectory, summary: SummaryAnswer, engine: Engine
) -> tuple[dict[str, Contribution], list[Problem]]:
    """One trajectory → its contributions by guideline id, and the claims that were dropped."""
    kept, dropped = check(engine.answer(GuidelinesQuestion(trajectory, summary)), trajectory)
    kept, recalled = without_recalled(kept, trajectory)
    return dict(contribution(each, trajectory) for each in kept), dropped + recalled
