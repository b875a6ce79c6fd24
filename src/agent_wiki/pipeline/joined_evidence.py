"""What a record of another wiki says against itself: it is left out when the wiki is joined.

The recording is not here, so that nobody can tell whether a quote is verbatim. But a record knows how many turns its
session has and which engine answered, and what it claims has to agree with that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from agent_wiki.engines import EMBEDDED
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.pipeline.report import Note
from agent_wiki.wiki.records import SessionRecord, StageRecord

_Lesson = GuidelineEntry | SkillEntry

_NOT_ITS_TURNS = "the turns that it names do not agree with each other or with its session"


def without_contradictions(record: SessionRecord) -> tuple[SessionRecord, list[Note]]:
    """The record without what contradicts it, the same object where nothing does; a note of each claim that is gone.

    A citation of a turn that the session does not have goes, and a lesson with its last citation. A cause whose turns
    are missing or in no possible order is only asserted. What the embedded engine did not find names no rule of it, so
    that its quotes have to bear it.
    """
    case = _Case(record)
    stages = {name: case.stage(made) for name, made in record.stages.items()}
    return (record.with_stages(stages), case.notes) if case.notes else (record, [])


class _Case:
    """One record, and what is noted of it."""

    def __init__(self, record: SessionRecord) -> None:
        self.record = record
        self.notes: list[Note] = []

    def has(self, turn: int | None) -> bool:
        """Whether the session may have a turn; None names none."""
        return turn is None or self.record.has_turn(turn)

    def stage(self, made: StageRecord) -> StageRecord:
        if not isinstance(made.answer, tuple):
            return made
        answer = tuple(self._entries(made))
        return made if answer == made.answer else replace(made, answer=answer)

    def _entries(self, made: StageRecord) -> Iterator[Any]:
        is_embedded = made.made_by.engine == EMBEDDED
        for entry in made.answer:
            if isinstance(entry, Arc):
                yield self._arc(entry)
            elif not isinstance(entry, GuidelineEntry | SkillEntry):
                yield entry
            elif (lesson := self._lesson(entry, is_embedded=is_embedded)) is not None:
                yield self._with_cause(lesson) if isinstance(lesson, GuidelineEntry) else lesson

    def _lesson(self, entry: _Lesson, *, is_embedded: bool) -> _Lesson | None:
        evidence = tuple(each for each in entry.evidence if each.quote and self.has(each.turn))
        for each in entry.evidence:
            if each not in evidence:
                self._note(entry.title, f"it cites turn {each.turn}" if each.quote else "it cites no words")
        if entry.evidence and not evidence:
            self._note(entry.title, "no valid evidence")
            return None
        if entry.rule_id and not is_embedded:
            self._note(entry.title, f"the rule {entry.rule_id} did not find it")
            return replace(entry, evidence=evidence, rule_id=None)
        return entry if evidence == entry.evidence else replace(entry, evidence=evidence)

    def _with_cause(self, entry: GuidelineEntry) -> GuidelineEntry:
        named = {"event": entry.event, "remedy": entry.remedy, "confirmation": entry.confirmation}
        turns = [turn for turn in named.values() if turn is not None]
        is_later = entry.event is None or entry.confirmation is None or entry.event < entry.confirmation
        if all(map(self.has, turns)) and turns == sorted(turns) and is_later:
            return entry
        self._note(entry.title, _NOT_ITS_TURNS)
        known: dict[str, Any] = {name: turn if self.has(turn) else None for name, turn in named.items()}
        cause = entry.cause and "asserted"
        return replace(entry, **known, cause=cause, cause_shown=_NOT_ITS_TURNS if cause else "")

    def _arc(self, arc: Arc) -> Arc:
        changes: dict[str, Any] = {}
        for name in ("key_turns", "dead_ends", "loose_ends", "repairs", "requests", "reported", "recalled"):
            listed = getattr(arc, name)
            kept = tuple(each for each in listed if all(map(self.has, _turns_of(each))))
            if kept != listed:
                changes[name] = kept
                self._note(arc.title or arc.goal, f"{name.replace('_', ' ')} of turns that the session does not have")
        for name in ("outcome", "accepted"):
            if not self.has(getattr(arc, f"{name}_turn")):
                changes |= {f"{name}_turn": None, f"{name}_quote": None}
                self._note(arc.title or arc.goal, f"its {name} rests on a turn that the session does not have")
        return replace(arc, **changes) if changes else arc

    def _note(self, title: str, reason: str) -> None:
        self.notes.append(Note(f"{self.record.session_id}: {title}", reason))


def _turns_of(noted: Any) -> Iterable[int | None]:
    """The turns that an entry of a summary names."""
    names = {each.name for each in fields(noted)} & {"turn", "event", "remedy", "confirmation"}
    return [getattr(noted, name) for name in names]
