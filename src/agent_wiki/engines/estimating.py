"""The engine of `--estimate`: it asks nobody, and reports what each question would send if it were asked.

A prompt that the journal has an answer to is answered from there and costs nothing. Any other is answered by the
embedded engine, so that later stages get something to ask about, and reported as what the engine of the run would send:
its model, and the tokens that would be plain, written to the service's cache, or read from it. No prompt is kept.

Where several questions would be one request, that is reported once, under the stages' names joined by `+`.

A skill is asked for only where the summary says of an arc `success` or `unknown`. Where that summary is the embedded
engine's, a model's may
say so too: the question is reported as a possible one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Protocol, TypeVar, cast

from agent_wiki.asking.journal import Journal
from agent_wiki.asking.journal_lines import Record
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prompts import Prompt
from agent_wiki.engine import Answer, AnswerType, MadeWith, Question
from agent_wiki.engines.answer_text import InvalidAnswer, answer_in, form_on_trajectory, part_in
from agent_wiki.engines.asking_engine import AskingEngine
from agent_wiki.engines.cache_forecast import CacheForecast, Piece, Tokens, pieces_of
from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.engines.prompting import Prompting, PromptingEngine
from agent_wiki.engines.requests import Asking, Lifetime, Structure
from agent_wiki.engines.together import prompt_together
from agent_wiki.errors import NoAnswer, Unanswered
from agent_wiki.stages import extract_guidelines, summarize, synthesize_skill
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion
from agent_wiki.stages.synthesize_skill import SkillQuestion
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass

_UNFINISHED = ("refusal", "max_tokens", "model_context_window_exceeded")
_Other = TypeVar("_Other", bound=Answer)


State = Literal["open", "answered", "waiting", "possible"]
"""Of a question: it would be asked; the journal has its answer; a batch under way has it; it would be asked if a model
finds that a part of a session worked."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is reported of one prompt. `bytes` is its length; `usage` what the journal says was billed for it."""

    stage: str
    model: str
    state: State
    tokens: Tokens
    max_tokens: int
    bytes: int = 0
    usage: Mapping[str, int] = field(default_factory=dict)


class Count(Protocol):
    """Gives the tokens of one piece of a request's body."""

    def __call__(self, body: Mapping[str, Any], piece: Piece) -> int: ...


