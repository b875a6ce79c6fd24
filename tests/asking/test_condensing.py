"""What a model need not read twice is left out, counted, and said where it stood."""

from __future__ import annotations

import random

import pytest

from agent_wiki.asking.condensing import condensed, without_redraws
from agent_wiki.asking.journal import Journal
from agent_wiki.asking.previews import Limits
from agent_wiki.asking.trajectory_views import TrajectoryViews
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.evidence import is_verbatim
from tests.engines.sessions import Session

FILE = "\n".join(f"{at:>4} value_{at} = compute({at})" for at in range(60))


def _results(trajectory: Trajectory) -> list[str]:
    return [message.content or "" for message in trajectory.messages if message.role == "tool"]


def test_of_spinner_frames_and_progress_the_first_and_the_last_are_shown() -> None:
    frames = [f"{glyph} Installing {at} of 90 packages" for at, glyph in enumerate("⠋⠙⠹⠸⠼⠴")]
    bars = [f"Downloading ledger.whl {at}% |{'█' * at}" for at in (1, 20, 55, 100)]
    made, left_out = without_redraws("\n".join(["start", *frames, "built", *bars, "done"]))
    assert made.split("\n") == [
        "start", frames[0], f"[4 redrawn lines, {sum(map(len, frames[1:-1])) + 4} characters, are not shown here]",
        frames[-1], "built", bars[0],
        f"[2 redrawn lines, {sum(map(len, bars[1:-1])) + 2} characters, are not shown here]",
        bars[-1], "done",
    ]  # fmt: skip
    assert left_out == sum(map(len, [*frames[1:-1], *bars[1:-1]])) + 6


def test_of_a_line_rewritten_in_place_the_last_state_is_shown() -> None:
    made, left_out = without_redraws("resolving\rfetching 1\rfetching 2\r\nready\r\n")
    assert made == "fetching 2\nready\r\n\n[22 characters that were overwritten in place are not shown here]"
    assert left_out == 22


@pytest.mark.parametrize(
    "text",
    [
        "tests/test_cart.py ....  [ 10%]\ntests/test_lamp.py .F..  [ 50%]\ntests/test_pay.py ....  [ 90%]\nx 1%\ny 2%",
        "src/cart.py  40  2  95%\nsrc/lamp.py  12  0 100%\nsrc/pay.py  9  1  88%\nsrc/ship.py  9  1  88%\n",
        "\n".join(f"step {at} ok" for at in range(90)),
        "⠋ one\n⠙ one\n⠹ one",
        "one\r\ntwo\r\n",
    ],
)
def test_what_says_something_else_on_each_line_is_left_alone(text: str) -> None:
    assert without_redraws(text) == (text, 0)


def test_a_file_read_again_is_named_by_the_turn_that_shows_it() -> None:
    edited = FILE.replace("compute(50)", "recompute(50)")
    session = Session().user("Fix.").run("cat a.py", FILE).run("cat a.py", FILE).run("cat a.py", f"head\n{edited}")
    trajectory = session.done()
    made, left_out = condensed(trajectory)
    first, second, third = _results(made)
    lines = FILE.split("\n")
    size = len(FILE)
    assert first == FILE
    assert second == f"[60 lines, {size:,} characters, are the same as in turn 3 and not shown here]"
    before = sum(len(line) + 1 for line in lines[:50])
    assert third.startswith(f"head\n[50 lines, {before:,} characters, are the same as in turn ")
    assert "recompute(50)" in third
    assert left_out == size + before
    assert is_verbatim(trajectory, 5, "value_3"), "quotes are held against the whole recording"


def test_a_repetition_far_from_the_first_is_shown() -> None:
    session = Session().user("Fix.").run("cat a.py", FILE).run("cat b.log", "x" * 70_000).run("cat a.py", FILE)
    assert condensed(session.done())[1] == 0


def test_coverage_counts_what_was_left_out() -> None:
    trajectory = Session().user("Fix.").run("cat a.py", FILE).run("cat a.py", FILE).done()
    view = TrajectoryViews(Journal(None), None, Limits()).of(trajectory)
    assert view.coverage.elided_characters == condensed(trajectory)[1] > 1_000
    assert view.coverage.trajectory_characters == trajectory.characters()


def test_a_long_system_prompt_is_previewed_and_a_request_as_long_is_not() -> None:
    trajectory = Session().user("Fix. " + "word " * 3_000).says("Done.").done()
    long = "Policy. " * 3_000
    trajectory.messages.insert(0, Message(role="system", content=long))
    seen = TrajectoryViews(Journal(None), None, Limits()).of(trajectory).trajectory.messages
    assert len(seen[0].content or "") < 6_000
    assert "characters are not shown here" in (seen[0].content or "")
    assert seen[1].content == trajectory.messages[1].content


@pytest.mark.parametrize("seed", range(20))
def test_what_is_shown_and_what_is_counted_are_the_whole(seed: int) -> None:
    draw = random.Random(seed)
    blocks = ["\n".join(f"line {draw.random()} of {block}" for _ in range(draw.randint(1, 40))) for block in range(6)]
    session = Session().user("Fix.")
    for _ in range(12):
        session = session.run("cat", "\n".join(draw.choices(blocks, k=draw.randint(1, 5))))
    trajectory = session.done()
    made, left_out = condensed(trajectory)
    notes = [
        line for text in _results(made) for line in text.split("\n")
        if line.startswith("[") and line.endswith("not shown here]")
    ]  # fmt: skip
    shown = sum(map(len, _results(made))) - sum(len(note) + 1 for note in notes)
    assert abs(shown + left_out - sum(map(len, _results(trajectory)))) <= len(_results(made))
