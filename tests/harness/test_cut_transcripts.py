"""A transcript that was cut off does not replace what is saved of its session; one that says something new does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.hook_project import TEACHES, Stop, saved_in, wiki_of

pytestmark = pytest.mark.usefixtures("no_run_is_long")

_ID = "cb5db3b9-2980-55c9-91d7-f27477796123"


def _lines() -> list[bytes]:
    return TEACHES.read_bytes().splitlines(keepends=True)


def _user(text: str, **fields: object) -> bytes:
    line = {"type": "user", "uuid": text[:8], "sessionId": _ID, "message": {"role": "user", "content": text}}
    return json.dumps({**line, **fields}).encode() + b"\n"


@pytest.mark.parametrize("kept", [-1, -2, -5, 3])
def test_a_transcript_that_lost_its_end_leaves_the_longer_one(
    kept: int, project: Path, stop: Stop, tmp_path: Path
) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    before = (saved_in(project)[0].read_bytes(), wiki_of(project))
    transcript.write_bytes(b"".join(_lines()[:kept]))
    outcome = stop(transcript, hook_event_name="SessionEnd", reason="other")
    assert (outcome.saved, outcome.cut, outcome.marked, outcome.problems) == ([], 1, [], [])
    assert (saved_in(project)[0].read_bytes(), wiki_of(project)) == before
    assert "1 shorter than what is saved" in (project / ".evolve" / "hook.log").read_text(encoding="utf-8")
    transcript.write_bytes(TEACHES.read_bytes())
    assert stop(transcript).unchanged == 1


def test_a_summary_in_the_place_of_turns_is_less_than_the_turns(project: Path, stop: Stop, tmp_path: Path) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    before = saved_in(project)[0].read_bytes()
    summary = _user("This session is being continued from a previous conversation. Summary: all of it. " * 200,
                    isCompactSummary=True)  # fmt: skip
    transcript.write_bytes(summary + b"".join(_lines()[-2:]))
    assert stop(transcript).cut == 1
    assert saved_in(project)[0].read_bytes() == before


def test_what_a_compaction_took_away_stays_saved_when_the_session_goes_on(
    project: Path, stop: Stop, tmp_path: Path
) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    (first,) = (_messages(each) for each in saved_in(project))
    summary = _user("This session is being continued from a previous conversation.", isCompactSummary=True)
    compacted = summary + b"".join(_lines()[-2:])
    for asked in (["Cap it at 90."], ["Cap it at 90.", "Always log the cap."]):
        transcript.write_bytes(compacted + b"".join(map(_user, asked)))
        outcome = stop(transcript)
        assert (outcome.cut, len(saved_in(project)), bool(outcome.marked)) == (0, 1, len(asked) == 2)
        messages = _messages(saved_in(project)[0])
        assert messages[: len(first)] == first
        assert [each["content"] for each in messages[len(first) + 1 :]] == asked
        assert messages[len(first)]["mark"] == "compaction"
    assert stop(transcript).unchanged == 1


def _messages(file: Path) -> list[dict[str, str]]:
    messages: list[dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))["messages"]
    return messages


def test_a_shorter_transcript_that_says_something_new_replaces_what_is_saved(
    project: Path, stop: Stop, tmp_path: Path
) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    transcript.write_bytes(b"".join(_lines()[:3]) + _user("Another way: use the limit of the column."))
    outcome = stop(transcript)
    assert (outcome.saved, outcome.cut) == (saved_in(project), 0)
    assert "Another way" in saved_in(project)[0].read_text(encoding="utf-8")


def test_a_longer_one_that_cannot_be_read_is_replaced(project: Path, stop: Stop, tmp_path: Path) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    saved_in(project)[0].write_text("{", encoding="utf-8")
    transcript.write_bytes(b"".join(_lines()[:-2]))
    assert stop(transcript).saved == saved_in(project)
