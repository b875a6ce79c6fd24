"""What a model is shown of a trajectory: all of it, but for long texts that previews stand for, by a ledger.

Every preview is in the journal as the literal text the model saw, each once:

    {"kind": "tool-result", "toolUseId", "content", "shown", "replacement"}   a tool's result
    {"kind": "text", "content", "shown", "replacement"}                       any other text that no request could hold
    {"kind": "left", "contents": […]}                                         texts that were seen and shown whole

`content` is a digest of the text that was replaced, `shown` how many of its characters the replacement has. The ledger
goes before limits and wording: later stages, later runs and other trajectories with the same tool use send the same
bytes, so that what a service keeps of a prompt and what the journal keeps of answers still match.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock, RLock
from typing import Literal

from agent_wiki.journal import Journal, Record
from agent_wiki.previews import Coverage, Decision, Limits, Part, Preview, parts_of, plan, preview_of, with_previews
from agent_wiki.segments import segments
from agent_wiki.trajectory import Trajectory
from agent_wiki.transcript import Segment
from agent_wiki.wiki.tool_results import ToolResults

_MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Shown:
    """A trajectory as a model sees it. `segments` is empty where one request holds all of it."""

    trajectory: Trajectory
    coverage: Coverage
    segments: tuple[Segment, ...] = ()


class Showing:
    """Decides once what is shown of each trajectory, and remembers it in the journal. Shared by threads.

    `results` keeps the whole texts; None where nothing is to be written, and then decisions hold for this run only.
    """

    def __init__(self, journal: Journal, results: ToolResults | None, limits: Limits) -> None:
        self._journal = journal
        self._results = results if journal.folder is not None else None
        self._limits = limits
        self._fresh: dict[tuple[str, str], Preview | Literal["left"]] = {}
        self._remembered: OrderedDict[int, tuple[Trajectory, Shown]] = OrderedDict()
        self._deciding = RLock()
        self._remembering = Lock()

    def shown(self, trajectory: Trajectory) -> Shown:
        """What is shown of it. The whole texts are on disk and the previews in the journal when this returns.

        Raises `RunError` when they cannot be written.
        """
        key = id(trajectory)
        with self._remembering:
            known = self._remembered.get(key)
            if known is not None and known[0] is trajectory:
                return known[1]
        made = self._shown(trajectory)
        with self._remembering:
            self._remembered[key] = (trajectory, made)  # holding it, so that no other gets its id
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return made

    def forget(self, trajectory: Trajectory) -> None:
        """Nothing more will be asked about it: let go of it."""
        with self._remembering:
            self._remembered.pop(id(trajectory), None)

    def _shown(self, trajectory: Trajectory) -> Shown:
        with self._deciding:  # two trajectories may hold the same tool use
            made = plan(trajectory, self._limits, self._decided)
            for part in made.replaced:
                self._replace(part)
            self._leave(made.left)
        previews: dict[tuple[int, str], Preview] = {}
        elided = 0
        for part in parts_of(trajectory):
            decision = self._decided(part)
            if isinstance(decision, Preview):
                previews[part.turn, part.place] = decision
                elided += len(part.text) - decision.shown
        seen = with_previews(trajectory, previews)
        coverage = Coverage(trajectory.characters(), elided)
        return Shown(seen, coverage, segments(seen, self._limits.segment_bytes))

    def _decided(self, part: Part) -> Decision:
        key = (part.id, part.digest)
        if key in self._fresh:
            return self._fresh[key]
        record = self._journal.replacement(*key)
        if record is not None:
            return _preview_in(record)
        return "left" if self._journal.is_left(*key) else None

    def _replace(self, part: Part) -> None:
        if self._decided(part) is not None:
            return  # the same text twice in one trajectory
        if self._results is None:
            where = f"the whole is turn {part.turn} of the recording"
            self._fresh[part.id, part.digest] = preview_of(part.text, self._limits, where)
            return
        preview = preview_of(part.text, self._limits, f"the whole is {self._results.place(part)} of the wiki")
        self._results.keep(part)
        record: Record = {"kind": "tool-result", "toolUseId": part.id} if part.is_result else {"kind": "text"}
        self._journal.append(
            {**record, "content": part.digest, "shown": preview.shown, "replacement": preview.text},
        )

    def _leave(self, parts: tuple[Part, ...]) -> None:
        fresh = [part for part in parts if self._decided(part) is None]
        if self._results is None:
            self._fresh.update({(part.id, part.digest): "left" for part in fresh})
        elif fresh:
            contents = sorted({f"{part.id} {part.digest}" for part in fresh})
            self._journal.append({"kind": "left", "contents": contents})


def _preview_in(record: Record) -> Preview:
    return Preview(str(record["replacement"]), int(record["shown"]))
