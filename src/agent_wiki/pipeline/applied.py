"""What came of an answer by hand, as values: what it holds, what was written for it, and what is open now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from agent_wiki.asking.journal import is_of_several
from agent_wiki.engine import Problem
from agent_wiki.engines.recorded import ObservedPrompt
from agent_wiki.pipeline.open_questions import kind_of_question
from agent_wiki.pipeline.report import Failure, as_values
from agent_wiki.pipeline.worklist import OpenQuestion
from agent_wiki.stages.order import kinds_of_answers
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A guideline that is archived now: its page, why (`covered_by_skill`, …), and the id of what covers it."""

    path: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of applying an answer. With `problems` it is invalid, and nothing was written.

    `recording` is the one that the question is about, where it is one. `kept` is what the answer holds, in words; of a
    segment `answered` of the session's segments have an answer now. `written` and `removed` are files of the wiki,
    `archived` what left the index and why. `opened` are the questions on the session that can be answered only now;
    `still_open` those that could be before, on the session, or, where the answer spans sessions, those that do too.
    `spanning` counts all that span sessions, `waiting` the pages for a later run to publish. `warnings` are failures of
    other pages and recordings, `bugs` are tracebacks.
    """

    stage: str
    request: str
    about: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    recording: str | None = None
    question: OpenQuestion | None = None
    kept: str = ""
    answered: int = 0
    archived: tuple[ArchivedPage, ...] = ()
    opened: tuple[OpenQuestion, ...] = ()
    still_open: tuple[OpenQuestion, ...] = ()
    spanning: int = 0
    waiting: int = 0
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[Failure, ...] = ()
    bugs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": not self.problems,
            "stage": self.stage,
            "request": self.request,
            "about": list(self.about),
            "problems": [{"place": each.place, "reason": each.reason} for each in self.problems],
            "kept": self.kept,
            "part": self.question.part if self.question else "whole",
            "written": list(self.written),
            "removed": list(self.removed),
            "archived": [asdict(each) for each in self.archived],
            "opened": [asdict(each) for each in self.opened],
            "still_open": [asdict(each) for each in self.still_open],
            "spanning": self.spanning,
            "waiting": self.waiting,
            "warnings": as_values(self.warnings),
        }


def kept_of(asked: ObservedPrompt, value: Mapping[str, Any]) -> str:
    """What an accepted answer holds, in words: `1 guideline`, `no skill`, or each part of one to all questions."""
    if is_of_several(asked.prompt.stage):
        parts = {type_.__name__: kind for type_, kind in kinds_of_answers().items()}
        return ", ".join(_holding(kind, value[name] or {}) for name, kind in parts.items() if name in value)
    return _holding(kind_of_question(asked), value)


def _holding(kind: str, value: Mapping[str, Any]) -> str:
    lists = [entries for entries in value.values() if isinstance(entries, list)]
    match kind:
        case "skill":
            return "a skill" if value.get("skill") else "no skill"
        case "task":
            return "a task"
        case "summary":
            return f"a summary of {counted(len(lists[0]), 'arc')}"
        case _:
            one = kind.removesuffix("s")
            return counted(len(lists[0]), one) if lists and lists[0] else f"no {one}"
