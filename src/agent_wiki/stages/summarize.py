"""summarize: one trajectory → one summary page (or one per arc)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from pydantic import Field

from agent_wiki.compare.facts import SessionFacts, session_facts
from agent_wiki.engine import Answer, Coverage, Engine, Problem
from agent_wiki.errors import AnswerRejected
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.shell.measures import measures
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.evidence import is_verbatim
from agent_wiki.trajectory.lineage import lineage
from agent_wiki.wiki.layout import page_id, page_title, slug, summary_path
from agent_wiki.wiki.page import Page, split_body
from agent_wiki.wiki.sessions import turns_of_arc, whole_number
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

STAGE = "summarize"

# Of a summary page, in the order in which they stand; those of catalog included.
FIELDS = (
    "type", "session_id", "agent", "model", "goal", "outcome", "outcome_evidence", "arc", "arc_turns",
    "sibling_summaries", "task_id", "trial", "condition", "reward", "resolved", "parent_session_id", "forked_from",
    "tags", "duration_seconds", "turns", "tool_calls", "errors", "dead_end_paths", "wiki_consulted", "tools_used",
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "total_cost_usd",
    "recalled_guidelines", "contributed_guidelines", "contributed_skills", "sources", "source_format",
    "source_sha256", "coverage", "request_terms", "writes", "lineage", "mined", "verified_at", "made_by",
)  # fmt: skip

Outcome = Literal["success", "partial", "failure", "unknown"]
RecallStatus = Literal["followed", "ignored", "contradicted", "harmful"]


class TurnNote(Answer):
    """One turn and what happened in it."""

    turn: int = Field(ge=1, description="Position of the message in the trajectory, counted from 1.")
    text: str = Field(min_length=1, description="What happened there, one line, naming the tool or file.")


class RecalledPage(Answer):
    """A page of a wiki that the session read, and what came of it."""

    page: str = Field(description="The page as the session named it, relative to the wiki's folder.")
    status: RecallStatus = Field(description="`ignored` unless a later turn shows that something came of it.")
    turn: int | None = Field(default=None, ge=1, description="The turn of the quote.")
    quote: str | None = Field(
        default=None, max_length=200, description="Verbatim, required for every status but `ignored`."
    )


class ArcAnswer(Answer):
    """One request and what came of it. A session with one request has one arc."""

    slug: str = Field(default="", description="Short name of the arc; empty when the session has only one.")
    first_turn: int = Field(ge=1, description="The turn of the request; 1 for the first arc.")
    last_turn: int = Field(ge=1, description="The last turn before the next arc; the last of all for the last arc.")
    goal: str = Field(min_length=1, description="The user's own request, one line, without harness boilerplate.")
    outcome: Outcome = Field(description="As the recording shows it; `unknown` when nothing but a claim does.")
    outcome_turn: int | None = Field(
        default=None, ge=1, description="The turn that shows the outcome; null when none does."
    )
    outcome_quote: str | None = Field(default=None, max_length=200, description="Verbatim from that turn.")
    narrative: str = Field(min_length=1, description="At most 250 words a person would want to read.")
    key_turns: list[TurnNote] = Field(max_length=6, description="Three to six turns, fewer in a short session.")
    dead_ends: list[TurnNote] = Field(default_factory=list, description="Attempts given up, not mere errors.")
    recalled: list[RecalledPage] = Field(
        default_factory=list, description="Pages of a wiki that were read within the arc, each once."
    )


class SummaryAnswer(Answer):
    """What an engine says of one trajectory."""

    arcs: list[ArcAnswer] = Field(min_length=1)

    def outcome(self) -> Outcome:
        """The session's outcome: that of all arcs when they agree, else partial when any succeeded."""
        outcomes = {arc.outcome for arc in self.arcs}
        if len(outcomes) == 1:
            return next(iter(outcomes))
        known = outcomes - {"unknown"}
        if len(known) == 1:
            return next(iter(known))
        return "partial" if known & {"success", "partial"} else "failure"


