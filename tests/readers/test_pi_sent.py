"""Real sessions of pi 0.87.1: what the readers find against what the model server sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.sent import CLIENTS, Reply, differences, failed_calls, read, recordings, served

CLIENT = "pi"
SESSIONS = {path.stem.rpartition("_")[2][9:13]: path for path in recordings(CLIENT, "sessions")}
ORIGIN, FORK = "509f", "53fb"
PRINTED = CLIENTS / CLIENT / "mode-json" / "parallel.jsonl"
TESTS, MISSING = "python3 -m unittest discover -s tests", "cat no-such-file.txt"
FAILED = {ORIGIN: [MISSING], "4e03": [TESTS]}


def own_replies(path: Path) -> list[Reply]:
    """The replies of a session without those that a fork copied."""
    copied = served(CLIENT, SESSIONS[ORIGIN]) if path == SESSIONS[FORK] else []
    return [reply for reply in served(CLIENT, path) if reply not in copied]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_read_as_it_was_sent(name: str) -> None:
    (trajectory,) = read(SESSIONS[name])
    assert differences([trajectory], own_replies(SESSIONS[name])) == []
    assert failed_calls(trajectory) == FAILED.get(name, [])
    assert trajectory.source.cwd == "/home/dev/proj-p"


def test_the_system_prompt_is_read_by_its_sections() -> None:
    (trajectory,) = read(SESSIONS[ORIGIN])
    first = trajectory.messages[0]
    assert first.role == "system"
    assert (first.content or "").endswith("<cwd>\n/home/dev/proj-p\n</cwd>")


def test_what_a_run_printed_is_read_as_it_was_sent() -> None:
    (trajectory,) = read(PRINTED)
    assert differences([trajectory], served(CLIENT, PRINTED)) == []
    assert failed_calls(trajectory) == [MISSING]
    (kept,) = read(SESSIONS[ORIGIN])
    assert (trajectory.session_id, trajectory.source.format) == (kept.session_id, "pi-stream")
    assert trajectory.messages == kept.messages[: len(trajectory.messages)]
