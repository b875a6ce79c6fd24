"""One recording → what its sessions contribute. Runs in a worker: it reads one file and writes none.

Unit errors end up in the result. So does a bug in one unit, with its traceback: one bad unit never stops a run
and never vanishes.
"""

from __future__ import annotations

import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent_wiki.calls import paired_calls
from agent_wiki.engine import Engine
from agent_wiki.engines import engine_named
from agent_wiki.errors import BudgetReached, Queued, RunError, UnitError, UnreadableRecording
from agent_wiki.labels import tidy_labels
from agent_wiki.own_sessions import left_out_reason
from agent_wiki.previews import Coverage
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.redact import redact_text, redact_trajectory
from agent_wiki.stages import extract_guidelines, summarize, synthesize_skill
from agent_wiki.stages.request import made_by
from agent_wiki.trajectory import Trajectory, digest, without_surrogates
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.sessions import texts_of, whole_number
from agent_wiki.wiki.state import SessionContribution
from agent_wiki.wiki.templates import Templates

SESSION_STAGES = (summarize.STAGE, extract_guidelines.STAGE, synthesize_skill.STAGE)

Order = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class KnownSession:
    """What the wiki holds of a session: which version of it, and what answered each stage."""

    order: Order
    file: str | None  # the recording it came from
    answered: Mapping[str, Mapping[str, Any]]  # stage → made_by
    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker is to do with one file."""

    path: Path
    name: str
    stages: tuple[str, ...]
    engine: str | Engine  # a name where workers are processes
    overrides: Path | None
    rewrite: bool = False
    min_coverage: float = 0.0  # the share of a trajectory that a model has to be shown


@dataclass(slots=True)
class SessionReport:
    """What became of one trajectory. `status`: mined, unchanged, older, left-out, failed or (for money) waiting."""

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
    dropped_claims: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Mined:
    """What one file gave. `failure` is one line naming file, place and reason.

    `signature` is the file's size and time of change before it was read: what grows meanwhile is read again.
    """

    name: str
    signature: tuple[int, int] | None = None
    sha256: str = ""
    sessions: list[SessionReport] = field(default_factory=list)
    contributions: list[SessionContribution] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failure: str | None = None
    is_foreign: bool = False
    is_empty: bool = False  # a recording without a turn, as a session that was opened and closed leaves it
    bug: str | None = None
    stopped: str | None = None  # why nothing more may be asked


def order_of(trajectory: Trajectory) -> Order:
    """Of two versions of one session the one with more turns stands, then the one with more characters.

    Of two that are as long, the digest of the recording decides, then its name: never arrival.
    """
    source = trajectory.source
    return (len(trajectory.messages), trajectory.characters(), f"{source.sha256 or ''} {source.file or ''}")


def order_on(page: Page) -> Order:
    """The same, from the first summary page of a session."""
    coverage = page.fields.get("coverage")
    characters = coverage.get("trajectory_characters") if isinstance(coverage, dict) else None
    recording = f"{page.fields.get('source_sha256') or ''} {file_on(page) or ''}"
    return (whole_number(page.fields.get("turns"), 0), whole_number(characters, 0), recording)


def file_on(page: Page) -> str | None:
    """The recording that a summary page names."""
    return next(iter(texts_of(page.fields.get("sources"))), None)


Known = Mapping[str, KnownSession]

_known_to_worker: dict[str, KnownSession] = {}


def tell_worker(known: Known) -> None:
    """Give a worker process, once at its start, what the wiki holds; every file would carry it otherwise."""
    _known_to_worker.update(known)


def mine_in_worker(assignment: Assignment) -> Mined:
    """`mine` with what `tell_worker` said."""
    return mine(assignment, _known_to_worker)


def mine(assignment: Assignment, known: Known) -> Mined:
    """Read one file and run the per-trajectory stages on each of its trajectories.

    `known`: what the wiki holds, by session id.
    """
    recording = Recording(assignment.path, assignment.name)
    mined = Mined(assignment.name)
    try:
        status = assignment.path.stat()
        mined.signature = (status.st_size, status.st_mtime_ns)
        mined.sha256 = recording.sha256()
        _mine_each(trajectories_of(recording, mined.sha256), assignment, known, mined)
        mined.is_empty = not mined.sessions
    except UnreadableRecording as error:
        mined.failure, mined.is_foreign = str(error), error.is_foreign
    except OSError as error:
        mined.failure = f"{assignment.name}: {error.strerror or error}"
        mined.signature = None  # the disk's trouble, not the file's: try again
    except RunError:
        raise
    except Exception as error:  # noqa: BLE001 - the one place where a bug in one unit must not stop the others
        mined.failure = f"{assignment.name}: bug: {type(error).__name__}: {error}"
        mined.bug = traceback.format_exc()
    mined.failure = redact_text(mined.failure)[0] if mined.failure else None  # it may quote what it could not read
    mined.warnings.extend(redact_text(warning)[0] for warning in recording.warnings)
    return mined


def _mine_each(trajectories: Iterable[Trajectory], assignment: Assignment, known: Known, mined: Mined) -> None:
    """Mine one after the other; side by side where a shared engine waits for answers, results in the same order."""
    workers = 1 if isinstance(assignment.engine, str) else getattr(assignment.engine, "concurrency", 1)
    if workers == 1:
        for trajectory in trajectories:
            _mine_one(trajectory, assignment, known.get(trajectory.session_id), mined)
        return
    running: deque[Future[Mined]] = deque()
    with ThreadPoolExecutor(workers) as threads:
        try:
            for trajectory in trajectories:
                running.append(threads.submit(_mined_one, trajectory, assignment, known))
                if len(running) >= workers:
                    _add(mined, running.popleft().result())
        finally:  # what came before a place where the file cannot be read counts
            while running:
                _add(mined, running.popleft().result())


def _mined_one(trajectory: Trajectory, assignment: Assignment, known: Known) -> Mined:
    mined = Mined(assignment.name)
    _mine_one(trajectory, assignment, known.get(trajectory.session_id), mined)
    return mined


def _add(mined: Mined, part: Mined) -> None:
    mined.sessions += part.sessions
    mined.contributions += part.contributions
    mined.bug = mined.bug or part.bug
    mined.stopped = mined.stopped or part.stopped


def trajectories_of(recording: Recording, sha256: str) -> Any:
    """Yield each trajectory of a recording, redacted, its source naming the file. Raises `UnreadableRecording`."""
    reader = reader_of(recording)
    for trajectory in reader.read(recording):
        source = trajectory.source
        _without_surrogates(trajectory)
        if reader.FORMAT != "normalized":
            source.file, source.sha256 = Path(recording.name).name, sha256
            counts = Counter(source.hygiene) + Counter(recording.hygiene)
            recording.hygiene.clear()  # what the lines had is told once, on the first trajectory
            source.hygiene = dict(sorted(counts.items()))
        redact_trajectory(trajectory)  # an envelope too: another tool may have written it
        tidy_labels(trajectory)
        yield trajectory


def _without_surrogates(trajectory: Trajectory) -> None:
    """Half characters, which JSON can spell and no file can hold, become U+FFFD before anything cites them."""
    for message in trajectory.messages:
        if message.content:
            message.content = without_surrogates(message.content)
        if message.thinking:
            message.thinking = without_surrogates(message.thinking)
        for call in message.tool_calls:
            call.arguments = without_surrogates(call.arguments)


def _mine_one(trajectory: Trajectory, assignment: Assignment, known: KnownSession | None, mined: Mined) -> None:
    try:
        _mine_known(trajectory, assignment, known, mined)
    finally:
        getattr(assignment.engine, "forget", lambda _trajectory: None)(trajectory)


def _mine_known(trajectory: Trajectory, assignment: Assignment, known: KnownSession | None, mined: Mined) -> None:
    report = _report_of(trajectory)
    mined.sessions.append(report)
    reason = left_out_reason(trajectory)
    if reason:
        report.status, report.reason = "left-out", reason
        return
    order, file = order_of(trajectory), trajectory.source.file
    if known is not None and not assignment.rewrite and is_outdone(order, file, known.order, known.file):
        report.status, report.reason = "older", OUTDONE
        return
    troubles: list[UnitError | BudgetReached] = []
    try:
        contributed = _contribution(trajectory, assignment, known, report, order, troubles)
    except (UnitError, BudgetReached) as error:
        contributed = None
        troubles = [error]
    except RunError:
        raise
    except Exception as error:  # noqa: BLE001 - as in `mine`: the other trajectories of the file go on
        report.status, report.reason = "failed", f"bug: {type(error).__name__}: {error}"
        mined.bug = traceback.format_exc()
        return
    if contributed is not None:
        mined.contributions.append(contributed)
        report.has_contributed = True
    elif not troubles:
        report.status = "unchanged"
    for trouble in troubles:
        report.status = "waiting" if isinstance(trouble, Queued | BudgetReached) else "failed"
        mined.stopped = str(trouble) if isinstance(trouble, BudgetReached) else mined.stopped
    report.reason = "; ".join(dict.fromkeys(map(str, troubles)))


OUTDONE = "the wiki holds a longer recording of this session, or another of the same length"


def is_outdone(order: Order, file: str | None, known: Order, known_file: str | None) -> bool:
    """True when the known version of a session stands against a recording of it.

    A file that has changed without growing (a price, a title at its end) replaces what it said before.
    """
    return order[:2] < known[:2] or (file != known_file and order < known)


def _report_of(trajectory: Trajectory) -> SessionReport:
    calls = paired_calls(trajectory)
    return SessionReport(
        trajectory.session_id,
        "mined",
        digest=digest(trajectory),
        turns=len(trajectory.messages),
        tool_calls=len(calls),
        errors=sum(call.has_failed() for call in calls),
        source_format=trajectory.source.format,
        hygiene=dict(trajectory.source.hygiene),
    )


def _contribution(
    trajectory: Trajectory,
    assignment: Assignment,
    known: KnownSession | None,
    report: SessionReport,
    order: Order,
    troubles: list[UnitError | BudgetReached],
) -> SessionContribution | None:
    """Run the stages that are pending; None when none is.

    A stage that gets no answer once there is a summary goes into `troubles` and stays pending; the others count.
    """
    engine = _engine(assignment.engine) if isinstance(assignment.engine, str) else assignment.engine
    templates = _templates(assignment.overrides)
    made = {stage: made_by(stage, engine, report.digest) for stage in assignment.stages}
    answered = known.answered if known else {}
    if known and summarize.STAGE in assignment.stages and trajectory.source.file != known.file:
        answered = {}  # a rival recording that outdoes the known one: also where both say the same, it is cited
    pending = [stage for stage in assignment.stages if assignment.rewrite or answered.get(stage) != made[stage]]
    if not pending:
        return None
    coverage = _coverage(trajectory, engine, assignment.min_coverage)
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
        raise UnitError(f"{trajectory.session_id}: no summary page yet; run `wiki summarize` first")
    summary = summarize.answer_of(pages)

    def learn_guidelines() -> None:
        contributed.guidelines, dropped = extract_guidelines.extract_guidelines(trajectory, summary, engine)
        report.guidelines = len(contributed.guidelines)
        report.dropped_claims += dropped

    def learn_skill() -> None:
        contributed.skills, dropped = synthesize_skill.synthesize_skill(trajectory, summary, engine, templates)
        report.skills = len(contributed.skills)
        report.dropped_claims += dropped

    further = {extract_guidelines.STAGE: learn_guidelines, synthesize_skill.STAGE: learn_skill}
    undone = _run_each({stage: run for stage, run in further.items() if stage in pending}, troubles)
    _take_back(contributed, undone)
    is_empty = contributed.summaries is None and not contributed.mined
    return None if is_empty else contributed


def _run_each(stages: Mapping[str, Callable[[], None]], troubles: list[UnitError | BudgetReached]) -> list[str]:
    """Run one stage after the other; the names of those that got no answer."""
    undone = []
    for stage, run in stages.items():
        try:
            run()
        except (UnitError, BudgetReached) as error:
            undone.append(stage)
            troubles.append(error)
    return undone


def _take_back(contributed: SessionContribution, undone: Sequence[str]) -> None:
    """A stage that got no answer is not among those that the session's first page says were done."""
    contributed.mined = [each for each in contributed.mined if each["stage"] not in undone]
    if contributed.summaries and undone:
        path, page = next(iter(contributed.summaries.items()))
        left = [each for each in page.fields.get("mined", ()) if each["stage"] not in undone]
        contributed.summaries[path] = page.with_fields({"mined": left or None})


def _coverage(trajectory: Trajectory, engine: Engine, least: float) -> Coverage:
    """How much of a trajectory the engine sees. Raises `UnitError` where that is too little, before it is asked."""
    tell = getattr(engine, "coverage", None)
    coverage: Coverage = Coverage(trajectory.characters()) if tell is None else tell(trajectory)
    if coverage.share < least:
        raise UnitError(
            f"a model would see {coverage.seen_characters:,} of {coverage.trajectory_characters:,} characters "
            f"({coverage.share:.1%}), less than --min-coverage {least:g}"
        )
    return coverage


@lru_cache(maxsize=4)
def _engine(name: str) -> Engine:
    return engine_named(name)


@lru_cache(maxsize=4)
def _templates(overrides: Path | None) -> Templates:
    return Templates(overrides)
