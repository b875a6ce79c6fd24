"""Traces of models' calls in OTLP JSON, by all three conventions: samples of real libraries, and odd ones made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import otlp
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang
from tests.readers.lines import only, recorded_lines, shape, write_document, write_lines

SAMPLES = Path(__file__).parents[1] / "data" / "otlp"
LISTED = [
    ("system", "You list files."),
    ("user", "How many files are in src?"),
    ("assistant", "Let me look."),
]


def attribute(key: str, value: Any) -> dict[str, Any]:
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue"}
    kind = kinds.get(type(value), "stringValue")
    text = value if kind != "stringValue" or isinstance(value, str) else json.dumps(value)
    return {"key": key, "value": {kind: str(text) if kind == "intValue" else text}}


def span(span_id: str, second: int, *, parent: str = "", **rest: Any) -> dict[str, Any]:
    """One span of a second's length. `attributes` is a plain object."""
    times = {
        "startTimeUnixNano": f"{1_700_000_000 + second}000000000",
        "endTimeUnixNano": f"{1_700_000_001 + second}000000000",
    }
    attributes = [attribute(key, value) for key, value in rest.pop("attributes", {}).items()]
    return {"traceId": "t1", "spanId": span_id, "parentSpanId": parent, **times, "attributes": attributes, **rest}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def called(call_id: str | None, name: str = "run", **arguments: Any) -> dict[str, Any]:
    call = {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [call]}


