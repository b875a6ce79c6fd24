"""Codex sessions that come of others: forks, resumed sessions and subagents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_wiki.readers.codex_history import uuid7_seconds
from agent_wiki.trajectory import Usage
from tests.readers.codex_lines import (
    CHILD,
    CHILD_TURN,
    PARENT,
    PARENT_TURN,
    event,
    line,
    meta,
    read,
    said,
    tokens,
    typed,
)
from tests.readers.lines import shape


def test_a_fork_leaves_the_totals_that_it_begins_with_to_its_origin(tmp_path: Path) -> None:
    trajectory = read(
        tmp_path,
        meta(CHILD, forked_from_id=PARENT),
        event("task_started", turn_id=CHILD_TURN),
        tokens((300, 200, 20), last=(100, 90, 6)),
        *typed("go on"),
        said("assistant", "one"),
        tokens((360, 210, 25), last=(60, 10, 5)),
    )
    assert trajectory.source.usage == Usage(50, None, 10, 5)


def forked(*own: Any, **more: Any) -> list[Any]:
    """A fork: its own header, then its parent's lines stamped anew, then its own turn."""
    return [
        meta(CHILD, **more),
        meta(PARENT),
        event("task_started", turn_id=PARENT_TURN),
        line("turn_context", turn_id=PARENT_TURN, model="model-old"),
        *typed("the parent's request"),
        said("assistant", "the parent's answer"),
        tokens((300, 100, 30)),
        event("task_started", turn_id=CHILD_TURN),
        line("turn_context", turn_id=CHILD_TURN, model="model-new"),
        *own,
    ]


def test_a_fork_leaves_the_copied_turns_to_its_parent(tmp_path: Path) -> None:
    trajectory = read(tmp_path, *forked(*typed("my request"), said("assistant", "mine"), tokens((500, 150, 70))))
    assert (trajectory.session_id, trajectory.model) == (CHILD, "model-new")
    assert shape(trajectory) == [("user", "my request"), ("assistant", "mine")]
    assert trajectory.source.forked_from == PARENT
    assert trajectory.source.hygiene == {"inherited_turns": 2}
    assert trajectory.source.usage == Usage(input_tokens=150, cache_read_input_tokens=50, output_tokens=40)


def test_a_fork_in_which_nothing_followed_has_no_turns_of_its_own(tmp_path: Path) -> None:
    trajectory = read(tmp_path, *forked()[:-2])
    assert trajectory.messages == []
    assert trajectory.source.hygiene == {"inherited_turns": 2}
    assert trajectory.source.usage is None


def test_a_fork_with_older_turn_ids_is_detected_by_when_its_turns_began(tmp_path: Path) -> None:
    born = uuid7_seconds(CHILD)
    assert born is not None
    old_turn = "5b1f0f0c-7a54-4d5a-9d2f-5a1c6b7d8e9f"
    records = forked(*typed("my request"))
    records[2] = event("task_started", turn_id=old_turn, started_at=int(born) - 900)
    records[3] = line("turn_context", turn_id=old_turn, model="model-old")
    trajectory = read(tmp_path, *records)
    assert shape(trajectory) == [("user", "my request")]


def test_a_fork_without_turn_ids_is_detected_by_the_pause_before_it_continues(tmp_path: Path) -> None:
    later = "2026-02-03T04:05:30.000Z"
    own = {**said("user", "my request"), "timestamp": later}
    records = [meta(CHILD), meta(PARENT), *typed("the parent's request"), own]
    records.append({**event("user_message", message="my request"), "timestamp": later})
    trajectory = read(tmp_path, *records)
    assert shape(trajectory) == [("user", "my request")]
    assert trajectory.source.forked_from == PARENT


def test_a_resumed_session_that_repeats_its_own_header_is_one_session(tmp_path: Path) -> None:
    trajectory = read(tmp_path, meta(), *typed("first"), meta(), *typed("second"))
    assert shape(trajectory) == [("user", "first"), ("user", "second")]
    assert trajectory.source.forked_from is None


def test_a_subagent_names_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    spawned = read(tmp_path, meta(CHILD, source=source), *typed("review this"))
    assert (spawned.source.parent_session_id, spawned.source.forked_from) == (PARENT, None)
    review = read(tmp_path, meta(CHILD, source={"subagent": "review"}, parent_thread_id=PARENT), *typed("review"))
    assert review.source.parent_session_id == PARENT
