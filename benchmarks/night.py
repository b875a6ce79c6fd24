"""A night's diff: how many files of a wiki in git change when some sessions are added, and which.

    python -m benchmarks.night WIKI [--before 300] [--new 54] [--splits 5] [--show]

In: a wiki over at least as many sessions. Its records are drawn at random: those before are made into a wiki, which is
committed; those of the night are added, and `git status` is counted by kind. `--show` prints the changed lines of
pages that were there before.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median

from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.wiki.layout import kind_of


def night(records: Sequence[Path], new: int, wiki: Path) -> Counter[tuple[str, str]]:
    """(Kind of file, `new`, `changed` or `removed`) → how many. In: records, the new ones last."""
    (wiki / "_sessions").mkdir(parents=True)
    _ingest(records[:-new], wiki)
    _git(wiki, "init", "--quiet")
    _git(wiki, "add", "--all")
    _git(wiki, "-c", "user.name=night", "-c", "user.email=night@localhost", "commit", "--quiet", "--message", "before")
    _ingest(records[-new:], wiki)
    _git(wiki, "add", "--all")
    changes = _git(wiki, "diff", "--cached", "--name-status", "--no-renames").splitlines()
    return Counter((_kind(path), _BECAME[status]) for status, path in (line.split("\t") for line in changes))


_HELD_BACK = "summary in quarantine"
_BECAME = {"A": "new", "M": "changed", "D": "removed"}


def _ingest(records: Sequence[Path], wiki: Path) -> None:
    for record in records:
        shutil.copy(record, wiki / "_sessions" / record.name)
    run([], Options(wiki), Report("ingest", str(wiki)), lambda *_: None)


def _date(record: Path) -> str:
    return str(json.loads(record.read_bytes()).get("date") or "")


def _kind(path: str) -> str:
    folder = path.partition("/")[0]
    if path.startswith("_quarantine/summaries/"):
        return _HELD_BACK
    return folder if folder in ("_sessions", "_corpus", "_index") else kind_of(path) or path


def _git(wiki: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", wiki, *words], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def main() -> int:
    """Print a table, a column a split."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wiki", type=Path)
    parser.add_argument("--before", type=int, default=300)
    parser.add_argument("--new", type=int, default=54)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--by-date", action="store_true", help="the night's sessions are the newest of those drawn")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    records = sorted((options.wiki / "_sessions").iterdir())
    nights: list[Counter[tuple[str, str]]] = []
    for seed in range(options.splits):
        drawn = Random(seed).sample(records, options.before + options.new)
        if options.by_date:
            drawn.sort(key=_date)
        with tempfile.TemporaryDirectory() as folder:
            wiki = Path(folder) / "wiki"
            nights.append(night(drawn, options.new, wiki))
            if options.show:
                print(_git(wiki, "diff", "--cached", "--diff-filter=M", "--unified=0", "--", ".", ":(exclude)_*"))
    for kind in sorted({kind for found in nights for kind in found}):
        counts = [found[kind] for found in nights]
        print(f"| {' '.join(kind)} | {median(counts):g} | {max(counts)} | {counts} |")
    totals = [found.total() for found in nights]
    own = [found["_sessions", "new"] + found["summary", "new"] + found[_HELD_BACK, "new"] for found in nights]
    rest = [total - each for total, each in zip(totals, own, strict=True)]
    print(f"| all | {median(totals):g} | {max(totals)} | {totals} |")
    print(f"| besides records and summaries of the new sessions | {median(rest):g} | {max(rest)} | {rest} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
