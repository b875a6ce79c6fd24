"""What a summary claims holds in its recording, and comes in time, be the recording generated, hostile or real."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.engines.offline.summarize import answer
from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.detect import read
from agent_wiki.readers.recording import Recording
from agent_wiki.stages.summarize import SummarizeQuestion, SummaryAnswer
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import is_verbatim
from tests.engines.sessions import Session
from tests.hangs import no_hang


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", ["a", "`", "<a ", "error: ", "x\n", "cat <<EOF\n", "'", "$(", "1 failed ", "[a](", "/a"]
)
def test_a_hostile_text_anywhere_is_summarized_in_time(unit: str) -> None:
    blob = unit * (70_000 // len(unit))
    session = Session().user("fix it").run(blob, blob, failed=True).edit(blob, blob, blob).run("pytest", blob)
    with no_hang():
        answer(SummarizeQuestion(session.read(f"wiki/{blob}", blob).says(blob).user(blob).done()))


_TEXTS = st.sampled_from(
    [
        "fix the parser",
        "no, undo that",
        "thanks, works",
        "commit",
        "",
        "Error: x",
        "3 passed",
        "FAILED a::b",
        "yes",
        "\n#",
    ]
) | st.text(max_size=60)
_COMMANDS = st.sampled_from(
    ["pytest", "python repro.py", "git checkout -- a.py", "git commit -m x", "rm repro.py", "cat wiki/_index.jsonl",
     "sed -i s/a/b/ a.py", "cat > repro.py <<'E'\nx\nE", "go test ./... | tail -3", "cat wiki/tasks/a__task.md"]
) | st.text(max_size=40)  # fmt: skip


@st.composite
def sessions(draw: st.DrawFn) -> Trajectory:
    session = Session(resolved=draw(st.none() | st.booleans()))
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["user", "says", "run", "edit", "refused", "interrupt", "open"]))
        if kind == "user":
            session.user(draw(_TEXTS))
        elif kind == "says":
            session.says(draw(_TEXTS))
        elif kind == "run":
            session.run(draw(_COMMANDS), draw(_TEXTS), failed=draw(st.booleans()))
        elif kind == "edit":
            session.edit(draw(st.sampled_from(["a.py", "repro.py", "b.md"])), draw(_TEXTS), draw(_TEXTS))
        elif kind == "refused":
            session.call("Bash", {"command": draw(_COMMANDS)}, draw(_TEXTS), failed=True, mark="rejected")
        elif kind == "interrupt":
            session.user("[Request interrupted by user]", "interrupt")
        else:
            session.call("Bash", {"command": draw(_COMMANDS)}, None)
    return session.done()


@given(sessions())
@settings(max_examples=80)
def test_every_claim_is_supported_by_the_recording(trajectory: Trajectory) -> None:
    before = copy.deepcopy(trajectory)
    said = answer(SummarizeQuestion(trajectory))
    assert trajectory == before
    assert answer(SummarizeQuestion(before)) == said
    _check_claims(said, trajectory)


def _check_claims(said: SummaryAnswer, trajectory: Trajectory) -> None:
    turns = len(trajectory.messages)
    spans = [(arc.first_turn, arc.last_turn) for arc in said.arcs]
    assert spans[0][0] == 1
    assert spans[-1][1] == max(turns, 1)
    assert all(first == last + 1 for (_, last), (first, _) in pairwise(spans))
    for arc in said.arcs:
        assert 0 < len(arc.goal) <= 300
        assert len(arc.narrative.split()) <= 250
        assert all(arc.first_turn <= note.turn <= arc.last_turn for note in [*arc.key_turns, *arc.dead_ends])
        assert len({note.turn for note in arc.key_turns}) == len(arc.key_turns)
        assert arc.outcome_turn is None or arc.first_turn <= arc.outcome_turn <= arc.last_turn
        if arc.outcome_quote is not None:
            assert is_verbatim(trajectory, arc.outcome_turn or 0, arc.outcome_quote)
        for page in arc.recalled:
            assert page.status == "ignored" or is_verbatim(trajectory, page.turn or 0, page.quote or "")


@pytest.mark.long
def test_every_real_recording_is_summarized_truly(traces: Path) -> None:
    count = 0
    for trajectory in _real(traces):
        _check_claims(answer(SummarizeQuestion(trajectory)), trajectory)
        count += 1
    assert count > 100


def _real(traces: Path) -> Iterator[Trajectory]:
    for path in sorted(traces.rglob("*.json*")):
        try:
            yield from read(Recording(path, path.name))
        except UnreadableRecording:
            continue