@dataclass(frozen=True, slots=True)
class SummarizeQuestion:
    """Asks for the summary of one trajectory."""

    trajectory: Trajectory
    stage: str = STAGE
    answer_type: type[SummaryAnswer] = SummaryAnswer

    def fields(self) -> dict[str, Any]:
        return {"trajectory": self.trajectory}

    def problems(self, answer: SummaryAnswer) -> list[Problem]:
        """What the recording does not bear out."""
        try:
            return check(answer, self.trajectory)[1]
        except AnswerRejected as error:
            return [Problem(str(error.place), error.reason)]


@dataclass(frozen=True, slots=True)
class SummaryContext:
    """What the stage knows of a session besides the answer: counted and recorded, not said by an engine."""

    trajectory: Trajectory
    facts: SessionFacts
    reads: tuple[WikiRead, ...]
    made_by: dict[str, Any]
    mined: tuple[dict[str, Any], ...] = ()
    coverage: Coverage | None = None  # None: the engine saw all


def check(answer: SummaryAnswer, trajectory: Trajectory) -> tuple[SummaryAnswer, list[Problem]]:
    """Drop what the trajectory does not bear out: turns that are not there, quotes that are not verbatim.

    Returns the answer that stands and what was dropped. Raises `AnswerRejected` when nothing stands.
    """
    turns = len(trajectory.messages)
    dropped = [_no_turn("arcs", arc.first_turn) for arc in answer.arcs if arc.first_turn > turns]
    standing = sorted((arc for arc in answer.arcs if arc.first_turn <= turns), key=lambda arc: arc.first_turn)
    if not standing:
        raise AnswerRejected("a summary needs at least one", place="arcs")
    for before, after in pairwise(standing):
        if after.first_turn <= before.first_turn:
            raise AnswerRejected(f"two begin at turn {after.first_turn}", place="arcs")
    arcs = [_checked_arc(arc, trajectory, dropped) for arc in standing]
    return answer.model_copy(update={"arcs": arcs}), dropped


def _checked_arc(arc: ArcAnswer, trajectory: Trajectory, dropped: list[Problem]) -> ArcAnswer:
    turns = len(trajectory.messages)
    changes: dict[str, Any] = {"last_turn": min(max(arc.first_turn, arc.last_turn), turns)}
    for name in ("key_turns", "dead_ends"):
        notes = getattr(arc, name)
        changes[name] = [note for note in notes if note.turn <= turns]
        dropped.extend(_no_turn(name, note.turn) for note in notes if note.turn > turns)
    if arc.outcome_turn is not None and arc.outcome_turn > turns:
        dropped.append(_no_turn("outcome_turn", arc.outcome_turn))
        changes.update(outcome_turn=None, outcome_quote=None)
    elif arc.outcome_quote is not None and not is_verbatim(trajectory, arc.outcome_turn or 0, arc.outcome_quote):
        dropped.append(Problem("outcome_quote", f"not verbatim in turn {arc.outcome_turn}", is_on_citation=True))
        changes["outcome_quote"] = None
    checked = [(each, _checked_recall(each, trajectory)) for each in arc.recalled]
    dropped.extend(
        Problem("recalled", f"{each.page}: no verbatim quote", is_on_citation=True)
        for each, standing in checked
        if standing != each
    )
    changes["recalled"] = [standing for _, standing in checked if standing is not None]
    return arc.model_copy(update=changes)


def _no_turn(place: str, turn: int) -> Problem:
    return Problem(place, f"turn {turn} is not there", is_on_citation=True)


def _checked_recall(recalled: RecalledPage, trajectory: Trajectory) -> RecalledPage | None:
    """The page as it stands; without its quote where that is not verbatim, and nothing where it needs one."""
    if recalled.quote and is_verbatim(trajectory, recalled.turn or 0, recalled.quote):
        return recalled
    if recalled.status != "ignored":
        return None
    return recalled.model_copy(update={"turn": None, "quote": None}) if recalled.quote else recalled


