"""The stages, in the order in which they run. A new stage is a module and a line here.

Commands, estimates, worklists, records and documents are made from this tuple; nothing else lists stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import TypeAdapter

from agent_wiki.engine import Answer, Engine, Problem
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.stages import consolidate_clusters, discover_tasks, extract_guidelines, summarize, synthesize_skill
from agent_wiki.stages.summarize import SummaryAnswer, answer_of
from agent_wiki.trajectory import Trajectory

Scope = Literal["session", "corpus", "wiki"]
"""What a stage looks at: one trajectory, all that sessions contributed, or the wiki as it is to be written."""

RunOnSession = Callable[[Trajectory, Sequence[Arc], Engine], tuple[Any, list[Problem]]]
"""A trajectory and its arcs so far → what the record holds of the answer, and the claims that a check dropped."""


def summarized(run: Callable[[Trajectory, SummaryAnswer, Engine], tuple[Any, list[Problem]]]) -> RunOnSession:
    """A stage that is given what the summary says of the session."""
    return lambda trajectory, arcs, engine: run(trajectory, answer_of(arcs), engine)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. `questions` are the kinds of questions it asks, by the name of what comes of an answer.

    `entry_type` is what a record holds of its answer, `run` what makes that; both for stages on sessions alone. The
    first stage on sessions makes the summary that the others are given.
    """

    name: str
    help: str
    scope: Scope
    questions: Mapping[str, type[Answer]]
    entry_type: Any = None
    run: RunOnSession | None = None
    may_archive: bool = False  # its pages may cover guidelines, which are then archived


STAGES: tuple[Stage, ...] = (
    Stage(
        summarize.STAGE,
        "Write a summary page for each session.",
        "session",
        {"summary": summarize.SummaryAnswer},
        tuple[Arc, ...],
        lambda trajectory, _arcs, engine: summarize.summarize(trajectory, engine),
    ),
    Stage(
        extract_guidelines.STAGE,
        "Extract lessons from sessions that have a summary.",
        "session",
        {"guidelines": extract_guidelines.GuidelinesAnswer},
        tuple[GuidelineEntry, ...],
        summarized(extract_guidelines.extract_guidelines),
    ),
    Stage(
        synthesize_skill.STAGE,
        "Turn workflows that worked into skills, from sessions that have a summary.",
        "session",
        {"skill": synthesize_skill.SkillsAnswer},
        tuple[SkillEntry, ...],
        summarized(synthesize_skill.synthesize_skill),
        may_archive=True,
    ),
    Stage(
        consolidate_clusters.STAGE,
        "Group guidelines of different sessions that state the same rule.",
        "corpus",
        {"cluster": consolidate_clusters.ClustersAnswer},
    ),
    Stage(
        discover_tasks.STAGE,
        "Compare sessions that attempted the same thing.",
        "corpus",
        {"task": discover_tasks.TaskAnswer, "subtask": discover_tasks.SubtasksAnswer},
    ),
    Stage("catalog", "Bring backlinks, indexes and all that is derived up to date.", "wiki", {}),
)

CATALOG = STAGES[-1].name


def names(*scopes: Scope) -> tuple[str, ...]:
    """The names of the stages of some scopes, in their order; of all where none is given."""
    return tuple(stage.name for stage in STAGES if not scopes or stage.scope in scopes)


SESSION_STAGES = names("session")
CORPUS_STAGES = names("corpus")
ALL_STAGES = names()


@lru_cache(maxsize=1)
def entry_types() -> dict[str, TypeAdapter[Any]]:
    """Stage → the type of what a record holds of its answer."""
    return {stage.name: TypeAdapter(stage.entry_type) for stage in STAGES if stage.entry_type is not None}
