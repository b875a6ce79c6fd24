"""Batches of the test server, end to end with the real client."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

from agent_wiki_testing import Asked, Endpoint, Fault, MessagesServer
from tests.testing.clients import asking, client_of, said, shared_prefix

HOUR = 3_600
PREFIX = "[T1] user: make it green\n" * 400


def requests_of(*names: str) -> list[Any]:
    """Items of a batch that ask for their own names."""
    return [{"custom_id": name, "params": asking(name)} for name in names]


def results_of(client: anthropic.Anthropic, batch: MessageBatch) -> dict[str, MessageBatchIndividualResponse]:
    """Results by custom id."""
    return {result.custom_id: result for result in client.messages.batches.results(batch.id)}


def kinds_of(client: anthropic.Anthropic, batch: MessageBatch) -> dict[str, str]:
    """What became of each item."""
    return {name: result.result.type for name, result in sorted(results_of(client, batch).items())}


def test_a_batch_ends_in_its_time_and_gives_every_answer() -> None:
    names = [f"item-{number}" for number in range(20)]
    endpoint = Endpoint(batch_seconds=HOUR)
    with MessagesServer(lambda asked: f"About {asked.text}", endpoint) as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=requests_of(*names))
        assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 20)
        with pytest.raises(anthropic.AnthropicError, match="results_url"):
            client.messages.batches.results(batch.id)
        server.clock.advance(HOUR)
        ended = client.messages.batches.retrieve(batch.id)
        results = results_of(client, batch)
    assert (ended.processing_status, ended.request_counts.succeeded, ended.request_counts.processing) == (
        "ended",
        20,
        0,
    )
    assert list(results) != names, "results come in any order"
    assert sorted(results) == sorted(names)
    succeeded = results["item-7"].result
    assert succeeded.type == "succeeded"
    assert said(succeeded.message) == "About item-7"
    assert succeeded.message.usage.service_tier == "batch"


def test_a_batch_is_billed_at_half() -> None:
    with MessagesServer() as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=requests_of("a" * 40, "b" * 40))
        assert server.ledger.billed == [], "nothing is billed before it is answered"
        results_of(client, batch)
    assert server.ledger.total().input_tokens == 20
    assert server.ledger.billed_input_tokens() == 10


def test_a_batch_that_takes_longer_than_a_day_expires() -> None:
    with MessagesServer(endpoint=Endpoint(batch_seconds=25 * HOUR)) as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=requests_of("one", "two"))
        server.clock.advance(24 * HOUR)
        assert kinds_of(client, batch) == {"one": "expired", "two": "expired"}
    assert server.ledger.billed == []


def test_half_of_a_batch_expires_and_a_second_batch_brings_it_home() -> None:
    names = ["one", "two", "three", "four"]
    faults = [Fault(kind="batch-expired", every=2, attempts=(1,))]
    with MessagesServer(faults=faults) as server, client_of(server) as client:
        first = client.messages.batches.create(requests=requests_of(*names))
        kinds = kinds_of(client, first)
        assert kinds == {"four": "expired", "one": "succeeded", "three": "succeeded", "two": "expired"}
        assert client.messages.batches.retrieve(first.id).request_counts.expired == 2
        again = client.messages.batches.create(requests=requests_of("two", "four"))
        assert kinds_of(client, again) == {"four": "succeeded", "two": "succeeded"}
    assert len(server.ledger.billed) == 4, "nothing is paid for twice"


def test_items_fail_one_by_one() -> None:
    faults = [
        Fault(kind="batch-errored", text="one"),
        Fault(kind="batch-canceled", text="two"),
        Fault(kind="refusal", endpoint="batch-item", text="three"),
    ]
    with MessagesServer(faults=faults) as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=requests_of("one", "two", "three", "four"))
        results = results_of(client, batch)
    errored, refused = results["one"].result, results["three"].result
    assert errored.type == "errored"
    assert errored.error.error.type == "api_error"
    assert results["two"].result.type == "canceled"
    assert refused.type == "succeeded"
    assert refused.message.stop_reason == "refusal"


def test_parameters_are_checked_only_when_an_item_is_answered() -> None:
    bad: Any = {"custom_id": "bad", "params": asking() | {"temperature": 1}}
    with MessagesServer() as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=[bad, *requests_of("good")])
        results = results_of(client, batch)
    errored = results["bad"].result
    assert errored.type == "errored"
    assert (errored.error.error.type, "temperature" in errored.error.error.message) == ("invalid_request_error", True)
    assert results["good"].result.type == "succeeded"


@pytest.mark.parametrize("names", [[], ["a", "a"], ["not an id"], ["x" * 65]], ids=["none", "twice", "space", "long"])
def test_a_batch_without_proper_ids_is_refused_at_once(names: list[str]) -> None:
    with (
        MessagesServer() as server,
        client_of(server) as client,
        pytest.raises(anthropic.BadRequestError, match="requests"),
    ):
        client.messages.batches.create(requests=requests_of(*names))


def test_a_canceled_batch_is_canceling_and_then_ended() -> None:
    with MessagesServer(endpoint=Endpoint(batch_seconds=HOUR)) as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=requests_of("one"))
        assert client.messages.batches.cancel(batch.id).processing_status == "canceling"
        assert kinds_of(client, batch) == {"one": "canceled"}
        with pytest.raises(anthropic.BadRequestError, match="ended"):
            client.messages.batches.cancel(batch.id)
        assert client.messages.batches.delete(batch.id).type == "message_batch_deleted"
        with pytest.raises(anthropic.NotFoundError):
            client.messages.batches.retrieve(batch.id)


def test_batches_are_listed_newest_first_page_by_page() -> None:
    with MessagesServer() as server, client_of(server) as client:
        made = [client.messages.batches.create(requests=requests_of("one")).id for _ in range(5)]
        listed = [batch.id for batch in client.messages.batches.list(limit=2)]
        before = client.messages.batches.list(limit=2, before_id=made[0])
    assert listed == list(reversed(made))
    assert [batch.id for batch in before.data] == [made[2], made[1]]
    assert before.has_more


def test_items_of_one_prefix_share_the_cache_where_batches_do() -> None:
    items: list[Any] = [
        {"custom_id": name, "params": shared_prefix(PREFIX, f"{name}?", "1h")} for name in ("why", "how", "who")
    ]

    def billed(endpoint: Endpoint) -> tuple[int, int]:
        with MessagesServer(endpoint=endpoint) as server, client_of(server) as client:
            results_of(client, client.messages.batches.create(requests=items))
            total = server.ledger.total()
        return total.cache_creation_1h_tokens, total.cache_read_input_tokens

    assert billed(Endpoint()) == (2_500, 5_000)
    assert billed(Endpoint(batches_share_cache=False)) == (7_500, 0)


@pytest.mark.parametrize(("lifetime", "reads"), [("5m", 0), ("1h", 2_500)])
def test_a_short_lifetime_ends_within_a_batch(lifetime: str, reads: int) -> None:
    items: list[Any] = [
        {"custom_id": name, "params": shared_prefix(PREFIX, f"{name}?", lifetime)} for name in ("why", "how")
    ]
    with MessagesServer(endpoint=Endpoint(batch_seconds=HOUR / 2)) as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=items)
        server.clock.advance(HOUR / 2)
        results_of(client, batch)
        assert server.ledger.total().cache_read_input_tokens == reads


def test_an_answerer_sees_the_id_of_an_item() -> None:
    seen: list[str | None] = []

    def answer(asked: Asked) -> str:
        seen.append(asked.custom_id)
        return "seen"

    with MessagesServer(answer) as server, client_of(server) as client:
        client.messages.create(**asking())
        results_of(client, client.messages.batches.create(requests=requests_of("one", "two")))
    assert seen == [None, "one", "two"]


def test_results_can_be_dropped_midway_and_fetched_again() -> None:
    faults = [Fault(kind="drop-midway", endpoint="batch-results", requests=(1,))]
    with MessagesServer(faults=faults) as server, client_of(server) as client:
        batch = client.messages.batches.create(requests=requests_of("one", "two", "three", "four"))
        with pytest.raises(httpx2.RemoteProtocolError):  # the client does not turn this one into its own
            results_of(client, batch)
        assert len(results_of(client, batch)) == 4
    assert len(server.ledger.billed) == 4, "fetching again costs nothing"
