"""The ledger of what was shown: on disk before it counts, literal, once, and before limits and wording."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.asking import previews
from agent_wiki.asking.journal import Journal, journal_folder, records
from agent_wiki.asking.previews import Limits
from agent_wiki.asking.tool_results import ToolResults
from agent_wiki.asking.trajectory_views import TrajectoryView, TrajectoryViews
from agent_wiki.asking.transcript import transcript
from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory
from tests.processes import die_before, exit_codes, started

LONG = "\n".join(f"line {number} of a long result" for number in range(2_000))
OTHERS = Limits(result_characters=2_000, turn_characters=2_500, segment_bytes=50_000)


def _trajectory(*results: str, session: str = "s", call: str = "c") -> Trajectory:
    """A request, and for each result a call whose id is `call` and its number."""
    messages = [Message("user", "Look.")]
    for number, result in enumerate(results, start=1):
        messages.append(Message("assistant", None, tool_calls=[ToolCall(f"{call}{number}", "Read", "{}")]))
        messages.append(Message("tool", result, tool_call_id=f"{call}{number}"))
    return Trajectory(session, Source("test"), messages)


@contextmanager
def _views(wiki: Path, limits: Limits | None = None, *, is_kept: bool = True) -> Iterator[TrajectoryViews]:
    """As a process of its own has it."""
    journal = Journal(journal_folder(wiki))
    try:
        yield TrajectoryViews(journal, ToolResults(wiki) if is_kept else None, limits or Limits())
    finally:
        journal.close()


def _shown(wiki: Path, trajectory: Trajectory, limits: Limits | None = None, *, is_kept: bool = True) -> TrajectoryView:
    with _views(wiki, limits, is_kept=is_kept) as views:
        return views.of(trajectory)


def _records(wiki: Path, kind: str) -> list[dict[str, Any]]:
    return [each for each in records(journal_folder(wiki), []) if each["kind"] == kind]


def _kept(wiki: Path) -> dict[str, str]:
    folder = wiki / ".wiki" / "tool-results"
    return {path.name: path.read_bytes().decode() for path in sorted(folder.iterdir())}


def test_the_whole_is_on_disk_and_the_literal_replacement_is_in_the_journal(tmp_path: Path) -> None:
    shown = _shown(tmp_path, _trajectory(LONG, "short"))
    (record,) = _records(tmp_path, "tool-result")
    assert record["toolUseId"] == "c1"
    assert shown.trajectory.messages[2].content == record["replacement"]
    assert record["replacement"] in transcript(shown.trajectory)
    assert shown.trajectory.messages[4].content == "short"
    ((name, whole),) = _kept(tmp_path).items()
    assert whole == LONG
    assert f"the whole is .wiki/tool-results/{name} of the wiki" in record["replacement"]
    assert shown.coverage.elided_characters == len(LONG) - record["shown"] > 0
    assert shown.coverage.trajectory_characters == _trajectory(LONG, "short").characters()
    mode = (tmp_path / ".wiki" / "tool-results" / name).stat().st_mode
    assert mode & 0o077 == 0, "as private as the journal"


@pytest.mark.parametrize("between", [OTHERS, Limits(result_characters=500_000, turn_characters=10**6)])
def test_other_limits_and_another_wording_change_nothing_of_what_was_seen(
    tmp_path: Path, between: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    trajectory = _trajectory(LONG, "y" * 15_000, "z" * 3_000)
    before = _shown(tmp_path, trajectory)
    written = list(_records(tmp_path, "tool-result"))
    monkeypatch.setattr(previews, "_LINE_BREAK_WITHIN", 3)
    monkeypatch.setattr(previews, "_SHORT_HEAD", 20)
    after = _shown(tmp_path, trajectory, between)
    assert transcript(after.trajectory) == transcript(before.trajectory)
    assert after.coverage == before.coverage
    assert list(_records(tmp_path, "tool-result")) == written, "once"
    assert len(_records(tmp_path, "left")) == 1


def test_what_was_left_alone_stays_left_and_what_is_new_goes_by_the_new_limits(tmp_path: Path) -> None:
    _shown(tmp_path, _trajectory("y" * 15_000))
    assert _records(tmp_path, "tool-result") == []
    later = _shown(tmp_path, _trajectory("y" * 15_000, "z" * 15_000), OTHERS)
    assert later.trajectory.messages[2].content == "y" * 15_000
    assert len(later.trajectory.messages[4].content or "") < 3_000
    assert [each["toolUseId"] for each in _records(tmp_path, "tool-result")] == ["c2"]


def test_a_subagents_trajectory_inherits_and_another_tool_use_does_not(tmp_path: Path) -> None:
    first = _shown(tmp_path, _trajectory(LONG))
    heir = _shown(tmp_path, _trajectory(LONG, session="agent-1"), OTHERS)
    assert heir.trajectory.messages[2].content == first.trajectory.messages[2].content
    other = _shown(tmp_path, _trajectory(LONG, session="agent-2", call="d"), OTHERS)
    assert other.trajectory.messages[2].content != first.trajectory.messages[2].content
    assert len(_kept(tmp_path)) == 1, "one text, one file"


def test_an_id_that_is_used_again_for_another_text_is_another_decision(tmp_path: Path) -> None:
    trajectory = _trajectory(LONG, LONG[::-1], LONG)
    for message in trajectory.messages:
        message.tool_call_id = "c" if message.role == "tool" else None
    shown = _shown(tmp_path, trajectory)
    made = [each["replacement"] for each in _records(tmp_path, "tool-result")]
    assert [shown.trajectory.messages[at].content for at in (2, 4, 6)] == [made[0], made[1], made[0]]
    elided = sum(len(LONG) - each["shown"] for each in _records(tmp_path, "tool-result"))
    first = len(LONG) - _records(tmp_path, "tool-result")[0]["shown"]
    assert shown.coverage.elided_characters == elided + first


def test_a_text_that_is_too_much_in_one_turn_and_not_in_another_is_shown_alike(tmp_path: Path) -> None:
    text = "w" * 18_000
    many = [Message("tool", text, tool_call_id="c1"), *(Message("tool", f"{at}" * 18_000) for at in range(4))]
    alone = [Message("assistant", "again"), Message("tool", text, tool_call_id="c1")]
    trajectory = Trajectory("s", Source("test"), [*alone, Message("assistant", "all"), *many])
    shown = _shown(tmp_path, trajectory)
    assert shown.trajectory.messages[1].content == shown.trajectory.messages[3].content
    again = _shown(tmp_path, trajectory)
    assert transcript(again.trajectory) == transcript(shown.trajectory)
    assert again.coverage == shown.coverage


_RESULT = st.builds(
    lambda piece, times: piece * times, st.text(st.sampled_from("ab\n漢🧺\ud800"), max_size=9), st.integers(0, 700)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_RESULT, st.sampled_from(["a", "b", "../../c\n", "", "\ud800", "x" * 500])), max_size=6))
def test_seen_and_elided_add_up_and_a_resume_sends_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, results: list[tuple[str, str]]
) -> None:
    wiki = tmp_path_factory.mktemp("wiki")
    messages = [Message("tool", text, tool_call_id=call) for text, call in results]
    trajectory = Trajectory("s", Source("test"), messages)
    limits = Limits(result_characters=2_000, turn_characters=4_000)
    shown = _shown(wiki, trajectory, limits)
    found = shown.coverage
    assert found.seen_characters + found.elided_characters == found.trajectory_characters == trajectory.characters()
    elided = [len(before.content or "") for before, after in zip(messages, shown.trajectory.messages, strict=True)
              if before.content != after.content]  # fmt: skip
    assert found.elided_characters <= sum(elided)
    resumed = _shown(wiki, trajectory, OTHERS)
    assert transcript(resumed.trajectory) == transcript(shown.trajectory)
    assert resumed.coverage == found
    made = [(each["toolUseId"], each["content"]) for each in _records(wiki, "tool-result")]
    assert len(made) == len(set(made)), "each once"
    outside = [path for path in wiki.rglob("*") if path.is_file() and path.parent.parent != wiki / ".wiki"]
    assert outside == []


def _show_and_die(wiki: Path, before: str) -> None:
    die_before(0, before)
    _shown(wiki, _trajectory(LONG))


@pytest.mark.parametrize("before", ["agent_wiki.asking.journal.Journal.append", "os.fsync"])
def test_killed_before_the_record_nothing_was_shown_and_the_next_run_decides(tmp_path: Path, before: str) -> None:
    assert exit_codes(started(_show_and_die, tmp_path, before)) == [-signal.SIGKILL]
    assert journal_folder(tmp_path).is_dir() is False or _records(tmp_path, "tool-result") == []
    if before != "os.fsync":
        assert list(_kept(tmp_path).values()) == [LONG], "the whole comes before its record"
    shown = _shown(tmp_path, _trajectory(LONG), OTHERS)
    assert shown.trajectory.messages[2].content == _records(tmp_path, "tool-result")[0]["replacement"]
    whole = {name: text for name, text in _kept(tmp_path).items() if not name.startswith(".")}
    assert list(whole.values()) == [LONG]


def test_a_file_without_the_text_is_written_again(tmp_path: Path) -> None:
    _shown(tmp_path, _trajectory(LONG))
    (path,) = (tmp_path / ".wiki" / "tool-results").iterdir()
    path.write_text("x" * len(LONG), encoding="utf-8")
    _shown(tmp_path, _trajectory(LONG, call="d"))
    assert path.read_text(encoding="utf-8") == LONG


def test_a_link_in_a_texts_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    wiki, outside = tmp_path / "wiki", tmp_path / "outside"
    _shown(wiki, _trajectory(LONG))
    (path,) = (wiki / ".wiki" / "tool-results").iterdir()
    outside.write_text("mine", encoding="utf-8")
    path.unlink()
    path.symlink_to(outside)
    (path.parent / f".{os.getpid()}.tmp").symlink_to(outside)
    _shown(wiki, _trajectory(LONG, call="d"))
    assert outside.read_text(encoding="utf-8") == "mine"
    assert _kept(wiki) == {path.name: LONG}


def test_a_link_in_the_folders_place_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "wiki" / ".wiki").mkdir(parents=True)
    (tmp_path / "wiki" / ".wiki" / "tool-results").symlink_to(tmp_path / "outside")
    with pytest.raises(UnsafePath, match="could lead out of it"):
        _shown(tmp_path / "wiki", _trajectory(LONG))
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_that_cannot_be_written_ends_the_run_and_nothing_is_recorded(tmp_path: Path) -> None:
    (tmp_path / ".wiki").mkdir()
    (tmp_path / ".wiki" / "tool-results").write_text("in the way", encoding="utf-8")
    with pytest.raises(RunError, match=r"tool-results: a long tool result cannot be kept \(.+\); fix that, or run"):
        _shown(tmp_path, _trajectory(LONG))
    assert _records(tmp_path, "tool-result") == []


def test_a_full_disk_ends_the_run_and_leaves_no_half_of_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("agent_wiki.asking.tool_results.os.fsync", full)
        with pytest.raises(RunError, match="No space left on device"):
            _shown(tmp_path, _trajectory(LONG))
    assert _kept(tmp_path) == {}
    _shown(tmp_path, _trajectory(LONG))
    assert list(_kept(tmp_path).values()) == [LONG]


def test_a_journal_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    journal_folder(tmp_path).parent.mkdir(parents=True)
    journal_folder(tmp_path).write_text("in the way", encoding="utf-8")
    for trajectory in (_trajectory(LONG), _trajectory("y" * 5_000)):
        with pytest.raises(RunError, match="the journal cannot be written"):
            _shown(tmp_path, trajectory)


def test_a_trajectory_stays_cut_as_it_was_unless_a_segment_is_too_large_by_now(tmp_path: Path) -> None:
    trajectory = _trajectory(*(f"{at} " + "w" * 900 for at in range(90)))
    before = _shown(tmp_path, trajectory, Limits(segment_bytes=40_000)).segments
    assert len(before) == 3
    for limits in (Limits(segment_bytes=60_000), Limits()):
        assert _shown(tmp_path, trajectory, limits).segments == before
    assert len(_records(tmp_path, "segments")) == 1, "once"
    smaller = _shown(tmp_path, trajectory, Limits(segment_bytes=20_000)).segments
    assert len(smaller) > 4
    assert _shown(tmp_path, trajectory, Limits(segment_bytes=30_000)).segments == smaller
    assert _shown(tmp_path, trajectory, Limits(segment_bytes=40_000)).segments == before, "of two the first stands"
    longer = _trajectory(*(f"{at} " + "w" * 900 for at in range(91)))
    assert _shown(tmp_path, longer).segments == (), "another trajectory"


def test_without_a_journal_nothing_is_written_and_each_question_sees_the_same(tmp_path: Path) -> None:
    trajectory = _trajectory(LONG, "y" * 3_000)
    one, two = (TrajectoryViews(Journal(None), ToolResults(tmp_path), Limits()).of(trajectory) for _ in range(2))
    assert transcript(one.trajectory) == transcript(two.trajectory)
    assert "the whole is turn 3 of the recording]" in (one.trajectory.messages[2].content or "")
    assert one.coverage.elided_characters > 0
    assert list(tmp_path.iterdir()) == []


def test_a_rehearsal_shows_what_a_run_would_show_and_writes_nothing(tmp_path: Path) -> None:
    trajectory = _trajectory(LONG, "y" * 3_000)
    rehearsed = _shown(tmp_path, trajectory, is_kept=False)
    assert list(tmp_path.iterdir()) == []
    run = _shown(tmp_path, trajectory)
    assert transcript(rehearsed.trajectory) == transcript(run.trajectory)
    assert transcript(_shown(tmp_path, trajectory, OTHERS, is_kept=False).trajectory) == transcript(run.trajectory)


def test_order_and_threads_change_nothing(tmp_path: Path) -> None:
    trajectories = [_trajectory(f"{at}\n{LONG}", "y" * 3_000, session=f"s{at}", call=f"s{at}-") for at in range(12)]
    with _views(tmp_path / "one") as views:
        one = [transcript(views.of(each).trajectory) for each in trajectories]
    with _views(tmp_path / "two") as views, ThreadPoolExecutor(6) as threads:
        made = list(threads.map(lambda each: transcript(views.of(each).trajectory), reversed(trajectories * 2)))
    assert list(reversed(made[12:])) == one
    assert _kept(tmp_path / "one") == _kept(tmp_path / "two")
    assert len(_records(tmp_path / "two", "tool-result")) == 12


def test_it_holds_no_more_trajectories_than_are_asked_about(tmp_path: Path) -> None:
    with _views(tmp_path) as views:
        trajectory = _trajectory(LONG)
        assert views.of(trajectory) is views.of(trajectory)
        views.forget(trajectory)
        views.forget(trajectory)
        assert len(views._remembered) == 0
        for at in range(100):
            views.of(_trajectory("y" * 2_000, session=f"s{at}"))
        assert len(views._remembered) <= 64


def test_a_secret_is_neither_in_the_whole_text_nor_in_the_journal(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    envelope = {
        "session_id": "s",
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "tool", "tool_call_id": secret, "content": f"{secret}\n{LONG}\nTOKEN={secret}"},
        ],
    }
    path = tmp_path / "s.json"
    path.write_text(json.dumps(envelope), encoding="utf-8")
    (trajectory,) = trajectories_of(Recording(path, "s.json"), "0")
    _shown(tmp_path / "wiki", trajectory)
    written = [each for each in (tmp_path / "wiki").rglob("*") if each.is_file()]
    assert len(written) == 2
    assert [each for each in written if secret in each.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("found", "elided"), [(10**9, 0), (-5, len(LONG)), ("many", len(LONG)), (None, len(LONG))])
def test_coverage_stays_within_the_text_whatever_a_record_says(tmp_path: Path, found: Any, elided: int) -> None:
    shown = _shown(tmp_path, _trajectory(LONG))
    (path,) = journal_folder(tmp_path).glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[-1]["shown"] = found
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = _shown(tmp_path, _trajectory(LONG))
    assert again.coverage.elided_characters == elided
    assert transcript(again.trajectory) == transcript(shown.trajectory)
