"""The Messages API without HTTP: one received request in, one response out. The sockets are in `server.py`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from agent_wiki_testing.answers import Answerer, Asked, asked_of, reply_to
from agent_wiki_testing.cache import CachePlan, PromptCache
from agent_wiki_testing.checks import check_count_request, check_message_request, native_schema
from agent_wiki_testing.endpoint import Clock, Endpoint
from agent_wiki_testing.faults import ANSWER_KINDS, STATUS_KINDS, Fault, Faults, Occasion, refusal_of
from agent_wiki_testing.ledger import Billed, Ledger, Usage
from agent_wiki_testing.protocol import EndpointName, Refused, invalid, request_digest
from agent_wiki_testing.tokens import prompt_blocks


@dataclass(frozen=True, slots=True)
class Setting:
    """The configuration of a server: its endpoint, its answerer, its faults, its clock and how it waits."""

    endpoint: Endpoint
    answer: Answerer
    faults: Faults
    clock: Clock
    wait: Callable[[float], object]


class Attempts:
    """Counts requests by endpoint and by body, from 1."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[EndpointName, str]] = Counter()
        self._lock = Lock()

    def next(self, endpoint: EndpointName, digest: str = "") -> int:
        with self._lock:
            self._counts[endpoint, digest] += 1
            return self._counts[endpoint, digest]


class Messages:
    """Makes messages, counts tokens and bills them; shared by the direct path and by batches."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.ledger = Ledger()
        self.attempts = Attempts()
        self._cache = PromptCache(setting.endpoint.minimum_cacheable_tokens)

    def create(self, body: Any, occasion: Occasion) -> dict[str, Any]:
        """The message for a request that came by itself. Raises `Refused` as the service does."""
        check_message_request(body, self.setting.endpoint)
        plan = self.plan(body, self.setting.clock.now())
        slow = self.setting.faults.strike(("latency",), occasion)
        self.setting.wait(self.setting.endpoint.latency_seconds + ((slow.seconds or 0.0) if slow else 0.0))
        asked = asked_of(body, self.setting.endpoint, occasion)
        message = self.message(asked, occasion, plan)
        self.commit(plan, self.setting.clock.now())
        return message

    def plan(self, body: dict[str, Any], now: float) -> CachePlan:
        """What a checked request reads, writes and is billed for. Raises `Refused` for one longer than the window."""
        endpoint = self.setting.endpoint
        blocks = prompt_blocks(body, native_schema(body, endpoint))
        total = sum(block.tokens for block in blocks)
        if total > endpoint.context_tokens:
            raise invalid(f"prompt is too long: {total} tokens > {endpoint.context_tokens} maximum")
        if not endpoint.has_cache:
            return CachePlan(Usage(input_tokens=total))
        return self._cache.plan(body["model"], blocks, now)

    def commit(self, plan: CachePlan, now: float) -> None:
        """What a planned request wrote to the cache can be read from `now`."""
        self._cache.commit(plan, now)

    def message(self, asked: Asked, occasion: Occasion, plan: CachePlan) -> dict[str, Any]:
        """The message that answers a planned request; it is billed with this."""
        fault = self.setting.faults.strike(ANSWER_KINDS, occasion)
        room = self.setting.endpoint.context_tokens - plan.usage.prompt_tokens()
        reply = reply_to(asked, self.setting.answer(asked), fault, room)
        is_batch = asked.custom_id is not None
        usage = plan.usage.with_output(reply.output_tokens())
        self.ledger.bill(Billed(asked.model, usage, is_batch, asked.digest))
        return {
            "id": f"msg_{asked.digest[7:27]}{occasion.attempt:02d}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": reply.content(asked),
            "stop_reason": reply.stop_reason,
            "stop_sequence": None,
            "stop_details": _stop_details(reply.stop_reason),
            "usage": usage.to_json("batch" if is_batch else "standard"),
        }

    def count_tokens(self, body: Any) -> dict[str, Any]:
        """The tokens that the same request for a message would be billed for."""
        if not self.setting.endpoint.has_count_tokens:
            raise Refused("not_found_error", "Not found")
        check_count_request(body, self.setting.endpoint)
        blocks = prompt_blocks(body, native_schema(body, self.setting.endpoint))
        return {"input_tokens": sum(block.tokens for block in blocks)}


def _stop_details(stop_reason: str) -> dict[str, Any] | None:
    if stop_reason != "refusal":
        return None
    return {"type": "refusal", "category": None, "explanation": "The request was declined (by a test server)."}


def parsed(raw: bytes) -> Any:
    """The JSON of a body. Raises `Refused` when it is none."""
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise invalid("The request body is not valid JSON.") from error


def occasion_of(attempts: Attempts, endpoint: EndpointName, number: int, raw: bytes) -> Occasion:
    """A request whose body is read, as faults see it; counts the attempt."""
    digest = request_digest(raw)
    return Occasion(endpoint, number, attempts.next(endpoint, digest), digest, raw)


def raise_status_fault(faults: Faults, occasion: Occasion, kinds: Sequence[Any] = STATUS_KINDS) -> None:
    """Raises `Refused` when a fault of status strikes."""
    fault: Fault | None = faults.strike(kinds, occasion)
    if fault is not None:
        raise refusal_of(fault)
