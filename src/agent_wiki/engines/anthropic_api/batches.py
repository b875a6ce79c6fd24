"""Requests sent as batches, at a lower price, nobody waiting: queued in a run, sent at its end, collected by the next.

What a batch holds is in the journal, so that the next run knows what is under way and asks for nothing twice:

    {"kind": "batch-begun", "at", "endpoint", "requests": […]}           before a batch is sent
    {"kind": "batch", "batch", "endpoint", "requests": […]}              it was taken
    {"kind": "batch-ended", "batch", "endpoint"}                         all of its results are in the journal, or gone

Each of `requests` is what an answer's record says of its request. A batch that was sent by a run that did not live to
note it is found again among those of the service by its number of requests.
"""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from threading import RLock
from typing import Any, NoReturn

from agent_wiki.asking.budget import Budget
from agent_wiki.asking.journal import Journal
from agent_wiki.asking.journal_lines import Record
from agent_wiki.asking.prices import worst_cost_usd
from agent_wiki.engine import Progress
from agent_wiki.engines.anthropic_api.request import MessageRequest
from agent_wiki.engines.anthropic_api.service import BatchGone, BatchLost, NotTaken, Service
from agent_wiki.errors import Queued, RunError, ServiceFailed
from agent_wiki.spending import Spending
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

MOST_REQUESTS = 5_000
MOST_BYTES = 32 * 1024 * 1024  # held until they are sent; the service takes eight times as much

_MOST_TRIES = 3
_MOST_FAILED_POLLS = 5
_MOST_FAILED_ROUNDS = 3
_FIRST_POLL_SECONDS, _MOST_POLL_SECONDS = 0.5, 60.0
_CLOCK_SKEW = datetime.timedelta(minutes=10)


@dataclass(slots=True)
class _Open:
    """A batch whose results are not all in the journal. `heads` by the digest of the request."""

    id: str
    heads: dict[str, Record]
    trouble: str = ""  # why its results could not be read


@dataclass(slots=True)
class _Unsent:
    requests: dict[str, tuple[MessageRequest, Record]] = field(default_factory=dict)
    bytes: int = 0


