"""Large recordings are read without several copies of them in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from benchmarks.memory import KINDS, write

from agent_wiki.pipeline.normalize import NormalizeOptions, normalize
from agent_wiki.report import Report


@pytest.mark.parametrize("kind", [kind for kind, (_, sign) in KINDS.items() if not sign])
def test_the_peak_is_at_most_two_and_a_half_times_what_is_kept(tmp_path: Path, kind: str) -> None:
    size = write(tmp_path / kind, kind, 2_000_000)
    options, report = NormalizeOptions(tmp_path / "out"), Report("normalize", "out")
    tracemalloc.start()
    written = normalize([tmp_path / kind], options, report, lambda _what, _done, _of: None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.failures == []
    kept = sum((tmp_path / "out" / each.file).stat().st_size for each in written)
    assert kept > 0.4 * size
    assert peak < 2.5 * kept + 2_500_000  # a window of the text, and the modules that a first run loads
