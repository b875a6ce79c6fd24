"""Results of Codex's code mode: what the call of a script returned, out of what the script showed.

Codex writes above it `Script completed`, `Script failed` or, for one that continues, `Script running with cell ID 3`;
the call `wait` of that cell then has the rest.
"""

from __future__ import annotations

from typing import Any

from agent_wiki.readers.builder import Call
from agent_wiki.readers.codex_ran import RanItem
from agent_wiki.readers.codex_script import CodexScript, script_of
from agent_wiki.readers.codex_shown import CodexResult, returned
from agent_wiki.readers.recorded import flat_text
from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import regex

_HEAD = regex(r"Script (completed|failed|running with cell ID (\d{1,9}))\nWall time:? [\d.]{1,20} seconds\nOutput:\n?")
_ERROR = "Script error:\n"


class Cells:
    """The scripts of one session, by the calls that run or await them."""

    def __init__(self) -> None:
        self._scripts: dict[str, CodexScript | None] = {}  # by call id; None for one that is not read
        self._running: dict[str, CodexScript | None] = {}  # by cell id
        self._several: dict[str, CodexScript] = {}  # scripts of more than one call, by call id

    def unpacked(self, call: Call) -> Call:
        """A call of `exec` as the one that its script makes, where the script can be read; any other call as it is."""
        call_id, name, arguments = call
        if call_id is None:
            return call
        if name == "exec" and isinstance(arguments, dict) and isinstance(arguments.get("input"), str):
            script = script_of(arguments["input"])
            if script is not None and len(script.calls) > 1:
                self._several[call_id], script = script, None
            self._scripts[call_id] = script
            return (call_id, *script.calls[0]) if script else call
        if name == "wait":
            self._await(call_id, arguments)
        return call

    def _await(self, call_id: str, arguments: Any) -> None:
        try:
            cell = str(value_of(arguments)["cell_id"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if cell in self._running:
            self._scripts[call_id] = self._running[cell]

    def result_of(self, call_id: str | None, output: Any) -> CodexResult | None:
        """Text and failure of a script's result; None for a result of anything else."""
        if call_id is None or call_id not in self._scripts:
            return None
        script = self._scripts[call_id]
        shown = [flat_text(part) for part in output] if isinstance(output, list) else [flat_text(output)]
        text = "\n".join(part for part in shown if part)
        head = _HEAD.match(shown[0]) if shown else None
        if head is None:
            return None
        if head[2]:
            self._running[head[2]] = script
            return text, None
        has_failed = head[1] == "failed"
        if script is None:
            return text, True if has_failed else None
        shown[0] = shown[0][head.end() :]
        if has_failed:
            return "\n".join(part.removeprefix(_ERROR) for part in shown if part), True
        found = returned(script, shown if shown[0] else shown[1:])
        return found[0] if found else None

    def several_of(self, call_id: str | None, output: Any) -> list[RanItem]:
        """The calls of a script of several, with their results; none where the script did not complete or says less."""
        script = self._several.pop(call_id or "", None)
        texts = [flat_text(part) for part in output] if isinstance(output, list) else []
        head = _HEAD.match(texts[0]) if texts else None
        if script is None or head is None or head[1] != "completed":
            return []
        texts[0] = texts[0][head.end() :]
        results = returned(script, texts if texts[0] else texts[1:]) or []
        calls = zip(script.calls, results, strict=False)
        return [
            RanItem(f"{call_id}-{number}", tool, arguments, text, is_error)
            for number, ((tool, arguments), (text, is_error)) in enumerate(calls, start=1)
        ]