class EstimatingEngine(PromptingEngine):
    """Stands where the engine of the run would: same stages pending, same prompts, same order. Nothing is written.

    In: that engine, which is never asked, and is closed with this one; how the run asks; its stages; how tokens are
    counted; what takes the forecast of each prompt. `is_only_journal` answers nothing that the journal does not.
    """

    is_judge = True

    def __init__(
        self,
        real: AskingEngine,
        wiki: Path,
        asking: AskingOptions,
        stages: Sequence[str],
        count: Count,
        report: Callable[[Forecast], None],
        *,
        is_only_journal: bool = False,
    ) -> None:
        self._real = real
        self.name, self.version, self.journal = real.name, real.version, real.journal
        self.concurrency = asking.concurrency if asking.is_exact else 1
        self._prompting = Prompting(wiki, self.journal, real.table.limits, is_kept=False)
        self._lifetime: Lifetime = "1h" if asking.is_batched else "5m"
        self._together = real.stages_together
        self._puts_together = asking.is_together
        self._asked_together: set[str] = set()
        self._under_way = _under_way(self.journal, real.endpoint) if asking.is_batched else frozenset()
        self._stages = frozenset(stages)
        self._endpoint = "" if asking.is_batched else real.endpoint
        self._count, self._report = count, report
        self._is_only_journal = is_only_journal
        self._embedded = OfflineEngine()
        self._cache = CacheForecast()
        self._stood_in: set[int] = set()
        self._lock = Lock()

    def made_with(self, stage: str) -> MadeWith:
        """What the engine that would be asked answers the stage with."""
        return self._real.made_with(stage)

    def prepare(self) -> None:
        """Import what making requests needs, before threads contend for it."""
        self._real.prepare()

    def close(self) -> None:
        """Release what the engine that would be asked holds open."""
        self._real.close()

    def forget(self, trajectory: Trajectory) -> None:
        """Nothing more will be asked about it."""
        super().forget(trajectory)
        with self._lock:
            self._stood_in.discard(id(trajectory))

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The journal's answer, or the embedded engine's in its place.

        Raises `NoAnswer` where the journal's is an invalid one, as the run would without asking; `Unanswered`
        where only the journal may answer.
        """
        self._report_possible(question)
        given: list[AnswerType] = []

        def stand_in() -> AnswerType:
            if not given:  # once for all segments of a trajectory
                given.append(self._embedded.answer(question))
                self._note_stand_in(question)
            return given[0]

        def ask(prompt: Prompt, question: Question[_Other]) -> _Other:
            answer = self._journaled(prompt, question)
            if answer is not None:
                return answer
            if self._is_only_journal:
                raise Unanswered("not in the journal")
            self._report_open(prompt, question)
            return cast(_Other, stand_in())

        return self._prompting.answer(question, ask)

    def _asking(self, prompt: Prompt, answer_type: type[Answer]) -> Asking:
        model = self._real.models[prompt.stage]
        return Asking(prompt, answer_type, model, self._real.shares_prefix(prompt.stage))

    def _asking_together(self, prompt: Prompt, question: Question[Any]) -> Asking | None:
        """The request that would hold this question and others; None where it is put for itself."""
        is_together = self._puts_together or self.journal.has_together()
        if not is_together or not prompt.prefix or prompt.stage not in self._together:
            return None
        together = prompt_together(prompt, question, self._together, self._prompting.prompts)
        return Asking(together, form_on_trajectory(), self._real.models[prompt.stage], is_cached=False)

    def _structure(self, model: str) -> Structure:
        """How structure is asked for there; where that is not known yet, what is tried first."""
        known = self.journal.structure(self._endpoint, model)
        return next((each for each in self._real.structures if each == known), self._real.structures[0])

    def _journaled(self, prompt: Prompt, question: Question[AnswerType]) -> AnswerType | None:
        """What came of asking this model this before, corrections included; None when it has to be asked."""
        if self.journal.answers_to(prompt.digest):
            asking = self._asking(prompt, question.answer_type)
            for structure in self._real.structures:
                record = self._record(asking, structure)
                if record is not None:
                    return self._standing(prompt, asking.model, question.answer_type)
        together = self._asking_together(prompt, question)
        records = () if together is None else (self._record(together, structure) for structure in self._real.structures)
        parts = (part_in(str(each.get("answer")), question.answer_type) for each in records if each is not None)
        part = next((each for each in parts if each is not None), None)
        return None if part is None else _fitting(part, question.answer_type)

    def _record(self, asking: Asking, structure: Structure) -> Record | None:
        """The journal's record of the answer to a request, which is reported; None where it has none."""
        record = self.journal.answer(self._real.digest_of(asking, structure))
        if record is not None:
            usage = record.get("usage")
            size = sum(piece.bytes for piece in pieces_of(self._real.body_of(asking, structure)))
            forecast = self._forecast(asking, "answered", Tokens(), size)
            counts = usage.items() if isinstance(usage, Mapping) else ()
            self._report(replace(forecast, usage={name: count for name, count in counts if isinstance(count, int)}))
        return record

    def _standing(self, prompt: Prompt, model: str, answer_type: type[AnswerType]) -> AnswerType:
        for record in self.journal.answers_to(prompt.digest):
            if record.get("model") == (model or record.get("model")) and record.get("stop_reason") not in _UNFINISHED:
                answer = _fitting(str(record.get("answer")), answer_type)
                if answer is not None:
                    return answer
        reason = f"the journal has an answer of {model or self.name} that is not valid; it is not asked again"
        raise NoAnswer(reason)

    def _report_open(self, prompt: Prompt, question: Question[Any]) -> None:
        asking = self._asking(prompt, question.answer_type)
        together = self._asking_together(prompt, question)
        if together is not None and self._puts_together:
            digest = together.prompt.digest
            with self._lock:
                if digest in self._asked_together:
                    return
                is_first = prompt.stage == self._together[0]
                if is_first:
                    self._asked_together.add(digest)
            if is_first and not self.journal.answers_to(digest):
                asking = together
        self._report_prompt(asking, "open")

    def _report_prompt(self, asking: Asking, state: State) -> None:
        structure = self._structure(asking.model)
        if self._under_way and self._real.digest_of(asking, structure) in self._under_way:
            self._report(self._forecast(asking, "waiting", Tokens()))
            return
        body = self._real.body_of(asking, structure)
        counted = [(piece, self._count(body, piece)) for piece in pieces_of(body)]
        if state == "possible":  # nobody knows what would be in the cache then
            tokens = Tokens(plain=sum(number for _, number in counted), lifetime=self._lifetime)
        else:
            tokens = self._cache.tokens(asking.model, counted)
        size = sum(piece.bytes for piece, _ in counted)
        self._report(self._forecast(asking, state, tokens, size))

    def _forecast(self, asking: Asking, state: State, tokens: Tokens, size: int = 0) -> Forecast:
        model = asking.model or self._real.name
        return Forecast(asking.prompt.stage, model, state, tokens, asking.prompt.max_tokens, size)

    def _note_stand_in(self, question: Question[Any]) -> None:
        if question.stage == summarize.STAGE:
            with self._lock:
                self._stood_in.add(id(question.fields()["trajectory"]))

    def _report_possible(self, question: Question[Any]) -> None:
        """Of a session that failed by a summary that is not a model's: a skill may be asked for all the same."""
        is_in_one = self._puts_together and synthesize_skill.STAGE in self._together
        is_apart = synthesize_skill.STAGE in self._stages and not is_in_one
        if question.stage != extract_guidelines.STAGE or not is_apart:
            return
        asked = cast(GuidelinesQuestion, question)
        with self._lock:
            is_stand_in = id(asked.trajectory) in self._stood_in
        if is_stand_in and not synthesize_skill.may_hold_workflow(asked.summary):
            skill = SkillQuestion(asked.trajectory, asked.summary)

            def ask(prompt: Prompt, question: Question[_Other]) -> _Other:
                self._report_prompt(self._asking(prompt, question.answer_type), "possible")
                return cast(_Other, synthesize_skill.SkillsAnswer())

            self._prompting.answer(skill, ask)


def _under_way(journal: Journal, endpoint: str) -> frozenset[str]:
    """The digests of the requests that are in a batch of this endpoint, sent and not collected."""
    batches: dict[str, set[str]] = {}
    for record in journal.batch_records():
        batch = str(record.get("batch"))
        if record.get("kind") == "batch-ended":
            batches.pop(batch, None)
        elif record.get("kind") == "batch" and record.get("endpoint") == endpoint:
            batches[batch] = {str(head.get("request")) for head in record.get("requests", ())}
    return frozenset().union(*batches.values())


def _fitting(text: str, answer_type: type[AnswerType]) -> AnswerType | None:
    try:
        return answer_in(text, answer_type)
    except InvalidAnswer:
        return None
