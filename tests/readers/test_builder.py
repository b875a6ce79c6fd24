"""What the tidying that all formats share does, and that it stays linear on hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.readers.builder import TrajectoryBuilder, arguments_json, without_reminders
from agent_wiki.trajectory import Message, Source, Trajectory
from tests.hangs import no_hang

REMINDER = "<system-reminder>keep the list\nup to date</system-reminder>"


def finished(builder: TrajectoryBuilder, source: Source | None = None) -> Trajectory:
    return builder.finish("s", source or Source("test"))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"Fix it.\n{REMINDER}", "Fix it."),
        (f"{REMINDER}\nFix it.", "Fix it."),
        (f"{REMINDER}\n\n  Fix it.", "  Fix it."),
        (f"one\n{REMINDER}\ntwo", "one\ntwo"),
        (f"one {REMINDER} two", "one  two"),
        (f"{REMINDER}{REMINDER}", ""),
        ("open <system-reminder> stays", "open <system-reminder> stays"),
        ("closed </system-reminder> stays", "closed </system-reminder> stays"),
    ],
)
def test_reminders_go_and_the_text_around_them_stays(text: str, rest: str) -> None:
    assert without_reminders(text)[0] == rest


@given(st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "\n", " ", "word"]), max_size=12))
def test_no_complete_reminder_is_left(pieces: list[str]) -> None:
    text = "".join(pieces)
    rest, stripped = without_reminders(text)
    opening = rest.find("<system-reminder>")
    assert opening < 0 or rest.find("</system-reminder>", opening) < 0
    assert stripped > 0 or rest == text


@pytest.mark.parametrize("hostile", ["<system-reminder>" * 60_000, REMINDER * 20_000, " " * 1_000_000 + REMINDER])
def test_hostile_text_is_tidied_in_linear_time(hostile: str) -> None:
    builder = TrajectoryBuilder()
    with no_hang():
        builder.user(hostile)


def test_a_message_left_empty_by_its_reminder_is_dropped_and_both_are_counted() -> None:
    builder = TrajectoryBuilder()
    builder.user(REMINDER)
    builder.assistant(None)
    builder.assistant("  \n")
    trajectory = finished(builder)
    assert trajectory.messages == []
    assert trajectory.source.hygiene == {"empty_messages_dropped": 3, "system_reminders_stripped": 1}


def test_reminders_are_stripped_from_results_and_thinking_too() -> None:
    builder = TrajectoryBuilder()
    builder.assistant("x", thinking=f"hm {REMINDER}", calls=[("c1", "read", {})])
    builder.tool("c1", f"text\n{REMINDER}\n")
    trajectory = finished(builder)
    assert trajectory.messages[0].thinking == "hm"
    assert trajectory.messages[1].content == "text"
    assert trajectory.source.hygiene["system_reminders_stripped"] == 2


def test_an_empty_result_stays_as_it_answers_its_call() -> None:
    builder = TrajectoryBuilder()
    builder.assistant(calls=[("c1", "bash", {"command": "true"})])
    builder.tool("c1", "")
    trajectory = finished(builder)
    assert trajectory.messages[1].content == ""
    assert trajectory.source.hygiene == {}


def test_missing_ids_are_made_in_order_and_answered_in_order() -> None:
    builder = TrajectoryBuilder()
    ids = builder.assistant(calls=[(None, "a", {}), ("own", "b", {}), (None, "c", {})])
    builder.tool(None, "first")
    builder.tool("own", "second")
    builder.tool(None, "third")
    trajectory = finished(builder)
    assert ids == ["call_001", "own", "call_002"]
    assert [message.tool_call_id for message in trajectory.messages[1:]] == ["call_001", "own", "call_002"]
    assert trajectory.source.hygiene == {"call_ids_made": 2}


def test_a_result_that_names_a_made_id_takes_it_from_those_that_wait() -> None:
    builder = TrajectoryBuilder()
    builder.assistant(calls=[(None, "a", {})])
    (second,) = builder.assistant(calls=[(None, "b", {})])
    builder.tool(second, "of b")
    builder.tool(None, "of a")
    assert [message.tool_call_id for message in finished(builder).messages[2:]] == ["call_002", "call_001"]


def test_calls_without_a_result_and_results_without_a_call_are_kept_and_marked() -> None:
    builder = TrajectoryBuilder()
    builder.assistant(calls=[("c1", "a", {}), ("c2", "b", {})])
    builder.tool("c2", "ok")
    builder.tool("c9", "whose?")
    trajectory = finished(builder)
    reply, answered, odd = trajectory.messages
    assert [call.mark for call in reply.tool_calls] == ["no-result", None]
    assert (answered.mark, odd.mark) == (None, "no-call")
    assert trajectory.source.hygiene == {"calls_without_result": 1, "results_without_call": 1}


def test_an_id_used_again_still_shows_the_call_without_a_result() -> None:
    builder = TrajectoryBuilder()
    builder.assistant(calls=[("same", "a", {})])
    builder.tool("same", "answered")
    builder.assistant(calls=[("same", "b", {})])
    first, _, second = finished(builder).messages
    assert (first.tool_calls[0].mark, second.tool_calls[0].mark) == (None, "no-result")


def test_a_second_result_of_a_call_and_one_before_its_call_are_not_odd() -> None:
    builder = TrajectoryBuilder()
    builder.tool("c1", "early")
    builder.assistant(calls=[("c1", "a", {})])
    builder.tool("c1", "again")
    trajectory = finished(builder)
    assert {message.mark for message in trajectory.messages} == {None}
    assert trajectory.source.hygiene == {}


def test_the_text_decides_only_where_no_flag_is_recorded() -> None:
    builder = TrajectoryBuilder()
    for call_id, flag in (("c1", None), ("c2", False)):
        builder.assistant(calls=[(call_id, "book", {})])
        builder.tool(call_id, "Error: seat taken", is_error=flag)
    assert [message.is_error for message in finished(builder).messages if message.role == "tool"] == [True, False]


@pytest.mark.parametrize("mark", ["rejected", "cancelled"])
def test_a_rejection_or_a_cancelled_sibling_is_not_a_failure(mark: str) -> None:
    builder = TrajectoryBuilder()
    builder.assistant(calls=[("c1", "edit", {})])
    builder.tool("c1", "Error: not run", mark="rejected" if mark == "rejected" else "cancelled")
    trajectory = finished(builder)
    assert trajectory.messages[1].is_error is None
    assert sum(trajectory.source.hygiene.values()) == 1


def test_a_simulated_users_calls_are_on_its_own_message() -> None:
    builder = TrajectoryBuilder()
    builder.user(None, "injected", calls=[("c1", "toggle_data", {"on": True})])
    builder.tool("c1", "Error: no signal", mark="injected")
    user, result = finished(builder).messages
    assert (user.role, user.tool_calls[0].arguments) == ("user", '{"on": true}')
    assert result.is_error is None


def test_counts_found_while_reading_join_those_of_the_source() -> None:
    builder = TrajectoryBuilder()
    builder.user("hook output", "injected")
    trajectory = finished(builder, Source("test", hygiene={"injected_messages": 1, "bad_lines": 2, "torn_lines": 0}))
    assert trajectory.source.hygiene == {"bad_lines": 2, "injected_messages": 2}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"a": 1 }', '{"a": 1 }'), ({"a": "ü"}, '{"a": "ü"}'), (None, "{}"), ("", ""), ([1], "[1]")],
)
def test_arguments_become_a_json_string_and_a_string_stays(arguments: object, text: str) -> None:
    assert arguments_json(arguments) == text


def test_head_fields_reach_the_trajectory() -> None:
    builder = TrajectoryBuilder()
    builder.system("rules")
    trajectory = builder.finish("s1", Source("test"), agent="a", model="m", timestamp="2026-01-01T00:00:00Z")
    assert (trajectory.agent, trajectory.model, trajectory.timestamp) == ("a", "m", "2026-01-01T00:00:00Z")
    assert trajectory.messages == [Message("system", "rules")]


def test_calls_that_wait_for_their_results_do_not_slow_the_others_down() -> None:
    builder = TrajectoryBuilder()
    ids = builder.assistant("Go.", calls=[(None, "bash", "{}")] * 50_000)
    with no_hang():
        for call_id in reversed(ids):
            builder.tool(call_id, "done")
    assert len(builder.messages) == 50_001


@pytest.mark.parametrize(
    ("text", "content", "thinking"),
    [
        ("<think>\nWhich shop?\n</think>\n\nThe one in May Street.", "The one in May Street.", "Which shop?"),
        ("<thinking>Which?</thinking>This one.", "This one.", "Which?"),
        ("<think></think>This one.", "This one.", None),
        ("Write <think>x</think> around it.", "Write <think>x</think> around it.", None),
        ("<think>not closed", "<think>not closed", None),
    ],
)
def test_thinking_in_tags_before_a_reply_is_thinking(text: str, content: str, thinking: str | None) -> None:
    builder = TrajectoryBuilder()
    builder.assistant(text)
    made = finished(builder)
    assert [(each.content, each.thinking) for each in made.messages] == [(content, thinking)]
    assert made.source.hygiene == ({"thoughts_taken_out": 1} if content != text else {})
