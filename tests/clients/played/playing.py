"""What the played model says to a request: the next turn of a scenario, a recorded answer, or a word in passing.

The server keeps no state of sessions. A scenario is named by the last `[[name]]` in a user's message, and its step is
the number of replies that follow it. Scenarios and recorded answers are files, written by the tests and read for each
request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.played.turns import Turn, raw, says, turn_of
from tests.clients.played.wire import Asked, Tokens

SCENARIOS, ANSWERS = "scenarios", "answers.json"

_MARK = re.compile(r"\[\[([a-z0-9-]+)\]\]")
_STRUCTURED = "StructuredOutput"
"""The tool by which Claude Code has a model answer in the form of a schema."""


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
    answer = _recorded_answer(asked, folder / ANSWERS)
    if answer is not None:
        return answer
    if asked.is_compaction:
        return Played("compaction", 0, says("<summary>The tests are run with make test.</summary>"))
    name, step = _position(asked)
    if not asked.tools and not name.startswith("engine-"):
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


def _recorded_answer(asked: Asked, path: Path) -> Played | None:
    """The answer whose question is in the request: of several, the longest question."""
    if not path.is_file():
        return None
    text = asked.text
    known: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    found = [each for each in known if all(part in text for part in each["parts"])]
    if not found:
        return None
    best = max(found, key=lambda each: sum(map(len, each["parts"])))
    if any(tool.name == _STRUCTURED for tool in asked.tools) and asked.conversation[-1].role != "tool":
        return Played("recorded", 0, says("", raw(_STRUCTURED, **best["answer"])))
    return Played("recorded", 0, says(json.dumps(best["answer"], ensure_ascii=False)))


def _smallest(schema: Mapping[str, Any]) -> Any:
    """The smallest value that a schema allows."""
    kind = str(schema.get("type", "object")).lower()
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        return {name: _smallest(each) for name, each in (schema.get("properties") or {}).items()}
    known: Mapping[str, Any] = {"array": [], "number": 1, "integer": 1, "boolean": False}
    return known.get(kind, "none")
