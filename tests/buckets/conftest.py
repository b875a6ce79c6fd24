"""Fixtures of tests that need a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.readers import buckets
from tests.buckets.stores import Bucket
from tests.wikis import Script


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A bucket whose requests are counted."""
    made = Bucket()
    whole = buckets.store_of
    monkeypatch.setattr(buckets, "store_of", lambda root: made if root == made.url else whole(root))
    return made
