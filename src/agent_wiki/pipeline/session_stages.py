"""One trajectory → what it contributes: the per-trajectory stages that are pending, one after the other.

The summary comes first; guidelines and skill rest on it. What a stage gave counts also where another got no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from agent_wiki.engine import Coverage, Engine, Problem
from agent_wiki.errors import BudgetReached, UnitError
from agent_wiki.report import Failure
from agent_wiki.stages import extract_guidelines, summarize, synthesize_skill
from agent_wiki.stages.request import made_by
from agent_wiki.trajectory import Trajectory
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.state import SessionContribution
from agent_wiki.wiki.templates import Templates

SESSION_STAGES = (summarize.STAGE, extract_guidelines.STAGE, synthesize_skill.STAGE)

Order = tuple[int, int, str]
Trouble = UnitError | BudgetReached
Learn = Callable[[], list[Problem]]


@dataclass(frozen=True, slots=True)
class KnownSession:
    """What the wiki holds of a session: which version of it, and what answered each stage."""

    order: Order
    file: str | None  # the recording it came from
    answered: Mapping[str, Mapping[str, Any]]  # stage → made_by
    pages: tuple[Page, ...]


@dataclass(slots=True)
class SessionReport:
    """What became of one trajectory. `status`: mined, unchanged, older, left-out, failed or (for money) waiting.

    `reason` says why it was left out; `failures` what has no answer.
    """

    session_id: str
    status: str
    reason: str = ""
    digest: str = ""
    turns: int = 0
    tool_calls: int = 0
    errors: int = 0
    guidelines: int | None = None
    skills: int | None = None
    source_format: str = ""
    has_contributed: bool = False
    hygiene: dict[str, int] = field(default_factory=dict)
    coverage: dict[str, int] = field(default_factory=dict)
    dropped_claims: list[Problem] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be done with a trajectory. `min_coverage` is the share of it that a model has to be shown."""

    stages: tuple[str, ...]
    rewrite: bool = False
    min_coverage: float = 0.0


@dataclass(frozen=True, slots=True)
class Desk:
    """Who answers, and what pages are made with."""

    engine: Engine
    templates: Templates


def contribution_of(
    trajectory: Trajectory,
    order: Order,
    wanted: Wanted,
    known: KnownSession | None,
    desk: Desk,
    report: SessionReport,
    troubles: list[Trouble],
) -> SessionContribution | None:
    """Run the stages that are pending; None when none is. Fills in `report`, whose digest is known.

    A stage that gets no answer once there is a summary goes into `troubles` and stays pending; the others count.
    Raises `UnitError` and `BudgetReached` where there is no summary, and `RunError`.
    """
    engine, templates = desk.engine, desk.templates
    made = {stage: made_by(stage, engine, report.digest) for stage in wanted.stages}
    answered = known.answered if known else {}
    if known and summarize.STAGE in wanted.stages and trajectory.source.file != known.file:
        answered = {}  # a rival recording that outdoes the known one: also where both say the same, it is cited
    pending = [stage for stage in wanted.stages if wanted.rewrite or answered.get(stage) != made[stage]]
    if not pending:
        return None
    coverage = _coverage(trajectory, engine, wanted.min_coverage)
    report.coverage = coverage.to_json()
    contributed = SessionContribution(trajectory.session_id, order)
    pages = known.pages if known else ()
    if summarize.STAGE in pending:
        later = tuple(
            dict(made.get(stage) or answered[stage])
            for stage in SESSION_STAGES
            if stage != summarize.STAGE and (stage in made or stage in answered)
        )
        made_by_stage = made[summarize.STAGE]
        summaries, dropped = summarize.summarize(trajectory, engine, templates, made_by_stage, later, coverage)
        report.dropped_claims += dropped
        contributed.summaries = summaries
        pages = tuple(summaries.values())
    else:
        contributed.mined = [made[stage] for stage in pending]
    if not pages:
        raise UnitError("no summary page yet; run `wiki summarize` first")
    summary = summarize.answer_of(pages)

    def learn_guidelines() -> list[Problem]:
        contributed.guidelines, dropped = extract_guidelines.extract_guidelines(trajectory, summary, engine)
        report.guidelines = len(contributed.guidelines)
        return dropped

    def learn_skill() -> list[Problem]:
        contributed.skills, dropped = synthesize_skill.synthesize_skill(trajectory, summary, engine, templates)
        report.skills = len(contributed.skills)
        return dropped

    further = {extract_guidelines.STAGE: learn_guidelines, synthesize_skill.STAGE: learn_skill}
    undone = []
    for stage, run in _run_each({stage: run for stage, run in further.items() if stage in pending}, desk).items():
        try:
            report.dropped_claims += run()
        except (UnitError, BudgetReached) as error:
            undone.append(stage)
            troubles.append(error)
    _take_back(contributed, undone)
    is_empty = contributed.summaries is None and not contributed.mined
    return None if is_empty else contributed


def _run_each(stages: Mapping[str, Learn], desk: Desk) -> dict[str, Learn]:
    """For each stage what gives its dropped claims or raises; side by side where an engine waits for answers."""
    if desk.engine.concurrency < 2 or len(stages) < 2:
        return dict(stages)
    with ThreadPoolExecutor(len(stages)) as threads:  # each needs the summary alone
        running = {stage: threads.submit(run) for stage, run in stages.items()}
    return {stage: each.result for stage, each in running.items()}


def _take_back(contributed: SessionContribution, undone: Sequence[str]) -> None:
    """A stage that got no answer is not among those that the session's first page says were done."""
    contributed.mined = [each for each in contributed.mined if each["stage"] not in undone]
    if contributed.summaries and undone:
        path, page = next(iter(contributed.summaries.items()))
        left = [each for each in page.fields.get("mined", ()) if each["stage"] not in undone]
        contributed.summaries[path] = page.with_fields({"mined": left or None})


def _coverage(trajectory: Trajectory, engine: Engine, least: float) -> Coverage:
    """How much of a trajectory the engine sees. Raises `UnitError` where that is too little, before it is asked."""
    coverage = engine.coverage(trajectory)
    if coverage.share < least:
        raise UnitError(
            f"a model would see {coverage.seen_characters:,} of {coverage.trajectory_characters:,} characters "
            f"({coverage.share:.1%}), less than --min-coverage {least:g}"
        )
    return coverage
