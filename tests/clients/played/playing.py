"""What the played model says to a request: the next turn of a scenario, or a word in passing.

The server keeps no state of sessions. A scenario is named by the last `[[name]]` in a user's message, and its step is
the number of replies that follow it. Scenarios are files, written by the tests and read for each request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.played.turns import Turn, says, turn_of
from tests.clients.played.wire import Asked, Tokens

SCENARIOS = "scenarios"

_MARK = re.compile(r"\[\[([a-z0-9-]+)\]\]")


@dataclass(frozen=True)
class Played:
    """The turn to send, and for which scenario and step. An aside is not part of a session: a title, a routing."""

    scenario: str
    step: int
    turn: Turn
    is_aside: bool = False

    @property
    def tokens(self) -> Tokens:
        """Figures that differ by scenario and step, so that one counted twice or left out shows."""
        seed = sum(map(ord, self.scenario)) % 97
        return Tokens(1000 + seed + 100 * self.step, 2000 + 10 * self.step, 300 + self.step, 40 + 7 * self.step)


def played(asked: Asked, folder: Path) -> Played:
    """What to say to a request, by the files of `folder`."""
    if asked.is_compaction:
        return Played("compaction", 0, says("<summary>The tests are run with make test.</summary>"))
    name, step = _position(asked)
    if not asked.tools:
        text = json.dumps(_smallest(asked.schema)) if asked.schema else "Textkit work"
        return Played(name, step, says(text), is_aside=True)
    path = folder / SCENARIOS / f"{name}.json"
    turns = [turn_of(each) for each in json.loads(path.read_text(encoding="utf-8"))] if path.is_file() else []
    return Played(name, step, turns[step] if step < len(turns) else says("Nothing more is to be done."))


def _position(asked: Asked) -> tuple[str, int]:
    name, step = "none", 0
    for said in asked.conversation:
        marks = _MARK.findall(said.text) if said.role == "user" else []
        if marks:
            name, step = marks[-1], 0
        elif said.role == "assistant":
            step += 1
    return name, step


def _smallest(schema: Mapping[str, Any]) -> Any:
    """The smallest value that a schema allows."""
    kind = str(schema.get("type", "object")).lower()
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        return {name: _smallest(each) for name, each in (schema.get("properties") or {}).items()}
    known: Mapping[str, Any] = {"array": [], "number": 1, "integer": 1, "boolean": False}
    return known.get(kind, "none")
