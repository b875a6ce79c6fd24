"""Sessions for a bucket, and one night over it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_wiki.pipeline import bucket_state
from agent_wiki.pipeline.report import Report
from tests.buckets.stores import Bucket
from tests.wikis import Script, chat, ingest, tree


def session_bytes(name: str, **happened: Any) -> bytes:
    return json.dumps(chat(name, **happened)).encode()


def night(bucket: Bucket, wiki: Path, script: Script, **options: Any) -> Report:
    bucket.count()
    return ingest([bucket.path()], wiki, script.engine, **options)


def pages_but_buckets(wiki: Path) -> dict[str, bytes]:
    """All of a wiki but what it knows of buckets."""
    return {path: content for path, content in tree(wiki).items() if path != bucket_state.NAME}
