"""What a stage asks and who may answer: the one edge through which every engine is reached.

A stage makes a `Question`, an engine gives an answer of the type the question names, the stage checks it.
Stages, checks and pages do not know which engine answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_wiki.errors import AnswerRejected
from agent_wiki.redaction.values import redact_value
from agent_wiki.spending import Totals
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass

Progress = Callable[[str, int, int], None]
"""How far a run is: called with (what, done, of)."""


def no_progress(_what: str, _done: int, _of: int) -> None:
    """The progress of a run that nobody watches."""


class Answer(BaseModel):
    """Base of what an engine may say. Field descriptions are part of the request a model reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)


AnswerType = TypeVar("AnswerType", bound=Answer)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an answer: the field or the part, and one sentence. `str()` is one line.

    `is_on_citation` says that a turn is cited that is not there, or a quote that is not verbatim.
    """

    place: str
    reason: str
    is_on_citation: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason


class Question(Protocol, Generic[AnswerType]):
    """One question of one stage."""

    @property
    def stage(self) -> str: ...

    @property
    def answer_type(self) -> type[AnswerType]:
        """The schema of the answer."""

    def fields(self) -> dict[str, Any]:
        """What a prompt may show."""

    def problems(self, answer: AnswerType) -> list[Problem]:
        """What the stage would reject or drop of an answer, so that whoever answers can correct it."""


@dataclass(frozen=True, slots=True)
class MadeWith:
    """What an engine answers a stage with. Pages are made again when `version` changes; the rest is for readers.

    `question` is the digest of the prompt that was answered, where that is known.
    """

    version: str
    model: str | None = None
    prompt_version: int | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an engine saw of a trajectory, in characters of content, thinking and call arguments."""

    trajectory_characters: int
    elided_characters: int = 0

    @property
    def seen_characters(self) -> int:
        return self.trajectory_characters - self.elided_characters

    @property
    def share(self) -> float:
        """Seen over all, 1.0 for an empty trajectory."""
        return self.seen_characters / self.trajectory_characters if self.trajectory_characters else 1.0

    def to_json(self) -> dict[str, int]:
        """As summary pages and reports have it."""
        return {
            "trajectory_characters": self.trajectory_characters,
            "seen_characters": self.seen_characters,
            "elided_characters": self.elided_characters,
        }


@dataclass(frozen=True, slots=True)
class Account:
    """What an engine has to say at the end of a run.

    `spent` is what was asked of a service, by stage; None where there is none. `warnings` and `batches` are lines: what
    went wrong without harm to an answer, and which requests are under way after the run.
    """

    spent: Mapping[str, Totals] | None = None
    warnings: Sequence[str] = ()
    batches: Sequence[str] = ()


@runtime_checkable
class Engine(Protocol):
    """Answers questions. All that a run asks of an engine is here; `BaseEngine` has all but the first three members.

    Of an engine whose `concurrency` is 1 each worker process makes its own, by name. Any other is one object that all
    threads of a run share.
    """

    @property
    def name(self) -> str:
        """What `--engine` and `made_by` call it."""

    @property
    def version(self) -> str:
        """Changes whenever any question may be answered differently."""

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The answer. Raises `UnitError` where this question has none, and `RunError` where asking cannot go on."""

    @property
    def is_paid(self) -> bool:
        """Whether answers cost money: then a dry run is refused."""

    @property
    def is_judge(self) -> bool:
        """Whether it weighs what it reads, so that it is also asked about pairs that are only possibly alike."""

    @property
    def answers_are_kept(self) -> bool:
        """Whether the wiki keeps its answers over several pages; it need not where they come again, and for free."""

    @property
    def concurrency(self) -> int:
        """How many questions it is asked at a time."""

    def made_with(self, stage: str) -> MadeWith:
        """What it answers this stage with."""

    def answered_with(self, stage: str, about: Collection[str]) -> MadeWith | None:
        """What gave the answer on this session, these guidelines or these sessions; None if `made_with` says it all."""

    def coverage(self, trajectory: Trajectory) -> Coverage:
        """How much of a trajectory it sees."""

    def forget(self, trajectory: Trajectory) -> None:
        """No more questions about this trajectory follow."""

    def retires_members(self, members: Collection[str]) -> bool | None:
        """Whether the answer on these guidelines said that a cluster replaces them; None if answers never say."""

    def prepare(self) -> None:
        """Called once before threads begin to ask."""

    def begin_round(self) -> None:
        """Called before the questions of a round, while the wiki is locked. Raises `RunError`."""

    def end_round(self) -> None:
        """Called after the questions of a round, while the wiki is locked. Raises `RunError`."""

    def wait_for_answers(self, progress: Progress) -> bool:
        """Wait for answers that are under way; True when some came, so that another round finds them."""

    def stop(self, reason: str) -> None:
        """Spend nothing more: `answer` raises `Interrupted` where it would have to. Called by a signal handler."""

    def account(self) -> Account:
        """What the run is to report of its asking."""

    def close(self) -> None:
        """Release connections and files. No call follows."""


class BaseEngine:
    """An engine that answers at once, for free, and sees all it is asked about; add `name`, `version` and `answer`."""

    name: str
    version: str
    is_paid = False
    is_judge = False
    answers_are_kept = True
    concurrency = 1

    def made_with(self, stage: str) -> MadeWith:  # noqa: ARG002 - the same for all stages
        return MadeWith(self.version)

    def answered_with(self, stage: str, about: Collection[str]) -> MadeWith | None:  # noqa: ARG002
        return None

    def coverage(self, trajectory: Trajectory) -> Coverage:
        return Coverage(trajectory.characters())

    def forget(self, trajectory: Trajectory) -> None:
        pass

    def retires_members(self, members: Collection[str]) -> bool | None:  # noqa: ARG002 - answers never say
        return None

    def prepare(self) -> None:
        pass

    def begin_round(self) -> None:
        pass

    def end_round(self) -> None:
        pass

    def wait_for_answers(self, progress: Progress) -> bool:  # noqa: ARG002 - nothing is under way
        return False

    def stop(self, reason: str) -> None:
        pass

    def account(self) -> Account:
        return Account()

    def close(self) -> None:
        pass


def ask(engine: Engine, question: Question[AnswerType]) -> AnswerType:
    """An engine's answer, redacted: what a stage checks and keeps, whoever answered. A question of its own for each.

    Raises what the engine raises, and `AnswerRejected` where a field cannot go without its secret.
    """
    answer = engine.answer(question)
    values, found = redact_value(answer.model_dump())
    if not found:
        return answer
    try:
        return question.answer_type.model_validate(values)
    except ValidationError as error:
        raise AnswerRejected(f"a secret ({found[0].kind})", stage=question.stage, place=found[0].place) from error


def side_by_side(engine: Engine, questions: Sequence[Question[AnswerType]]) -> list[Callable[[], AnswerType]]:
    """For each question what gives its answer or raises what the engine raised, in their order.

    Up to `concurrency` questions are asked at a time; of an engine that takes one, each is asked when its answer is
    taken.
    """
    workers = min(engine.concurrency, len(questions))
    if workers <= 1:
        return [partial(ask, engine, question) for question in questions]
    with ThreadPoolExecutor(workers) as threads:
        answered = [threads.submit(ask, engine, question) for question in questions]
    return [each.result for each in answered]
