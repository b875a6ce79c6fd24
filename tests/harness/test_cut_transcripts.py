"""A transcript that was cut off does not replace what is saved of its session; one that says something new does.

What a compaction took out of a transcript stays saved, and what a person undid does not.
"""

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


_SUMMARY = _user("This session is being continued from a previous conversation.", isCompactSummary=True)


def _saved_after(stop: Stop, project: Path, transcript: Path, *states: bytes) -> list[list[dict[str, str]]]:
    """What is saved of a session after each of its states."""
    found = []
    for state in states:
        transcript.write_bytes(state)
        assert stop(transcript).problems == []
        found += [_messages(each) for each in saved_in(project)]
    assert len(found) == len(states)
    return found


@pytest.mark.parametrize("is_longer_at_once", [True, False])
def test_a_session_that_grows_longer_than_what_is_saved_loses_nothing_to_its_compaction(
    is_longer_at_once: bool, project: Path, stop: Stop, tmp_path: Path
) -> None:
    compacted = _SUMMARY + b"".join(_lines()[-2:]) + _user("Cap it.")
    longer = compacted + b"".join(_user(f"{number}: cap that.") for number in range(30))
    states = [longer] if is_longer_at_once else [compacted, longer]
    whole, *_, after = _saved_after(stop, project, tmp_path / TEACHES.name, TEACHES.read_bytes(), *states)
    assert after[: len(whole)] == whole
    assert [each.get("mark") for each in after[len(whole) :]] == ["compaction", *[None] * 31]


@pytest.mark.parametrize("kept", [9, 15])
def test_an_undo_behind_a_summary_that_was_appended_replaces_what_is_saved(
    kept: int, project: Path, stop: Stop, tmp_path: Path
) -> None:
    ahead, behind = b"".join(_lines()[:5]) + _SUMMARY, _lines()[5:]
    another = ahead + b"".join(behind[:kept]) + _user("Another way: cap it at 90.")
    transcript = tmp_path / TEACHES.name
    whole, after = _saved_after(stop, project, transcript, ahead + b"".join(behind), another)
    assert len(after) < len(whole)
    words = [each["content"] for each in after]
    assert words == [*[each["content"] for each in whole[: len(after) - 1]], "Another way: cap it at 90."]


def test_an_undo_behind_a_summary_in_the_place_of_turns_leaves_the_turns_once(
    project: Path, stop: Stop, tmp_path: Path
) -> None:
    compacted = _SUMMARY + b"".join(_lines()[-2:])
    states = (compacted + _user("Cap it.") + _user("Log it."), compacted + _user("Leave it."))
    whole, _, after = _saved_after(stop, project, tmp_path / TEACHES.name, TEACHES.read_bytes(), *states)
    assert after[: len(whole)] == whole
    assert [each["content"] for each in after[len(whole) + 1 :]] == ["Leave it."]


@pytest.mark.parametrize(
    ("kept_ahead", "result"), [(1, b"5 passed, 0 failed"), (0, b"[cleared]"), (1, b"[cleared]"), (3, b"[cleared]")]
)
def test_turns_that_a_compaction_keeps_are_saved_once_also_ahead_of_it_and_with_shorter_results(
    kept_ahead: int, result: bytes, project: Path, stop: Stop, tmp_path: Path
) -> None:
    kept = b"".join(_lines()[-6:]).replace(b"5 passed, 0 failed", result)
    compacted = b"".join(_lines()[:kept_ahead]) + _SUMMARY + kept + _user("Cap it.")
    whole, after = _saved_after(stop, project, tmp_path / TEACHES.name, TEACHES.read_bytes(), compacted)
    assert after[: len(whole)] == whole
    assert [each["content"] for each in after[len(whole) + 1 :]] == ["Cap it."]
    assert after[len(whole)]["mark"] == "compaction"


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


def test_a_state_that_an_earlier_version_noted_without_its_length_is_not_cut_either(
    project: Path, stop: Stop, tmp_path: Path
) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    (state,) = (project / ".evolve" / "hook" / "sessions").glob("*.json")
    noted = json.loads(state.read_text(encoding="utf-8"))
    without = {name: value for name, value in noted.items() if name not in ("turns", "characters")}
    state.write_text(json.dumps(without), encoding="utf-8")
    saved = saved_in(project)[0].read_bytes()
    transcript.write_bytes(b"".join(_lines()[:3]))
    outcome = stop(transcript)
    assert (outcome.saved, outcome.cut, outcome.marked) == ([], 1, [])
    assert saved_in(project)[0].read_bytes() == saved
    assert json.loads(state.read_text(encoding="utf-8")) == noted


def test_a_longer_one_that_cannot_be_read_is_replaced(project: Path, stop: Stop, tmp_path: Path) -> None:
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(TEACHES.read_bytes())
    stop(transcript)
    saved_in(project)[0].write_text("{", encoding="utf-8")
    transcript.write_bytes(b"".join(_lines()[:-2]))
    assert stop(transcript).saved == saved_in(project)
