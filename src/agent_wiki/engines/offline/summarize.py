"""The embedded engine's summary of a session, from its recording alone. Pure and deterministic."""

from __future__ import annotations

from agent_wiki.engines.offline.acts import Act, acts_of
from agent_wiki.engines.offline.arcs import arc_slug, arc_starts
from agent_wiki.engines.offline.dead_ends import dead_ends_of
from agent_wiki.engines.offline.goal import COMMAND, NO_REQUEST, goal_of, request_line, says_few_words, title_of
from agent_wiki.engines.offline.key_turns import key_turns_of
from agent_wiki.engines.offline.listed_requests import listed_requests
from agent_wiki.engines.offline.main_request import deed_of, second_of, standing_requests, worked_requests
from agent_wiki.engines.offline.narrative import narrative_of
from agent_wiki.engines.offline.outcome import shown_outcome
from agent_wiki.engines.offline.recalled import recalled_pages
from agent_wiki.engines.offline.reported import reported_by
from agent_wiki.engines.offline.requests import UserRequest, letters_of, requests_of
from agent_wiki.engines.offline.shipping import subjects_of
from agent_wiki.engines.offline.stretch import Stretch, stretch_of
from agent_wiki.engines.offline.troubles import troubles_of
from agent_wiki.engines.offline.unasked import feature_of, place_of, title_without_request
from agent_wiki.engines.offline.wording import clause, count, heading, lower_first
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.stages.summarize import (
    BELOW,
    MOST_REQUESTS,
    MOST_TITLE_CHARACTERS,
    ArcAnswer,
    SummarizeQuestion,
    SummaryAnswer,
)
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.repository import repository_of

_SAME_LETTERS = 100
_MOST_OF_OTHER, _SAME_BEGINNING = 44, 24  # characters of a second request in a title
_TWO = 2  # requests, of which a title names both; besides the one that it names they are few
_OF_PLAN = regex(r"(?i)\A(?:please )?(?:implement|execute) (?:the following|this) plan: (?=\S+ \S)")


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
        title=_title(stretch, _OF_PLAN.sub("", main), deed, 0 if stretch.is_talk() else len(requests_shown)),
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


def _title(stretch: Stretch, goal: str, deed: UserRequest | None, number: int) -> str:
    """The heading of a stretch. Of two requests it names both; of more it says how many it does not name."""
    if number < 2 and (shipped := _shipped_title(stretch)):
        return shipped
    if goal == NO_REQUEST:
        return title_without_request(stretch)
    named = heading(goal)
    title = title_of(named, deed)
    if COMMAND.fullmatch(title or named):  # alone it does not say what it was given to do
        subjects = [name for act in stretch.acts if act.has_worked for name in subjects_of(act)]
        title = f"{title or named}: {subjects[-1]}" if subjects else title
    shown = title or named
    more = number - 1 - (", then: " in shown)
    if number == _TWO and more and (other := _other_request(stretch, shown)):
        room = MOST_TITLE_CHARACTERS - len(other) - 2
        return f"{clause(shown.rstrip('.:!'), room).rstrip('.:!')}; {other}"
    if more > 0:
        several = "many" if number >= MOST_REQUESTS else count(more)  # the list of them is cut there
        place = repository_of(stretch.trajectory.source) if more > _TWO else ""  # what it opens with may be an aside
        suffix = f" (and {several} more request{'s' if more > 1 else ''}{f' in {place}' if place else ''})"
        return f"{clause(shown.rstrip('.:!'), MOST_TITLE_CHARACTERS - len(suffix)).rstrip('.:!')}{suffix}"
    if place := feature_of(stretch, shown) or (place_of(stretch) if says_few_words(shown) else ""):
        return f"{clause(shown.rstrip('.:!'), MOST_TITLE_CHARACTERS - len(place) - 3)} ({place})"
    return title or ("" if named == goal else named)


def _other_request(stretch: Stretch, named: str) -> str:
    """The request that a title does not name, where something was done for it; empty where it says little alone."""
    acts, heard = [act.turn for act in stretch.acts], letters_of(named)
    for each in reversed([each for each in stretch.requests if each.kind == "request"]):
        line = clause(heading(_OF_PLAN.sub("", request_line(each.text))), _MOST_OF_OTHER).rstrip(".:!")
        if line and letters_of(line)[:_SAME_BEGINNING] not in heard:
            is_worth_it = not says_few_words(line) and any(turn > each.turn for turn in acts)
            beginning = letters_of(line)[:_SAME_BEGINNING].lower()
            is_typed = "<<" not in line and beginning in letters_of(each.text).lower()  # and no word on what is pasted
            return lower_first(line) if is_worth_it and is_typed else ""
    return ""


def _shipped_title(stretch: Stretch) -> str:
    """The title of the one pull request that was opened, or the subject of the one commit, with no edit after it."""
    shipped = [(act.turn, name) for act in stretch.acts if act.has_worked for name in subjects_of(act)]
    last_edit = max((act.turn for act in stretch.kept_edits()), default=0)
    last_try = max((act.turn for act in stretch.acts if act.kind == "ship"), default=0)  # it may not have been answered
    is_all = len({name for _, name in shipped}) == 1 and shipped[-1][0] >= max(last_edit, last_try)
    return clause(shipped[0][1], MOST_TITLE_CHARACTERS) if is_all else ""


def _with_distinct_slugs(arcs: list[ArcAnswer]) -> list[ArcAnswer]:
    """Two arcs that ask for the same are distinguished by their number."""
    found: list[ArcAnswer] = []
    for number, arc in enumerate(arcs, start=1):
        is_taken = bool(arc.slug) and any(arc.slug == other.slug for other in found)
        found.append(arc.model_copy(update={"slug": f"{arc.slug[:36]}-{number}"}) if is_taken else arc)
    return found
