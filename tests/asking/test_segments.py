"""Segments: together every turn, neighbours sharing one, none larger than it has to be."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.asking.segments import segments, segments_at
from agent_wiki.asking.transcript import Segment, transcript, turn_texts
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory
from tests.hangs import no_hang

_MOST = 20_000
_HEAD = 2_000  # what stands before the turns
_SIZES = st.lists(st.sampled_from([0, 1, 40, 900, 5_000, 9_000, 19_900, 60_000]), max_size=40)


def _trajectory(*texts: str) -> Trajectory:
    return Trajectory("s", Source("test"), [Message("assistant", text) for text in texts])


def _bytes(trajectory: Trajectory, segment: Segment | None = None) -> int:
    return len(transcript(trajectory, segment).encode())


@settings(deadline=None)
@given(_SIZES, st.sampled_from("x漢🧺\ud800"))
def test_every_turn_is_shown_and_neighbours_share_one(sizes: list[int], character: str) -> None:
    trajectory = _trajectory(*(character * (size // 3) for size in sizes))
    made = segments(trajectory, _MOST)
    if not made:
        assert _bytes(trajectory) <= _MOST + _HEAD or len(sizes) <= 2
        return
    assert (made[0].first, made[-1].last) == (1, len(sizes))
    assert [(each.number, each.of) for each in made] == [(number, len(made)) for number in range(1, len(made) + 1)]
    for before, after in pairwise(made):
        assert after.first == before.last
        assert after.last > before.last
    for each in made:
        assert _bytes(trajectory, each) <= _MOST + _HEAD or each.last - each.first == 1, "two turns alone are too much"


def test_what_fits_is_not_cut() -> None:
    assert segments(_trajectory(), _MOST) == ()
    assert segments(_trajectory("x" * 19_000), _MOST) == ()
    assert segments(_trajectory("x" * 9_000, "x" * 9_000), _MOST) == ()


def test_one_giant_turn_cannot_be_cut_and_is_no_segment() -> None:
    assert segments(_trajectory("x" * 100_000), _MOST) == ()
    assert segments(_trajectory("x" * 100_000, "x" * 100_000), _MOST) == ()
    made = segments(_trajectory("a", "x" * 100_000, "b", "c" * 19_990), _MOST)
    assert [(each.first, each.last) for each in made] == [(1, 2), (2, 3), (3, 4)]


def test_many_calls_of_one_turn_count_though_they_say_nothing() -> None:
    calls = [ToolCall("c", "n" * 80, "") for _ in range(400)]
    messages = [Message("assistant", None, tool_calls=calls) for _ in range(4)]
    trajectory = Trajectory("s", Source("test"), messages)
    assert trajectory.characters() == 0
    assert len(segments(trajectory, _MOST)) == 3


def test_ten_thousand_tiny_turns_are_cut_soon_and_all_shown() -> None:
    trajectory = _trajectory(*("ok" for _ in range(10_000)))
    with no_hang():
        made = segments(trajectory, _MOST)
    shown = [turn for each in made for turn in range(each.first + (each.number > 1), each.last + 1)]
    assert shown == list(range(1, 10_001))
    assert all(_bytes(trajectory, each) <= _MOST + _HEAD for each in made)
    assert len(made) < 20


def test_turns_in_a_segment_are_as_in_the_whole() -> None:
    messages = [
        Message("assistant", f"turn {at} " + "x" * 3_000, tool_calls=[ToolCall(f"c{at}", "Bash", "{}")])
        for at in range(30)
    ]
    trajectory = Trajectory("s", Source("test"), messages)
    whole = list(turn_texts(trajectory))
    for each in segments(trajectory, _MOST):
        assert list(turn_texts(trajectory, each)) == whole[each.first - 1 : each.last]
        assert f"shown: turns {each.first} to {each.last}\n" in transcript(trajectory, each)


def test_an_earlier_cut_is_reused_if_it_shows_every_turn_and_still_fits() -> None:
    trajectory = _trajectory(*("x" * 5_000 for _ in range(10)))
    cuts = [[each.first, each.last] for each in segments(trajectory, _MOST)]
    assert segments_at(trajectory, cuts, _MOST) == segments(trajectory, _MOST)
    assert segments_at(trajectory, cuts, 10 * _MOST) == segments(trajectory, _MOST)
    assert segments_at(trajectory, cuts, _MOST // 2) == ()


def test_a_cut_that_is_none_is_passed_over() -> None:
    trajectory = _trajectory(*("x" * 5_000 for _ in range(10)))
    broken: list[Any] = [
        [], [[1, 10]], [[1, 5], [6, 10]], [[2, 5], [5, 10]], [[1, 5], [5, 11]], [[1, 5], [5, 5], [5, 10]],
        [[1, 5, 6]], [1, 2], ["ab", "bc"], [None], [[1, None], [2, 10]], [[1, 5], [5, 3], [3, 10]],
    ]  # fmt: skip
    assert [segments_at(trajectory, cuts, 10**6) for cuts in broken] == [()] * len(broken)
