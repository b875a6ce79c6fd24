"""What `pi --mode json` prints: the session's header, then events, each message complete in its `message_end`.

The session that pi keeps has the same messages, and those of earlier runs. (Read from docs/json.md of pi-coding-agent.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.pi import PiSession, begins_session
from agent_wiki.readers.recorded import mapping
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Trajectory

FORMAT = "pi-stream"

_EVENTS = frozenset(
    {"agent_start", "agent_end", "turn_start", "message_start", "message_end", "queue_update", "compaction_start"}
)


def claims(sample: Sample) -> bool:
    """A `session` header with id and working folder, then events of a run."""
    records = sample.records()
    return begins_session(records) and any(str(record.get("type")) in _EVENTS for record in records[1:3])


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a capture. Raises `UnreadableRecording` when it has no messages."""
    run = _Run()
    for event in recording.records():
        run.take(event)
    yield from recording.with_messages(run.trajectory(recording.name))


class _Run:
    """Processes the events of one run in order."""

    def __init__(self) -> None:
        self.session = PiSession(FORMAT)
        self.blocks: dict[str, dict[str, Any]] | None = None  # of a reply that is not complete yet, by their index

    def take(self, event: dict[str, Any]) -> None:
        """Process one event. Those that repeat messages, or show a tool at work, are ignored."""
        kind, message = event.get("type"), mapping(event.get("message"))
        if kind == "session":
            self.session.take(event)
        elif kind == "message_start" and message.get("role") == "assistant":
            self.blocks = {}
        elif kind == "message_update":
            self._take_piece(mapping(event.get("assistantMessageEvent")))
        elif kind == "message_end":
            self.blocks = None
            self._take_message(message)
        elif kind == "compaction_end":
            self._take_entry("compaction", summary=mapping(event.get("result")).get("summary"))
        elif kind == "session_info_changed":
            self._take_entry("session_info", name=event.get("name"))
        elif kind == "entry_appended":
            self.session.take(mapping(event.get("entry")))

    def trajectory(self, name: str) -> Trajectory:
        """The trajectory of all events; a reply that was cut off has what was complete of it."""
        if self.blocks:
            self._take_message({"role": "assistant", "content": [self.blocks[each] for each in sorted(self.blocks)]})
        return self.session.trajectory(name)

    def _take_message(self, message: dict[str, Any]) -> None:
        self._take_entry("message", message=message, timestamp=message.get("timestamp"))

    def _take_entry(self, kind: str, **fields: Any) -> None:
        self.session.take({"type": kind, **fields})

    def _take_piece(self, piece: dict[str, Any]) -> None:
        if self.blocks is None:
            return
        kind, place = str(piece.get("type")), f"{piece.get('contentIndex')}"
        block = kind.partition("_")[0]
        if kind.endswith("_delta") and block in ("text", "thinking"):
            known = self.blocks.setdefault(place, {"type": block, block: ""})
            known[block] = f"{known.get(block, '')}{piece.get('delta')}"
        elif kind.endswith("_end") and block in ("text", "thinking"):
            self.blocks[place] = {"type": block, block: piece.get("content")}
        elif kind == "toolcall_end":
            self.blocks[place] = mapping(piece.get("toolCall"))
