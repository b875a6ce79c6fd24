"""What a model is shown of a trajectory: all of it except what a terminal redrew, lines that an earlier result shows
(see `condensing.py`), and long texts, which are replaced by previews from a ledger.

The journal has every preview once, as the literal text that the model saw:

    {"kind": "tool-result", "toolUseId", "content", "shown", "replacement"}   a tool's result
    {"kind": "text", "content", "shown", "replacement"}                       any other text that no request could hold
    {"kind": "left", "contents": […]}                                         texts that were seen and shown whole
    {"kind": "segments", "content", "cuts": [[first turn, last turn], …]}     where a trajectory was cut

Each also has `about`, the session that it was written for: `wiki forget` takes it out with that session.
`content` is the digest of the text that was replaced, `shown` how many of its characters the replacement has. The
ledger takes precedence over current limits and wording: later stages, later runs and other trajectories with the same
tool use send the same bytes, so that a service's prompt cache and the journal's answers still match. Only a segment
that is now too large is cut again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from agent_wiki.asking.condensing import condensed
from agent_wiki.asking.journal import Journal
from agent_wiki.asking.journal_lines import Record
from agent_wiki.asking.previews import Decision, Limits, Part, Preview, parts_of, plan, preview_of, with_previews
from agent_wiki.asking.segments import segments, segments_at, turns_digest
from agent_wiki.asking.tool_results import ToolResults, place_of
from agent_wiki.asking.transcript import Segment
from agent_wiki.engine import Coverage
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass

_MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class TrajectoryView:
    """A trajectory as a model sees it. `segments` is empty if one request holds all of it."""

    trajectory: Trajectory
    coverage: Coverage
    segments: tuple[Segment, ...] = ()


class TrajectoryViews:
    """Decides once what is shown of each trajectory, and records it in the journal. Shared by threads.

    `results` keeps the whole texts. With None nothing is written: the same text is shown, and what is not in the
    journal is decided each time, in the same way.
    """

    def __init__(self, journal: Journal, results: ToolResults | None, limits: Limits) -> None:
        self._journal = journal
        self._results = results if journal.folder is not None else None
        self._limits = limits
        self._remembered: OrderedDict[int, tuple[Trajectory, TrajectoryView]] = OrderedDict()
        self._deciding = Lock()
        self._remembering = Lock()

    def of(self, trajectory: Trajectory) -> TrajectoryView:
        """The view of a trajectory. When this returns, the whole texts are on disk and the previews in the journal.

        Raises `RunError` if they cannot be written.
        """
        key = id(trajectory)
        with self._remembering:
            known = self._remembered.get(key)
            if known is not None and known[0] is trajectory:
                return known[1]
        made = self._made(trajectory)
        with self._remembering:
            self._remembered[key] = (trajectory, made)  # keeps a reference, so that its id is not reused
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return made

    def forget(self, trajectory: Trajectory) -> None:
        """Release a trajectory about which no more questions will be asked."""
        with self._remembering:
            self._remembered.pop(id(trajectory), None)

    def _made(self, whole: Trajectory) -> TrajectoryView:
        trajectory, elided = condensed(whole)
        parts = tuple(parts_of(trajectory))
        with self._deciding:  # two trajectories may hold the same tool use
            decisions = self._decisions(trajectory, parts)
        previews: dict[tuple[int, str], Preview] = {}
        for part in parts:
            decision = decisions[part.key]
            if isinstance(decision, Preview):
                previews[part.turn, part.place] = decision
                elided += len(part.text) - decision.shown
        seen = with_previews(trajectory, previews)
        coverage = Coverage(whole.characters(), min(elided, whole.characters()))
        return TrajectoryView(seen, coverage, self._segments(seen))

    def _segments(self, seen: Trajectory) -> tuple[Segment, ...]:
        """The segments of an earlier cut if they still fit; else those of a new one, which is recorded."""
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
                about = [seen.session_id]
                cuts_made = [[each.first, each.last] for each in made]
                self._journal.append({"kind": "segments", "content": content, "cuts": cuts_made, "about": about})
        return made

    def _decisions(self, trajectory: Trajectory, parts: Sequence[Part]) -> dict[tuple[str, str], Decision]:
        """The decision on every part: from the journal, or made now and recorded there."""
        decisions = {part.key: self._decided(part) for part in parts}
        made = plan(trajectory, parts, self._limits, lambda part: decisions[part.key])
        for part, head in made.replaced:
            if decisions[part.key] is None:  # the same text may be in one trajectory twice
                decisions[part.key] = self._replaced(trajectory.session_id, part, head)
        left = [part for part in made.left if decisions[part.key] is None]
        decisions.update({part.key: "left" for part in left})
        if left and self._results is not None:
            contents = sorted({f"{part.id} {part.digest}" for part in left})
            self._journal.append({"kind": "left", "contents": contents, "about": [trajectory.session_id]})
        return decisions

    def _decided(self, part: Part) -> Decision:
        record = self._journal.replacement(*part.key)
        if record is not None:
            shown = record.get("shown")
            counted = max(0, min(shown, len(part.text))) if isinstance(shown, int) else 0  # unknown: count none
            return Preview(str(record["replacement"]), counted)
        return "left" if self._journal.is_left(*part.key) else None

    def _replaced(self, session_id: str, part: Part, head: int) -> Preview:
        is_journaled = self._journal.folder is not None
        where = f"{place_of(part)} of the wiki" if is_journaled else f"turn {part.turn} of the recording"
        preview = preview_of(part.text, head, f"the whole is {where}")
        if self._results is not None:
            self._results.keep(part)
            record: Record = {"kind": "tool-result", "toolUseId": part.id} if part.is_result else {"kind": "text"}
            record["about"] = [session_id]
            shown = {"content": part.digest, "shown": preview.shown, "replacement": preview.text}
            self._journal.append({**record, **shown})
        return preview
