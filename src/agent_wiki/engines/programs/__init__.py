"""Engines that are programs on this machine, one run a question: a coding agent that is logged in, or any command.

Questions, checks, corrections, journal, limits and ledger are those of every engine that has somebody asked
(`engines/asking_engine.py`); a module here says how one program is called and what its output means. What a recording
says is data to them: they have no tools, and their answer is checked as any other.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import Usage, cost_usd, models_named, read_models, worst_cost_usd
from agent_wiki.engines.asking_engine import AskingEngine
from agent_wiki.engines.programs.program import Asked, Busy, Program, Said, failure
from agent_wiki.engines.programs.running import Stop, run, scratch_folder
from agent_wiki.engines.requests import Asking, Structure
from agent_wiki.errors import Interrupted, RunError, UnitError, UsageError
from agent_wiki.trajectory.digests import sha256_of_values

_PAUSES_SECONDS = (5.0, 30.0)
_LOOK_SECONDS = 0.1
_MOST_FAILURES = 3
_OVERHEAD_TOKENS = 8_000  # what a program puts around a prompt: Codex 3,600 with all that can be switched off
_OWN_MODELS = "claude-code"  # the one whose models are those of models.yaml


class ProgramEngine(AskingEngine):
    """Asks a program. A model that nobody names is the program's own default.

    In: the program besides what every asking engine takes. Raises `UsageError` for options that programs do not have.
    """

    structures: tuple[Structure, ...] = ("prompt",)

    def __init__(self, program: Program, wiki: Path, asking: AskingOptions, stages: Sequence[str] = ()) -> None:
        _check_words(program.name, asking)
        self.name = program.name
        table = read_models(wiki)
        models = models_named(asking.models, table.stages if program.name == _OWN_MODELS else {})
        _check_names(models.values())
        super().__init__(wiki, asking, stages, table, models, (program.name, *program.marks))
        self._program = program
        self._limit_seconds = asking.answer_seconds
        self._is_limited = asking.max_usd is not None
        self._stop = Stop()
        self._checking = Lock()
        self._is_checked = False
        self._has_answered = False
        self._failures = 0

    def digest_of(self, asking: Asking, structure: Structure) -> str:  # noqa: ARG002 - there is one
        """Of the program, its words, and all it is asked."""
        prompt = asking.prompt
        rounds = [[each.answer, each.complaint] for each in asking.rounds]
        parts = [self.name, *self._program.marks, asking.model, prompt.system, prompt.text, prompt.schema, rounds]
        return sha256_of_values(parts)

    def body_of(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """The prompt with its schema. What the program adds of its own is not in it."""
        prompt = asking.prompt
        text = prompt.text + json.dumps(prompt.schema, ensure_ascii=False)
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        return {"model": asking.model or self.name, "system": prompt.system, "messages": [message]}

    def stop(self, reason: str) -> None:
        """Ask nothing more, and end the programs under way."""
        super().stop(reason)
        self._stop.reason = reason

    def require_answerer(self) -> None:
        """Raise `RunError` where the program is not installed. It is not started."""
        with scratch_folder() as folder:
            self._program.call(Asked("", "", {}, ""), folder, os.environ)

    def _sent(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:
        """The program's answer. Raises `RunError` where it has failed several times and never answered."""
        try:
            record = self._tried(asking, structure)
        except UnitError as error:
            self._failures += 1
            if not self._has_answered and self._failures >= _MOST_FAILURES:
                raise RunError(f"{error}; it has answered nothing, so the run ends") from error
            raise
        self._has_answered = True
        return record

    def _tried(self, asking: Asking, structure: Structure) -> Mapping[str, Any]:
        """The program's answer, after as many tries as its service needs."""
        worst = self._worst_usd(asking, structure)
        for pause in (*_PAUSES_SECONDS, None):
            self._budget.reserve(worst)
            cost: float | None = None
            try:
                said = self._said(asking, worst)
                cost = self._cost_usd(asking.model, said)
                return _record_of(said, cost, asking.model)
            except Busy:
                cost = 0.0
                if pause is None:
                    raise
            finally:
                self._budget.settle(worst, worst if cost is None else cost)
            self._rest(pause)
        raise AssertionError  # the last try returns or raises

    def _said(self, asking: Asking, worst_usd: float) -> Said:
        prompt = asking.prompt
        asked = Asked(
            prompt.system,
            prompt.text,
            prompt.schema,
            asking.model,
            prompt.max_tokens,
            worst_usd if self._is_limited else None,
            asking.rounds,
        )
        self._check_login()
        with scratch_folder() as folder:
            call = self._program.call(asked, folder, os.environ)
            return self._program.said(run(call, folder, self._limit_seconds, self._stop), folder)

    def _check_login(self) -> None:
        """Once, before the first question. Raises `RunError`."""
        with self._checking:
            if self._is_checked:
                return
            launch = self._program.login_check(os.environ)
            if launch is not None:
                with scratch_folder() as folder:
                    finished = run(launch, folder, self._limit_seconds, self._stop)
                said = finished.last_line()
                if finished.code and "not logged in" in f"{finished.out}{finished.err}".lower():
                    raise failure(Path(launch.words[0]).name, said)
            self._is_checked = True

    def _rest(self, seconds: float) -> None:
        """Wait before another try, unless the run is to end. Raises `Interrupted`."""
        until = time.monotonic() + seconds * random.uniform(0.8, 1.2)
        while time.monotonic() < until:
            if self._stop.reason:
                raise Interrupted(self._stop.reason)
            time.sleep(min(_LOOK_SECONDS, max(0.0, until - time.monotonic())))

    def _worst_usd(self, asking: Asking, structure: Structure) -> float:
        price = self.table.prices.get(asking.model)
        if price is None:
            return 0.0
        text = json.dumps(self.body_of(asking, structure), ensure_ascii=False)
        rounds = "".join(each.answer + each.complaint for each in asking.rounds)
        tokens = len((text + rounds).encode("utf-8", "replace")) + _OVERHEAD_TOKENS
        return worst_cost_usd(tokens, asking.prompt.max_tokens, price, is_long_lived=True)

    def _cost_usd(self, model: str, said: Said) -> float | None:
        """What an answer cost: as the program says, else by the price of a model that was named; None if unknown."""
        price = self.table.prices.get(model)
        if said.cost_usd is not None or price is None or not _is_whole(said.usage):
            return said.cost_usd
        return cost_usd(said.usage, price)


def _is_whole(usage: Usage) -> bool:
    return "input_tokens" in usage and "output_tokens" in usage


def _check_names(models: Iterable[str]) -> None:
    """Raise `UsageError` for a model whose name a program would read as an option; a cloned wiki may name models."""
    for model in models:
        if model.startswith("-"):
            raise UsageError(f"{model!r} is no name of a model")


def _record_of(said: Said, cost: float | None, named_model: str) -> dict[str, Any]:
    """What the journal keeps of an answer besides its request; what was not reported is absent."""
    record: dict[str, Any] = {"answer": said.answer, "stop_reason": said.stop_reason}
    if said.usage:
        record["usage"] = dict(said.usage)
    if cost is not None:
        record["cost_usd"] = cost
    if said.model and not named_model:
        record["model"] = said.model
    return record | ({"detail": said.detail} if said.detail else {})


def _check_words(name: str, asking: AskingOptions) -> None:
    """Raises `UsageError`."""
    if asking.base_url or asking.provider != "anthropic":
        raise UsageError(f"--base-url and --provider are for --engine anthropic: {name} asks where its own login says")
