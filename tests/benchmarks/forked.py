"""Runs of `wiki` that a benchmark would measure, forked so that a test does not wait for eight interpreters."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed import Run

from tests.processes import exit_codes, started_wiki


def wiki(*words: str) -> Run:
    """As `benchmarks.speed.wiki`, with a MiB and a second of work that nobody has measured."""
    started = time.perf_counter()
    with TemporaryDirectory() as folder:
        output = Path(folder, "printed")
        (code,) = exit_codes(started_wiki(*words, output=output))
        printed = output.read_text(encoding="utf-8")
    if code not in (0, 1):
        raise RuntimeError(f"wiki {words[0]}: exit code {code}: {printed}")
    return Run(time.perf_counter() - started, 1.0, 1.0, printed[max(printed.find("{"), 0) :])