def answered(call_id: str, result: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": result}]}


def chat(span_id: str, second: int, prompt: Any, reply: Any, **rest: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": prompt, "gen_ai.output.messages": reply}
    return span(span_id, second, attributes=attributes | rest.pop("more", {}), **rest)


def agent(span_id: str, second: int, name: str, **rest: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(span_id, second, attributes=attributes | rest.pop("more", {}), **rest)


def tool(span_id: str, second: int, name: str = "run", **rest: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return span(span_id, second, attributes=attributes | rest.pop("more", {}), **rest)


def request(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def read(folder: Path, *spans: Any) -> list[Trajectory]:
    """The trajectories of spans, each in a request of its own."""
    recording = write_lines(folder / "traces.jsonl", [request(each) for each in spans])
    return list(otlp.read(recording))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_session_that_a_real_library_recorded_is_read_whole(path: Path) -> None:
    recording = Recording(path, path.name)
    assert reader_of(recording).FORMAT == "otlp"
    first = next(otlp.read(recording))
    turns = [turn for turn in shape(first) if turn != ("system", "Be brief.")]
    assert turns[:3] == LISTED
    assert [(call.name, call.is_error) for call in paired_calls(first)][:2] == [
        ("list_files", None),
        ("read_file", True),
    ]
    assert (first.model, first.source.hygiene.get("calls_without_result")) == ("scripted", None)
    assert first.timestamp is not None
    assert first.timestamp.startswith("2026-11-22T")


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_no_text_of_a_real_sample_is_lost(path: Path) -> None:
    """By another route: every text that a plain search of the attributes finds is in some trajectory."""
    texts = ["You list files.", "How many files are in src?", "Let me look.", "b.py", "missing.py", "I look first."]
    texts += ["There are two files.", "A helper answer.", "And now?", "what is it?"]
    raw = path.read_text(encoding="utf-8")
    found = [message for trajectory in otlp.read(Recording(path, path.name)) for message in trajectory.messages]
    whole = "\n".join(
        f"{each.content} {each.thinking} {[call.arguments for call in each.tool_calls]}" for each in found
    )
    assert [text for text in texts if text in raw] == [text for text in texts if text in whole]


def test_usage_is_summed_over_replies_and_cached_tokens_are_apart() -> None:
    path = SAMPLES / "vercel-ai-7.jsonl"
    trajectory = only(otlp.read(Recording(path, path.name)))
    assert trajectory.source.usage == Usage(input_tokens=12, cache_read_input_tokens=8, output_tokens=10)
    assert trajectory.agent == "lister"


def test_an_agent_inside_a_tool_is_apart_and_a_second_run_goes_on() -> None:
    path = SAMPLES / "pydantic-ai.jsonl"
    boss, helper = otlp.read(Recording(path, path.name))
    assert shape(boss)[-2:] == [("user", "And now?"), ("assistant", "There are two files.")]
    assert (boss.agent, helper.agent, helper.source.parent_session_id) == ("boss", "helper", boss.session_id)
    assert shape(helper) == [("system", "You help."), ("user", "what is it?"), ("assistant", "A helper answer.")]


@pytest.mark.parametrize("kind", ["chat", "responses"])
def test_an_agent_that_was_handed_the_conversation_has_only_its_own_turns(kind: str) -> None:
    path = SAMPLES / f"openai-agents-{kind}.jsonl"
    boss, helper = otlp.read(Recording(path, path.name))
    assert shape(boss)[-1] == ("tool", '{"assistant": "helper"}')
    assert shape(helper) == [("system", "You help."), ("assistant", "A helper answer.")]
    assert helper.source.hygiene == {"inherited_turns": 6}
    assert boss.source.hygiene == ({} if kind == "chat" else {"split_replies_joined": 1})


def test_the_order_of_the_spans_and_a_span_twice_change_nothing(tmp_path: Path) -> None:
    lines = recorded_lines(SAMPLES / "pydantic-ai.jsonl")
    whole = list(otlp.read(write_lines(tmp_path / "a.jsonl", lines)))
    assert list(otlp.read(write_lines(tmp_path / "b.jsonl", lines[::-1] + lines[:3]))) == whole


def test_one_request_may_be_the_whole_document(tmp_path: Path) -> None:
    spans = chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")])
    assert shape(only(otlp.read(write_document(tmp_path / "t.json", request(spans))))) == [
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]


def test_names_of_the_protocol_are_read_too(tmp_path: Path) -> None:
    one = chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")])
    renamed = {"trace_id": "t9", "span_id": "a", "start_time_unix_nano": 10**18, "attributes": one["attributes"]}
    line = {"resource_spans": [{"scope_spans": [{"spans": [renamed]}]}]}
    trajectory = only(otlp.read(write_lines(tmp_path / "t.jsonl", [line, line])))
    assert (trajectory.session_id, trajectory.timestamp) == ("t9", "2001-09-09T01:46:40Z")


def test_a_prompt_that_sends_only_what_is_new_goes_on_where_the_last_ended(tmp_path: Path) -> None:
    first = chat("a", 1, [said("user", "One")], [called("c1")])
    second = chat("b", 2, [answered("c1", "x")], [said("assistant", "Done")])
    third = chat("c", 3, [said("user", "One")], [said("assistant", "Again")])
    found = only(read(tmp_path, first, second, third))
    assert [content for _, content in shape(found)] == ["One", None, "x", "Done", "One", "Again"]


def test_a_prompt_whose_beginning_was_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    turns = [said("user", "One"), said("assistant", "First"), said("user", "Two"), said("assistant", "Second")]
    spans = [chat("a", 1, turns[:1], turns[1:2]), chat("b", 2, turns[:3], turns[3:])]
    window = [said("user", "(summary)"), *turns[2:], said("user", "Three")]
    found = only(read(tmp_path, *spans, chat("c", 3, window, [said("assistant", "Third")])))
    contents = [content for _, content in shape(found)]
    assert contents == ["One", "First", "Two", "Second", "(summary)", "Three", "Third"]


def test_a_request_that_was_sent_again_is_not_asked_twice(tmp_path: Path) -> None:
    prompt = [said("user", "One")]
    found = only(
        read(tmp_path, chat("a", 1, prompt, [said("assistant", "x")]), chat("b", 2, prompt, [said("assistant", "y")]))
    )
    assert [content for _, content in shape(found)] == ["One", "x", "y"]


def test_spans_of_tools_fill_in_results_that_no_prompt_shows(tmp_path: Path) -> None:
    calls = [called("c1", "run", command="ls"), called(None, "run", command="pwd")]
    by_id = {"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "a.py"}
    by_arguments = {"gen_ai.tool.call.arguments": {"command": "pwd"}, "gen_ai.tool.call.result": {"path": "/src"}}
    failed = {"code": "STATUS_CODE_ERROR", "message": "killed"}
    found = only(
        read(
            tmp_path,
            chat("a", 1, [said("user", "One")], [calls[0], called("c2", "run", command="pwd"), called("c3", "run")]),
            tool("b", 2, more=by_id),
            tool("c", 3, more=by_arguments),
            tool("d", 4, status=failed, more={"gen_ai.tool.call.id": "c3"}),
        )
    )
    results = [(call.result, call.is_error) for call in paired_calls(found)]
    assert results == [("a.py", None), ('{"path": "/src"}', None), ("killed", True)]


def test_agents_side_by_side_are_apart_and_one_after_another_are_one(tmp_path: Path) -> None:
    def run(number: int, second: int, name: str) -> list[dict[str, Any]]:
        around = agent(f"agent{number}", second, name)
        return [
            around,
            chat(
                f"chat{number}",
                second,
                [said("user", f"Ask {number}")],
                [said("assistant", "ok")],
                parent=f"agent{number}",
            ),
        ]

    beside = read(tmp_path, *run(1, 1, "x"), *run(2, 1, "x"))
    assert [each.session_id for each in beside] == ["t1", "t1.agent-agent2"]
    after = read(tmp_path, *run(1, 1, "x"), *run(2, 5, "x"))
    assert [content for _, content in shape(only(after))] == ["Ask 1", "ok", "Ask 2", "ok"]


def test_an_agent_that_records_its_conversation_itself_is_read(tmp_path: Path) -> None:
    more = {"gen_ai.input.messages": [said("user", "Hi")], "gen_ai.output.messages": [said("assistant", "Hello")]}
    bare = span("b", 1, parent="a", attributes={"gen_ai.operation.name": "chat"})
    found = only(read(tmp_path, agent("a", 1, "x", more=more), bare))
    assert (found.agent, shape(found)) == ("x", [("user", "Hi"), ("assistant", "Hello")])


def test_a_reply_that_two_libraries_recorded_counts_once(tmp_path: Path) -> None:
    outer = chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")])
    inner = chat("b", 1, [said("user", "Hi")], [said("assistant", "Hello")], parent="a")
    assert len(only(read(tmp_path, outer, inner)).messages) == 2


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("resolved", 1, (None, True)),
        ("Reward", 0.5, (0.5, None)),
        ("tone", 1, (None, None)),
        ("reward", "x", (None, None)),
    ],
)
def test_an_evaluation_that_is_called_an_outcome_is_one(tmp_path: Path, name: str, value: Any, found: Any) -> None:
    attributes = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": value}
    event = {"name": "gen_ai.evaluation.result", "attributes": [attribute(*each) for each in attributes.items()]}
    one = chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")], events=[event])
    source = only(read(tmp_path, one)).source
    assert (source.reward, source.resolved) == found


def test_messages_may_be_recorded_as_values_or_in_an_event(tmp_path: Path) -> None:
    part = {"kvlistValue": {"values": [attribute("type", "text"), attribute("content", "Hi")]}}
    parts = {"key": "parts", "value": {"arrayValue": {"values": [part]}}}
    message = {"kvlistValue": {"values": [attribute("role", "user"), parts]}}
    structured = {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [message]}}}
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": [structured]}
    one = span("a", 1, attributes={"gen_ai.operation.name": "chat"}, events=[event])
    assert shape(only(read(tmp_path, one))) == [("user", "Hi")]


def test_calls_without_content_are_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match=r"^traces\.jsonl: a model's calls without their messages"):
        read(tmp_path, span("a", 1, attributes={"gen_ai.operation.name": "chat"}))


def test_traces_of_something_else_are_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="no call of a model among its spans") as caught:
        read(tmp_path, span("a", 1, attributes={"http.request.method": "GET"}))
    assert caught.value.is_foreign
    assert not otlp.claims(Sample("lines", [{"resourceLogs": []}]))


