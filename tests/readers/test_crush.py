"""Sessions of Crush and of the first OpenCode, from databases of their form."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import crush
from agent_wiki.readers.crush_parts import has_failed
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Message, Trajectory
from tests.readers.crush_rows import START, call, finish, made, reply, result, results, text, thought, user
from tests.readers.sent import read

MINUTE = 60


def only(path: Path, *messages: dict[str, Any], is_crush: bool = False, **session: Any) -> Trajectory:
    """The one session of a database with these messages."""
    (found,) = read(made(path / "sessions.db", [{**session, "messages": messages}], is_crush=is_crush))
    return found


def said(trajectory: Trajectory) -> list[tuple[str, str | None, str | None]]:
    return [(message.role, message.mark, message.content) for message in trajectory.messages]


def tools(trajectory: Trajectory) -> list[tuple[str | None, bool | None, str | None]]:
    """Each result as id, whether it failed, and mark."""
    return [(each.tool_call_id, each.is_error, each.mark) for each in trajectory.messages if each.role == "tool"]


def test_a_session_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user(text("Please fix it")),
        reply(thought("Hm."), text("I look."), call("c1", "view", {"file_path": "a.py"}), call("c2", "ls", {})),
        results(result("c1", "x = 1"), result("c2", "no such folder", is_error=True)),
        reply(text("Done."), finish("end_turn"), model="o3", finished_at=START + MINUTE),
        title="Fix it",
        cost=0.25,
        prompt_tokens=9_000,
        completion_tokens=12,
    )
    asked, looked, shown, failed, done = trajectory.messages
    assert (asked.role, asked.content) == ("user", "Please fix it")
    assert (looked.content, looked.thinking) == ("I look.", "Hm.")
    assert [(each.id, each.name, each.arguments) for each in looked.tool_calls] == [
        ("c1", "view", '{"file_path": "a.py"}'),
        ("c2", "ls", "{}"),
    ]
    assert shown == Message("tool", "x = 1", tool_call_id="c1", is_error=False)
    assert failed == Message("tool", "no such folder", tool_call_id="c2", is_error=True)
    assert (done.role, done.content) == ("assistant", "Done.")
    source = trajectory.source
    assert (trajectory.session_id, trajectory.agent, trajectory.model) == ("s-1", "opencode", "gpt-4.1")
    assert (trajectory.timestamp, source.ended_at) == ("2025-06-15T15:06:40Z", "2025-06-15T15:07:40Z")
    assert (source.format, source.title, source.duration_seconds, source.cost_usd) == ("crush", "Fix it", 60.0, 0.25)
    assert source.usage is None, "the tokens of a session's row are those of its last reply"
    assert source.hygiene == {}


def test_a_database_that_records_providers_is_of_crush(tmp_path: Path) -> None:
    trajectory = only(tmp_path, user(text("Hi")), reply(text("Hello."), provider="openrouter"), is_crush=True)
    assert trajectory.agent == "crush"
    assert trajectory.model == "gpt-4.1"


@pytest.mark.parametrize("factor", [1, 1000])
def test_times_are_seconds_or_milliseconds(tmp_path: Path, factor: int) -> None:
    first, last = START * factor, (START + MINUTE) * factor
    trajectory = only(
        tmp_path, user(text("Hi"), created_at=first), reply(text("Hello."), created_at=last, finished_at=last)
    )
    assert (trajectory.timestamp, trajectory.source.duration_seconds) == ("2025-06-15T15:06:40Z", 60.0)


def test_times_may_be_written_out(tmp_path: Path) -> None:
    written = {"created_at": "2025-06-21T12:47:20.221000Z", "updated_at": "2025-06-21T12:47:21Z"}
    trajectory = only(tmp_path, user(text("Hi"), **written))
    assert (trajectory.timestamp, trajectory.source.ended_at) == ("2025-06-21T12:47:20.221Z", "2025-06-21T12:47:21Z")


def test_messages_of_one_second_are_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    asked = [user(text(str(number)), id=f"m-{9 - number}", created_at=START) for number in range(5)]
    trajectory = only(tmp_path, user(text("later"), created_at=START + 1), *asked)
    assert [content for _, _, content in said(trajectory)] == ["0", "1", "2", "3", "4", "later"]


def test_a_subagent_names_its_parent_whose_cost_is_its_own_alone(tmp_path: Path) -> None:
    called = reply(*(call(each, "agent", {"prompt": "Look"}) for each in ("c1", "c2", "c3")))
    answered = results(result("c1", "Found."), result("c2", "Found."), result("c3", "no response", is_error=True))
    path = made(
        tmp_path / "crush.db",
        [
            {"id": "s", "cost": 1.0, "messages": [user(text("Look")), called, answered]},
            {"id": "c1", "parent_session_id": "s", "cost": 0.25, "messages": [user(text("Look"))]},
            {"id": "m-1$$c2", "parent_session_id": "s", "cost": 0.125, "messages": [user(text("Look"))]},
            {"id": "c3", "parent_session_id": "s", "cost": 0.5, "messages": [user(text("Look"))]},
            {"id": "title-s", "parent_session_id": "s", "messages": []},
        ],
    )
    found = {each.session_id: each.source for each in read(path)}
    assert {name: (source.parent_session_id, source.cost_usd) for name, source in found.items()} == {
        "s": (None, 0.625),
        "c1": ("s", 0.25),
        "m-1$$c2": ("s", 0.125),
        "c3": ("s", 0.5),
    }


def test_a_cost_of_nothing_is_unknown(tmp_path: Path) -> None:
    assert only(tmp_path, user(text("Hi")), cost=0.0).source.cost_usd is None


def test_the_summaries_of_a_session_are_marked(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user(text("Hi")),
        reply(text("Hello.")),
        reply(text("Summary: a greeting.")),
        user(text("Again")),
        reply(call("c", "ls", {})),
        results(result("c", "x")),
        reply(text("Hello again.")),
        reply(text("Summary: two greetings."), id="last"),
        user(text("Bye")),
        summary_message_id="last",
    )
    assert [content for _, mark, content in said(trajectory) if mark == "compaction"] == [
        "Summary: a greeting.",
        "Summary: two greetings.",
    ]
    assert trajectory.source.hygiene == {"compaction_summaries": 2}
    assert all(role == "user" for role, mark, _ in said(trajectory) if mark)


def test_a_reply_with_calls_is_no_summary(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user(text("Hi")),
        reply(text("Hello.")),
        reply(text("I look."), call("c", "ls", {})),
        results(result("c", "x")),
        reply(text("A greeting."), id="last"),
        summary_message_id="last",
    )
    assert [mark for _, mark, _ in said(trajectory)] == [None, None, None, None, "compaction"]


def test_a_session_without_summaries_may_have_two_replies_in_a_row(tmp_path: Path) -> None:
    trajectory = only(tmp_path, user(text("Hi")), reply(text("Hello.")), reply(text("Hello?")))
    assert [mark for _, mark, _ in said(trajectory)] == [None, None, None]


def test_crush_says_which_message_is_a_summary_and_continues_by_itself(tmp_path: Path) -> None:
    resumed = "The previous session was interrupted because it got too long, the initial user request was: `Fix it`"
    trajectory = only(
        tmp_path,
        user(text("Fix it")),
        reply(call("c", "ls", {})),
        results(result("c", "x")),
        reply(text("What was done."), is_summary_message=1),
        user(text(resumed)),
        is_crush=True,
    )
    assert said(trajectory)[-2:] == [("user", "compaction", "What was done."), ("user", "injected", resumed)]


@pytest.mark.parametrize(("seconds", "place"), [(0, 1), (5, 2)])
def test_a_summary_that_stands_with_the_session_is_put_where_it_was_made(
    tmp_path: Path, seconds: int, place: int
) -> None:
    session = {"id": "s", "summary": "What was done.", "summarized_at": START + seconds}
    messages = [{"created_at": START + number, **user(text(str(number)))} for number in range(2)]
    record = {"agent": "opencode", "session": session, "subagents": [], "messages": messages}
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps(record) + "\n", encoding="utf-8")
    trajectory = next(crush.read(Recording(path, path.name)))
    assert said(trajectory)[place] == ("user", "compaction", "What was done.")


def test_what_the_user_refused_or_stopped_is_no_failure(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user(text("Go on")),
        reply(*(call(each, "bash", {"command": "ls"}) for each in "ab"), finish("permission_denied")),
        results(
            result("a", "Permission denied", is_error=True),
            result("b", "Tool execution canceled by user", is_error=True),
        ),
        reply(*(call(each, "edit", {}) for each in "cde"), finish("canceled")),
        results(
            result("c", "Tool execution canceled by user", is_error=True),
            result("d", "User denied permission", is_error=True),
            result("e", "open /x: permission denied", is_error=True),
        ),
        user(text("No")),
        reply(finish("canceled")),
        user(text("Yes")),
        reply(text("Half"), finish("canceled", message="Request cancelled")),
    )
    assert tools(trajectory) == [
        ("a", None, "rejected"),
        ("b", None, "cancelled"),
        ("c", None, "interrupt"),
        ("d", None, "rejected"),
        ("e", True, None),
    ]
    assert [(role, mark, content) for role, mark, content in said(trajectory)[8:]] == [
        ("user", "interrupt", "[canceled]"),
        ("user", None, "No"),
        ("user", "interrupt", "[canceled]"),
        ("user", None, "Yes"),
        ("assistant", None, "Half"),
        ("user", "interrupt", "Request cancelled"),
    ]


def test_an_error_of_the_service_is_reported(tmp_path: Path) -> None:
    ended = finish("error", message="API Error", details="400 Bad Request")
    trajectory = only(tmp_path, user(text("Hi")), reply(ended), is_crush=True)
    assert said(trajectory)[-1] == ("user", "injected", "API Error: 400 Bad Request")


@pytest.mark.parametrize(
    ("tool", "shown", "is_failure"),
    [
        ("bash", "no output", False),
        ("bash", "error: it is only printed", False),
        ("bash", "\nexit status 1\nExit code 1", True),
        ("bash", "x\n\nExit code 2\n\n<cwd>/src/a</cwd>", True),
        ("bash", "Exit code 1\nand more\n\n<cwd>/src/a</cwd>", False),
        ("bash", "x\nExit code 0", False),
        ("bash", "x\n\nCommand was aborted before completion\n\n<cwd>/src</cwd>", None),
        ("bash", "Command is taking longer than expected and has been moved to background.\n\nBackground shell", None),
        ("view", "<file>\n     1|Exit code 1\n</file>", False),
        ("job_output", "Status: completed\n\nExit code 1", None),
        ("server_query", "{}", None),
    ],
)
def test_an_exit_code_stands_below_what_a_command_printed(tool: str, shown: str, is_failure: bool | None) -> None:
    assert has_failed(tool, shown) is is_failure


def test_the_text_of_a_servers_tool_decides_whether_it_failed(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user(text("Go on")),
        reply(call("a", "db_query", {}), call("b", "db_query", {})),
        results(result("a", "Error: no such table"), result("b", "3 rows")),
    )
    assert tools(trajectory) == [("a", True, None), ("b", None, None)]


def test_what_is_attached_is_noted_and_text_files_are_the_programs(tmp_path: Path) -> None:
    def attached(path: str, kind: str, content: str) -> dict[str, Any]:
        return {"type": "binary", "data": {"Path": path, "MIMEType": kind, "Data": content}}

    trajectory = only(
        tmp_path,
        user(
            text("See these"),
            attached("a.png", "image/png", "iVBORw0KGgo="),
            attached("a.pdf", "application/pdf", "JVBERi0="),
            attached("notes.txt", "text/plain", base64.b64encode("naïve".encode()).decode()),
            attached("torn.txt", "text/plain", "?"),
            {"type": "image_url", "data": {"url": "https://example.org/a.png"}},
            {"type": "shell_command", "data": {"command": "ls", "output": "a.png", "exit_code": 0}},
            text("Go on with the list.", hidden=True),
        ),
        reply(call("c", "view", {"file_path": "a.png"})),
        results(result("c", "Loaded", data="iVBORw0KGgo=", mime_type="image/png")),
        is_crush=True,
    )
    assert said(trajectory)[:4] == [
        ("user", None, "See these\n[image]\n[file]\n[file]\n[image]"),
        ("user", "injected", "notes.txt\nnaïve"),
        ("user", "injected", "$ ls\na.png\n(exit code 0)"),
        ("user", "injected", "Go on with the list."),
    ]
    assert said(trajectory)[-1] == ("tool", None, "Loaded\n[image]")


def test_arguments_that_are_no_json_are_kept(tmp_path: Path) -> None:
    trajectory = only(
        tmp_path,
        user(text("Go on")),
        reply(call("a", "ls", '{"path": "a"}{"path": "b"}'), call("", "", ""), finish("unknown")),
        results(result("a", "error parsing parameters", is_error=True), result("", "Tool not found: ", is_error=True)),
    )
    calls = [(each.id, each.name, each.arguments) for each in trajectory.messages[1].tool_calls]
    assert calls == [("a", "ls", '{"path": "a"}{"path": "b"}'), ("call_001", "", "")]
    assert tools(trajectory) == [("a", True, None), ("call_001", True, None)]


def test_a_users_message_of_results_alone_is_no_turn_of_the_user(tmp_path: Path) -> None:
    answered = user(result("c", "x"))
    trajectory = only(tmp_path, user(text("Hi")), reply(call("c", "ls", {})), answered)
    assert [role for role, _, _ in said(trajectory)] == ["user", "assistant", "tool"]


def test_odd_parts_cost_themselves(tmp_path: Path) -> None:
    odd: list[Any] = [
        None,
        7,
        "text",
        [],
        {},
        {"type": [], "data": {}},
        {"type": "text"},
        {"type": "later", "data": {}},
    ]
    trajectory = only(
        tmp_path,
        {"role": "system", "parts": [text("Be brief.")]},
        user(*odd, text("Hi")),
        reply(*odd, {"type": "tool_call", "data": {"name": None, "input": None}}),
        results(*odd, {"type": "tool_result", "data": {"content": [{"type": "text", "text": "x"}]}}),
        {"role": "later", "parts": [text("Unread")]},
    )
    assert [role for role, _, _ in said(trajectory)] == ["system", "user", "assistant", "tool"]
    assert trajectory.messages[-1].content == "x"
