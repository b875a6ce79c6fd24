"""What a stage over all sessions returns: its entries of the configuration, and what has no answer yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any

from agent_wiki.engine import Engine
from agent_wiki.errors import Unanswered
from agent_wiki.stages.request import by_whom, made_by
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Section, is_stage_made, signed
from agent_wiki.wiki.records import plain
from agent_wiki.wiki.values import texts_of

_IN_RECORDS = frozenset({"request", "question"})


@dataclass(slots=True)
class CorpusResult:
    """What a stage found: changes to a section of the configuration (None removes an entry).

    `warnings` are full sentences on answers that a check refused; `unanswered` is what an engine said of questions that
    have no answer yet, `waiting_for` the sessions that these are about: what was made of earlier answers is kept.
    """

    section: Section = ()
    entries: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
    waiting_for: frozenset[str] = frozenset()


def changed_entries(
    configured: Mapping[str, dict[str, Any]],
    wanted: Mapping[str, dict[str, Any]],
    stage: str,
    engine: Engine,
    kept: Collection[str],
) -> dict[str, Any]:
    """What turns a stage's entries into the wanted ones; a person's entry and `kept` are not touched."""
    made = made_by(stage, engine)
    changes: dict[str, Any] = {}
    for name, entry in configured.items():
        if is_stage_made(entry) and name not in wanted and name not in kept:
            changes[name] = None
    for name, entry in wanted.items():
        whom = by_whom(made, engine, texts_of(entry.get("members") or entry.get("sessions")))
        complete = signed(entry, **{key: value for key, value in plain(whom).items() if key not in _IN_RECORDS})
        if name not in configured or (is_stage_made(configured[name]) and configured[name] != complete):
            changes[name] = complete
    return changes
