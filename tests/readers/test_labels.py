"""Ids, names and titles of a recording: one short line, no secret, and two ids stay two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.pipeline.mine import Assignment, mine
from agent_wiki.readers.labels import safe_id, tidy_labels
from agent_wiki.stages.order import SESSION_STAGES
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory, envelope_chunks
from tests.planted import vendor_keys

SECRET = vendor_keys()["github"]
NAMES = ("agent_version", "cwd", "git_branch", "title", "task_id", "trial", "condition", "exit_status", "ended_at")
ODD = [SECRET, "a<script>", "a](b)", "a`b", "a|b", "a\nb", "{{ a }}", "x" * 9_000, "", "\ud800"]


def labelled(text: str) -> Trajectory:
    """A trajectory with `text` in every label."""
    call = ToolCall(f"id {text}", f"name {text}", "{}")
    messages = [
        Message("user", "Please list", name=f"user {text}"),
        Message("assistant", tool_calls=[call], name=f"agent {text}"),
        Message("tool", "Done.", tool_call_id=f"id {text}", name=f"tool {text}"),
    ]
    source = Source("openai-messages", f"{text}.json")
    for name in NAMES:
        setattr(source, name, f"{name} {text}")
    source.parent_session_id, source.forked_from = f"parent {text}", f"fork {text}"
    return Trajectory(f"session {text}", source, messages, f"agent {text}", f"model {text}", text)


def test_no_label_keeps_a_secret_and_calls_keep_their_results() -> None:
    trajectory = labelled(SECRET)
    tidy_labels(trajectory)
    assert SECRET not in "".join(envelope_chunks(trajectory))
    assert trajectory.messages[1].tool_calls[0].id == trajectory.messages[2].tool_call_id
    assert trajectory.source.hygiene["redactions"] >= 10


def test_a_label_is_one_short_line_without_what_hides_text() -> None:
    trajectory = labelled("a\nb\r\x00\x1b[31m\u2028c\u202e" + "d" * 9_000)
    tidy_labels(trajectory)
    source = trajectory.source
    tool = trajectory.messages[1].tool_calls[0].name
    for label in (trajectory.agent, trajectory.model, source.cwd, source.title, tool):
        assert label is not None
        assert label.isprintable()
        assert len(label) <= 300


def test_what_is_no_moment_is_no_timestamp() -> None:
    trajectory = labelled("a: [b")
    tidy_labels(trajectory)
    assert (trajectory.timestamp, trajectory.source.ended_at) == (None, None)


@pytest.mark.parametrize("plain", ["0d9c-11", "tau-bench-3-0-1a2b3c4d", "a/b:c@d e", "é 日本", "s.agent-a1 (2), #3"])
def test_a_usual_id_stays(plain: str) -> None:
    assert safe_id(plain) == plain


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_id_becomes_plain_once_and_stays_apart_from_others(odd: str) -> None:
    made = safe_id(odd)
    assert safe_id(made) == made
    assert SECRET not in made
    assert not set("<>`|[]{}\n") & set(made)
    assert 0 < len(made) <= 200
    assert made != safe_id(f"{odd} 2")


def test_sessions_whose_ids_differ_by_a_secret_stay_apart_and_no_hash_is_one_of_the_secret() -> None:
    one, other, grown = (labelled(SECRET) for _ in range(3))
    other.messages[0].content = "Please sort"
    grown.messages.append(Message("user", "And again?"))
    for each in (one, other, grown):
        tidy_labels(each)
    assert one.session_id == grown.session_id != other.session_id
    hashed = safe_id(f"run {SECRET}", "2026-01-01")
    assert (
        hashed == safe_id(f"run {vendor_keys()['github app']}", "2026-01-01") != safe_id(f"run {SECRET}", "2026-01-02")
    )


def test_what_could_not_be_read_is_reported_without_its_secrets(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"schema_version": SECRET, "source": {"format": "x"}, "messages": [], SECRET: 1}))
    found = mine(Assignment(path, path.name, SESSION_STAGES, "offline"), {})
    assert found.failure
    assert SECRET not in str(found.failure)