def with_reads(answer: SummaryAnswer, reads: Sequence[WikiRead]) -> tuple[SummaryAnswer, list[Problem]]:
    """The answer with the recalled pages that the recording shows: which were read is counted, not said by an engine.

    A page that was not read, or of which the quote came before, is dropped with a line that says so; a page that was
    read in an arc and not spoken of is `ignored`. What came of a page is the engine's to say.
    """
    first: dict[str, WikiRead] = {}
    for read in reads:
        if not read.is_index:
            first.setdefault(page_id(read.page), read)
    dropped: list[Problem] = []
    arcs: list[ArcAnswer] = []
    for arc in answer.arcs:
        told = {page_id(each.page): each for each in reversed(arc.recalled)}
        unread = [name for name, each in told.items() if not _is_after(each, first.get(name))]
        dropped += [Problem("recalled", f"{told[name].page}: the session had not read it") for name in reversed(unread)]
        recalled = [each for each in dict(reversed(told.items())).values() if page_id(each.page) not in unread]
        recalled += [
            RecalledPage(page=read.page, status="ignored")
            for name, read in first.items()
            if arc.first_turn <= read.turn <= arc.last_turn and (name not in told or name in unread)
        ]
        arcs.append(arc.model_copy(update={"recalled": recalled}))
    return answer.model_copy(update={"arcs": arcs}), dropped


def _is_after(recalled: RecalledPage, read: WikiRead | None) -> bool:
    return read is not None and (recalled.turn is None or recalled.turn > read.turn)


def to_pages(answer: SummaryAnswer, context: SummaryContext, templates: Templates) -> dict[str, Page]:
    """The summary page of a session, or one page an arc; by path. Derived fields are left to catalog."""
    session_id = context.trajectory.session_id
    slugs = _arc_slugs(answer.arcs)
    paths = [summary_path(session_id, each) for each in slugs]
    pages: dict[str, Page] = {}
    for position, (path, arc) in enumerate(zip(paths, answer.arcs, strict=True)):
        fields = _fields(arc, slugs[position], context, is_first=position == 0)
        siblings = [each for each in paths if each != path]
        if siblings:
            fields["sibling_summaries"] = siblings
        body = templates.render("summary.md", **_body_variables(arc, fields, context))
        kept = {name: value for name, value in fields.items() if value is not None}
        pages[path] = Page(kept, split_body(body))
    return pages


def _arc_slugs(arcs: list[ArcAnswer]) -> list[str]:
    """A slug an arc, told apart where two are alike; none for a session with one arc."""
    if len(arcs) == 1:
        return [""]
    slugs: list[str] = []
    for position, arc in enumerate(arcs, start=1):
        wanted = made = slug(arc.slug or arc.goal)
        while made in slugs:
            made, position = f"{wanted[:34].rstrip('-')}-{position}", position + 1
        slugs.append(made)
    return slugs


def _fields(arc: ArcAnswer, arc_slug: str, context: SummaryContext, *, is_first: bool) -> dict[str, Any]:
    trajectory, source = context.trajectory, context.trajectory.source
    counted = measures(trajectory, arc.first_turn, arc.last_turn)
    fields: dict[str, Any] = {
        "type": "episodic-summary",
        "session_id": trajectory.session_id,
        "agent": trajectory.agent,
        "model": trajectory.model,
        "goal": plain_line(arc.goal, 300),
        "outcome": arc.outcome,
        "outcome_evidence": _outcome_evidence(arc),
        "arc": arc_slug or None,
        "arc_turns": [arc.first_turn, arc.last_turn] if arc_slug else None,
        "task_id": source.task_id,
        "trial": source.trial,
        "condition": source.condition,
        "parent_session_id": source.parent_session_id,
        "forked_from": source.forked_from,
        "tools_used": [plain_line(name, 80) for name in counted.tools_used],
        "sources": [source.file] if source.file else None,
        "tool_calls": counted.tool_calls,
        "errors": counted.errors,
        "dead_end_paths": len(arc.dead_ends),
        "wiki_consulted": any(arc.first_turn <= read.turn <= arc.last_turn for read in context.reads),
        "recalled_guidelines": [_recalled_entry(each) for each in arc.recalled],
    }
    if is_first:
        fields.update(_session_fields(context))
    fields["made_by"] = context.made_by
    return fields


