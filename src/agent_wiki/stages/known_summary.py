"""What a later stage knows of a session's summary: the arcs of its record, in the form of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_wiki.pages.sessions import Arc, NotedTurn
from agent_wiki.shell.result_lines import MOST_QUOTED
from agent_wiki.stages.summarize import (
    MOST_KEY_TURNS,
    ArcAnswer,
    KeyTurnNote,
    LooseEndNote,
    RepairNote,
    SummaryAnswer,
    TurnNote,
)


def answer_of(arcs: Sequence[Arc]) -> SummaryAnswer:
    """What later stages may know of a summarized session: what its record holds of it."""
    return SummaryAnswer(arcs=[_known_arc(arc) for arc in arcs])


def _known_arc(arc: Arc) -> ArcAnswer:
    key_turns = _with_text(arc.key_turns)[:MOST_KEY_TURNS]
    return ArcAnswer(
        slug=arc.slug,
        first_turn=arc.first_turn,
        last_turn=arc.last_turn,
        goal=arc.goal or "(no goal)",
        outcome=arc.outcome,
        outcome_turn=arc.outcome_turn,
        outcome_quote=(arc.outcome_quote or "")[:MOST_QUOTED] or None,
        accepted_turn=arc.accepted_turn,
        accepted_quote=arc.accepted_quote,
        narrative=arc.narrative or "(none)",
        key_turns=[KeyTurnNote(turn=note.turn, text=note.text, kind=note.kind) for note in key_turns],
        dead_ends=[TurnNote(turn=note.turn, text=note.text) for note in _with_text(arc.dead_ends)],
        loose_ends=[LooseEndNote(kind=each.kind, turn=each.turn, text=each.text) for each in arc.loose_ends],
        repairs=[
            RepairNote(
                event_turn=each.event, remedy_turn=each.remedy, confirming_turn=each.confirmation, text=each.text
            )
            for each in arc.repairs
        ],
    )


def _with_text(notes: Iterable[NotedTurn]) -> list[NotedTurn]:
    return [note for note in notes if note.turn >= 1 and note.text]
