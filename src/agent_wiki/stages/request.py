"""What can change an answer, as a digest; and `made_by`, which says in a record what made it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from agent_wiki.engine import Engine
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.wiki.records import MadeBy


def request_digest(stage: str, engine: Engine, *inputs: str) -> str:
    """`sha256:…` over stage, engine, its version for this stage and the digests of what it is asked."""
    text = "\n".join((stage, engine.name, engine.made_with(stage).version, *inputs))
    return f"sha256:{sha256_of(text)}"


def made_by(stage: str, engine: Engine, *inputs: str) -> MadeBy:
    """Who answers a stage, and the digest of what is asked. A stage is pending when this differs from its record."""
    made = engine.made_with(stage)
    return MadeBy(stage, engine.name, request_digest(stage, engine, *inputs), made.model, made.prompt_version)


def by_whom(made: MadeBy, engine: Engine, about: Collection[str]) -> MadeBy:
    """The same with the model and the question that the engine knows of the answer on these sessions or guidelines."""
    known = engine.answered_with(made.stage, about)
    return made if known is None else replace(made, model=known.model, question=known.question)
