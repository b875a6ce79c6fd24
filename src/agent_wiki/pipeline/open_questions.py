"""The prompt of one question, and which question is meant: found by rehearsing the run that would ask it.

A rehearsal is a dry run with the engine that answers from the journal. It sees every prompt of such a run, so a
worklist, a printed prompt and an applied answer concern exactly the same questions as `wiki ingest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agent_wiki.asking.journal import is_of_several
from agent_wiki.engine import Answer, no_progress
from agent_wiki.engines.recorded import ObservedPrompt, RecordedEngine
from agent_wiki.errors import Unanswered, UnitError, UsageError
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.known_recordings import KnownRecordings, is_named
from agent_wiki.pipeline.report import SHORT_DIGEST, Failure, Note, Report
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.stages.order import ALL_STAGES, ASKING_STAGES, CORPUS_STAGES, SESSION_STAGES, STAGES
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.store import WikiFolder

_KINDS: dict[str, tuple[str, type[Answer]]] = {
    kind: (stage.name, answer_type) for stage in STAGES for kind, answer_type in stage.questions.items()
}
TOGETHER = "together"
NAMES = (*ASKING_STAGES, *_KINDS, TOGETHER)
"""What a question's stage may be called: the stages, the kinds of pages they make, and all on a recording at once."""

_MOST_HEARD = 64
_MOST_NAMED = 5
_NOTHING_ASKED = {stage.name: f"nothing is asked there; {stage.only_after}" for stage in STAGES if stage.only_after}


class NoSuchQuestion(UnitError):
    """The request matches no question, or more than one; `str()` is one line that says what to do."""


class AmbiguousQuestion(NoSuchQuestion):
    """The request matches more than one question, of which only the caller can say which is meant."""


@dataclass(frozen=True, slots=True)
class QuestionSelector:
    """Which question is meant: by name (one of `NAMES`, "" for any), recording, session, or request.

    `request` is the digest of its prompt or the beginning of that.
    """

    name: str = ""
    recording: RecordingPath | None = None
    session: str = ""
    request: str = ""

    def __post_init__(self) -> None:
        if self.name and self.name not in NAMES:
            raise UsageError(f"no stage {self.name!r}; there is {', '.join(NAMES)}")

    @property
    def stage(self) -> str:
        """The stage's own name; "" where none was named, or several."""
        return _KINDS[self.name][0] if self.name in _KINDS else self.name if self.name in ASKING_STAGES else ""

    def is_met_by(self, asked: ObservedPrompt) -> bool:
        """True when this is a question of the kind, about the session and with the digest that is wanted."""
        if self.request and not is_named(asked.prompt.digest, self.request):
            return False
        if self.name == TOGETHER and not (is_of_several(asked.prompt.stage) or makes_one(asked)):
            return False
        if self.name not in ("", TOGETHER) and is_of_several(asked.prompt.stage):
            return False
        if self.name in _KINDS and asked.question.answer_type is not _KINDS[self.name][1]:
            return False
        if self.session and asked.about != (self.session,):
            return False
        return not self.stage or asked.prompt.stage == self.stage


@dataclass(frozen=True, slots=True)
class Found:
    """A question, and the run that asks it: over these recordings, in these stages, and whether it asks again.

    `opened` are the requests that were heard to be open besides, and `others` how many of these were wanted as well.
    """

    asked: ObservedPrompt
    recordings: tuple[RecordingPath, ...]
    stages: tuple[str, ...]
    is_rewrite: bool
    opened: frozenset[str] = frozenset()
    others: int = 0

    @property
    def session(self) -> str:
        """The session that the question is about; "" where it is about several pages."""
        return self.asked.about[0] if self.asked.question.stage in SESSION_STAGES else ""


def makes_one(asked: ObservedPrompt) -> bool:
    """Whether a question makes the answers on the segments of a session one: it shows these, not the recording."""
    return asked.prompt.stage in SESSION_STAGES and not asked.prompt.prefix


def kind_of_question(asked: ObservedPrompt) -> str:
    """What an answer becomes: a summary, guidelines, a skill, a cluster, a task or a subtask."""
    kinds = (kind for kind, (_, answer_type) in _KINDS.items() if asked.question.answer_type is answer_type)
    return next(kinds, asked.prompt.stage)


