"""Buckets in memory, with what tests count and break in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import buckets

pytest.importorskip("obstore", reason="obstore is not installed (the extra `bucket`)")

_NUMBERS = count()


class Bucket:
    """A bucket of its own in memory. `asked` counts requests by kind, `read` those for objects by key.

    `breaks` is called with each key before it is read, and may raise.
    """

    def __init__(self) -> None:
        self.url = f"memory://bucket-{next(_NUMBERS)}"
        self.store = buckets.store_of(self.url)
        self.asked: Counter[str] = Counter()
        self.read: Counter[str] = Counter()
        self.breaks: Callable[[str], None] = lambda _key: None

    def put(self, key: str, content: bytes) -> None:
        self.store.put(key, content)

    def upload(self, folder: Path, prefix: str = "") -> None:
        """Put each file below a folder, as it lies there."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{prefix}{path.relative_to(folder).as_posix()}", path.read_bytes())

    def count(self) -> None:
        """Begin to count."""
        self.asked.clear()
        self.read.clear()
        buckets._block.cache_clear()

    def path(self, key: str = "") -> Any:
        return buckets.path_of(f"{self.url}/{key}")

    def list(self, prefix: str | None = None, **options: Any) -> Any:
        self.asked["list"] += 1
        return self.store.list(prefix, **options)

    def list_with_delimiter(self, prefix: str | None = None) -> Any:
        self.asked["list"] += 1
        return self.store.list_with_delimiter(prefix)

    def head(self, key: str) -> Any:
        self.asked["head"] += 1
        return self.store.head(key)

    def get(self, key: str, **options: Any) -> Any:
        self.asked["get"] += 1
        self.read[key] += 1
        self.breaks(key)
        return self.store.get(key, **options)
