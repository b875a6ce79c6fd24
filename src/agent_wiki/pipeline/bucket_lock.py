"""A lock in a bucket, by which two machines do not build one wiki at the same time.

It is one object that says who holds it and for how long. Nobody can overwrite what another wrote: the object is made
only where there is none, and replaced only as it was last seen. Who holds the lock renews it, so that the lock of a
machine that died runs out; then the next one takes it over. When it was written is what the store says, so that a
holder's clock is of no account; that of who comes should agree with the store's to within a minute.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_wiki.errors import RunError, WikiLocked
from agent_wiki.readers.buckets import BucketPath
from agent_wiki.readers.stored_objects import created, deleted, fetched, json_in, replaced
from agent_wiki.wiki.text import plain_line

_MOST_TRIES = 5
_MOST_OWNER = 200
_MOST_LEASE_SECONDS = 7 * 86_400


class BucketLock:
    """One process's hold on a lock. `owner` is what others read of who holds it."""

    def __init__(self, path: BucketPath, owner: str, lease_seconds: float) -> None:
        self.lease = timedelta(seconds=lease_seconds)
        self.until = datetime.now(UTC)
        self._path = path
        self._owner = owner
        self._token = uuid.uuid4().hex
        self._etag = ""

    def take(self) -> None:
        """Take the lock. Raises `WikiLocked` when another holds it, and `RunError`."""
        for _ in range(_MOST_TRIES):
            until = datetime.now(UTC) + self.lease
            etag = created(self._path, self._content(until)) or self._taken_over(until)
            if etag is not None:
                self._etag, self.until = etag, until
                return
        if fetched(self._path) is None:
            folder = "the store has something there and gives no object, as of a folder"
            raise RunError(f"{self._path}: {folder}; name an object, as {self._path}/_wiki.lock")
        raise WikiLocked(f"{self._path}: others take this lock all the time; try again")

    def renew(self) -> bool:
        """Hold the lock for another lease; False when another has taken it over. Raises `RunError`."""
        until = datetime.now(UTC) + self.lease
        try:
            etag = replaced(self._path, self._content(until), self._etag) or self._etag_of_own()
        except NotImplementedError:
            return True  # in a folder it holds until it is released
        if etag is not None:
            self._etag, self.until = etag, until
        return etag is not None

    def release(self) -> None:
        """Let others take the lock. One that another has taken over is left alone. Raises `RunError`."""
        try:
            replaced(self._path, self._content(datetime.now(UTC), is_free=True), self._etag)
        except NotImplementedError:
            deleted(self._path)

    def _content(self, until: datetime, *, is_free: bool = False) -> bytes:
        held = {"owner": self._owner, "token": self._token, "until": until.isoformat(timespec="seconds")}
        return json.dumps({**held, "lease_seconds": self.lease.total_seconds(), "is_free": is_free}).encode()

    def _etag_of_own(self) -> str | None:
        """The ETag of a lock that the store wrote for this process, though its answer was lost."""
        found = fetched(self._path)
        return found.etag if found is not None and json_in(found.content).get("token") == self._token else None

    def _taken_over(self, new_until: datetime) -> str | None:
        """The ETag of the lock taken from who released it or let it run out; None when another was faster."""
        found = fetched(self._path)
        if found is None:
            return None
        held = json_in(found.content)
        if held.get("token") == self._token:
            return found.etag  # as above
        owner = plain_line(str(held.get("owner")), _MOST_OWNER)
        until = _end(found.written, held)
        if until is not None and not held.get("is_free") and until > datetime.now(UTC):
            says = until.isoformat(timespec="seconds")
            raise WikiLocked(f"{self._path}: held by {owner} until {says} unless renewed; nothing was done")
        try:
            return replaced(self._path, self._content(new_until), found.etag)
        except NotImplementedError as error:
            message = f"{self._path}: the lock of {owner} ran out; delete it, for a folder cannot replace it safely"
            raise RunError(message) from error


def _end(written: datetime, held: Mapping[str, Any]) -> datetime | None:
    """When a lock runs out that was written then; None of what is no lock."""
    lease = held.get("lease_seconds")
    if isinstance(lease, int | float) and 0 <= lease <= _MOST_LEASE_SECONDS:
        return written + timedelta(seconds=lease)
    return None