def rehearse(
    wiki: Path,
    recordings: Sequence[RecordingPath],
    stages: tuple[str, ...],
    listener: Callable[[ObservedPrompt], None],
    *,
    is_rewrite: bool = False,
    is_kept: bool = False,
    hears_together: bool = False,
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> Report:
    """Run the stages without writing a page; `listener` is called with what is asked. Out: the run's report.

    With `hears_together` it is also called with the prompts that would put all questions on a recording at once. With
    `is_kept` long texts that the prompts show previews of are put on disk and into the journal. Raises `RunError`.
    """
    engine = RecordedEngine(wiki, is_kept=is_kept, listener=listener, hears_together=hears_together)
    report = Report("rehearsal", str(wiki), is_dry_run=True)
    options = Options(wiki, stages=stages, engine=engine, rewrite=is_rewrite, dry_run=True, selection=selection)
    try:
        return run(recordings, options, report, no_progress)
    finally:
        engine.close()


def other_failures(report: Report) -> list[Failure]:
    """What went wrong in a run besides questions that have no answer."""
    return [failure for failure in report.failures if failure.kind != Unanswered.kind]


def printed(wiki: Path, wanted: QuestionSelector) -> Found:
    """The question to print, the first open one where several are. What it shows of long texts is put on disk.

    Raises `NoSuchQuestion` and `RunError`.
    """
    folder = WikiFolder(wiki)
    with folder.locked(with_runs=True):
        found = found_question(wiki, wanted, is_first_enough=True)
        if wanted.recording is not None:
            known = KnownRecordings.load(folder)
            known.note([wanted.recording], {found.asked.prompt.digest: wanted.recording})
    return found


def found_question(wiki: Path, wanted: QuestionSelector, *, is_first_enough: bool = False) -> Found:
    """The question that is wanted, with the run that asks it, answered or not. The caller holds the wiki.

    Where several are open, the first is taken if that is enough. Raises `NoSuchQuestion` and `RunError`.
    """
    if not wanted.name and not wanted.request:
        raise UsageError("name the stage and the recording, or the question by --request")
    known = KnownRecordings.load(WikiFolder(wiki))
    recording = wanted.recording or (known.of_request(wanted.request) if wanted.request else None)
    reasons: list[str] = []
    for recordings, stages, is_rewrite in _rehearsals(wanted, recording, known):
        heard: dict[str, ObservedPrompt] = {}
        opened: set[str] = set()

        def listen(asked: ObservedPrompt, heard: dict[str, ObservedPrompt] = heard, opened: set[str] = opened) -> None:
            if not asked.is_answered:
                opened.add(asked.prompt.digest)
            if wanted.is_met_by(asked) and len(heard) < _MOST_HEARD:
                heard.setdefault(asked.prompt.digest, asked)

        paths = tuple(recordings)
        report = rehearse(wiki, paths, stages, listen, is_rewrite=is_rewrite, is_kept=True, hears_together=True)
        entries: list[Failure | Note] = [*other_failures(report), *report.left_out]
        reasons += [str(each) for each in entries if wanted.session in ("", each.unit)]
        if heard:
            asked = _one_of(list(heard.values()), wanted, is_first_enough=is_first_enough)
            others = sum(not each.is_answered for each in heard.values() if each is not asked)
            return Found(asked, paths, stages, is_rewrite, frozenset(opened), others)
        if reasons and recording is not None:
            break  # left out, older than what the wiki holds, or not to be read: asking again would hide that
    raise NoSuchQuestion(_why_none(wanted, recording, reasons))


Rehearsal = tuple[Sequence[RecordingPath], tuple[str, ...], bool]


def _rehearsals(
    wanted: QuestionSelector, recording: RecordingPath | None, known: KnownRecordings
) -> Iterator[Rehearsal]:
    """The runs in which the question may be asked, the likeliest first: recordings, stages, whether all is asked again.

    What is open is asked by a run as it is; what was answered and written is asked by a run that asks again. A later
    stage is then asked from the summary page that is there, whoever wrote it.
    """
    if wanted.stage in CORPUS_STAGES or (not wanted.stage and recording is None):
        stages = (wanted.stage,) if wanted.stage else CORPUS_STAGES
        yield (), stages, False
        yield known.existing(), ALL_STAGES, False
        if wanted.request:
            yield (), stages, True
        return
    recordings = [recording] if recording is not None else known.existing()
    yield recordings, SESSION_STAGES, False
    if recording is not None or wanted.session or wanted.request:
        yield recordings, (wanted.stage,) if wanted.stage else SESSION_STAGES, True


def _one_of(heard: Sequence[ObservedPrompt], wanted: QuestionSelector, *, is_first_enough: bool) -> ObservedPrompt:
    """The one that is meant: of open ones and answered ones an open one; of several the first, if that is enough."""
    name = wanted.name or "question"
    opened = [asked for asked in heard if not asked.is_answered]
    candidates = opened or list(heard)
    abouts = list(dict.fromkeys(asked.about for asked in candidates))
    stages = {asked.question.stage for asked in candidates}
    is_of_one_session = len(abouts) == 1 and stages <= set(SESSION_STAGES)
    if not opened and is_of_one_session:
        return candidates[-1]  # of segments that are all answered, what makes them one answer comes last
    if len(candidates) == 1 or (is_first_enough and (is_of_one_session or stages <= set(CORPUS_STAGES))):
        return candidates[0]
    if len(abouts) > 1 and stages <= set(SESSION_STAGES):
        named = ", ".join(about[0] for about in abouts[:_MOST_NAMED])
        raise AmbiguousQuestion(f"{name}: it is asked of {len(abouts)} sessions; choose one with --session: {named}")
    named = ", ".join(asked.prompt.digest[:SHORT_DIGEST] for asked in candidates[:_MOST_NAMED])
    raise AmbiguousQuestion(
        f"{name}: {len(candidates)} questions are open; name one by --request, as its prompt does: {named}"
    )


def _why_none(wanted: QuestionSelector, recording: RecordingPath | None, reasons: Sequence[str]) -> str:
    name = wanted.name or "question"
    if wanted.request:
        return f"{name}: no open question has the request {wanted.request}; see `wiki worklist`"
    if wanted.stage in CORPUS_STAGES:
        return f"{name}: no question is open; an answered one is named by --request"
    place = f" of {recording}" if recording is not None else ""
    whose = f" on session {wanted.session}" if wanted.session else ""
    said = (each.removeprefix(f"{recording}: ") for each in reasons)
    why = "; ".join(dict.fromkeys(said)) or _NOTHING_ASKED.get(wanted.stage, "nothing is asked there")
    return f"{name}: no question{place}{whose}: {why}; see `wiki worklist`"
