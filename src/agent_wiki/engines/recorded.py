"""The engine that answers from a journal and asks nobody: `--engine recorded`, or `recorded:FOLDER`.

An answer is known by the digest of the prompt it answers, whoever gave it: a model, or an agent through `wiki apply`.
Of several the newest that fits counts, and where there is none the part of an answer to all questions on the
trajectory. A prompt without an answer is refused. Whoever listens hears all that is asked,
so that a worklist can be made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from agent_wiki.asking.journal import Journal, journal_folder
from agent_wiki.asking.journal_lines import Record
from agent_wiki.asking.prices import read_models
from agent_wiki.asking.prompts import Prompt
from agent_wiki.engine import AnswerType, MadeWith, Question
from agent_wiki.engines.answer_text import InvalidAnswer, answer_in, part_in
from agent_wiki.engines.prompting import Prompting, PromptingEngine, about_of, short_digest
from agent_wiki.engines.together import prompt_together
from agent_wiki.errors import Unanswered, UsageError
from agent_wiki.spending import AGENT
from agent_wiki.stages.order import ASKING_STAGES, SESSION_STAGES, SUMMARIZE
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass

NAME = "recorded"


@dataclass(frozen=True, slots=True)
class ObservedPrompt:
    """A prompt that a run put, the question behind it, what that is about, and whether the journal has an answer.

    `about` is a session's id, or the ids of the guidelines or sessions that are compared.
    """

    prompt: Prompt
    question: Question[Any]
    about: tuple[str, ...]
    is_answered: bool


class RecordedEngine(PromptingEngine):
    """Answers from the journal of a wiki, or of another folder. Nothing is written unless `is_kept`.

    `listener` hears all that is asked, in the order of asking; with `hears_together` also the one prompt that would put
    all questions on a stretch of a trajectory, before the first of them. With `only_session` questions about the
    trajectories of other sessions are refused. Raises `UsageError` when `folder` is no folder.
    """

    name = NAME
    is_judge = True

    def __init__(
        self,
        wiki: Path,
        folder: Path | None = None,
        *,
        is_kept: bool = False,
        listener: Callable[[ObservedPrompt], None] | None = None,
        hears_together: bool = False,
        only_session: str = "",
    ) -> None:
        if folder is not None and not folder.is_dir():
            raise UsageError(f"--engine recorded: {folder}: no such folder of journal files")
        self.journal = Journal(folder or journal_folder(wiki))
        self._prompting = Prompting(wiki, self.journal, read_models(wiki).limits, is_kept=is_kept)
        self._versions = {stage: short_digest(self._prompting.read_for(stage)) for stage in ASKING_STAGES}
        self.version = short_digest(self._versions)
        self._listener = listener
        self._hears_together = hears_together
        self._only_session = only_session
        self._retiring: set[tuple[str, ...]] = set()
        self._answered: dict[tuple[str, tuple[str, ...]], MadeWith] = {}
        self._lock = Lock()

    def made_with(self, stage: str) -> MadeWith:
        """The prompt of the stage: whoever answered, the answer is known by it."""
        return MadeWith(self._versions[stage], prompt_version=self._prompting.prompt_versions[stage])

    def answered_with(self, stage: str, about: Collection[str]) -> MadeWith | None:
        """The model that gave the last answer on these, and the prompt that it answered."""
        with self._lock:
            return self._answered.get((stage, tuple(about)))

    def forget(self, trajectory: Trajectory) -> None:
        """Nothing more will be asked about it, nor who answered."""
        with self._lock:
            for stage in SESSION_STAGES:
                self._answered.pop((stage, (trajectory.session_id,)), None)
        super().forget(trajectory)

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The newest answer in the journal that fits. Raises `Unanswered` where there is none."""
        return self._prompting.answer(question, self._ask)

    def retires_members(self, members: Collection[str]) -> bool:
        """True when whoever answered on these guidelines said that the members of their cluster should be archived."""
        with self._lock:
            return any(set(members) <= set(asked) for asked in self._retiring)

    def _ask(self, prompt: Prompt, question: Question[AnswerType]) -> AnswerType:
        about = about_of(question)
        answer, reason = self._journaled(prompt, question, about)
        with self._lock:
            if self._listener is not None:
                if self._hears_together and prompt.prefix and prompt.stage == SUMMARIZE:
                    together = self._together(prompt, question)
                    is_answered = bool(self.journal.answers_to(together.digest))
                    self._listener(ObservedPrompt(together, question, about, is_answered))
                self._listener(ObservedPrompt(prompt, question, about, is_answered=answer is not None))
        if answer is None:
            raise Unanswered(reason, about=about)
        return answer

    def _journaled(
        self, prompt: Prompt, question: Question[AnswerType], about: tuple[str, ...]
    ) -> tuple[AnswerType | None, str]:
        if self._only_session and prompt.stage in SESSION_STAGES and about != (self._only_session,):
            return None, "nobody looked in this run for an answer"
        reason = "the journal has no answer"
        for record in self._records(prompt, question):
            if record.get("stop_reason") in ("refusal", "max_tokens", "model_context_window_exceeded"):
                reason = "the journal has no whole answer"
                continue
            try:
                answer = answer_in(str(record.get("answer")), question.answer_type)
            except InvalidAnswer as error:
                reason = f"the journal has no answer that fits ({error})"
                continue
            if record.get("archive_members") is True:
                with self._lock:
                    self._retiring.add(about)
            with self._lock:
                model = str(record.get("model") or AGENT)
                made = replace(self.made_with(prompt.stage), model=model, question=prompt.digest)
                self._answered[prompt.stage, about] = made
            return answer, ""
        return None, reason

    def _records(self, prompt: Prompt, question: Question[Any]) -> Iterator[Record]:
        """What may answer a prompt: its own answers, which may correct a part, then its part of answers to several."""
        yield from self.journal.answers_to(prompt.digest)
        if prompt.prefix and self.journal.has_together():
            for record in self.journal.answers_to(self._together(prompt, question).digest):
                part = part_in(str(record.get("answer")), question.answer_type)
                if part is not None:
                    yield {**record, "answer": part}

    def _together(self, prompt: Prompt, question: Question[Any]) -> Prompt:
        return prompt_together(prompt, question, SESSION_STAGES, self._prompting.prompts)
