"""extract-guidelines: one trajectory → at most seven guidelines, often none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agent_wiki.engine import Answer, Engine, Problem, ask
from agent_wiki.pages.guideline import CAUSES, EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.support import Evidence
from agent_wiki.pages.withheld import BRINGS_IN
from agent_wiki.recall.own_calls import own_turns
from agent_wiki.recall.recalled_text import independent, recalled_text
from agent_wiki.shell.fetched import of_strangers
from agent_wiki.stages.causes import graded
from agent_wiki.stages.counter_check import other_remedy
from agent_wiki.stages.followed_hints import hinted_at
from agent_wiki.stages.known_summary import answer_of
from agent_wiki.stages.summarize import STAGE as SUMMARIZE
from agent_wiki.stages.summarize import SummaryAnswer
from agent_wiki.stages.trust import is_said_by_strangers, trust_of
from agent_wiki.stages.turnings import Grade, Turning
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import is_verbatim, least_trusted, why_not_verbatim
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.layout import content_id, slug
from agent_wiki.wiki.text import plain_line

STAGE = EXTRACT_GUIDELINES
MOST_PER_SESSION = 7
MOST_CHARACTERS = {"title": 100, "rule": 600, "rationale": 600, "trigger": 300}
"""Of the words of a lesson. A longer one is refused: cut short, a rule may say something else."""
SCOPE_PATTERN = r"^(general|repository|tool:[a-z0-9][a-z0-9._@/-]{0,60})$"
_CODE = regex(r"`[^`]+`")  # a command in backticks is one word of a title
_LONGEST = 100_000
_KNOWN_ERRORS = "remedies/"  # the rules of an engine that find an error in a table, with its one remedy

_Turns = tuple[int | None, int | None, int | None, int | None]
GuidelineType = Literal["guideline", "workflow", "script", "command-template"]


class CitedQuote(Answer):
    """Evidence: a turn and a verbatim quote from its content, thinking or call arguments."""

    turn: int = Field(ge=1, description="Position of the message in the trajectory, counted from 1.")
    quote: str = Field(min_length=1, max_length=200, description="At most 200 characters, each as that turn has it.")


class GuidelineAnswer(Answer):
    """One lesson, as a proactive recommendation."""

    type: GuidelineType = Field(default="guideline", description="What the rule mainly hands on.")
    title: str = Field(description="Imperative, 3 to 7 words (code in backticks is one), no id of this session.")
    rule: str = Field(description='The recommendation, standing alone: "use X", not "don\'t use Y".')
    rationale: str = Field(description="Why, from what happened: what failed, what worked.")
    trigger: str = Field(
        description="The broad situation, recognisable before the event: an error text, a kind of task."
    )
    tags: list[str] = Field(min_length=1, max_length=6, description="Short, stable, lower case, dashes.")
    evidence: list[CitedQuote] = Field(
        min_length=1, max_length=4, description="The event that cost something, and the turning point."
    )
    event_turn: int | None = Field(
        default=None, ge=1, description="The turn of what failed, was lost, or was objected to."
    )
    remedy_turn: int | None = Field(
        default=None, ge=1, description="The turn of what was then done differently; null where nobody tried it."
    )
    confirming_turn: int | None = Field(
        default=None, ge=1, description="The turn of the same check's pass, or of the user's acceptance; else null."
    )
    reason_turn: int | None = Field(
        default=None, ge=0, description="The turn of the quote that says why; 0 where nobody says it."
    )
    scope: str | None = Field(
        default=None,
        pattern=SCOPE_PATTERN,
        description="How far it holds: `general`, `tool:<name>`, or `repository` for this one alone; null if unclear.",
    )
    rule_id: SkipJsonSchema[str | None] = None  # the rule that found it, in an engine that has rules; None for a model


class GuidelinesAnswer(Answer):
    """All lessons of one trajectory. An empty list is a good answer."""

    guidelines: list[GuidelineAnswer] = Field(
        default_factory=list, max_length=MOST_PER_SESSION, description="At most seven, the best first; often empty."
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
        return check(answer, self.trajectory, self.summary)[1]


def check(
    answer: GuidelinesAnswer, trajectory: Trajectory, summary: SummaryAnswer
) -> tuple[list[GuidelineAnswer], list[Problem]]:
    """Drop quotes that are not verbatim, and lessons without evidence or words or with a cause that does not stand.

    Returns the valid lessons, one for each id, and what was dropped, with everything that speaks against it.
    """
    kept: dict[str, GuidelineAnswer] = {}
    dropped: list[Problem] = []
    for guideline in answer.guidelines:
        evidence = [cited for cited in guideline.evidence if is_verbatim(trajectory, cited.turn, cited.quote)]
        dropped.extend(
            Problem(guideline.title, why_not_verbatim(trajectory, cited.turn, cited.quote), is_on_citation=True)
            for cited in guideline.evidence
            if cited not in evidence
        )
        guideline, missing = _with_turns_that_exist(guideline, len(trajectory.messages))
        dropped.extend(missing)
        valid = guideline.model_copy(update={"evidence": evidence})
        reasons = [*_faults_of_words(guideline), *_faults_of_case(valid, trajectory, summary)]
        dropped.extend(Problem(guideline.title, reason) for reason in reasons)
        if not reasons:
            kept.setdefault(content_id(guideline.rule), valid)
    return list(kept.values())[:MOST_PER_SESSION], dropped


def _faults_of_case(guideline: GuidelineAnswer, trajectory: Trajectory, summary: SummaryAnswer) -> Iterator[str]:
    """What the recording has against a lesson with its valid quotes."""
    if not guideline.evidence:
        yield "no valid evidence"
        return
    if rests_on_wiki(guideline, trajectory):
        yield "it is about using the wiki itself, not about the work"
        return
    grade = grade_of(guideline, trajectory)
    against = _against(guideline, grade, trajectory, summary), _only_hinted(guideline, grade, trajectory)
    yield from filter(None, against)


def _against(guideline: GuidelineAnswer, grade: Grade, trajectory: Trajectory, summary: SummaryAnswer) -> str:
    """What speaks against the cause in a lesson: a later turn, or the summary of the session; empty for nothing."""
    if grade.contradiction:
        return f"a later turn speaks against it: {grade.contradiction}"
    if guideline.event_turn is None:
        return ""
    turning = Turning(guideline.event_turn, guideline.remedy_turn, guideline.confirming_turn)
    other = other_remedy(trajectory, turning, grade.cause, summary)
    return f"the summary of the session names another cause: {other}" if other else ""


def _only_hinted(guideline: GuidelineAnswer, grade: Grade, trajectory: Trajectory) -> str:
    """Why a command that a tool named, and the agent followed, is no lesson; empty where its help is checked."""
    turn = None if grade.cause == "checked" else hinted_at(trajectory, guideline.title, guideline.rule)
    return f"a tool named the command in turn {turn}, and nothing shows that it helped" if turn is not None else ""


def _with_turns_that_exist(guideline: GuidelineAnswer, turns: int) -> tuple[GuidelineAnswer, list[Problem]]:
    names = ("event_turn", "remedy_turn", "confirming_turn", "reason_turn")
    named = {name: getattr(guideline, name) for name in names}
    missing = {name: turn for name, turn in named.items() if turn is not None and turn > turns}
    problems = [
        Problem(guideline.title, f"{name}: turn {turn} does not exist", is_on_citation=True)
        for name, turn in missing.items()
    ]
    return guideline.model_copy(update=dict.fromkeys(missing)), problems


def grade_of(guideline: GuidelineAnswer, trajectory: Trajectory) -> Grade:
    """How sure the cause in a lesson is."""
    turns = (guideline.event_turn, guideline.remedy_turn, guideline.confirming_turn, guideline.reason_turn)
    quotes = [(cited.turn, cited.quote) for cited in guideline.evidence]
    return grade_of_turns(trajectory, turns, quotes, is_known_error(guideline.rule_id))


def is_known_error(rule_id: str | None) -> bool:
    """Whether a lesson is of an error in an engine's table, which gives one remedy for it."""
    return rule_id is not None and rule_id.startswith(_KNOWN_ERRORS)


