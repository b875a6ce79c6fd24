"""The cache of the test server: prefixes, lifetimes, minimum length, marks; and what is billed for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import anthropic
import pytest

from agent_wiki_testing import Asked, Endpoint, MessagesServer, Usage
from tests.testing.clients import Verdict, asking, client_of, shared_prefix, with_schema

PREFIX = "[T1] user: make it green\n" * 400
PREFIX_TOKENS = 2_500


def figures(message: anthropic.types.Message) -> tuple[int, int, int]:
    """Plain, written and read tokens of the prompt."""
    usage = message.usage
    return usage.input_tokens, usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0


def test_three_questions_on_one_prefix_write_it_once_and_read_it_twice() -> None:
    with MessagesServer() as server, client_of(server) as client:
        asked = [client.messages.create(**shared_prefix(PREFIX, question)) for question in ("Why?", "How so?", "Who?")]
    assert [figures(message) for message in asked] == [
        (1, PREFIX_TOKENS, 0),
        (2, 0, PREFIX_TOKENS),
        (1, 0, PREFIX_TOKENS),
    ]
    assert server.ledger.total() == Usage(
        4, PREFIX_TOKENS, 0, 2 * PREFIX_TOKENS, sum(m.usage.output_tokens for m in asked)
    )
    assert server.ledger.billed_input_tokens() == pytest.approx(4 + 1.25 * PREFIX_TOKENS + 0.1 * 2 * PREFIX_TOKENS)


def test_two_questions_of_one_moment_both_write() -> None:
    """Why the first of three has to be awaited before the other two start."""
    bodies = [shared_prefix(PREFIX, question) for question in ("Why?", "How?")]
    both = Barrier(2, timeout=30)

    def answer(_: Asked) -> str:
        both.wait()
        return "Both were here."

    with (
        MessagesServer(answer) as server,
        client_of(server) as client,
        ThreadPoolExecutor(2) as pool,
    ):
        asked = list(pool.map(lambda body: figures(client.messages.create(**body)), bodies))
    assert asked == [(1, PREFIX_TOKENS, 0), (1, PREFIX_TOKENS, 0)]


def test_another_schema_is_another_prefix() -> None:
    """The service puts the schema before the system prompt; three stages with three schemas share nothing."""
    with MessagesServer() as server, client_of(server) as client:
        first = client.messages.create(**shared_prefix(PREFIX, "Why?"), **with_schema())
        same = client.messages.create(**shared_prefix(PREFIX, "How?"), **with_schema())
        none = client.messages.create(**shared_prefix(PREFIX, "Who?"))
    assert figures(first)[1] == figures(same)[2] > PREFIX_TOKENS
    assert figures(none)[1:] == (PREFIX_TOKENS, 0)


@pytest.mark.parametrize("change", [{"system": "Another."}, {"model": "claude-sonnet-5-5"}], ids=["system", "model"])
def test_everything_before_the_mark_is_part_of_the_prefix(change: dict[str, Any]) -> None:
    with MessagesServer() as server, client_of(server) as client:
        client.messages.create(**shared_prefix(PREFIX, "Why?"))
        message = client.messages.create(**(shared_prefix(PREFIX, "Why?") | change))
    assert figures(message)[2] == 0


def test_one_character_more_is_another_prefix() -> None:
    with MessagesServer() as server, client_of(server) as client:
        client.messages.create(**shared_prefix(PREFIX, "Why?"))
        assert figures(client.messages.create(**shared_prefix(PREFIX + " ", "Why?")))[2] == 0


def test_a_prefix_that_is_too_short_is_not_kept_and_nothing_is_said() -> None:
    short = "x" * 4 * 1_023
    with MessagesServer() as server, client_of(server) as client:
        asked = [
            figures(client.messages.create(**shared_prefix(text, "Why?"))) for text in (short, short, short + "xxxx")
        ]
    assert asked == [(1_024, 0, 0), (1_024, 0, 0), (1, 1_024, 0)]


@pytest.mark.parametrize(("lifetime", "seconds"), [("5m", 300), ("1h", 3_600)])
def test_an_entry_lives_as_long_as_it_was_asked_to(lifetime: str, seconds: int) -> None:
    body = shared_prefix(PREFIX, "Why?", lifetime)
    with MessagesServer() as server, client_of(server) as client:
        written = client.messages.create(**body)
        server.clock.advance(seconds - 20)
        read = client.messages.create(**body)
        server.clock.advance(seconds - 20)
        read_again = client.messages.create(**body)
        server.clock.advance(seconds)
        written_again = client.messages.create(**body)
    assert [figures(message)[2] > 0 for message in (written, read, read_again, written_again)] == [
        False,
        True,
        True,
        False,
    ]
    created = written.usage.cache_creation
    assert created is not None
    by_lifetime = {"5m": created.ephemeral_5m_input_tokens, "1h": created.ephemeral_1h_input_tokens}
    assert by_lifetime == {"5m": 0, "1h": 0} | {lifetime: PREFIX_TOKENS}


def _marked(texts: list[str], lifetimes: list[str | None]) -> dict[str, Any]:
    blocks = [
        {"type": "text", "text": text} | ({"cache_control": {"type": "ephemeral", "ttl": ttl}} if ttl else {})
        for text, ttl in zip(texts, lifetimes, strict=True)
    ]
    return asking() | {"messages": [{"role": "user", "content": blocks}]}


def test_each_mark_writes_its_own_prefix_with_its_own_lifetime() -> None:
    texts = ["a" * 8_000, "b" * 8_000, "Why?"]
    with MessagesServer() as server, client_of(server) as client:
        both = client.messages.create(**_marked(texts, ["1h", "5m", None])).usage
        server.clock.advance(600)
        first_only = client.messages.create(**_marked(texts, ["1h", "5m", None])).usage
    assert both.cache_creation is not None
    assert (both.cache_creation.ephemeral_1h_input_tokens, both.cache_creation.ephemeral_5m_input_tokens) == (
        2_000,
        2_000,
    )
    assert (first_only.cache_read_input_tokens, first_only.cache_creation_input_tokens) == (2_000, 2_000)


def test_a_mark_reaches_back_over_twenty_blocks_and_no_further() -> None:
    first = ["a" * 8_000]
    with MessagesServer() as server, client_of(server) as client:
        client.messages.create(**_marked(first, ["5m"]))
        near = client.messages.create(**_marked(first + ["x"] * 19, [None] * 19 + ["5m"]))
        far = client.messages.create(**_marked(first + ["y"] * 20, [None] * 20 + ["5m"]))
    assert (figures(near)[2], figures(far)[2]) == (2_000, 0)


def test_five_marks_are_refused() -> None:
    body = _marked(["a", "b", "c", "d", "e"], ["5m"] * 5)
    with (
        MessagesServer() as server,
        client_of(server) as client,
        pytest.raises(anthropic.BadRequestError, match=r"maximum of 4 blocks with cache_control .* Found 5"),
    ):
        client.messages.create(**body)


def test_a_long_lifetime_after_a_short_one_is_refused() -> None:
    with MessagesServer() as server, client_of(server) as client, pytest.raises(anthropic.BadRequestError, match="1h"):
        client.messages.create(**_marked(["a", "b"], ["5m", "1h"]))


def test_a_refused_request_writes_nothing() -> None:
    without_schema: Any = {"format": {"type": "json_schema"}}
    with MessagesServer() as server, client_of(server) as client:
        with pytest.raises(anthropic.BadRequestError):
            client.messages.create(**shared_prefix(PREFIX, "Why?"), output_config=without_schema)
        assert figures(client.messages.create(**shared_prefix(PREFIX, "Why?")))[2] == 0


def test_a_string_is_the_same_as_one_text_block() -> None:
    mark: Any = {"type": "ephemeral"}
    blocks: Any = [{"type": "text", "text": PREFIX}]
    with MessagesServer() as server, client_of(server) as client:
        client.messages.create(**asking(PREFIX), cache_control=mark)
        message = client.messages.create(
            **asking() | {"messages": [{"role": "user", "content": blocks}]}, cache_control=mark
        )
    assert figures(message) == (0, 0, PREFIX_TOKENS)


def test_an_endpoint_without_a_cache_bills_every_token_plainly() -> None:
    with MessagesServer(endpoint=Endpoint(has_cache=False)) as server, client_of(server) as client:
        asked = [figures(client.messages.create(**shared_prefix(PREFIX, "Why?"))) for _ in range(2)]
    assert asked == [(PREFIX_TOKENS + 1, 0, 0)] * 2


def test_the_schema_of_a_forced_tool_is_part_of_the_prefix() -> None:
    endpoint = Endpoint(forced_tools="honoured")
    tool: Any = {"name": "answer", "input_schema": Verdict.model_json_schema()}
    with MessagesServer(endpoint=endpoint) as server, client_of(server) as client:
        client.messages.create(**shared_prefix(PREFIX, "Why?"), tools=[tool])
        again = client.messages.create(**shared_prefix(PREFIX, "Who?"), tools=[tool])
        other = client.messages.create(**shared_prefix(PREFIX, "How?"), tools=[tool | {"name": "other"}])
    assert (figures(again)[2] > PREFIX_TOKENS, figures(other)[2]) == (True, 0)
