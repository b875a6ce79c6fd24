"""What the loopback server says in a model's place, and how an engine is pointed at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engines.answer_text import ON_TRAJECTORY as ANSWERS_ON_TRAJECTORY
from agent_wiki.engines.anthropic_api import AnthropicEngine
from agent_wiki_testing import MessagesServer
from agent_wiki_testing.answers import Asked
from tests.wikis import arc, rule, skill

ON_TRAJECTORY = tuple(each.__name__ for each in ANSWERS_ON_TRAJECTORY)
STAGE_OF = {
    "SummaryAnswer": "summarize",
    "GuidelinesAnswer": "extract-guidelines",
    "SkillsAnswer": "synthesize-skill",
}
STAGE_ANSWERS: dict[str, Any] = {
    "summarize": {"arcs": [arc()]},
    "extract-guidelines": {"guidelines": [rule("Run the check before a change.")]},
    "synthesize-skill": skill("check-the-cart"),
    "consolidate-clusters": {"clusters": []},
    "discover-tasks": {"title": "Fix the cart", "intro": "A cart to fix.", "findings": [], "tags": ["cart"]},
}


def shaped(asked: Asked, answer: Any) -> Any:
    """An answer in the form of the schema that came with the request."""
    properties = (asked.schema or {}).get("properties", {})
    if not set(ON_TRAJECTORY) <= set(properties) or not isinstance(answer, Mapping):
        return answer
    if is_together(asked):
        return answer
    name = next(name for name in ON_TRAJECTORY if f"`{name}`" in asked.text)
    return {each: answer if each == name else None for each in ON_TRAJECTORY}


def says(told: Mapping[str, Any]) -> Callable[[Asked], Any]:
    """An answerer: stage → answer, or a function of what was asked; a subtask's question gets none."""

    def answer(asked: Asked) -> Any:
        if is_together(asked):
            return {
                name: _told(told, stage, asked) for name, stage in STAGE_OF.items() if f"# `{name}`" in asked.question
            }
        stage = stage_of(asked)
        if "parent_session_id" in asked.question:
            return {"subtasks": []}
        return shaped(asked, _told(told, stage, asked))

    return answer


def _told(told: Mapping[str, Any], stage: str, asked: Asked) -> Any:
    value = told.get(stage, STAGE_ANSWERS[stage])
    return value(asked) if callable(value) else value


def is_together(asked: Asked) -> bool:
    """True for a request that puts several questions on one trajectory."""
    return "questions are asked about the session above" in asked.question


def stage_of(asked: Asked) -> str:
    """The stage of a request, told by words of the shipped prompts' questions."""
    text = "\n".join(asked.blocks)
    found = next((stage for name, stage in STAGE_OF.items() if f"`{name}`" in text), None)
    return found or asked.stage or ("consolidate-clusters" if "same rule" in text else "discover-tasks")


@contextmanager
def engine_at(server: MessagesServer | str, wiki: Path, **options: Any) -> Iterator[AnthropicEngine]:
    """An engine that asks this server, closed at the end."""
    url = server if isinstance(server, str) else server.base_url
    engine = AnthropicEngine(wiki, AskingOptions(base_url=url, **options))
    try:
        yield engine
    finally:
        engine.close()
