"""The engine that asks a language model through the `anthropic` client: `--engine anthropic`.

The journal answers first; what it does not know is sent, recorded, looked at (why did the model stop?), validated, and
held against the recording. An answer that does not fit is asked for once more, one that cites what is not there at most
twice; then the stage's own check drops the claim and counts it.
"""

from __future__ import annotations

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
from agent_wiki.asking.prices import Models, read_models
from agent_wiki.asking.prompts import LONG as LONG
from agent_wiki.asking.prompts import Prompt
from agent_wiki.asking.prompts import PromptFile as PromptFile
from agent_wiki.engine import Account, AnswerType, MadeWith, Progress, Question
from agent_wiki.engines.anthropic_api.batches import BatchQueue
from agent_wiki.engines.anthropic_api.request import (
    STRUCTURES,
    Asking,
    InvalidAnswer,
    Lifetime,
    Round,
    Structure,
    answer_in,
    form_on_trajectory,
    part_in,
    parts_on_trajectory,
    prepare_schemas,
    problems_complaint,
    request_of,
    schema_complaint,
)
from agent_wiki.engines.anthropic_api.service import NotTaken, Service
from agent_wiki.engines.anthropic_api.together import prompt_together, stages_together
from agent_wiki.engines.prompting import Prompting, PromptingEngine, about_of, short_digest
from agent_wiki.errors import AnswerRejected, NoAnswer, RunError, ServiceFailed, UsageError
from agent_wiki.spending import Spending
from agent_wiki.stages.order import ASKING_STAGES, SESSION_STAGES, SUMMARIZE
from agent_wiki.trajectory import Trajectory as Trajectory
from agent_wiki.trajectory.lazily import dataclass

NAME = "anthropic"
ASKING_VERSION = 1  # raise it whenever the same question, prompt and model become another request

_MOST_INVALID = 1
_MOST_PROBLEMS = 2


@dataclass(frozen=True, slots=True)
class _Reply(Generic[AnswerType]):
    """What came of one request: an answer of the wanted type, or why there is none."""

    text: str
    answer: AnswerType | None
    reason: str = ""