def test_parents_that_form_a_circle_are_no_hang(tmp_path: Path) -> None:
    one = chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")], parent="b")
    with no_hang():
        assert len(read(tmp_path, one, agent("b", 1, "x", parent="c"), agent("c", 1, "y", parent="b"))) == 1


@pytest.mark.parametrize("odd", [None, 1, "{", [], {}, [[]], [None], [{"role": 1, "parts": 2}], "[" * 500])
def test_odd_messages_are_no_bug(tmp_path: Path, odd: Any) -> None:
    found = read(tmp_path, chat("a", 1, odd, [said("assistant", "Hello")]))
    assert ("assistant", "Hello") in shape(only(found))


@pytest.mark.parametrize("odd", [None, True, -1, 10**400, 1e300, "9" * 40, "x", [], {}])
def test_odd_times_are_no_bug(tmp_path: Path, odd: Any) -> None:
    times = {"startTimeUnixNano": odd, "endTimeUnixNano": odd}
    found = only(read(tmp_path, {**chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")]), **times}))
    assert (shape(found), found.timestamp) == ([("user", "Hi"), ("assistant", "Hello")], None)


def test_a_damaged_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    one = json.dumps(request(chat("a", 1, [said("user", "Hi")], [said("assistant", "Hello")])))
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{one}\n{one[:50]}\n{one}\n", encoding="utf-8")
    recording = Recording(path, "traces.jsonl")
    assert len(list(otlp.read(recording))) == 1
    assert recording.warnings[0].startswith("traces.jsonl:2: line is not JSON, skipped")
