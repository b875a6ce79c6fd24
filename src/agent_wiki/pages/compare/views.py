"""What the corpus stages see of a wiki's pages: frozen views, with None for what a page does not say.

Consolidation, families and findings use these views and never a trajectory, so that a wiki of ten thousand
sessions is compared in memory from its pages alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agent_wiki.trajectory.lazily import dataclass

KeyTurnKind = Literal["change", "cause", "refusal", "other"]
"""What a key turn shows: a change and why it was made, the cause of a trouble, or what the agent said it cannot do."""


@dataclass(frozen=True, slots=True)
class GuidelineView:
    """One guideline page. `sessions` are the root sessions that support it, `failures` the failures that it quotes."""

    id: str
    title: str
    rule: str
    trigger: str = ""
    rationale: str = ""
    tags: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillView:
    """One skill page; `steps_text` is its workflow with the commands."""

    slug: str
    title: str
    description: str = ""
    trigger: str = ""
    tags: tuple[str, ...] = ()
    steps_text: str = ""


@dataclass(frozen=True, slots=True)
class KeyTurn:
    """One of the turns of a session that mattered most, and what happened there."""

    turn: int
    text: str
    kind: KeyTurnKind = "other"


@dataclass(frozen=True, slots=True)
class SessionView:
    """One session: its summary page, or all of its arcs' pages. `root_session_id` is a subagent's ancestor.

    `request_terms`, `first_terms`, `writes` and `tools` are those of `facts.SessionFacts`, `look_ups` and `failures`
    those of `courses`; `date` is ISO 8601. `is_side`: another session started it, be that in the wiki or not.
    `repository`: the bare name of the one it worked in, where that is known.
    """

    session_id: str
    goal: str = ""
    root_session_id: str | None = None
    outcome: str | None = None
    agent: str | None = None
    model: str | None = None
    source_format: str | None = None
    repository: str | None = None
    date: str | None = None
    task_id: str | None = None
    trial: str | None = None
    condition: str | None = None
    reward: float | None = None
    resolved: bool | None = None
    tool_calls: int | None = None
    errors: int | None = None
    dead_ends: int | None = None
    cost_usd: float | None = None
    duration_seconds: float | None = None
    wiki_consulted: bool | None = None
    contributed: tuple[str, ...] = ()
    is_side: bool = False
    request_terms: tuple[str, ...] = ()
    first_terms: int = 0
    writes: tuple[str, ...] = ()
    look_ups: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    narrative: str | None = None
    notes: tuple[KeyTurn, ...] = ()

    @property
    def key_turns(self) -> tuple[tuple[int, str], ...]:
        """Turns and what happened there, as the prompts list them."""
        return tuple((each.turn, each.text) for each in self.notes)