def _session_fields(context: SummaryContext) -> dict[str, Any]:
    """What belongs to the whole session; it stands on its first page only, so that no sum counts it twice."""
    trajectory, source = context.trajectory, context.trajectory.source
    usage = source.usage or Usage()
    coverage = context.coverage or Coverage(trajectory.characters())
    moment = source.ended_at or trajectory.timestamp
    return {
        "reward": source.reward,
        "resolved": source.resolved,
        "duration_seconds": source.duration_seconds,
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "output_tokens": usage.output_tokens,
        "total_cost_usd": None if source.cost_usd is None else round(source.cost_usd, 6),
        "turns": len(trajectory.messages),
        "request_terms": list(context.facts.request_terms) or None,
        "writes": list(context.facts.writes) or None,
        "source_format": source.format,
        "source_sha256": source.sha256,
        "coverage": coverage.to_json(),
        "lineage": lineage(trajectory),
        "mined": list(context.mined) or None,
        "verified_at": moment[:10] if moment else None,
    }


def _outcome_evidence(arc: ArcAnswer) -> dict[str, Any] | None:
    if arc.outcome_turn is None:
        return None
    evidence: dict[str, Any] = {"turn": arc.outcome_turn}
    if arc.outcome_quote:
        evidence["quote"] = arc.outcome_quote
    return evidence


def _recalled_entry(recalled: RecalledPage) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": page_id(recalled.page), "title": page_title(recalled.page)}
    entry["status"] = recalled.status
    if recalled.quote:
        entry["evidence"] = recalled.quote
        entry["turn"] = recalled.turn
    return entry


def _body_variables(arc: ArcAnswer, fields: dict[str, Any], context: SummaryContext) -> dict[str, Any]:
    source = context.trajectory.source
    recorded = source.reward is not None or source.resolved is not None
    return {
        "goal": fields["goal"],
        "narrative": "\n\n".join(plain_line(each, 2_000) for each in arc.narrative.split("\n\n") if each.strip()),
        "outcome": arc.outcome,
        "outcome_turn": arc.outcome_turn,
        "outcome_quote": plain_line(arc.outcome_quote or "", 200),
        "outcome_note": "as the recording's own verdict says" if recorded else "",
        "key_turns": [{"turn": note.turn, "text": plain_line(note.text, 300)} for note in arc.key_turns],
        "dead_ends": [{"turn": note.turn, "text": plain_line(note.text, 300)} for note in arc.dead_ends],
        "sources": [plain_line(each, 200) for each in fields["sources"] or ["(not recorded)"]],
        "source_format": source.format,
        "turns": len(context.trajectory.messages),
    }


def answer_of(pages: Sequence[Page]) -> SummaryAnswer:
    """What later stages may know of a session that has its summary pages, in arc order.

    The narrative is left out on purpose: a stage run by hand on a finished wiki then asks the very question
    that a whole run asks. Raises `AnswerRejected` for pages that are no summaries.
    """
    arcs: list[ArcAnswer] = []
    for page in pages:
        span = turns_of_arc(page) or (1, max(1, whole_number(page.fields.get("turns"), 1)))
        evidence = page.fields.get("outcome_evidence") or {}
        try:
            arcs.append(
                ArcAnswer(
                    slug=str(page.fields.get("arc") or ""),
                    first_turn=span[0],
                    last_turn=span[1],
                    goal=str(page.fields.get("goal") or "(no goal)"),
                    outcome=page.fields.get("outcome") or "unknown",
                    outcome_turn=evidence.get("turn"),
                    narrative="(see the summary page)",
                    key_turns=[],
                )
            )
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            raise AnswerRejected(f"summary page of {page.fields.get('session_id')}: {error}") from error
    return SummaryAnswer(arcs=arcs)


def summarize(
    trajectory: Trajectory,
    engine: Engine,
    templates: Templates,
    made: dict[str, Any],
    mined: tuple[dict[str, Any], ...],
    coverage: Coverage | None = None,
) -> tuple[dict[str, Page], list[Problem]]:
    """One trajectory → its summary pages by path, and the claims that were dropped. Never touches the disk."""
    answer, dropped = check(engine.answer(SummarizeQuestion(trajectory)), trajectory)
    reads = tuple(wiki_reads(trajectory))
    answer, unread = with_reads(answer, reads)
    context = SummaryContext(trajectory, session_facts(trajectory), reads, made, mined, coverage)
    return to_pages(answer, context, templates), dropped + unread
