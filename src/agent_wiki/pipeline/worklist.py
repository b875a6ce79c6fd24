"""The open questions of a wiki in a fixed order: those on sessions by stage, then those that span sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from agent_wiki.engines.prompting import SegmentQuestion
from agent_wiki.engines.recorded import ObservedPrompt
from agent_wiki.errors import PartOfRecording, UsageError
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.pipeline.open_questions import kind_of_question, makes_one, other_failures, rehearse
from agent_wiki.pipeline.prompt_files import PromptFolder, prompt_file_name
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.session_stages import order_of
from agent_wiki.readers.buckets import path_of_listed
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.stages.order import ALL_STAGES, SESSION_STAGES
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import INDEX
from agent_wiki.wiki.records import Order
from agent_wiki.wiki.store import WikiFolder

Part = Literal["whole", "segment", "merge"]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """One line of a worklist. `recording` is None where a question is about several sessions.

    `part` says whether it asks about a whole session, about one segment of a long one, or has the answers on segments
    made one; the next four are which segment (from 1) of how many, and its turns. `tokens` are estimated by length.
    """

    stage: str
    kind: str
    request: str
    about: tuple[str, ...]
    recording: str | None = None
    part: Part = "whole"
    segment: int | None = None
    segments: int | None = None
    first_turn: int | None = None
    last_turn: int | None = None
    characters: int = 0
    tokens: int = 0
    file: str | None = None

    @classmethod
    def of(cls, asked: ObservedPrompt) -> OpenQuestion:
        """The question that a run was heard to ask; the recording is not known yet."""
        prompt = asked.prompt
        head = cls(prompt.stage, kind_of_question(asked), prompt.digest, asked.about)
        sized = replace(head, part=_part(asked), characters=len(prompt.whole_text), tokens=prompt.estimated_tokens)
        if not isinstance(asked.question, SegmentQuestion):
            return sized
        at = asked.question.segment
        return replace(sized, segment=at.number, segments=at.of, first_turn=at.first, last_turn=at.last)

    @property
    def spans_sessions(self) -> bool:
        """Whether it compares sessions or guidelines, and changes with each further session."""
        return self.stage not in SESSION_STAGES


def _part(asked: ObservedPrompt) -> Part:
    if makes_one(asked):
        return "merge"
    return "segment" if isinstance(asked.question, SegmentQuestion) else "whole"


@dataclass(frozen=True, slots=True)
class Worklist:
    """The open questions, those of one session first, and what could not be read. `more` are open besides."""

    questions: tuple[OpenQuestion, ...]
    problems: tuple[Failure, ...]
    more: int = 0


def worklist(
    wiki: Path,
    recordings: Sequence[RecordingPath] = (),
    selection: Selection | None = None,
    prompts: PromptFolder | None = None,
    most: int | None = None,
) -> Worklist:
    """What is still to be answered on recordings, by default on all that the wiki knows, and on the wiki as a whole.

    At most the first `most`. With `prompts` each of them is written into a file there. Raises `RunError`, also where
    there is neither a wiki nor a recording: that nothing is open there would be no answer. What an earlier run found
    beside recordings is named by nobody, and no problem.
    """
    folder = WikiFolder(wiki)
    if not (recordings or (wiki / INDEX).exists() or KnownRecordings.load(folder).existing()):
        raise UsageError(f"{wiki}: no wiki here that knows recordings; name some: wiki worklist PATH")
    with folder.locked(with_runs=True):
        known = KnownRecordings.load(folder)
        heard: list[OpenQuestion] = []
        versions = _Versions()

        def listen(asked: ObservedPrompt) -> None:
            versions.note(asked)
            if not asked.is_answered:
                heard.append(OpenQuestion.of(asked))
                if prompts is not None:
                    prompts.put(asked)

        named = recordings or known.existing()
        is_dry_run = prompts is not None and prompts.is_dry_run
        is_kept = prompts is not None and not is_dry_run
        report = rehearse(wiki, named, ALL_STAGES, listen, is_kept=is_kept, selection=selection or Selection())
        opened = in_order(_with_recordings(versions.kept(heard), report))
        if not is_dry_run:
            known.note(recordings, {each.request: path_of_listed(each.recording) for each in opened if each.recording})
    listed = opened[:most]
    if prompts is not None:
        listed = [replace(each, file=prompt_file_name(each.stage, each.request)) for each in listed]
        prompts.finish(listed, opened[len(listed) :])
    problems = [each for each in other_failures(report) if recordings or each.kind != PartOfRecording.kind]
    return Worklist(tuple(listed), tuple(problems), len(opened) - len(listed))


class _Versions:
    """Of a session that several recordings hold only the version that the wiki will keep is worth an answer."""

    def __init__(self) -> None:
        self._orders: dict[str, Order] = {}
        self._best: dict[str, Order] = {}

    def note(self, asked: ObservedPrompt) -> None:
        """Remember which version of a session a question is about."""
        trajectory = asked.question.fields().get("trajectory")
        if isinstance(trajectory, Trajectory):
            order = self._orders[asked.prompt.digest] = order_of(trajectory)
            (session_id,) = asked.about
            self._best[session_id] = max(order, self._best.get(session_id, order))

    def kept(self, questions: Iterable[OpenQuestion]) -> list[OpenQuestion]:
        """The questions that are about the version which is kept, or about no single session."""
        orders, best = self._orders, self._best
        return [each for each in questions if each.request not in orders or orders[each.request] == best[each.about[0]]]


def in_order(questions: Iterable[OpenQuestion]) -> list[OpenQuestion]:
    """Questions by stage, in the order of the stages; of one stage as they were asked."""
    return sorted(questions, key=lambda each: ALL_STAGES.index(each.stage))


def _with_recordings(heard: Sequence[OpenQuestion], report: Report) -> list[OpenQuestion]:
    """The questions, each once, with the recordings they are about, which the run's report names.

    Of a session that is read in segments the report has the first open question only.
    """
    of_request = {failure.request: failure.recording for failure in report.failures if failure.request}
    of_session = {failure.unit: failure.recording for failure in report.failures if failure.request}
    distinct = {each.request: each for each in heard}
    return [
        each
        if each.spans_sessions
        else replace(each, recording=of_request.get(each.request) or of_session.get(each.about[0]))
        for each in distinct.values()
    ]
