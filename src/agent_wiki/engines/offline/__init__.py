"""The embedded engine: mines deterministically, from the recording alone, with no key and no network."""

from __future__ import annotations

from importlib import import_module

from agent_wiki.engine import AnswerType, BaseEngine, Question

_ROOMS = {
    "summarize": "summarize",
    "extract-guidelines": "guidelines",
    "synthesize-skill": "skills",
    "consolidate-clusters": "clusters",
    "discover-tasks": "tasks",
}


class OfflineEngine(BaseEngine):
    """Answers each stage's question in the module of this package that `_ROOMS` names."""

    name = "offline"
    version = "1"  # raise it whenever the same trajectory may be answered differently

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        """The answer, always the same for the same question."""
        room = import_module(f"agent_wiki.engines.offline.{_ROOMS[question.stage]}")
        answer: AnswerType = room.answer(question)
        return answer
