"""An engine that says what a file scripts: for tests, demonstrations and rehearsals of the paid one.

Reached by name as `scripted:FILE`, so that workers find it too. The file is JSON:

    {"<stage>": {"<session id>": <answer>, "<session id>#<turns>": <answer>, "": <answer>}}

An answer for a session of so many turns wins over one for the session; "" answers for all others and for the
stages that look at the whole wiki. What the file does not say is answered by an empty answer where the stage
allows one. The idea of a deterministic model that ships in the package is mini-swe-agent's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_wiki.engine import AnswerType, BaseEngine, Question
from agent_wiki.errors import AnswerRejected, UsageError
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.digests import sha256_of

Answers = Mapping[str, Mapping[str, Any]]
"""Stage → session id (with or without `#<turns>`), or "" → answer as plain values."""


class ScriptedEngine(BaseEngine):
    """Answers from a mapping. Its version is the digest of all it may say."""

    name = "scripted"

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        text = json.dumps(answers, sort_keys=True, ensure_ascii=False)
        self.version = sha256_of(text)[:12]

    @classmethod
    def from_file(cls, path: Path) -> ScriptedEngine:
        """The engine that a file describes. Raises `UsageError` naming the file and what is wrong with it."""
        try:
            answers = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}: not the JSON of scripted answers ({error})") from error
        if not isinstance(answers, dict) or not all(isinstance(each, dict) for each in answers.values()):
            raise UsageError(f"{path}: not a mapping of stages to answers by session id")
        return cls(answers)

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """What is scripted. Raises `AnswerRejected` for words that do not fit the question, and when there are none."""
        scripted = self._answers.get(question.stage, {})
        name = next((name for name in _names(question) if name in scripted), None)
        try:
            return question.answer_type.model_validate({} if name is None else scripted[name])
        except ValidationError as error:
            first = error.errors()[0]
            if name is None:
                raise AnswerRejected("the script has no answer", stage=question.stage) from error
            place = ".".join(str(each) for each in first["loc"]) or "answer"
            raise AnswerRejected(first["msg"], stage=question.stage, place=place) from error


def _names(question: Question[Any]) -> Iterator[str]:
    """The names under which an answer may be given, the most exact first."""
    trajectory = question.fields().get("trajectory")
    if isinstance(trajectory, Trajectory):
        yield f"{trajectory.session_id}#{len(trajectory.messages)}"
        yield trajectory.session_id
    yield ""
