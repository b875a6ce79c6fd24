"""The embedded engine's summary of a session, from its recording alone. Pure and deterministic."""

from __future__ import annotations

from agent_wiki.engines.offline.acts import Act, acts_of
from agent_wiki.engines.offline.arcs import arc_slug, arc_starts
from agent_wiki.engines.offline.dead_ends import dead_ends_of
from agent_wiki.engines.offline.goal import goal_of
from agent_wiki.engines.offline.key_turns import key_turns_of
from agent_wiki.engines.offline.listed_requests import listed_requests
from agent_wiki.engines.offline.main_request import deed_of, second_of, standing_requests, worked_requests
from agent_wiki.engines.offline.narrative import narrative_of
from agent_wiki.engines.offline.outcome import shown_outcome
from agent_wiki.engines.offline.recalled import recalled_pages
from agent_wiki.engines.offline.reported import reported_by
from agent_wiki.engines.offline.requests import UserRequest, letters_of, requests_of
from agent_wiki.engines.offline.stretch import Stretch, stretch_of
from agent_wiki.engines.offline.title import title_of_stretch
from agent_wiki.engines.offline.troubles import troubles_of
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.stages.summarize import (
    BELOW,
    ArcAnswer,
    SummarizeQuestion,
    SummaryAnswer,
)
from agent_wiki.trajectory import Trajectory

_SAME_LETTERS = 100


def answer(question: SummarizeQuestion) -> SummaryAnswer:
    """The summary of the question's trajectory, one arc for each separate request. Raises nothing of its own."""
    trajectory = question.trajectory
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    stretches = _stretches(trajectory, acts, requests)
    reads = wiki_reads(trajectory)
    arcs = [_arc(stretch, reads, is_only=len(stretches) == 1) for stretch in stretches]
    return SummaryAnswer(arcs=_with_distinct_slugs(arcs))


def _stretches(trajectory: Trajectory, acts: list[Act], requests: list[UserRequest]) -> list[Stretch]:
    starts = arc_starts(trajectory, acts, requests)
    ends = [*(start - 1 for start in starts[1:]), len(trajectory.messages)]
    return [stretch_of(trajectory, acts, requests, first, last) for first, last in zip(starts, ends, strict=True)]


def _arc(stretch: Stretch, reads: list[WikiRead], *, is_only: bool) -> ArcAnswer:
    requests = standing_requests(stretch)
    tasks = worked_requests(stretch, requests)
    deed, second = deed_of(stretch, tasks), second_of(stretch, tasks)
    main, goal = (goal_of(requests, stretch.trajectory.source.title, each) for each in (deed, deed or second))
    shown = shown_outcome(stretch)
    is_request = shown.basis == "unfinished"  # which shows nothing: that no answer is recorded does
    troubles = troubles_of(stretch)
    requests_shown, changed = listed_requests(stretch), stretch.product() | stretch.handed_on()
    if shown.basis == "delivered" and max(changed.values(), default=0) < stretch.last_request_turn():
        changed = {}  # what was delivered is the answer to what the user asked since
    listed = {each.turn for each in requests_shown}
    narrative = narrative_of(stretch, shown, troubles)
    letters = letters_of(narrative)
    return ArcAnswer(
        slug="" if is_only else arc_slug(main),
        first_turn=stretch.first_turn,
        last_turn=max(stretch.last_turn, 1),
        title=title_of_stretch(stretch, main, deed, 0 if stretch.is_talk() else len(requests_shown)),
        goal=goal,
        outcome=shown.outcome,
        outcome_turn=None if is_request else shown.turn,
        outcome_quote=None if is_request else shown.quote,
        outcome_reason=shown.reason(changed, stretch.acts),
        narrative=narrative,
        requests=requests_shown,
        key_turns=key_turns_of(stretch, shown, troubles, deed, listed),
        dead_ends=dead_ends_of(stretch),
        reported=[each for each in reported_by(stretch) if not _stands_in(each.text, letters)],
        recalled=recalled_pages(stretch, reads),
    )


def _stands_in(line: str, narrative: str) -> bool:
    """Whether the story has a line of a report, or most of it. In: the letters of the story alone."""
    letters = letters_of(line.rpartition(BELOW)[2])
    return letters[: max(_SAME_LETTERS, len(letters) * 4 // 5)] in narrative


def _with_distinct_slugs(arcs: list[ArcAnswer]) -> list[ArcAnswer]:
    """Two arcs that ask for the same are distinguished by their number."""
    found: list[ArcAnswer] = []
    for number, arc in enumerate(arcs, start=1):
        is_taken = bool(arc.slug) and any(arc.slug == other.slug for other in found)
        found.append(arc.model_copy(update={"slug": f"{arc.slug[:36]}-{number}"}) if is_taken else arc)
    return found
