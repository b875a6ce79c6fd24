"""The speed benchmark runs, measures what it says, and tells a missed target from one that is met."""

from __future__ import annotations

import json
import time
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from benchmarks.generated_wiki import GUIDELINES_PER_SESSION, generate

from agent_wiki.wiki.store import WikiFolder
from benchmarks import speed
from tests.benchmarks import forked
from tests.wikis import ingest

_TURNS = [
    {"role": "user", "content": "Count the lines of every file here. " * 3},
    {"role": "assistant", "content": "There are three files with twelve lines. " * 3},
]


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Two recordings of one format."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    for number in range(2):
        envelope = {"model": "m", "session_id": f"s{number}", "messages": _TURNS}
        (folder / f"{number}.json").write_text(json.dumps(envelope), encoding="utf-8")
    return folder


def test_a_generated_wiki_has_four_guidelines_a_session(tmp_path: Path) -> None:
    pages = generate(tmp_path, 3)
    ingest([], tmp_path, "offline", stages=("catalog",))
    assert pages == len(WikiFolder(tmp_path).page_paths()) == 3 * (1 + GUIDELINES_PER_SESSION)


@pytest.mark.long
def test_every_measure_gives_a_row(recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "wiki", forked.wiki)
    rows = [*speed.reading_rows(recordings, passes=1), speed.redaction_row(recordings, passes=1)]
    rows.append(speed.mining_row(recordings, passes=1))
    assert [row.what.split(" (")[0] for row in rows] == ["read openai-messages", "redact", "mine"]
    ingested = [*speed.ingest_rows(recordings, tmp_path, runs=1)]
    assert [row.what for row in ingested] == [
        "ingest 2 sessions, 1 worker, cold",
        "ingest 2 sessions, 1 worker, nothing new",
        "ingest 2 sessions, 2 workers, cold",
        "ingest 2 sessions, 2 workers, nothing new",
    ]


@pytest.mark.long
def test_a_catalogue_is_measured_at_least_once_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first run is a process of its own, as a person's runs are."""
    real = iter([speed.wiki])
    monkeypatch.setattr(speed, "wiki", lambda *words: next(real, forked.wiki)(*words))
    done = speed.catalogues(2, tmp_path, runs=3, deadline=time.monotonic())
    assert len(done.first) == len(done.second) == len(done.added) == 1
    assert ["8 guideline pages" in done.second[0].printed, "12 guideline pages" in done.added[0].printed] == [
        True,
        True,
    ]
    assert 10 < done.first[0].memory_mib < 1_000
    assert len([*speed.catalogue_rows(done)]) == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_a_join_is_of_four_wikis_of_half_the_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "wiki", forked.wiki)
    rows = [*speed.join_rows(2, tmp_path)]
    assert [row.what for row in rows] == ["join 4 x 1 sessions", "join 4 x 1 sessions, memory"]
    assert not list(tmp_path.iterdir())


def test_a_target_is_missed_when_it_is() -> None:
    runs = [
        [speed.Run(seconds, seconds, memory, "")] for seconds, memory in ((21.0, 2_000.0), (0.4, 90.0), (1.9, 90.0))
    ]
    slow = speed.Catalogues(10_000, *runs)
    assert [row.is_met for row in speed.catalogue_rows(slow)] == [False, True, True, False]
    assert speed.memory_row("join", runs[1], 10_000, has_target=True).is_met
    quick = speed.Catalogues(1_000, [speed.Run(1.0, 1.0, 90.0, "")])
    assert speed.growth_row(quick, slow).is_met is False
    assert str(next(speed.catalogue_rows(slow))).endswith("at most 8 s  MISSED")


@pytest.mark.long
def test_the_exit_code_says_whether_a_target_was_missed(
    recordings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "wiki", forked.wiki)
    monkeypatch.setattr(speed, "_PROGRAM", recordings)  # to be compiled
    words = ["--traces", str(recordings / "none"), "--sessions", "1", "--minutes", "0"]
    assert speed.main(words) == 0  # one session has no target
    monkeypatch.setattr(speed, "_TARGET_SESSIONS", 1)
    monkeypatch.setattr(speed, "_MOST_FIRST", 0.0)
    assert speed.main(words) == 1
    assert "catalog 1 sessions, first" in capsys.readouterr().out


@pytest.mark.long
def test_the_program_is_compiled_before_its_runs_are_measured(
    tmp_path: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "wiki", forked.wiki)
    monkeypatch.setattr(speed, "_PROGRAM", tmp_path / "program")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    module = tmp_path / "program" / "each.py"
    module.parent.mkdir()
    module.write_text("", encoding="utf-8")
    speed.main(["--traces", str(recordings / "none"), "--sessions", "1", "--minutes", "0"])
    assert Path(cache_from_source(str(module))).exists()
