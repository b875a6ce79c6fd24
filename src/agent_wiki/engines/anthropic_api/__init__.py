"""The engine that asks a language model through the `anthropic` client: `--engine anthropic`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, local
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import Models, models_named, read_models
from agent_wiki.asking.prompts import LONG as LONG
from agent_wiki.asking.prompts import PromptFile as PromptFile
from agent_wiki.engine import Account, AnswerType, Progress
from agent_wiki.engines.anthropic_api.batches import BatchQueue
from agent_wiki.engines.anthropic_api.providers import provider_of
from agent_wiki.engines.anthropic_api.request import MessageRequest, prepare_schemas, request_body, request_of
from agent_wiki.engines.anthropic_api.service import NotTaken, Service
from agent_wiki.engines.asking_engine import AskingEngine, Reply, head_of
from agent_wiki.engines.requests import STRUCTURES, Asking, Lifetime, Structure
from agent_wiki.errors import NoAnswer, RunError, UsageError
from agent_wiki.stages.order import SESSION_STAGES, SUMMARIZE
from agent_wiki.trajectory import Trajectory as Trajectory

NAME = "anthropic"
_MOST_KEPT = 6


class _Requests(local):
    """The last requests of a thread: each is made once, though journal, record and service ask for it in turn."""

    def __init__(self) -> None:
        self._made: list[tuple[Asking, Structure, Lifetime, MessageRequest]] = []

    def of(self, asking: Asking, structure: Structure, lifetime: Lifetime) -> MessageRequest:
        for known, way, life, request in self._made:
            if known is asking and (way, life) == (structure, lifetime):
                return request
        request = request_of(asking, structure, lifetime)
        self._made = [*self._made[1 - _MOST_KEPT :], (asking, structure, lifetime, request)]
        return request


class AnthropicEngine(AskingEngine):
    """Asks the models that each stage is given, at a service that speaks the Messages API."""

    name = NAME

    def __init__(self, wiki: Path, asking: AskingOptions, stages: Sequence[str] = ()) -> None:
        provider = provider_of(asking)
        table = read_models(wiki, has_own_prices=provider.is_other)
        super().__init__(wiki, asking, stages, table, models_of(table, asking.models))
        for model in self.models.values():
            provider.check_model(model)
        self._service = Service(asking.base_url, table.prices, self._budget, provider)
        self.endpoint = self._service.endpoint
        self._lifetime: Lifetime = "1h" if asking.is_batched else "5m"
        self._collector = BatchQueue(self._service, self.journal, self._budget, self.spending, table.batch_factor)
        self._batches = self._collector if asking.is_batched else None
        self._cached = stages_that_share(self.models)
        self._made = _Requests()
        self._finding: dict[str, Lock] = {model: Lock() for model in self.models.values()}

    def digest_of(self, asking: Asking, structure: Structure) -> str:
        """Of the body without its cache marks, which change no answer."""
        return self._made.of(asking, structure, self._lifetime).digest

    def body_of(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:
        """The body of the request, with its cache marks."""
        return request_body(asking, structure, self._lifetime)

    def shares_prefix(self, stage: str) -> bool:
        """Whether another stage reads the same trajectory with the same model."""
        return stage in self._cached

    def account(self) -> Account:
        """What was asked, lines of the journal that are no records, and batches that are gone or under way."""
        warnings = [*self.journal.warnings, *self._collector.warnings]
        if self._batches is None:
            paid = "what this run asks is paid for besides; run with --batch to wait for it"
            warnings += [f"{line} under way: {paid}" for line in self._collector.lines()]
        batches = [] if self._batches is None else self._batches.lines()
        return Account(self.spending.by_stage(), warnings, batches)

    def require_answerer(self) -> None:
        """Raise `RunError` without a key."""
        self._service.open()

    def prepare(self) -> None:
        """Import what asking needs, before threads contend for it: that takes more than a second."""
        prepare_schemas()

    def begin_round(self) -> None:
        """Before a round of questions: collect what batches have ended. The wiki has to be locked.

        Raises `RunError`.
        """
        super().begin_round()
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

    def close(self) -> None:
        """Close the connections and the journal's file."""
        self._service.close()
        super().close()

    def _first_reply(self, asking: Asking, answer_type: type[AnswerType]) -> tuple[Structure, Reply[AnswerType]]:
        """The reply to the first request of a question, and the way in which structure was asked for.

        Which way an endpoint takes is found out once for each model: by one question, while others wait.
        """
        known = self._known_structure(asking)
        if known is not None and self.journal.answer(self.digest_of(asking, known)) is not None:
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
    ) -> tuple[Structure, Reply[AnswerType]] | None:
        """An answer that another endpoint gave, in whatever way it was asked; None where there is none that fits."""
        for structure in STRUCTURES:
            if self.journal.answer(self.digest_of(asking, structure)) is not None:
                reply = self._reply(asking, structure, answer_type)
                if reply.answer is not None:
                    return structure, reply
        return None

    def _known_structure(self, asking: Asking) -> Structure | None:
        known = self.journal.structure(self.endpoint, asking.model)
        return next((each for each in STRUCTURES if each == known), None)

    def _found_structure(self, asking: Asking, answer_type: type[AnswerType]) -> tuple[Structure, Reply[AnswerType]]:
        """Try one way after the other until an answer fits. A server may refuse a way, or take it and do nothing."""
        refused: NotTaken | None = None
        last: tuple[Structure, Reply[AnswerType]] | None = None
        for structure in STRUCTURES:
            try:
                reply = self._reply(asking, structure, answer_type)
            except NotTaken as error:
                refused = refused or error
                continue
            last = structure, reply
            if reply.answer is not None:
                found = {"endpoint": self.endpoint, "model": asking.model, "structure": structure}
                self.journal.append({"kind": "endpoint", **found})
                return last
        if last is None:
            raise refused or NoAnswer(f"{asking.model}: no answer")
        return last

    def _queue(self, asking: Asking, structure: Structure) -> None:
        if self._batches is not None:
            request = self._made.of(asking, structure, self._lifetime)
            self._batches.put(request, head_of(asking, request.digest, NAME))

    def _sent(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:
        return self._service.ask(self._made.of(asking, structure, self._lifetime))


def models_of(table: Models, words: Sequence[str]) -> dict[str, str]:
    """Stage → model, from the table and the words of `--model`. Raises `UsageError`.

    A stage that nobody names a model for is answered by the one that summarizes.
    """
    named = models_named(words, table.stages)
    reader = named[SUMMARIZE]
    if not reader:
        raise UsageError(f"models.yaml names no model for {SUMMARIZE}")
    return {stage: model or reader for stage, model in named.items()}


def stages_that_share(models: Mapping[str, str]) -> frozenset[str]:
    """The stages whose trajectory another stage reads with the same model: only there a cache mark pays."""
    names = [models[stage] for stage in SESSION_STAGES]
    return frozenset(stage for stage in SESSION_STAGES if names.count(models[stage]) > 1)
