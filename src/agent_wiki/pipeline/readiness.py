"""What a run needs besides recordings: whoever answers, and whoever reads. It is looked for before one is read."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.asking.journal import journal_folder
from agent_wiki.asking.options import AskingOptions
from agent_wiki.engines import OpenedEngine
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.workers import RayOptions
from agent_wiki.wiki.layout import SESSIONS, SIDECAR


def require_ready(
    opened: OpenedEngine, wiki: Path, asking: AskingOptions, ray: RayOptions | None, *, is_dry_run: bool
) -> None:
    """Raise `UsageError` for what cannot be done, and `RunError` where a wiki is new and nobody can answer.

    A wiki that holds answers may need no further one.
    """
    engine = opened.engine
    if is_dry_run and engine.is_paid:
        raise UsageError(f"--dry-run cannot say what {engine.name} would answer without asking it")
    if ray is not None:
        from agent_wiki.pipeline.on_ray import require_ray

        if not isinstance(opened.in_workers, str):
            raise UsageError("--executor ray is for an engine that waits for no model, such as offline")
        require_ray()
    if engine.is_paid and not asking.journal_store and not _may_hold_answers(wiki):
        from agent_wiki.engines.asking_engine import AskingEngine

        if isinstance(engine, AskingEngine):
            engine.require_answerer()


def _may_hold_answers(wiki: Path) -> bool:
    return (wiki / SIDECAR).exists() or journal_folder(wiki).exists() or any((wiki / SESSIONS).glob("*"))
