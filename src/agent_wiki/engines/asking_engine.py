"""What all engines share that have somebody asked: rounds of questions, the journal, what was spent, and the limits.

The journal answers first; what it does not know is sent, recorded, looked at (why did the model stop?), validated, and
held against the recording. An answer that does not fit is asked for once more, one that cites what is not there at most
twice; then the stage's own check drops the claim and counts it. How a request is sent is the engine's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any, Generic

from agent_wiki.asking.budget import Budget
from agent_wiki.asking.journal import Journal, journal_folder
from agent_wiki.asking.journal_lines import Record
from agent_wiki.asking.journal_store import JournalStore
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import Models
from agent_wiki.asking.prompts import Prompt
from agent_wiki.engine import Account, AnswerType, MadeWith, Question
from agent_wiki.engines.answer_text import (
    InvalidAnswer,
    answer_in,
    besides_schema,
    form_on_trajectory,
    part_in,
    parts_on_trajectory,
    problems_complaint,
    schema_complaint,
)
from agent_wiki.engines.prompting import Prompting, PromptingEngine, about_of, short_digest
from agent_wiki.engines.requests import STRUCTURES, Asking, Round, Structure
from agent_wiki.engines.together import prompt_together, stages_together
from agent_wiki.errors import AnswerRejected, NoAnswer, ServiceFailed, UsageError
from agent_wiki.spending import Spending
from agent_wiki.stages.order import ASKING_STAGES
from agent_wiki.trajectory.lazily import dataclass

ASKING_VERSION = 1  # raise it whenever the same question, prompt and model become another request

_MOST_INVALID = 1
_MOST_PROBLEMS = 2


@dataclass(frozen=True, slots=True)
class Reply(Generic[AnswerType]):
    """What came of one request: an answer of the wanted type, or why there is none."""

    text: str
    answer: AnswerType | None
    reason: str = ""


class AskingEngine(PromptingEngine):
    """Asks the models that each stage is given. One object serves all threads of a run; close it at the end.

    In: `models` by stage, "" for whichever answers by default; the stages that run, for of these the questions on a
    trajectory are put together; `marks`, what decides an answer besides prompts and models. `version` changes with any
    stage's prompt or model. Raises `UsageError` for a limit in dollars where a model has no price.
    """

    is_paid = True
    is_judge = True  # reads what it is asked about, so that candidates need not be sure
    structures: tuple[Structure, ...] = STRUCTURES
    endpoint = ""
    """The address that is asked, for what a journal knows by it; "" without one."""

    def __init__(
        self,
        wiki: Path,
        asking: AskingOptions,
        stages: Sequence[str],
        table: Models,
        models: Mapping[str, str],
        marks: Sequence[str] = (),
    ) -> None:
        _check_words(asking)
        self.models = models
        self.table = table
        store = JournalStore(asking.journal_store) if asking.journal_store else None
        self.journal = Journal(journal_folder(wiki) if asking.is_journaled else None, store)
        self._has_counted = False
        self._prompting = Prompting(wiki, self.journal, table.limits, concurrency=asking.concurrency)
        self.stage_versions = {
            stage: short_digest([ASKING_VERSION, *self._prompting.read_for(stage), models[stage], *marks])
            for stage in ASKING_STAGES
        }
        self.version = short_digest(self.stage_versions)
        self.concurrency = asking.concurrency
        self.spending = Spending()
        self._check_prices(table, asking.max_usd)
        self._budget = asking.budget or Budget(asking.max_usd, asking.max_calls)
        self.stages_together = stages_together(models, stages)
        self._puts_together = asking.is_together
        self._slots = BoundedSemaphore(asking.concurrency)
        self._requests: dict[str, Lock] = {}

    @abstractmethod
    def digest_of(self, asking: Asking, structure: Structure) -> str:
        """What the journal knows a request by: `sha256:…` of all that decides its answer."""

    @abstractmethod
    def body_of(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:
        """The body of a request as the Messages API has it, for counting tokens."""

    @abstractmethod
    def _sent(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:
        """Send one request, within the limits. Out: `answer` (text), `stop_reason`, `detail`, `usage`, `cost_usd`.

        What is unknown is absent. Raises `NoAnswer`, `ServiceFailed` and `RunError`.
        """

    def require_answerer(self) -> None:
        """Raise `RunError` where it is known without a question that none can be answered: no key, no such program."""

    def shares_prefix(self, stage: str) -> bool:  # noqa: ARG002 - the same for all stages
        """Whether another stage reads the same trajectory with the same model, so that a cache mark pays."""
        return False

    def _queue(self, asking: Asking, structure: Structure) -> None:
        """Where requests are not sent at once: raises `Queued`."""

    def _check_prices(self, table: Models, max_usd: float | None) -> None:
        missing = sorted({model or f"the default of --engine {self.name}" for model in self.models.values()
                          if model not in table.prices})  # fmt: skip
        if max_usd is not None and missing:
            raise UsageError(
                f"--max-usd needs a price for {', '.join(missing)}: name a --model and put its price under `prices:` "
                "of models.yaml in the wiki, or count calls with --max-calls"
            )

    def made_with(self, stage: str) -> MadeWith:
        """The stage's model and prompt."""
        model = self.models[stage] or None
        return MadeWith(self.stage_versions[stage], model, self._prompting.prompt_versions[stage])

    def account(self) -> Account:
        """What was asked, and lines of the journal that are no records."""
        return Account(self.spending.by_stage(), self.journal.warnings)

    def begin_round(self) -> None:
        """Before a round of questions: know what others wrote meanwhile. The wiki has to be locked."""
        self.journal.refresh()
        if self._budget.max_usd is not None and not self._has_counted:
            self._budget.count(self.journal.spent_today_usd())
            self._has_counted = True

    def stop(self, reason: str) -> None:
        """Send nothing more; what is under way is waited for, since it is paid for."""
        self._budget.end(reason)

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The model's answer, valid and as far as possible supported.

        Raises `NoAnswer` and `AnswerRejected` for this question, `ServiceFailed` when it may go better next time, and
        `RunError` (`BudgetReached` among them) when asking cannot go on.
        """
        return self._prompting.answer(question, self._asked)

    def _asked(self, prompt: Prompt, question: Question[AnswerType]) -> AnswerType:
        """The answer to one prompt, after as many rounds as it takes and is worth."""
        stage = prompt.stage
        is_cached = self.shares_prefix(stage)
        asking = Asking(prompt, question.answer_type, self.models[stage], is_cached, about=about_of(question))
        is_together = self._puts_together or self.journal.has_together()
        if is_together and prompt.prefix and stage in self.stages_together:
            self._take_part(asking, question)
        structure, reply = self._first_reply(asking, question.answer_type)
        standing: AnswerType | None = None
        invalid = problems = 0
        while True:
            if reply.answer is None:
                invalid += 1
                complaint = schema_complaint(reply.reason, besides_schema(reply.text, question))
            else:
                standing = reply.answer
                found = question.problems(standing)
                problems += bool(found)
                complaint = problems_complaint([str(each) for each in found])
                if not found or problems > _MOST_PROBLEMS:
                    return standing
            if invalid > _MOST_INVALID:
                break
            asking = replace(asking, rounds=(*asking.rounds, Round(reply.text, complaint)))
            try:
                reply = self._reply(asking, structure, question.answer_type)
            except (NoAnswer, ServiceFailed):
                if standing is None:
                    raise
                return standing  # paid for, and its check drops invalid parts
        if standing is None:
            raise AnswerRejected(f"the answer of {asking.model or self.name} does not fit: {reply.reason}")
        return standing

    def _take_part(self, asking: Asking, question: Question[Any]) -> None:
        """Put the part for this question of an answer to several into the journal; the first of them asks for it.

        Where there is no such part the question is asked for itself.
        """
        if any(self._journaled(asking)):
            return
        prompt = prompt_together(asking.prompt, question, self.stages_together, self._prompting.prompts)
        together = replace(asking, prompt=prompt, answer_type=form_on_trajectory(), is_cached=False)
        if self._puts_together and asking.prompt.stage == self.stages_together[0]:
            with suppress(NoAnswer):  # then each is asked for itself
                self._first_reply(together, parts_on_trajectory())
        for structure, record in self._journaled(together):
            part = part_in(str(record.get("answer")), question.answer_type)
            if part is not None:
                head = head_of(asking, self.digest_of(asking, structure), str(record.get("model")))
                self.journal.append({**head, "answer": part, "stop_reason": "end_turn", "of": record["request"]})
                return

    def _journaled(self, asking: Asking) -> Iterator[tuple[Structure, Record]]:
        """The journal's answers to a request, by the way in which structure was asked for."""
        for structure in self.structures:
            record = self.journal.answer(self.digest_of(asking, structure))
            if record is not None:
                yield structure, record

    def _first_reply(self, asking: Asking, answer_type: type[AnswerType]) -> tuple[Structure, Reply[AnswerType]]:
        """The reply to the first request of a question, and the way in which structure was asked for."""
        structure = self.structures[0]
        return structure, self._reply(asking, structure, answer_type)

    def _reply(self, asking: Asking, structure: Structure, answer_type: type[AnswerType]) -> Reply[AnswerType]:
        """One request and what it says. Raises `NoAnswer` when the model stopped for another reason than being done."""
        record = self._record(asking, structure)
        raise_for_stop(record, asking)
        text = str(record["answer"])
        try:
            return Reply(text, answer_in(text, answer_type))
        except InvalidAnswer as error:
            return Reply(text, None, str(error))

    def _record(self, asking: Asking, structure: Structure) -> Record:
        """The journal's record of the answer; asked for and written when there is none. Nothing is asked twice."""
        digest = self.digest_of(asking, structure)
        with self._requests.setdefault(digest, Lock()):
            record = self.journal.answer(digest)
            if record is not None:
                self.spending.replayed(record)
                return record
            self.journal.make_ready()
            self._queue(asking, structure)
            with self._slots:  # until it is on disk, so that no more is at risk than what may be in flight
                record = {**head_of(asking, digest, self.name), **self._sent(asking, structure)}
                self.spending.paid(record)
                return self.journal.append(record)


