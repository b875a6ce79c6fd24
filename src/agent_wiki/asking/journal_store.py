"""A journal's second place, in a bucket: what a machine that died had paid for is not paid for again.

    PREFIX/<day>/answers/<digest of the request>.json    one answer, put there as soon as it is on the disk
    PREFIX/<day>/runs/<run>/<number>.jsonl               the other records, with the next answer or batch
    PREFIX/<day>/runs/<run>.jsonl                        the same of a run that ended, in one object

Every object is made once and never replaced, so any number of machines can write here. Answers are fetched when their
question comes up, the other records at the start: they say what models were shown, without which the same question
would have another digest, and which batches are under way. Days are those of UTC; what is older than thirty is not
looked at and may be deleted, for by then its answers are in the wiki's records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock

from agent_wiki.asking.journal_lines import Record, line_of, parsed_line
from agent_wiki.errors import RunError
from agent_wiki.readers.buckets import BucketPath
from agent_wiki.readers.stored_objects import bucket_path, created, deleted, fetched, json_in, keys_below
from agent_wiki.wiki.replacing import replacing

KEPT_DAYS = 30
_ANSWER = re.compile(r"(\d{8})/answers/([0-9a-f]{64})\.json")
_RUN = re.compile(r"\d{8}/runs/([^/]+)(?:/(\d+))?\.jsonl")
_BATCHES = ("batch-begun", "batch", "batch-ended")
_DIGEST = "sha256:"


class JournalStore:
    """The journal below an address such as `s3://bucket/prefix`. Shared by threads.

    Every method raises `RunError` where the store fails, for what cannot be kept must not be paid for.
    """

    def __init__(self, address: str) -> None:
        self._folder = bucket_path(address)
        self._answers: dict[str, BucketPath] = {}
        self._unsent: list[bytes] = []
        self._pieces: list[BucketPath] = []
        self._lock = Lock()

    def pull(self, journal: Path) -> None:
        """See which answers there are, and copy other runs' records that the folder `journal` does not have."""
        first_day = datetime.now(UTC) - timedelta(days=KEPT_DAYS)
        for key in keys_below(self._folder, _day(first_day)):
            name = key.removeprefix(f"{self._folder.key}/")
            if found := _ANSWER.fullmatch(name):
                self._answers.setdefault(f"{_DIGEST}{found[2]}", BucketPath(self._folder.root, key))
            elif found := _RUN.fullmatch(name):
                self._copy(BucketPath(self._folder.root, key), journal, *found.groups())

    def objects(self) -> Iterator[BucketPath]:
        """All that is kept, however old. What others put there is left out."""
        for key in keys_below(self._folder):
            name = key.removeprefix(f"{self._folder.key}/")
            if _ANSWER.fullmatch(name) or _RUN.fullmatch(name):
                yield BucketPath(self._folder.root, key)

    def _copy(self, path: BucketPath, journal: Path, run: str, number: str | None) -> None:
        copy = journal / f"{run}.{number}.jsonl" if number else journal / f"{run}.jsonl"
        if copy.exists() or (journal / f"{run}.jsonl").exists():
            return
        found = fetched(path)
        if found is None and number:  # its run has ended meanwhile
            found = fetched(path.parent.parent / f"{run}.jsonl")
        if found is not None:
            journal.mkdir(parents=True, exist_ok=True)
            with replacing(copy, 0o600) as stream:
                stream.write(found.content)

    def answer(self, request: str) -> Record | None:
        """The record of an answer to a request, by the request's digest."""
        path = self._answers.get(request)
        found = fetched(path) if path is not None else None
        record = {} if found is None else json_in(found.content)
        return record if record.get("request") == request else None

    def put(self, record: Record, run: str) -> None:
        """Keep a record of a run. Parts of an answer are not kept, for the whole is."""
        if record.get("kind") == "answer":
            digest = str(record["request"]).removeprefix(_DIGEST)
            if "of" not in record:
                self._send_others(run)
                created(self._place(f"answers/{digest}.json"), line_of(record))
            return
        with self._lock:
            self._unsent.append(line_of(record))
        if record.get("kind") in _BATCHES:
            self._send_others(run)

    def spent_today_usd(self) -> float:
        """What the answers of this day cost, whichever run asked for them."""
        today = f"{self._folder.key}/{_day(datetime.now(UTC))}/"
        paid = (fetched(path) for path in self._answers.values() if path.key.startswith(today))
        costs = (json_in(each.content).get("cost_usd") for each in paid if each is not None)
        return sum(cost for cost in costs if isinstance(cost, int | float))

    def close(self, run_file: Path) -> None:
        """Gather what a run put in many objects in one. They all stay where that fails."""
        with self._lock, suppress(RunError):
            if self._pieces and created(self._place(f"runs/{run_file.stem}.jsonl"), b"".join(_others(run_file))):
                for path in self._pieces:
                    deleted(path)

    def _send_others(self, run: str) -> None:
        with self._lock:
            if self._unsent:
                place = self._place(f"runs/{run}/{len(self._pieces):06}.jsonl")
                created(place, b"".join(self._unsent))
                self._pieces.append(place)
                self._unsent.clear()

    def _place(self, name: str) -> BucketPath:
        return self._folder / f"{_day(datetime.now(UTC))}/{name}"


def _others(run_file: Path) -> Iterator[bytes]:
    with run_file.open("rb") as stream:
        for line in stream:
            if (parsed_line(line) or {}).get("kind") not in ("run", "answer"):
                yield line


def _day(moment: datetime) -> str:
    return f"{moment:%Y%m%d}"
