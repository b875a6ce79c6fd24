"""The Message Batches API without HTTP: batches that end when their time is up, with results in no helpful order."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from agent_wiki_testing.answers import asked_of
from agent_wiki_testing.cache import CachePlan
from agent_wiki_testing.checks import check_message_request
from agent_wiki_testing.endpoint import timestamp
from agent_wiki_testing.faults import ITEM_KINDS, Occasion
from agent_wiki_testing.protocol import Refused, invalid, json_bytes
from agent_wiki_testing.service import Messages, occasion_of

EXPIRES_AFTER_SECONDS = 24 * 60 * 60
MOST_REQUESTS = 100_000
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_STATUSES = ("processing", "succeeded", "errored", "canceled", "expired")


@dataclass(slots=True)
class _Batch:
    """`results` by custom id, empty until the batch has ended."""

    id: str
    requests: list[dict[str, Any]]
    created_at: float
    ended_at: float | None = None
    cancel_initiated_at: float | None = None
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def status(self) -> str:
        if self.ended_at is not None:
            return "ended"
        return "in_progress" if self.cancel_initiated_at is None else "canceling"


class Batches:
    """All batches of a server, newest last. Items are answered in their order when somebody looks after the end."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._batches: dict[str, _Batch] = {}
        self._lock = Lock()

    def create(self, body: Any) -> dict[str, Any]:
        """A batch that has begun. The parameters of its items are checked only when they are answered."""
        requests = _checked_requests(body)
        with self._lock:
            batch = _Batch(f"msgbatch_{len(self._batches) + 1:06d}", requests, self._now())
            self._batches[batch.id] = batch
            return _to_json(batch, "")

    def retrieve(self, batch_id: str, base_url: str) -> dict[str, Any]:
        """A batch as it stands now."""
        with self._lock:
            return _to_json(self._settled(batch_id), base_url)

    def page(self, query: Mapping[str, str], base_url: str) -> dict[str, Any]:
        """One page of the batches, the newest first; `limit`, `after_id` and `before_id` as on the service."""
        with self._lock:
            ids = list(reversed(self._batches))
            limit = _limit(query.get("limit", "20"))
            if "before_id" in query:
                end = _position(ids, query["before_id"])
                page, has_more = ids[max(0, end - limit) : end], end > limit
            else:
                start = _position(ids, query["after_id"]) + 1 if "after_id" in query else 0
                page, has_more = ids[start : start + limit], len(ids) > start + limit
            batches = [_to_json(self._settled(batch_id), base_url) for batch_id in page]
        ends = (page[0], page[-1]) if page else (None, None)
        return {"data": batches, "has_more": has_more, "first_id": ends[0], "last_id": ends[1]}

    def cancel(self, batch_id: str, base_url: str) -> dict[str, Any]:
        """Says `canceling`; the next look finds it ended. Raises `Refused` for a batch that has ended."""
        with self._lock:
            batch = self._settled(batch_id)
            if batch.ended_at is not None:
                raise invalid(f"Batch {batch_id} has already ended and cannot be canceled.")
            batch.cancel_initiated_at = batch.cancel_initiated_at or self._now()
            return _to_json(batch, base_url)

    def delete(self, batch_id: str) -> dict[str, Any]:
        """Forgets a batch that has ended."""
        with self._lock:
            if self._settled(batch_id).ended_at is None:
                raise invalid(f"Batch {batch_id} is still being processed; cancel it first.")
            del self._batches[batch_id]
        return {"id": batch_id, "type": "message_batch_deleted"}

    def results(self, batch_id: str) -> bytes:
        """The results as JSON lines, in an order that has nothing to do with that of the requests."""
        with self._lock:
            batch = self._settled(batch_id)
            if batch.ended_at is None:
                raise invalid(f"Batch {batch_id} has no results: it is still being processed.")
            names = sorted(batch.results, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
            lines = [json_bytes({"custom_id": name, "result": batch.results[name]}) for name in names]
        return b"".join(line + b"\n" for line in lines)

    def _now(self) -> float:
        return self._messages.setting.clock.now()

    def _settled(self, batch_id: str) -> _Batch:
        """The batch, ended if its time is up or its cancellation was asked for. Raises `Refused` for an unknown one."""
        batch = self._batches.get(batch_id)
        if batch is None:
            raise Refused("not_found_error", f"Batch {batch_id} not found.")
        if batch.ended_at is not None:
            return batch
        seconds = self._messages.setting.endpoint.batch_seconds
        ends_at = batch.created_at + min(seconds, EXPIRES_AFTER_SECONDS)
        if batch.cancel_initiated_at is not None:
            _end_all(batch, "canceled", batch.cancel_initiated_at)
        elif self._now() >= ends_at and seconds > EXPIRES_AFTER_SECONDS:
            _end_all(batch, "expired", ends_at)
        elif self._now() >= ends_at:
            self._answer(batch, ends_at)
        return batch

    def _answer(self, batch: _Batch, ends_at: float) -> None:
        """Answer all items, spread evenly over the time that the batch took, so that cache entries can end within."""
        share = (ends_at - batch.created_at) / len(batch.requests)
        held_back: list[CachePlan] = []
        for place, request in enumerate(batch.requests, start=1):
            now = batch.created_at + place * share
            batch.results[request["custom_id"]] = self._result(request, place, now, held_back)
        for plan in held_back:
            self._messages.commit(plan, ends_at)
        batch.ended_at = ends_at

    def _result(self, request: dict[str, Any], place: int, now: float, held_back: list[CachePlan]) -> dict[str, Any]:
        body = request["params"]
        occasion = occasion_of(self._messages.attempts, "batch-item", place, json_bytes(body))
        try:
            return self._message(request, occasion, now, held_back)
        except Refused as refused:
            return {"type": "errored", "error": refused.body()}

    def _message(
        self, request: dict[str, Any], occasion: Occasion, now: float, held_back: list[CachePlan]
    ) -> dict[str, Any]:
        setting = self._messages.setting
        fault = setting.faults.strike(ITEM_KINDS, occasion)
        if fault is not None and fault.kind == "batch-errored":
            raise Refused("api_error", "Internal server error")
        if fault is not None:
            return {"type": fault.kind.removeprefix("batch-")}
        check_message_request(request["params"], setting.endpoint)
        plan = self._messages.plan(request["params"], now)
        asked = asked_of(request["params"], setting.endpoint, occasion, request["custom_id"])
        message = self._messages.message(asked, occasion, plan)
        if setting.endpoint.batches_share_cache:
            self._messages.commit(plan, now)
        else:
            held_back.append(plan)
        return {"type": "succeeded", "message": message}


def _checked_requests(body: Any) -> list[dict[str, Any]]:
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list) or not 1 <= len(requests) <= MOST_REQUESTS:
        raise invalid(f"requests: List should have at least 1 and at most {MOST_REQUESTS} items")
    for position, request in enumerate(requests):
        if not isinstance(request, dict) or not isinstance(request.get("params"), dict):
            raise invalid(f"requests.{position}.params: Field required")
        name = request.get("custom_id")
        if not isinstance(name, str) or not _CUSTOM_ID.fullmatch(name):
            raise invalid(f"requests.{position}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
    [(name, times)] = Counter(request["custom_id"] for request in requests).most_common(1)
    if times > 1:
        raise invalid(f"requests: custom_id must be unique: {name}")
    return requests


def _end_all(batch: _Batch, result: str, now: float) -> None:
    batch.results = {request["custom_id"]: {"type": result} for request in batch.requests}
    batch.ended_at = now


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise invalid("limit: Input should be between 1 and 1000")
    return int(text)


def _position(ids: list[str], batch_id: str) -> int:
    if batch_id not in ids:
        raise invalid(f"Batch {batch_id} not found.")
    return ids.index(batch_id)


def _to_json(batch: _Batch, base_url: str) -> dict[str, Any]:
    counts = Counter(result["type"] for result in batch.results.values())
    if batch.ended_at is None:
        counts["processing"] = len(batch.requests)
    ended = batch.ended_at is not None
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": batch.status(),
        "request_counts": {status: counts[status] for status in _STATUSES},
        "created_at": timestamp(batch.created_at),
        "expires_at": timestamp(batch.created_at + EXPIRES_AFTER_SECONDS),
        "ended_at": timestamp(batch.ended_at) if batch.ended_at is not None else None,
        "cancel_initiated_at": timestamp(batch.cancel_initiated_at) if batch.cancel_initiated_at else None,
        "archived_at": None,
        "results_url": f"{base_url}/v1/messages/batches/{batch.id}/results" if ended else None,
    }