def head_of(asking: Asking, digest: str, default_model: str) -> Record:
    """What a record of an answer says of its request; `default_model` stands where no model was named."""
    return {
        "kind": "answer",
        "request": digest,
        "prompt": asking.prompt.digest,
        "stage": asking.prompt.stage,
        "model": asking.model or default_model,
        "about": list(asking.about),
    }


def raise_for_stop(record: Mapping[str, Any], asking: Asking) -> None:
    """Raises `NoAnswer` where a model stopped for another reason than being done."""
    reason = record.get("stop_reason")
    model = asking.model or record.get("model")
    if reason == "refusal":
        raise NoAnswer(f"{model} refused to answer ({record.get('detail') or 'no reason given'})")
    if reason == "max_tokens":
        raise NoAnswer(f"the answer of {model} was cut off at {asking.prompt.max_tokens} tokens")
    if reason == "model_context_window_exceeded":
        raise NoAnswer(f"the trajectory does not fit the context window of {model}")


def _check_words(asking: AskingOptions) -> None:
    """Raises `UsageError` for options that do not go together."""
    if asking.is_batched and not asking.is_journaled:
        raise UsageError("--batch without a journal: nobody would remember what was paid for; leave out --no-journal")
    if asking.journal_store and not asking.is_journaled:
        raise UsageError("--journal-store keeps the journal in a bucket; leave out --no-journal")
    if asking.is_waiting and not asking.is_batched:
        raise UsageError("--wait waits for batches: say --batch as well")
