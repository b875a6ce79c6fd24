"""What all engines share that ask by prompt: prompts, what is shown of a trajectory, and segments made one again.

Who is asked, and how, is the engine's own: it hands in `ask`, which puts one prompt and gives its answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Generic, Protocol

from agent_wiki.asking.journal import Journal
from agent_wiki.asking.previews import Limits
from agent_wiki.asking.prompts import LONG, Prompt, read_prompts, render_merging_prompt, render_prompt
from agent_wiki.asking.tool_results import ToolResults
from agent_wiki.asking.trajectory_views import TrajectoryViews
from agent_wiki.asking.transcript import Segment
from agent_wiki.engine import Account, Answer, AnswerType, BaseEngine, Coverage, Problem, Question
from agent_wiki.errors import Unanswered, UnitError
from agent_wiki.stages.order import ASKING_STAGES, SESSION_STAGES
from agent_wiki.stages.turnings import NOBODY
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass

_MOST_MERGED = 8
_MOST_AT_A_TIME = 8


class Ask(Protocol):
    """Puts one prompt; `question` has the type of the answer and, what is wrong with one."""

    def __call__(self, prompt: Prompt, question: Question[AnswerType]) -> AnswerType: ...


@dataclass(frozen=True, slots=True)
class SegmentQuestion(Generic[AnswerType]):
    """A question about one segment of its trajectory. Answers must stay within the segment."""

    whole: Question[AnswerType]
    segment: Segment

    @property
    def stage(self) -> str:
        return self.whole.stage

    @property
    def answer_type(self) -> type[AnswerType]:
        return self.whole.answer_type

    def fields(self) -> dict[str, Any]:
        return self.whole.fields()

    def problems(self, answer: AnswerType) -> list[Problem]:
        """The parts of an answer that neither the recording nor the segment supports."""
        first, last = self.segment.first, self.segment.last
        named = set(_turns_in(answer.model_dump())) - {NOBODY}
        cited = sorted(turn for turn in named if not first <= turn <= last)
        outside = (f"turn {turn} is not among the turns {first} to {last} that were shown" for turn in cited)
        return [*(Problem("", reason) for reason in outside), *self.whole.problems(answer)]


def _turns_in(value: Any) -> list[int]:
    """Every turn that an answer names, by the names under which answers have them."""
    if isinstance(value, dict):
        own = [each for name, each in value.items() if name.endswith("turn") and isinstance(each, int)]
        return own + [turn for each in value.values() for turn in _turns_in(each)]
    if isinstance(value, list):
        return [turn for each in value for turn in _turns_in(each)]
    return []


def _says_something(answer: Answer) -> bool:
    """False for an answer that finds nothing, whatever its reason: several of these are one without asking."""
    return bool(answer.model_dump(exclude_defaults=True, exclude={"reason"}))


def short_digest(value: Any) -> str:
    """Of JSON values, 12 hex digits: enough to tell versions apart."""
    return sha256_of(json.dumps(value, sort_keys=True))[:12]


def _naming(ask: Ask) -> Ask:
    """The same, but that its errors say which prompt has no answer."""

    def named(prompt: Prompt, question: Question[AnswerType]) -> AnswerType:
        try:
            return ask(prompt, question)
        except UnitError as error:
            error.stage, error.request = prompt.stage, prompt.digest
            raise

    return named


class Prompting:
    """A wiki's prompts and what its journal says was shown. `is_kept` False writes nothing, as a rehearsal needs it.

    Of the segments of a trajectory, `concurrency` are asked about at a time. Raises `RunError` for a prompt file that
    cannot be used.
    """

    def __init__(
        self, wiki: Path, journal: Journal, limits: Limits, *, is_kept: bool = True, concurrency: int = 1
    ) -> None:
        self._concurrency = min(concurrency, _MOST_AT_A_TIME)
        self._is_real = is_kept  # a rehearsal does not know what is in a segment, and counts all that may be asked
        self.prompts = read_prompts(wiki / "prompts")
        self.prompt_versions = {stage: self.prompts[stage].head.version for stage in ASKING_STAGES}
        self._views = TrajectoryViews(journal, ToolResults(wiki) if is_kept else None, limits)

    def read_for(self, stage: str) -> list[str]:
        """The digests of the prompt files that a stage's questions are made of."""
        names = (stage, LONG) if stage in SESSION_STAGES else (stage,)
        return [self.prompts[name].digest for name in names]

    def coverage(self, trajectory: Trajectory) -> Coverage:
        """How much of a trajectory a model is shown."""
        return self._views.of(trajectory).coverage

    def forget(self, trajectory: Trajectory) -> None:
        """Nothing more will be asked about it."""
        self._views.forget(trajectory)

    def answer(self, question: Question[AnswerType], ask: Ask) -> AnswerType:
        """The answer to a question: in one prompt, or in one a segment and then one that makes them one answer.

        Raises what `ask` raises, and `RunError` where a prompt or the ledger of what was shown cannot be used.
        """
        ask = _naming(ask)
        trajectory = question.fields().get("trajectory")
        if not isinstance(trajectory, Trajectory):
            return ask(render_prompt(question, self.prompts), question)
        shown = self._views.of(trajectory)
        if not shown.segments:
            return ask(render_prompt(question, self.prompts, shown.trajectory), question)
        asked = [partial(self._segment_answer, question, shown.trajectory, each, ask) for each in shown.segments]
        parts = list(zip(shown.segments, self._each(asked), strict=True))
        return self._merged(question, parts, ask)

    def _segment_answer(
        self, question: Question[AnswerType], seen: Trajectory, segment: Segment, ask: Ask
    ) -> AnswerType:
        """Rendered when it is asked, so that no more than what is under way is held."""
        prompt = render_prompt(question, self.prompts, seen, segment)
        return ask(prompt, SegmentQuestion(question, segment))

    def _merged(self, question: Question[AnswerType], parts: list[tuple[Segment, AnswerType]], ask: Ask) -> AnswerType:
        """One answer of several, a few at a time, so that no prompt grows with the trajectory."""
        while len(parts) > 1:
            groups = [parts[at : at + _MOST_MERGED] for at in range(0, len(parts), _MOST_MERGED)]
            spans = [
                Segment(group[0][0].first, group[-1][0].last, number, len(groups))
                for number, group in enumerate(groups, start=1)
            ]
            asked = [
                partial(self._merged_group, question, group, span, ask)
                for group, span in zip(groups, spans, strict=True)
            ]
            parts = list(zip(spans, self._each(asked), strict=True))
        return parts[0][1]

    def _merged_group(
        self, question: Question[AnswerType], group: list[tuple[Segment, AnswerType]], span: Segment, ask: Ask
    ) -> AnswerType:
        is_nothing = self._is_real and not any(_says_something(answer) for _, answer in group)
        if len(group) == 1 or is_nothing:
            return group[0][1]
        parts = [(segment, answer.model_dump_json(exclude_defaults=True)) for segment, answer in group]
        prompt = render_merging_prompt(question, self.prompts, parts)
        return ask(prompt, question if span.of == 1 else SegmentQuestion(question, span))

    def _each(self, asked: Sequence[Callable[[], AnswerType]]) -> list[AnswerType]:
        """Every answer, in order. One that is still to come does not keep the others from being asked for.

        Raises what the first without an answer raised. After anything but `Unanswered` nothing more is asked for.
        """
        has_failed = Event()

        def put(ask: Callable[[], AnswerType]) -> AnswerType | Unanswered | None:
            if has_failed.is_set():
                return None  # what failed is raised below
            try:
                return ask()
            except Unanswered as error:
                return error
            except BaseException:
                has_failed.set()
                raise

        if self._concurrency == 1:
            given = [put(ask) for ask in asked]
        else:
            with ThreadPoolExecutor(min(self._concurrency, len(asked))) as threads:
                given = list(threads.map(put, asked))
        for each in given:
            if isinstance(each, Unanswered):
                raise each
        return [each for each in given if each is not None and not isinstance(each, Unanswered)]


class PromptingEngine(BaseEngine):
    """An engine whose prompts show what its `_prompting` decides, and which keeps its `journal` open until its end."""

    journal: Journal
    _prompting: Prompting

    def account(self) -> Account:
        """Lines of the journal that are no records."""
        return Account(warnings=self.journal.warnings)

    def coverage(self, trajectory: Trajectory) -> Coverage:
        """How much of a trajectory a model is shown. Raises `RunError` when the whole cannot be kept beside it."""
        return self._prompting.coverage(trajectory)

    def forget(self, trajectory: Trajectory) -> None:
        """Nothing more will be asked about it."""
        self._prompting.forget(trajectory)

    def close(self) -> None:
        """Close the journal's file, if there is one."""
        self.journal.close()


def about_of(question: Question[Any]) -> tuple[str, ...]:
    """What a question is about: one session, or the guidelines or sessions that it compares."""
    fields = question.fields()
    trajectory = fields.get("trajectory")
    if isinstance(trajectory, Trajectory):
        return (trajectory.session_id,)
    if "session" in fields:
        return (fields["session"].session_id,)
    if "guidelines" in fields:
        return tuple(each.id for each in fields["guidelines"])
    return tuple(each.session_id for each in fields.get("sessions", ()))