class AnthropicEngine(PromptingEngine):
    """Asks the models that each stage is given. One object serves all threads of a run; close it at the end.

    `stages` are those that run: of these the questions on a trajectory are put together. `version` changes with any
    stage's prompt or model.
    """

    name = NAME
    is_paid = True
    is_judge = True  # reads what it is asked about, so that candidates need not be sure

    def __init__(self, wiki: Path, asking: AskingOptions, stages: Sequence[str] = ()) -> None:
        _check_words(asking)
        table = read_models(wiki)
        self.models = models_of(table, asking.models)
        store = JournalStore(asking.journal_store) if asking.journal_store else None
        self.journal = Journal(journal_folder(wiki) if asking.is_journaled else None, store)
        self._has_counted = False
        self._prompting = Prompting(wiki, self.journal, table.limits, concurrency=asking.concurrency)
        self.stage_versions = {
            stage: short_digest([ASKING_VERSION, *self._prompting.read_for(stage), self.models[stage]])
            for stage in ASKING_STAGES
        }
        self.version = short_digest(self.stage_versions)
        self.concurrency = asking.concurrency
        self.spending = Spending()
        self._check_prices(table, asking.max_usd)
        self._budget = budget = Budget(asking.max_usd)
        self._service = Service(asking.base_url, table.prices, budget)
        self._lifetime: Lifetime = "1h" if asking.is_batched else "5m"
        self._together = stages_together(self.models, stages)
        self._puts_together = asking.is_together
        self._collector = BatchQueue(self._service, self.journal, budget, self.spending, table.batch_factor)
        self._batches = self._collector if asking.is_batched else None
        self._cached = stages_that_share(self.models)
        self._slots = BoundedSemaphore(asking.concurrency)
        self._requests: dict[str, Lock] = {}
        self._finding: dict[str, Lock] = {model: Lock() for model in self.models.values()}

    def _check_prices(self, table: Models, max_usd: float | None) -> None:
        missing = sorted(set(self.models.values()) - table.prices.keys())
        if max_usd is not None and missing:
            raise UsageError(
                f"--max-usd needs a price for {', '.join(missing)}: put one under `prices:` of models.yaml in the wiki"
            )

    def made_with(self, stage: str) -> MadeWith:
        """The stage's model and prompt."""
        return MadeWith(self.stage_versions[stage], self.models[stage], self._prompting.prompt_versions[stage])

    def account(self) -> Account:
        """What was asked, lines of the journal that are no records, and batches that are gone or under way."""
        warnings = [*self.journal.warnings, *self._collector.warnings]
        if self._batches is None:
            paid = "what this run asks is paid for besides; run with --batch to wait for it"
            warnings += [f"{line} under way: {paid}" for line in self._collector.lines()]
        batches = [] if self._batches is None else self._batches.lines()
        return Account(self.spending.by_stage(), warnings, batches)

    def prepare(self) -> None:
        """Import what asking needs, before threads contend for it: that takes more than a second."""
        prepare_schemas()

    def begin_round(self) -> None:
        """Before a round of questions: collect what batches have ended. The wiki has to be locked.

        Raises `RunError`.
        """
        self.journal.refresh()
        if self._budget.max_usd is not None and not self._has_counted:
            self._budget.count(self.journal.spent_today_usd())
            self._has_counted = True
        if self._batches is not None:
            self._batches.begin()
        elif self.journal.batch_records():  # of runs with --batch: what has ended is paid for
            with suppress(RunError):  # this run needs no batches
                self._collector.begin()

    def end_round(self) -> None:
        """After a round of questions: send what was put into a batch."""
        if self._batches is not None:
            self._batches.end()

    def wait_for_answers(self, progress: Progress) -> bool:
        """Stay until all batches have ended; True when there were any, so that another round is worth it."""
        return self._batches is not None and self._batches.wait(progress)

    def stop(self, reason: str) -> None:
        """Send nothing more; what is under way is waited for, since it is paid for."""
        self._budget.end(reason)

    def close(self) -> None:
        """Close the connections and the journal's file."""
        self._service.close()
        super().close()

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The model's answer, valid and as far as possible supported.

        Raises `NoAnswer` and `AnswerRejected` for this question, `ServiceFailed` when it may go better next time, and
        `RunError` (`BudgetReached` among them) when asking cannot go on.
        """
        return self._prompting.answer(question, self._asked)

    def _asked(self, prompt: Prompt, question: Question[AnswerType]) -> AnswerType:
        """The answer to one prompt, after as many rounds as it takes and is worth."""
        stage = prompt.stage
        is_cached = stage in self._cached
        asking = Asking(prompt, question.answer_type, self.models[stage], is_cached, about=about_of(question))
        is_together = self._puts_together or self.journal.has_together()
        if is_together and prompt.prefix and stage in self._together:
            self._take_part(asking, question)
        structure, reply = self._first_reply(asking, question.answer_type)
        standing: AnswerType | None = None
        invalid = problems = 0
        while True:
            if reply.answer is None:
                invalid += 1
                complaint = schema_complaint(reply.reason)
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
            raise AnswerRejected(f"the answer of {asking.model} does not fit: {reply.reason}")
        return standing

    def _take_part(self, asking: Asking, question: Question[Any]) -> None:
        """Put the part for this question of an answer to several into the journal; the first of them asks for it.

        Where there is no such part the question is asked for itself.
        """
        if any(self._journaled(asking)):
            return
        prompt = prompt_together(asking.prompt, question, self._together, self._prompting.prompts)
        together = replace(asking, prompt=prompt, answer_type=form_on_trajectory(), is_cached=False)
        if self._puts_together and asking.prompt.stage == self._together[0]:
            with suppress(NoAnswer):  # then each is asked for itself
                self._first_reply(together, parts_on_trajectory())
        for structure, record in self._journaled(together):
            part = part_in(str(record.get("answer")), question.answer_type)
            if part is not None:
                taken = {"answer": part, "stop_reason": "end_turn", "of": record["request"]}
                self.journal.append({**_head_of(asking, request_of(asking, structure).digest), **taken})
                return

    def _journaled(self, asking: Asking) -> Iterator[tuple[Structure, Record]]:
        """The journal's answers to a request, by the way in which structure was asked for."""
        for structure in STRUCTURES:
            record = self.journal.answer(request_of(asking, structure).digest)
            if record is not None:
                yield structure, record

    def _first_reply(self, asking: Asking, answer_type: type[AnswerType]) -> tuple[Structure, _Reply[AnswerType]]:
        """The reply to the first request of a question, and the way in which structure was asked for.

        Which way an endpoint takes is found out once for each model: by one question, while others wait.
        """
        known = self._known_structure(asking)
        if known is not None and self.journal.answer(request_of(asking, known).digest) is not None:
            return known, self._reply(asking, known, answer_type)
        journaled = self._journaled_reply(asking, answer_type)
        if journaled is not None:
            return journaled
        if known is not None:
            return known, self._reply(asking, known, answer_type)
        if self._batches is not None:  # the services that take batches give structure
            return STRUCTURES[0], self._reply(asking, STRUCTURES[0], answer_type)
        with self._finding[asking.model]:
            known = self._known_structure(asking)
            if known is None:
                return self._found_structure(asking, answer_type)
        return known, self._reply(asking, known, answer_type)

    def _journaled_reply(
        self, asking: Asking, answer_type: type[AnswerType]
    ) -> tuple[Structure, _Reply[AnswerType]] | None:
        """An answer that another endpoint gave, in whatever way it was asked; None where there is none that fits."""
        for structure in STRUCTURES:
            if self.journal.answer(request_of(asking, structure).digest) is not None:
                reply = self._reply(asking, structure, answer_type)
                if reply.answer is not None:
                    return structure, reply
        return None

    def _known_structure(self, asking: Asking) -> Structure | None:
        known = self.journal.structure(self._service.endpoint, asking.model)
        return next((each for each in STRUCTURES if each == known), None)

    def _found_structure(self, asking: Asking, answer_type: type[AnswerType]) -> tuple[Structure, _Reply[AnswerType]]:
        """Try one way after the other until an answer fits. A server may refuse a way, or take it and do nothing."""
        refused: NotTaken | None = None
        last: tuple[Structure, _Reply[AnswerType]] | None = None
        for structure in STRUCTURES:
            try:
                reply = self._reply(asking, structure, answer_type)
            except NotTaken as error:
                refused = refused or error
                continue
            last = structure, reply
            if reply.answer is not None:
                found = {"endpoint": self._service.endpoint, "model": asking.model, "structure": structure}
                self.journal.append({"kind": "endpoint", **found})
                return last
        if last is None:
            raise refused or NoAnswer(f"{asking.model}: no answer")
        return last

    def _reply(self, asking: Asking, structure: Structure, answer_type: type[AnswerType]) -> _Reply[AnswerType]:
        """One request and what it says. Raises `NoAnswer` when the model stopped for another reason than being done."""
        record = self._record(asking, structure)
        _raise_for_stop(record, asking)
        text = str(record["answer"])
        try:
            return _Reply(text, answer_in(text, answer_type))
        except InvalidAnswer as error:
            return _Reply(text, None, str(error))

    def _record(self, asking: Asking, structure: Structure) -> Record:
        """The journal's record of the answer; asked for and written when there is none. Nothing is asked twice."""
        request = request_of(asking, structure, self._lifetime)
        digest = request.digest
        with self._requests.setdefault(digest, Lock()):
            record = self.journal.answer(digest)
            if record is not None:
                self.spending.replayed(record)
                return record
            self.journal.make_ready()
            if self._batches is not None:
                self._batches.put(request, _head_of(asking, digest))
            with self._slots:  # until it is on disk, so that no more is at risk than what may be in flight
                record = {**_head_of(asking, digest), **self._service.ask(request)}
                self.spending.paid(record)
                self.journal.append(record)
            return record


