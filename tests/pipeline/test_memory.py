"""Large recordings are read without several copies of them in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from benchmarks.memory import KINDS, write

from agent_wiki.pipeline.normalize import NormalizeOptions, normalize
from agent_wiki.pipeline.report import Report


@pytest.mark.long
@pytest.mark.parametrize("kind", [kind for kind, (_, sign) in KINDS.items() if not sign])
def test_the_peak_is_at_most_two_and_a_half_times_what_is_kept(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "small", kind, 10_000)
    _kept(tmp_path / "small", tmp_path / "first")  # loads the modules
    size = write(tmp_path / kind, kind, 1_000_000)
    kept, peaks = 0, []
    for run in range(3):  # what the threads of other tests leave behind is traced, too, and only adds
        tracemalloc.start()
        kept = _kept(tmp_path / kind, tmp_path / f"out{run}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert kept > 0.4 * size
    assert min(peaks) < 2.5 * kept + 1_250_000  # a window of the text


def _kept(recording: Path, out: Path) -> int:
    """How many bytes a recording has that is normalized."""
    report = Report("normalize", "out")
    written = normalize([recording], NormalizeOptions(out), report, lambda _what, _done, _of: None)
    assert report.failures == []
    return sum((out / each.file).stat().st_size for each in written)
