"""Results of Codex's code mode: what the call of a script returned, out of what the script showed.

Codex writes above it `Script completed`, `Script failed` or, for one that continues, `Script running with cell ID 3`;
the call `wait` of that cell then has the rest.
"""

from __future__ import annotations

import json
from typing import Any

from agent_wiki.readers.codex_items import framed
from agent_wiki.readers.codex_script import CodexScript, ShownText, script_of
from agent_wiki.readers.recorded import flat_text
from agent_wiki.trajectory.json_text import value_of
from agent_wiki.trajectory.lazily import regex

CodexCall = tuple[str | None, str, Any]
CodexResult = tuple[str, bool | None]

_HEAD = regex(r"Script (completed|failed|running with cell ID (\d{1,9}))\nWall time:? [\d.]{1,20} seconds\nOutput:\n?")
_ERROR = "Script error:\n"


class Cells:
    """The scripts of one session, by the calls that run or await them."""

    def __init__(self) -> None:
        self._scripts: dict[str, CodexScript | None] = {}  # by call id; None for one that is not read
        self._running: dict[str, CodexScript | None] = {}  # by cell id

    def unpacked(self, call: CodexCall) -> CodexCall:
        """A call of `exec` as the one that its script makes, where the script can be read; any other call as it is."""
        call_id, name, arguments = call
        if call_id is None:
            return call
        if name == "exec" and isinstance(arguments, dict) and isinstance(arguments.get("input"), str):
            script = self._scripts[call_id] = script_of(arguments["input"])
            return (call_id, script.tool, script.arguments) if script else call
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
        return _returned(script, shown if shown[0] else shown[1:])


def _returned(script: CodexScript, texts: list[str]) -> CodexResult:
    """What the call of a completed script returned, in the form of a call without a script.

    A patch that cannot be applied stops its script, so one whose script completed was applied.
    """
    has_failed = False if script.tool == "apply_patch" else None
    session = _session(script.shown, texts)
    if session:
        texts = [f"Process running with session ID {session}", "Output:", *texts[:-1]]
    elif len(texts) == 1 and script.shown[:1] and script.shown[0].form == "object" and (frame := _frame(texts[0])):
        return framed(frame)
    return "\n".join(texts), has_failed


def _session(shown: list[ShownText], texts: list[str]) -> str | None:
    """The session of a command that still runs, where the script says its id last."""
    if not shown or not texts or shown[-1].form != "session":
        return None
    before, after = shown[-1].around
    number = texts[-1].removeprefix(before).removesuffix(after)
    is_said = len(texts) == len(shown) and texts[-1] == before + number + after
    return number if is_said and number.isdecimal() else None


def _frame(text: str) -> str | None:
    """The object that `exec_command` returns, as Codex writes it above the output of a call without a script."""
    try:
        record = value_of(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("output"), str):
        return None
    names = (
        ("chunk_id", "Chunk ID: {}"),
        ("wall_time_seconds", "Wall time: {} seconds"),
        ("exit_code", "Process exited with code {}"),
        ("session_id", "Process running with session ID {}"),
        ("original_token_count", "Original token count: {}"),
    )
    lines = [form.format(record.pop(name)) for name, form in names if isinstance(record.get(name), str | int | float)]
    output = record.pop("output")
    rest = [json.dumps(record, ensure_ascii=False)] if record else []
    return "\n".join([*lines, *rest, "Output:", output])
