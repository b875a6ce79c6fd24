"""What a model is shown of a trajectory: all of it, but for long texts that previews stand for, by a ledger.

Every preview is in the journal as the literal text the model saw, each once:

    {"kind": "tool-result", "toolUseId", "content", "shown", "replacement"}   a tool's result
    {"kind": "text", "content", "shown", "replacement"}                       any other text that no request could hold
    {"kind": "left", "contents": […]}                                         texts that were seen and shown whole
    {"kind": "segments", "content", "cuts": [[first turn, last turn], …]}     where a trajectory was cut

`content` is a digest of the text that was replaced, `shown` how many of its characters the replacement has. The ledger
goes before limits and wording: later stages, later runs and other trajectories with the same tool use send the same
bytes, so that what a service keeps of a prompt and what the journal keeps of answers still match. Only a segment that
is too large by now is cut anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from agent_wiki.asking.journal import Journal, Record
from agent_wiki.asking.previews import (
    Decision,
    Limits,
    Part,
    Preview,
    parts_of,
    plan,
    preview_of,
    with_previews,
)
from agent_wiki.asking.segments import segments, segments_at, turns_digest
from agent_wiki.asking.tool_results import ToolResults, place_of
from agent_wiki.asking.transcript import Segment
from agent_wiki.engine import Coverage
from agent_wiki.trajectory import Trajectory

_MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class TrajectoryView:
    """A trajectory as a model sees it. `segments` is empty where one request holds all of it."""

    trajectory: Trajectory
    coverage: Coverage
    segments: tuple[Segment, ...] = ()


class TrajectoryViews:
    """Decides once what is shown of each trajectory, and remembers it in the journal. Shared by threads.

    `results` keeps the whole texts; None where nothing is to be written: then the same is shown as if it were, and what
    is not in the journal is decided anew each time, in the same way.
    """

    def __init__(self, journal: Journal, results: ToolResults | None, limits: Limits) -> None:
        self._journal = journal
        self._results = results if journal.folder is not None else None
        self._limits = limits
        self._remembered: OrderedDict[int, tuple[Trajectory, TrajectoryView]] = OrderedDict()
        self._deciding = Lock()
        self._remembering = Lock()

    def of(self, trajectory: Trajectory) -> TrajectoryView:
        """What is shown of it. The whole texts are on disk and the previews in the journal when this returns.

        Raises `RunError` when they cannot be written.
        """
        key = id(trajectory)
        with self._remembering:
            known = self._remembered.get(key)
            if known is not None and known[0] is trajectory:
                return known[1]
        made = self._made(trajectory)
        with self._remembering:
            self._remembered[key] = (trajectory, made)  # holding it, so that no other gets its id
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return made

    def forget(self, trajectory: Trajectory) -> None:
        """Nothing more will be asked about it: let go of it."""
        with self._remembering:
            self._remembered.pop(id(trajectory), None)

    def _made(self, trajectory: Trajectory) -> TrajectoryView:
        parts = tuple(parts_of(trajectory))
        with self._deciding:  # two trajectories may hold the same tool use
            decisions = self._decisions(trajectory, parts)
        previews: dict[tuple[int, str], Preview] = {}
        elided = 0
        for part in parts:
            decision = decisions[part.key]
            if isinstance(decision, Preview):
                previews[part.turn, part.place] = decision
                elided += len(part.text) - decision.shown
        seen = with_previews(trajectory, previews)
        coverage = Coverage(trajectory.characters(), elided)
        return TrajectoryView(seen, coverage, self._segments(seen))

    def _segments(self, seen: Trajectory) -> tuple[Segment, ...]:
        """As it was cut before, where that still fits; else as it is cut now, which is then recorded."""
        most = self._limits.segment_bytes
        made = segments(seen, most)
        if not made and not self._journal.has_cuts():
            return made
        content = turns_digest(seen)
        with self._deciding:
            for cuts in self._journal.cuts(content):
                known = segments_at(seen, cuts, most)
                if known:
                    return known
            if made and self._results is not None:
                told = [[each.first, each.last] for each in made]
                self._journal.append({"kind": "segments", "content": content, "cuts": told})
        return made

    def _decisions(self, trajectory: Trajectory, parts: Sequence[Part]) -> dict[tuple[str, str], Decision]:
        """What stands of every part: what the journal says, or what is decided now and then stands there."""
        decisions = {part.key: self._decided(part) for part in parts}
        made = plan(trajectory, parts, self._limits, lambda part: decisions[part.key])
        for part, head in made.replaced:
            if decisions[part.key] is None:  # the same text may stand in one trajectory twice
                decisions[part.key] = self._replaced(part, head)
        left = [part for part in made.left if decisions[part.key] is None]
        decisions.update({part.key: "left" for part in left})
        if left and self._results is not None:
            contents = sorted({f"{part.id} {part.digest}" for part in left})
            self._journal.append({"kind": "left", "contents": contents})
        return decisions

    def _decided(self, part: Part) -> Decision:
        record = self._journal.replacement(*part.key)
        if record is not None:
            shown = record.get("shown")
            counted = max(0, min(shown, len(part.text))) if isinstance(shown, int) else 0  # not told: none for sure
            return Preview(str(record["replacement"]), counted)
        return "left" if self._journal.is_left(*part.key) else None

    def _replaced(self, part: Part, head: int) -> Preview:
        is_journaled = self._journal.folder is not None
        where = f"{place_of(part)} of the wiki" if is_journaled else f"turn {part.turn} of the recording"
        preview = preview_of(part.text, head, f"the whole is {where}")
        if self._results is not None:
            self._results.keep(part)
            record: Record = {"kind": "tool-result", "toolUseId": part.id} if part.is_result else {"kind": "text"}
            shown = {"content": part.digest, "shown": preview.shown, "replacement": preview.text}
            self._journal.append({**record, **shown})
        return preview