class BatchQueue:
    """Takes requests and sends them as batches. One object serves all threads of a run."""

    def __init__(
        self, service: Service, journal: Journal, budget: Budget, spending: Spending, batch_factor: float
    ) -> None:
        self._service = service
        self._journal = journal
        self._budget = budget
        self._spending = spending
        self._factor = batch_factor
        self._unsent = _Unsent()
        self._open: dict[str, _Open] = {}
        self._refused: dict[str, str] = {}
        self._tries: Counter[str] = Counter()
        self._reserved: dict[str, float] = {}
        self._failed_rounds = 0
        self._lock = RLock()
        self.warnings: list[str] = []

    def begin(self) -> None:
        """Find out from the journal what is under way, and put what is ready into it.

        What cannot be had now stays under way. Raises `RunError` where the service does not do batches, or cannot say
        whether a batch was taken.
        """
        with self._lock, _as_run_error():
            self._find_open()
            for batch in list(self._open.values()):
                try:
                    self._collect(batch)
                except ServiceFailed as error:
                    batch.trouble = str(error)  # it stays under way

    def put(self, request: MessageRequest, head: Record) -> NoReturn:
        """Queue a request, unless it is under way. Raises `Queued`; `NotTaken` and `ServiceFailed` where it is vain.

        `head` is what a record of its answer says of it. Raises `BudgetReached` when it could cost too much.
        """
        digest = request.digest
        with self._lock:
            batch = next((each for each in self._open.values() if digest in each.heads), None)
            if batch is not None:
                raise Queued(f"waits in {batch.id}")
            if digest in self._refused:
                raise NotTaken(self._refused[digest])
            if digest not in self._unsent.requests:
                self._budget.check_not_ended()
                self._enqueue(request, head)
        raise Queued("put into a batch")

    def end(self) -> None:
        """Send what is queued, but nothing after the end of spending; the next run sends it again.

        Raises `RunError` when the service does not take it.
        """
        with self._lock, _as_run_error():
            if not self._budget.has_ended:
                self._send()

    def wait(self, progress: Progress) -> bool:
        """Stay until the batches have ended; False when none is under way. The next round collects them.

        Raises `RunError` when the service keeps failing.
        """
        self._count_failed_round()
        running, total = set(self._open), len(self._open)
        pause, failed = _FIRST_POLL_SECONDS, 0
        while running:
            progress("wait for batches", total - len(running), total)
            try:
                running = {batch_id for batch_id in running if not self._has_ended(batch_id)}
                failed = 0
            except ServiceFailed as error:
                failed += 1
                if failed > _MOST_FAILED_POLLS:
                    raise RunError(f"{error}; run again to go on") from error
            if running:
                time.sleep(pause)
                pause = min(2 * pause, _MOST_POLL_SECONDS)
        return total > 0

    def lines(self) -> list[str]:
        """One line for each batch that is under way."""
        lines = []
        for batch in self._open.values():
            trouble = f" (results not read: {batch.trouble})" if batch.trouble else ""
            lines.append(f"{batch.id}: {counted(len(batch.heads), 'request')}{trouble}")
        return lines

    def _count_failed_round(self) -> None:
        """Raises `RunError` when results of batches that have ended could not be read several rounds in a row."""
        trouble = next((batch.trouble for batch in self._open.values() if batch.trouble), "")
        self._failed_rounds = self._failed_rounds + 1 if trouble else 0
        if self._failed_rounds >= _MOST_FAILED_ROUNDS:
            raise RunError(f"{trouble}; run again to go on")

    def _has_ended(self, batch_id: str) -> bool:
        try:
            return self._service.has_ended(batch_id)
        except BatchGone:
            return True  # the next round reports it

    def _enqueue(self, request: MessageRequest, head: Record) -> None:
        digest = request.digest
        if self._tries[digest] >= _MOST_TRIES:
            raise ServiceFailed(f"no answer in {_MOST_TRIES} batches")
        price = self._service.price_of(str(request.body["model"]))
        if price is not None:
            most_tokens = int(request.body["max_tokens"])
            worst = self._factor * worst_cost_usd(request.most_prompt_tokens, most_tokens, price, is_long_lived=True)
            self._budget.commit(worst)
            self._reserved[digest] = worst
        self._unsent.requests[digest] = (request, head)
        self._unsent.bytes += request.most_prompt_tokens
        if len(self._unsent.requests) >= MOST_REQUESTS or self._unsent.bytes >= MOST_BYTES:
            self._send()

    def _send(self) -> None:
        unsent, self._unsent = self._unsent, _Unsent()
        if not unsent.requests:
            return
        digests = sorted(unsent.requests)  # whatever order the threads asked in
        heads = [unsent.requests[digest][1] for digest in digests]
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        begun = {"kind": "batch-begun", "at": now, "endpoint": self._service.endpoint, "requests": heads}
        self._journal.append(begun)
        self._tries.update(digests)
        try:
            batch_id = self._service.send_batch({_name(each): unsent.requests[each][0].body for each in digests})
        except BatchLost as error:
            found = self._found_again(begun, set(self._open))
            if found is None:
                raise ServiceFailed(str(error)) from error
            batch_id = found
        self._note_open(batch_id, heads)

    def _note_open(self, batch_id: str, heads: list[Record]) -> None:
        record = {"kind": "batch", "batch": batch_id, "endpoint": self._service.endpoint, "requests": heads}
        self._journal.append(record)
        self._open[batch_id] = _Open(batch_id, {str(head["request"]): head for head in heads})

    def _find_open(self) -> None:
        """The batches of this endpoint that the journal holds and that have not ended; lost ones are looked for."""
        begun: dict[tuple[str, ...], Record] = {}
        found: dict[str, _Open] = {}
        known: set[str] = set()
        noted = [each for each in self._journal.batch_records() if self._is_here(each)]
        # runs overlap, and so do their files
        ended = {each["batch"] for each in noted if each["kind"] == "batch-ended"}
        for record in noted:
            heads = record.get("requests") or []
            digests = tuple(sorted(str(head.get("request")) for head in heads))
            if record["kind"] == "batch-ended":
                continue
            if record["kind"] == "batch-begun":
                begun[digests] = record
            else:
                begun.pop(digests, None)
                known.add(str(record["batch"]))
                if record["batch"] not in ended:
                    found[record["batch"]] = _Open(record["batch"], {str(head["request"]): head for head in heads})
        self._open = found
        for record in begun.values():
            if all(self._journal.answer(str(head["request"])) for head in record["requests"]):
                continue
            batch_id = self._found_again(record, known)
            if batch_id is not None:
                known.add(batch_id)
                self._note_open(batch_id, record["requests"])

    def _is_here(self, record: Record) -> bool:
        """True for a batch of this endpoint; that a batch has ended was once noted without one."""
        return str(record.get("endpoint", self._service.endpoint)) == self._service.endpoint

    def _found_again(self, begun: Mapping[str, Any], known: set[str]) -> str | None:
        """A batch of the service that nobody noted, as large as one that was sent, and not older."""
        try:
            since = datetime.datetime.fromisoformat(str(begun.get("at"))) - _CLOCK_SKEW
        except ValueError:
            return None  # a line that somebody changed
        for batch_id, created_at, size in self._service.list_batches():
            if created_at < since:
                return None
            if batch_id not in known and size == len(begun["requests"]):
                return batch_id
        return None

    def _collect(self, batch: _Open) -> None:
        """Put the results of a batch into the journal if it has ended. What has no answer may be asked again."""
        try:
            if not self._service.has_ended(batch.id):
                return
            for name, result in self._service.batch_results(batch.id):
                head = batch.heads.get(f"sha256:{name}")
                if head is not None and self._journal.answer(str(head["request"])) is None:
                    self._take(head, result)
        except BatchGone as error:  # nobody will ever have it
            self.warnings.append(f"{error}; its {len(batch.heads)} requests are sent again")
        self._journal.append({"kind": "batch-ended", "batch": batch.id, "endpoint": self._service.endpoint})
        del self._open[batch.id]

    def _take(self, head: Record, result: Any) -> None:
        """An answer goes into the journal; what expired or failed is asked again, what was refused is not."""
        digest = str(head["request"])
        reserved = self._reserved.pop(digest, 0.0)
        if result.type != "succeeded":
            self._budget.refund(reserved)
            error: Any = getattr(getattr(result, "error", None), "error", None)
            if getattr(error, "type", "") == "invalid_request_error":
                self._refused[digest] = f"the request was not taken ({' '.join(str(error.message).split())[:300]})"
            return
        record = {**head, "kind": "answer", **self._service.record_of(result.message, str(head["model"]), self._factor)}
        self._budget.refund(reserved - float(record.get("cost_usd", reserved)))
        self._spending.paid(record)
        self._journal.append(record)


@contextmanager
def _as_run_error() -> Iterator[None]:
    """No session is to blame for a service that fails before the first question, or after the last."""
    try:
        yield
    except ServiceFailed as error:
        raise RunError(f"{error}; run again to go on") from error


def _name(digest: str) -> str:
    """A request's digest as the service takes names: at most 64 characters."""
    return digest.removeprefix("sha256:")