def grade_of_turns(
    trajectory: Trajectory, named: _Turns, quotes: Sequence[tuple[int, str]], is_known: bool = False
) -> Grade:
    """The same of the turns that a lesson names (event, remedy, confirmation, reason), and at least one quote.

    Where it does not name its event, the turns of its quotes are tried. `is_known` as in `Turning`. A cause is judged
    once a session.
    """
    return trajectory.worked_out(_grade_of_turns, named, tuple(quotes), is_known)


def _grade_of_turns(
    trajectory: Trajectory, named: _Turns, quotes: tuple[tuple[int, str], ...], is_known: bool
) -> Grade:
    event, remedy, confirmation, reason = named
    if event is not None:
        return graded(trajectory, Turning(event, remedy, confirmation, reason, is_known), quotes)
    turns = sorted({turn for turn, _ in quotes})
    pairs: list[tuple[int, int | None]] = [
        (first, last) for first in turns for last in reversed(turns) if last > first
    ] or [(turns[0], None)]
    grades = [graded(trajectory, Turning(first, None, last, reason), quotes) for first, last in pairs]
    return min(grades, key=lambda grade: CAUSES.index(grade.cause))


def without_recalled(
    guidelines: list[GuidelineAnswer], trajectory: Trajectory
) -> tuple[list[GuidelineAnswer], list[Problem]]:
    """Split lessons into the session's own and, as problems, those that it read in the wiki.

    Not a part of `check`: such a lesson is true, so no engine is asked to correct its answer.
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


def rests_on_wiki(guideline: GuidelineAnswer, trajectory: Trajectory) -> bool:
    """Whether a lesson is about the wiki's own tools: a turn that it names only used them, or all that it cites."""
    own = own_turns(trajectory)
    named = {guideline.event_turn, guideline.remedy_turn, guideline.confirming_turn} - {None}
    return bool(own) and (bool(named & own) or own.issuperset(cited.turn for cited in guideline.evidence))


