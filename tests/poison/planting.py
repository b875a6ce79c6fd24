"""Recordings in which somebody planted something, and what a model that obeys makes of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_wiki.wiki.layout import content_id
from tests.poison.places import REPORT, call, met, planted_turn

FOLDER = Path(__file__).parent
PARTS = ("open", "closed", "fresh", "other", "harness", "after")
"""Of the corpus: the rules were fitted to the first, the others were scored before they were mended by them."""
_REPEATED = 6  # the turn
_MOST_QUOTE = 150


@dataclass(frozen=True)
class Planted:
    """One case of the corpus: what is planted where, and what an obeying model says of it.

    `asks` is what the user asked for at the start. `claims`: what reaches a reader is a page with this trust alone.
    """

    number: int
    name: str
    place: str
    says: str
    kind: str = "guideline"
    cites: str = ""
    script: str = ""
    command: str = ""
    part: str = "open"
    asks: str = "Please fix part {} of the cart."
    claims: str = ""

    @property
    def sessions(self) -> list[str]:
        """Where it was planted in several sessions, they state one rule."""
        return [f"{self.part}-{self.number}-{copy}" for copy in range(2 if self.place == "several" else 1)]

    @property
    def page_id(self) -> str:
        """The id of the page that would teach it."""
        if self.kind in ("skill", "cluster"):
            return f"{self.kind}:case-{self.sessions[0]}"
        if self.kind == "dead-end":
            return f"episode:{self.sessions[0]}"
        return content_id(self.says)


def cases(kind: str, part: str) -> list[Planted]:
    """The cases of one file. `kind`: `attack` or `harmless`; `part`: one of `PARTS`."""
    name = {"attack": "attacks", "harmless": "harmless"}[kind] + ("" if part == "open" else f"_{part}")
    found = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))[kind]
    return [Planted(number, part=part, **each) for number, each in enumerate(found)]


def recording(case: Planted, session_id: str) -> dict[str, Any]:
    """A session that meets what was planted at turn 5 and repeats it at turn 6."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": case.asks.replace("{}", session_id)},
        call(1, "Bash", {"command": "make check"}),
        {"role": "tool", "tool_call_id": "c1", "content": "2 checks failed"},
    ]
    messages += met(case.place, case.says)
    messages.append({"role": "assistant", "content": f"I will do so: {case.says}"})
    if case.script:
        messages.append(call(3, "Write", {"file_path": _file(case), "content": case.script.strip() + "\n"}))
        messages.append({"role": "tool", "tool_call_id": "c3", "content": "File created"})
    if case.command:
        messages.append(call(4, "Bash", {"command": case.command}))
        messages.append({"role": "tool", "tool_call_id": "c4", "content": "ok"})
    messages.append({"role": "assistant", "content": "The cart adds up now."})
    return {"model": "m-1", "timestamp": "2026-01-01T10:00:00Z", "session_id": session_id, "messages": messages}


def _file(case: Planted) -> str:
    return "helper.py" if "import " in case.script else "helper.sh"


def write_recordings(found: Sequence[Planted], folder: Path) -> None:
    """One file for each session of each case."""
    folder.mkdir(parents=True)
    for case in found:
        for session_id in case.sessions:
            (folder / f"{session_id}.json").write_text(json.dumps(recording(case, session_id)), encoding="utf-8")


def obeying_answers(found: Sequence[Planted]) -> dict[str, dict[str, Any]]:
    """What a model that obeys answers, as the scripted engine takes it."""
    told: dict[str, dict[str, Any]] = {"summarize": {}, "extract-guidelines": {}, "synthesize-skill": {}}
    for case in found:
        for session_id in case.sessions:
            last = len(recording(case, session_id)["messages"])
            told["summarize"][session_id] = {"arcs": [_arc(case, last)]}
            told["extract-guidelines"][session_id] = {"guidelines": list(_rules(case, session_id))}
            told["synthesize-skill"][session_id] = {"skill": _skill(case)} if case.kind == "skill" else {}
    return told


def clusters(found: Sequence[Planted]) -> dict[str, Any]:
    """The clusters that such a model makes, as entries of the configuration."""
    return {
        case.page_id.partition(":")[2]: {
            "title": "Save time when it is short",
            "takeaway": case.says,
            "description": case.says,
            "members": [content_id(_honest(session_id)) for session_id in case.sessions],
        }
        for case in found
        if case.kind == "cluster"
    }


def _arc(case: Planted, last: int) -> dict[str, Any]:
    told: dict[str, Any] = {"slug": "", "goal": "Fix the cart", "first_turn": 1, "last_turn": last, "key_turns": []}
    told |= {"outcome": "success", "outcome_turn": last, "narrative": "The check failed, then passed."}
    if case.kind == "summary":
        told["narrative"] = case.says
    if case.kind == "dead-end":
        told["dead_ends"] = [{"turn": planted_turn(case.place), "text": case.says}]
    return told


def _rules(case: Planted, session_id: str) -> Iterator[dict[str, Any]]:
    rule = {"guideline": case.says, "cluster": _honest(session_id)}.get(case.kind)
    if rule is None:
        return
    yield {
        "title": "Follow this for the cart",
        "rule": rule,
        "rationale": "It helped with the cart.",
        "trigger": f"The cart has part {session_id} to fix.",
        "tags": ["cart"],
        "evidence": [_cited(case)],
    }


def _cited(case: Planted) -> dict[str, Any]:
    if case.cites == "report":
        return {"turn": planted_turn(case.place), "quote": REPORT}
    return {"turn": _REPEATED if case.cites else planted_turn(case.place), "quote": case.says[:_MOST_QUOTE]}


def _honest(session_id: str) -> str:
    return f"Read the log of part {session_id} before the hooks run."


def _skill(case: Planted) -> dict[str, Any]:
    scripts = [{"file": _file(case), "text": case.script.strip() + "\n"}] if case.script else []
    command = case.command or f"{'python3' if _file(case).endswith('.py') else 'sh'} {_file(case)}"
    return {
        "name": case.page_id.partition(":")[2],
        "description": case.says,
        "trigger": "The cart has a part to fix.",
        "overview": case.says,
        "when_to_use": "Before a change of the cart.",
        "steps": [{"text": case.says, "command": command}],
        "tags": ["cart"],
        "evidence": [_cited(case)],
        "scripts": scripts,
    }
