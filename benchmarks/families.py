"""Families of sessions found from text alone, measured against the recorded task ids, which are hidden.

    python -m benchmarks.families [FOLDER]

The figure is the adjusted Rand index (Hubert and Arabie 1985): 1 when the grouping is the recorded one, 0 on average
for a random one. Ids, trials, rewards, files and tool calls are hidden; a session in no family is a group of its own.
Beside the plain figure: the same with turns of the user and with whole sessions taken away at random, among all other
recordings of the folder, and how many sessions of other formats end up in a family.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from math import comb
from pathlib import Path

from agent_wiki.errors import UnreadableRecording
from agent_wiki.pages.compare.facts import session_facts
from agent_wiki.pages.compare.families import families
from agent_wiki.pages.compare.views import SessionView
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Message, Trajectory
from benchmarks import TRACES

SEEDS = 20


@dataclass(frozen=True, slots=True)
class Figures:
    """Adjusted Rand indices of the sessions of one format, and what became of all others.

    `alone`: these sessions only. `among_all`: with all other recordings beside them. `fewer_turns` and
    `fewer_sessions`: mean and worst over `SEEDS` draws that take a third of the user's later turns, or one session
    of each task, away. `other_families`: sizes of the families that hold sessions of other formats.
    """

    sessions: int
    tasks: int
    alone: float
    among_all: float
    fewer_turns: tuple[float, float]
    fewer_sessions: tuple[float, float]
    other_families: tuple[int, ...]


def adjusted_rand_index(left: Sequence[object], right: Sequence[object]) -> float:
    """Agreement of two groupings given as labels a position; 1 when they are the same grouping."""
    together = sum(comb(count, 2) for count in Counter(zip(left, right, strict=True)).values())
    pairs_left = sum(comb(count, 2) for count in Counter(left).values())
    pairs_right = sum(comb(count, 2) for count in Counter(right).values())
    expected = pairs_left * pairs_right / max(comb(len(left), 2), 1)
    largest = (pairs_left + pairs_right) / 2
    return 1.0 if largest == expected else (together - expected) / (largest - expected)


def trajectories(folder: Path) -> list[Trajectory]:
    """Every trajectory under `folder`, of each session its longest recording; files that are none are left out."""
    longest: dict[str, Trajectory] = {}
    for file in input_files([folder]):
        recording = Recording(file.path, file.name)
        try:
            for trajectory in trajectories_of(recording, recording.sha256()):
                known = longest.get(trajectory.session_id)
                if known is None or len(known.messages) < len(trajectory.messages):
                    longest[trajectory.session_id] = trajectory
        except UnreadableRecording:
            continue
    return [longest[session_id] for session_id in sorted(longest)]


def hidden_view(trajectory: Trajectory) -> SessionView:
    """What families are found by, with nothing that was recorded of the task."""
    facts = session_facts(trajectory)
    return SessionView(
        trajectory.session_id,
        root_session_id=trajectory.source.parent_session_id or trajectory.source.forked_from,
        is_side=trajectory.source.parent_session_id is not None,
        request_terms=facts.request_terms,
        first_terms=facts.first_terms,
    )


def families_index(recorded: Sequence[Trajectory], others: Sequence[SessionView] = ()) -> float:
    """The adjusted Rand index over `recorded`, which all have a task id, with `others` in the same wiki."""
    group_of = {trajectory.session_id: str(position) for position, trajectory in enumerate(recorded)}
    views = [replace(hidden_view(trajectory), session_id=trajectory.session_id) for trajectory in recorded]
    for number, family in enumerate(families([*views, *others], {}, [])):
        group_of.update({session.session_id: f"family {number}" for session in family.sessions})
    labels = [f"{trajectory.source.format} {trajectory.source.task_id}" for trajectory in recorded]
    return adjusted_rand_index(labels, [group_of[trajectory.session_id] for trajectory in recorded])


def with_fewer_turns(trajectory: Trajectory, dice: random.Random) -> Trajectory:
    """The session without a third of the user's turns; the first stays, for a session has a request."""
    position = 0
    kept: list[Message] = []
    for message in trajectory.messages:
        if message.role == "user":
            position += 1
            if position > 1 and dice.random() < 1 / 3:
                continue
        kept.append(message)
    return replace(trajectory, messages=kept)


def figures(folder: Path, source_format: str = "tau-bench") -> Figures:
    """All figures for the sessions of one format under `folder` whose task is in at least three of them."""
    everything = trajectories(folder)
    candidates = [each for each in everything if each.source.format == source_format and each.source.task_id]
    counts = Counter(each.source.task_id for each in candidates)
    recorded = [each for each in candidates if counts[each.source.task_id] >= 3]
    names = {each.session_id for each in recorded}
    others = [hidden_view(each) for each in everything if each.session_id not in names]
    turns, sessions = [], []
    for seed in range(SEEDS):
        dice = random.Random(seed)
        turns.append(families_index([with_fewer_turns(each, dice) for each in recorded]))
        sessions.append(families_index(_one_fewer_of_each_task(recorded, dice)))
    found = families(chain(others, map(hidden_view, recorded)), {}, [])
    strangers = [len(family.sessions) for family in found if not names & {each.session_id for each in family.sessions}]
    return Figures(
        sessions=len(recorded),
        tasks=len({each.source.task_id for each in recorded}),
        alone=families_index(recorded),
        among_all=families_index(recorded, others),
        fewer_turns=(sum(turns) / SEEDS, min(turns)),
        fewer_sessions=(sum(sessions) / SEEDS, min(sessions)),
        other_families=tuple(sorted(strangers, reverse=True)),
    )


def _one_fewer_of_each_task(recorded: Sequence[Trajectory], dice: random.Random) -> list[Trajectory]:
    """A task of three keeps its three: fewer are no family."""
    kept: list[Trajectory] = []
    for task_id in sorted({str(each.source.task_id) for each in recorded}):
        trials = [each for each in recorded if each.source.task_id == task_id]
        kept += dice.sample(trials, max(3, len(trials) - 1))
    return kept


def main() -> None:
    """Print the figures of the folder named on the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    measured = figures(folder)
    for each in fields(measured):
        print(f"{each.name.replace('_', ' ')}: {getattr(measured, each.name)}")


if __name__ == "__main__":
    main()
