"""The test server, as the real client sees it: answers, what is refused, what goes wrong."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import anthropic
import httpx2
import pytest

from agent_wiki.engine import Answer
from agent_wiki_testing import LOCAL, Asked, Endpoint, Fault, MessagesServer, Reply
from agent_wiki_testing.http_edge import HttpServer
from tests.testing.clients import MODEL, Verdict, asking, client_of, said, with_schema


def test_a_message_is_what_the_answerer_said() -> None:
    with MessagesServer(answer=lambda asked: f"You asked: {asked.question}") as server, client_of(server) as client:
        message = client.messages.create(**asking("Which test failed?"))
    assert said(message) == "You asked: Which test failed?"
    assert (message.stop_reason, message.model, message.role) == ("end_turn", MODEL, "assistant")


def test_the_echo_fits_the_schema_of_structured_output() -> None:
    with MessagesServer() as server, client_of(server) as client:
        message = client.messages.create(**asking(), **with_schema())
    assert Verdict.model_validate_json(said(message)).turns == [1, 1]


def test_an_answerer_sees_the_stage_the_schema_and_the_attempt() -> None:
    from agent_wiki.stages.extract_guidelines import GuidelinesAnswer

    seen: list[Asked] = []

    def answer(asked: Asked) -> dict[str, Any]:
        seen.append(asked)
        return {"guidelines": []}

    with MessagesServer(answer) as server, client_of(server) as client:
        for _ in range(2):
            client.messages.create(**asking(), **with_schema(GuidelinesAnswer), system="Read.")
    assert [(asked.number, asked.attempt) for asked in seen] == [(1, 1), (2, 2)]
    assert (seen[0].stage, seen[0].means, seen[0].system) == ("extract-guidelines", "native", "Read.")
    assert seen[0].digest == seen[1].digest


def test_what_was_on_the_wire_is_kept_byte_for_byte_and_without_the_key() -> None:
    with MessagesServer() as server, client_of(server) as client:
        client.messages.create(**asking("Grüße ☕"))
        [received] = server.received
    assert "Grüße ☕".encode() in received.raw
    assert server.bodies() == [asking("Grüße ☕")]
    assert "test-key" not in str(received.headers)
    assert (received.status, received.is_answered) == (200, True)


def test_tokens_are_counted_as_they_are_billed() -> None:
    body = asking("x" * 401, system="y" * 9)
    with MessagesServer() as server, client_of(server) as client:
        counted = client.messages.count_tokens(model=MODEL, messages=body["messages"], system=body["system"])
        billed = client.messages.create(**body).usage
    assert counted.input_tokens == billed.input_tokens == 101 + 3


def test_the_schema_of_structured_output_costs_tokens() -> None:
    with MessagesServer() as server, client_of(server) as client:
        plain = client.messages.create(**asking()).usage.input_tokens
        structured = client.messages.create(**asking(), **with_schema()).usage.input_tokens
    assert structured > plain + 50


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"temperature": 0.5}, "temperature"),
        ({"frobnicate": 1}, "frobnicate: Extra inputs"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "user", "content": ""}]}, r"messages\.0\.content"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "{"}]}, "prefill"),
        ({"tools": [{"name": "t", "input_schema": {}}], "tool_choice": {"type": "any"}}, "forced tool use"),
        ({"stream": True}, "stream"),
        ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}, "additionalProperties"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_request_that_the_service_refuses_is_refused(change: dict[str, Any], words: str) -> None:
    body = {name: value for name, value in (asking() | change).items() if value is not None}
    with (
        MessagesServer() as server,
        client_of(server) as client,
        pytest.raises(anthropic.BadRequestError, match=words) as caught,
    ):
        client.post("/v1/messages", body=body, cast_to=object)
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id == "req_messages_000001"
    assert server.ledger.billed == []


def test_bounds_that_were_not_taken_out_of_a_schema_are_refused() -> None:
    schema = Verdict.model_json_schema()
    wanted: Any = {"format": {"type": "json_schema", "schema": schema}}
    with (
        MessagesServer() as server,
        client_of(server) as client,
        pytest.raises(anthropic.BadRequestError, match="not supported"),
    ):
        client.messages.create(**asking(), output_config=wanted)


def test_a_schema_that_refers_to_itself_is_refused() -> None:
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        "required": ["children"],
        "additionalProperties": False,
    }
    wanted: Any = {"format": {"type": "json_schema", "schema": {"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}}}}
    with (
        MessagesServer() as server,
        client_of(server) as client,
        pytest.raises(anthropic.BadRequestError, match="Tree"),
    ):
        client.messages.create(**asking(), output_config=wanted)


def test_a_schema_with_too_many_optional_properties_is_refused() -> None:
    fields = {f"field_{number}": {"type": "string"} for number in range(25)}
    schema = {"type": "object", "properties": fields, "additionalProperties": False}
    wanted: Any = {"format": {"type": "json_schema", "schema": schema}}
    with (
        MessagesServer() as server,
        client_of(server) as client,
        pytest.raises(anthropic.BadRequestError, match="25 optional"),
    ):
        client.messages.create(**asking(), output_config=wanted)


def test_every_answer_schema_of_a_stage_is_taken() -> None:
    from agent_wiki.stages import (
        consolidate_clusters,
        discover_tasks,
        extract_guidelines,
        summarize,
        synthesize_skill,
    )

    schemas: list[type[Answer]] = [
        summarize.SummaryAnswer,
        extract_guidelines.GuidelinesAnswer,
        synthesize_skill.SkillsAnswer,
        consolidate_clusters.ClustersAnswer,
        discover_tasks.TaskAnswer,
        discover_tasks.SubtasksAnswer,
    ]
    with MessagesServer() as server, client_of(server) as client:
        answers = [client.messages.create(**asking(), **with_schema(schema)) for schema in schemas]
    for schema, answer in zip(schemas, answers, strict=True):
        assert schema.model_validate_json(said(answer))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json", "anthropic-version": "2026-10-21"}, 401),
        ({"content-type": "application/json", "anthropic-version": "2026-10-21", "x-api-key": "wrong"}, 401),
        ({"content-type": "application/json", "x-api-key": "right"}, 400),
        ({"content-type": "text/plain", "anthropic-version": "2026-10-21", "x-api-key": "right"}, 400),
        ({"content-type": "application/json", "anthropic-version": "2026-10-21", "authorization": "Bearer right"}, 200),
    ],
)
def test_a_key_a_version_and_json_are_required(headers: dict[str, str], status: int) -> None:
    with MessagesServer(endpoint=Endpoint(key="right")) as server:
        answer = httpx2.post(f"{server.base_url}/v1/messages", content=json.dumps(asking()), headers=headers)
    assert answer.status_code == status


def test_what_is_no_json_and_what_is_no_path_is_refused() -> None:
    headers = {"content-type": "application/json", "anthropic-version": "2026-10-21", "x-api-key": "any"}
    with MessagesServer() as server:
        broken = httpx2.post(f"{server.base_url}/v1/messages", content="{", headers=headers)
        deep = httpx2.post(f"{server.base_url}/v1/messages", content="[" * 100_000, headers=headers)
        nowhere = httpx2.post(f"{server.base_url}/v1/complete", content="{}", headers=headers)
    assert [answer.status_code for answer in (broken, deep, nowhere)] == [400, 400, 404]
    assert broken.json()["error"]["type"] == "invalid_request_error"


def test_a_local_server_ignores_the_schema_and_says_nothing_of_it() -> None:
    with MessagesServer(lambda _: {"title": "x"}, LOCAL) as server, client_of(server) as client:
        message = client.messages.create(**asking(), **with_schema())
    assert message.stop_reason == "end_turn"
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(said(message))


def test_a_local_server_answers_a_forced_tool() -> None:
    tool: Any = {"name": "answer", "description": "Answer.", "input_schema": Verdict.model_json_schema()}
    choice: Any = {"type": "tool", "name": "answer"}
    with MessagesServer(endpoint=LOCAL) as server, client_of(server) as client:
        message = client.messages.create(**asking(), tools=[tool], tool_choice=choice)
    [block] = message.content
    assert block.type == "tool_use"
    assert (message.stop_reason, block.name) == ("tool_use", "answer")
    assert Verdict.model_validate(block.input).title == "x"


def test_a_model_follows_a_schema_in_its_prompt() -> None:
    asked = f"What happened? Answer with JSON of this schema:\n\n{json.dumps(Verdict.model_json_schema())}\n"
    endpoint = LOCAL.model_copy(update={"forced_tools": "ignored"})
    fenced = Fault(kind="fenced", attempts=(2,))
    with MessagesServer(endpoint=endpoint, faults=[fenced]) as server, client_of(server) as client:
        bare = said(client.messages.create(**asking(asked)))
        wrapped = said(client.messages.create(**asking(asked)))
    assert Verdict.model_validate_json(bare).title == "x"
    assert wrapped == f"Here it is:\n\n```json\n{bare}\n```\n"


def test_what_an_endpoint_lacks_is_not_found() -> None:
    endpoint = LOCAL.model_copy(update={"has_count_tokens": False})
    with MessagesServer(endpoint=endpoint) as server, client_of(server) as client:
        with pytest.raises(anthropic.NotFoundError):
            client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "x"}])
        with pytest.raises(anthropic.NotFoundError):
            client.messages.batches.create(requests=[])
        with pytest.raises(anthropic.NotFoundError):
            client.messages.batches.retrieve("msgbatch_000001")


def test_an_answerer_may_say_how_it_stopped() -> None:
    reply = Reply("Half of it", stop_reason="max_tokens")
    with MessagesServer(lambda _: reply) as server, client_of(server) as client:
        assert client.messages.create(**asking()).stop_reason == "max_tokens"


def test_chances_are_the_same_for_the_same_seed_whatever_the_order() -> None:
    def refused(texts: list[str], seed: int) -> set[str]:
        fault = Fault(kind="refusal", probability=0.5)
        with MessagesServer(faults=[fault], seed=seed) as server, client_of(server) as client:
            reasons = {text: client.messages.create(**asking(text)).stop_reason for text in texts}
        return {text for text, reason in reasons.items() if reason == "refusal"}

    texts = [f"Question {number}" for number in range(40)]
    first = refused(texts, 1)
    assert refused(list(reversed(texts)), 1) == first
    assert refused(texts, 2) != first
    assert 8 <= len(first) <= 32


def test_requests_at_once_are_counted() -> None:
    together = Barrier(8, timeout=30)

    def answer(_: Asked) -> str:
        together.wait()
        return "All eight were here."

    with MessagesServer(answer) as server, client_of(server) as client, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: client.messages.create(**asking(f"{number}")), range(16)))
    assert server.ledger.most_in_flight == 8


def test_each_answer_takes_the_latency() -> None:
    waited: list[float] = []
    with MessagesServer(endpoint=Endpoint(latency_seconds=60)) as server, client_of(server) as client:
        server.messages.setting = replace(server.setting, wait=waited.append)
        for _ in range(3):
            client.messages.create(**asking())
    assert waited == [60, 60, 60]


def test_a_slow_answer_can_be_aimed_at_one_request() -> None:
    faults = [Fault(kind="latency", requests=(2,), seconds=60)]
    with MessagesServer(faults=faults) as server, client_of(server) as client:
        client.messages.create(**asking())
        with pytest.raises(anthropic.APITimeoutError):
            client.with_options(timeout=0.1).messages.create(**asking())


@pytest.mark.parametrize(("error", "bugs"), [(BrokenPipeError(), 0), (KeyError("a"), 1)])
def test_a_client_that_is_gone_when_the_rest_is_written_out_is_no_bug(error: Exception, bugs: int) -> None:
    class Site:
        def __init__(self) -> None:
            self.bugs: list[BaseException] = []

    site: Any = Site()
    server = HttpServer(site, 0)
    try:
        raise error
    except type(error):
        server.handle_error(None, None)
    finally:
        server.server_close()
    assert len(site.bugs) == bugs


def test_a_bug_in_an_answerer_is_raised_at_the_end() -> None:
    def answer(asked: Asked) -> str:
        return asked.body["nothing of this name"]  # type: ignore[no-any-return]

    def ask() -> None:
        with MessagesServer(answer) as server, client_of(server) as client:
            try:
                client.messages.create(**asking())
            except anthropic.APIConnectionError:
                return

    with pytest.raises(KeyError, match="nothing of this name"):
        ask()