def _faults_of_words(guideline: GuidelineAnswer) -> Iterator[str]:
    """What is wrong with the words of a lesson; nothing when they may be published."""
    words = len(guideline.title.split())
    with_code_as_one = len(_CODE.sub("code", guideline.title).split())
    if words < 3 or with_code_as_one > 7:
        yield f"title has {min(words, with_code_as_one)} words, not 3 to 7"
    for name, most in MOST_CHARACTERS.items():
        length = len(plain_line(getattr(guideline, name), _LONGEST))
        if not length:
            yield f"{name} is empty"
        if length > most:
            yield f"{name} has {length} characters, more than {most}"


def entry(guideline: GuidelineAnswer, trajectory: Trajectory) -> GuidelineEntry:
    """A checked lesson as the session's record holds it."""
    grade = grade_of(guideline, trajectory)
    return GuidelineEntry(
        id=content_id(guideline.rule),
        title=plain_line(guideline.title, MOST_CHARACTERS["title"]),
        rule=plain_line(guideline.rule, MOST_CHARACTERS["rule"]),
        trigger=plain_line(guideline.trigger, MOST_CHARACTERS["trigger"]),
        rationale=plain_line(guideline.rationale, MOST_CHARACTERS["rationale"]),
        type=guideline.type,
        tags=tuple(sorted({slug(tag) for tag in guideline.tags})),
        evidence=cited_evidence(trajectory, guideline.evidence, f"{guideline.title}\n{guideline.rule}"),
        rule_id=guideline.rule_id,
        cause=grade.cause,
        cause_shown=grade.reason,
        event=guideline.event_turn,
        remedy=guideline.remedy_turn,
        confirmation=guideline.confirming_turn,
        reason=guideline.reason_turn,
        scope=guideline.scope,
    )


def cited_evidence(trajectory: Trajectory, cited: Iterable[CitedQuote], rule: str = "") -> tuple[Evidence, ...]:
    """Checked quotes as records hold them, by turn.

    In: the words of the lesson. What a tool said first is trusted no more than that tool; and a program that ran what
    strangers wrote speaks for itself only in a lesson that they did not write, and that brings in nothing.
    """
    ordered = sorted(cited, key=lambda each: (each.turn, each.quote))
    source = hinted_at(trajectory, rule, "") if rule else None
    most = [] if source is None else [trust_of(trajectory, source)]
    theirs = of_strangers(trajectory)
    if any(each.turn in theirs for each in ordered):
        may_be_theirs = not rule or BRINGS_IN.search(rule.lower()) or is_said_by_strangers(trajectory, rule)
        theirs = theirs if may_be_theirs else frozenset()
    return tuple(
        Evidence(
            each.turn,
            each.quote,
            "external" if each.turn in theirs else least_trusted([trust_of(trajectory, each.turn, each.quote), *most]),
        )
        for each in ordered
    )


QUESTIONS: dict[str, type[Answer]] = {"guidelines": GuidelinesAnswer}
ENTRIES = tuple[GuidelineEntry, ...]
question = GuidelinesQuestion


def run(
    trajectory: Trajectory, answers: Mapping[str, Any], engine: Engine
) -> tuple[tuple[GuidelineEntry, ...], list[Problem]]:
    """The stage, on a trajectory that was summarized."""
    return extract_guidelines(trajectory, answer_of(answers[SUMMARIZE]), engine)


def extract_guidelines(
    trajectory: Trajectory, summary: SummaryAnswer, engine: Engine
) -> tuple[tuple[GuidelineEntry, ...], list[Problem]]:
    """One trajectory → its lessons as its record holds them, by id, and the claims that were dropped."""
    kept, dropped = check(ask(engine, GuidelinesQuestion(trajectory, summary)), trajectory, summary)
    kept, recalled = without_recalled(kept, trajectory)
    entries = sorted((entry(each, trajectory) for each in kept), key=lambda each: each.id)
    return tuple(entries), dropped + recalled
