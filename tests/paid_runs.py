"""Runs that ask the loopback server, as several test files need them: recordings, digests, a run that is killed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engines.anthropic_api.request import unmarked
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.processes import die_before, exit_codes, started
from tests.wikis import ingest, record, tree

TWO_READERS = ("synthesize-skill=claude-sonnet-5-5",)
"""Values of `--model` by which another model than the one that summarizes writes skills."""


def killed_run(paths: Iterable[Path], wiki: Path, server: MessagesServer, at: int, **asking: Any) -> int | None:
    """Ingest in a process that kills itself before it appends its n-th record to the journal; its exit code."""
    options = AskingOptions(base_url=server.base_url, **asking)
    return exit_codes(started(_run_and_die, list(paths), wiki, options, at))[0]


def _run_and_die(paths: list[Path], wiki: Path, options: AskingOptions, at: int) -> None:
    die_before(at, "agent_wiki.asking.journal.Journal.append")
    ingest(paths, wiki, "anthropic", asking=options)


def dated_recordings(folder: Path, number: int) -> list[Path]:
    """So many recordings of different sessions, a day apart."""
    return [record(folder, f"session-{at}", f"2026-01-{at + 1:02d}") for at in range(number)]


@lru_cache(maxsize=8)
def undisturbed(number: int) -> Mapping[str, bytes]:
    """The wiki of so many of them, of which each is asked about one by one and nothing goes wrong: made once."""
    with TemporaryDirectory() as folder, MessagesServer(says({})) as server:
        paths, wiki = dated_recordings(Path(folder, "t"), number), Path(folder, "wiki")
        asking = AskingOptions(base_url=server.base_url, is_together=False, models=TWO_READERS)
        assert ingest(paths, wiki, "anthropic", asking=asking).exit_code == 0
        return MappingProxyType(tree(wiki))


def digests(server: MessagesServer) -> Counter[str]:
    """How often each request came, by the digest that the journal knows it by."""
    texts = (json.dumps(unmarked(body), sort_keys=True, ensure_ascii=False) for body in server.bodies())
    return Counter(f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for text in texts)
