"""Runs that ask the loopback server, as several test files need them: recordings, digests, a run that is killed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_wiki.engines.anthropic_api.request import unmarked
from agent_wiki_testing import MessagesServer
from tests.wikis import record

_KILLED_RUN = """
import json, os, signal, sys
from pathlib import Path
from agent_wiki.asking import journal
from agent_wiki.asking.options import AskingOptions
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.report import Report

wiki, url, at, asking, *paths = sys.argv[1:]
left = int(at)
append = journal.Journal.append

def counted(self, record):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    append(self, record)

journal.Journal.append = counted
options = Options(Path(wiki), engine="anthropic", asking=AskingOptions(base_url=url, **json.loads(asking)))
run([Path(path) for path in paths], options, Report("ingest", wiki), lambda *_: None)
"""


def killed_run(paths: Iterable[Path], wiki: Path, server: MessagesServer, at: int, **asking: Any) -> int:
    """Ingest in a process that kills itself before it appends its n-th record to the journal; its exit code."""
    words = [str(wiki), server.base_url, str(at), json.dumps(asking), *map(str, paths)]
    return subprocess.run([sys.executable, "-c", _KILLED_RUN, *words], check=False, timeout=120).returncode


def dated_recordings(folder: Path, number: int) -> list[Path]:
    """So many recordings of different sessions, a day apart."""
    return [record(folder, f"session-{at}", f"2026-01-{at + 1:02d}") for at in range(number)]


def digests(server: MessagesServer) -> Counter[str]:
    """How often each request came, by the digest that the journal knows it by."""
    texts = (json.dumps(unmarked(body), sort_keys=True, ensure_ascii=False) for body in server.bodies())
    return Counter(f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for text in texts)