def _head_of(asking: Asking, digest: str) -> Record:
    """What a record of an answer says of its request."""
    stage = asking.prompt.stage
    return {
        "kind": "answer",
        "request": digest,
        "prompt": asking.prompt.digest,
        "stage": stage,
        "model": asking.model,
        "about": list(asking.about),
    }


def _raise_for_stop(record: Mapping[str, Any], asking: Asking) -> None:
    reason = record.get("stop_reason")
    model = asking.model
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


def models_of(table: Models, words: Sequence[str]) -> dict[str, str]:
    """Stage → model, from the table and the words of `--model`. Raises `UsageError`.

    A stage that nobody names a model for is answered by the one that summarizes.
    """
    named = dict(table.stages)
    by_stage: dict[str, str] = {}
    for word in words:
        stage, separator, model = word.partition("=")
        if separator and stage in ASKING_STAGES and model:
            by_stage[stage] = model
        elif not separator and word:
            named = dict.fromkeys(ASKING_STAGES, word)
        else:
            raise UsageError(
                f"--model {word!r}: a model's name, or STAGE=NAME with a stage of {', '.join(ASKING_STAGES)}"
            )
    named.update(by_stage)
    reader = named.get(SUMMARIZE)
    if not reader:
        raise UsageError(f"models.yaml names no model for {SUMMARIZE}")
    return {stage: named.get(stage) or reader for stage in ASKING_STAGES}


def stages_that_share(models: Mapping[str, str]) -> frozenset[str]:
    """The stages whose trajectory another stage reads with the same model: only there a cache mark pays."""
    names = [models[stage] for stage in SESSION_STAGES]
    return frozenset(stage for stage in SESSION_STAGES if names.count(models[stage]) > 1)
