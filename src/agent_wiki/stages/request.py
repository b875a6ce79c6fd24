"""What can change an answer, as a digest; and `made_by`, which says on a page what made it."""

from __future__ import annotations

import hashlib
from typing import Any

from agent_wiki.engine import Engine


def request_digest(stage: str, engine: Engine, *inputs: str) -> str:
    """`sha256:…` over stage, engine, its version for this stage and the digests of what it is asked."""
    text = "\n".join((stage, engine.name, engine.made_with(stage).version, *inputs))
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def made_by(stage: str, engine: Engine, *inputs: str) -> dict[str, Any]:
    """The `made_by` field for an answer of `engine`. "Pending" means that this would differ."""
    return {**signature(stage, engine), "request": request_digest(stage, engine, *inputs)}


def signature(stage: str, engine: Engine) -> dict[str, Any]:
    """Who answers a stage: engine, and where it has them model and version of the prompt."""
    made = engine.made_with(stage)
    signed = {"stage": stage, "engine": engine.name, "model": made.model, "prompt_version": made.prompt_version}
    return {name: value for name, value in signed.items() if value is not None}
