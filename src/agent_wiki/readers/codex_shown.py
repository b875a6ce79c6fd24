"""What the calls of a script of Codex's code mode returned, out of the texts that the script showed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from agent_wiki.readers.codex_items import framed
from agent_wiki.readers.codex_script import CodexScript, ShownText
from agent_wiki.trajectory.json_text import value_of

CodexResult = tuple[str, bool | None]

_FIELDS = {
    "output": r"(?P<output>.*)",
    "exit_code": r"(?P<exit_code>-?\d{1,10}|undefined|null)",
    "session_id": r"(?P<session_id>\d{1,10}|undefined|null)",
    "wall_time_seconds": r"(?P<wall_time_seconds>[\d.e-]{1,30})",
}


def returned(script: CodexScript, texts: list[str]) -> list[CodexResult] | None:
    """Text and failure of each call's result, in the form of calls without a script.

    None where several calls were made and the texts do not show one of each, or not whose is whose. A patch that
    cannot be applied stops its script, so one whose script completed was applied.
    """
    pairs = _paired(script.shown, texts)
    if pairs is None and len(script.calls) == 1:
        return [("\n".join(texts), _default(script.calls[0][0]))]
    if pairs is None:
        return None
    of_calls = [[pair for pair in pairs if pair[0].call == number] for number in range(len(script.calls))]
    if len(of_calls) > 1 and not all(of_calls):
        return None
    return [_result(tool, shown) for (tool, _), shown in zip(script.calls, of_calls, strict=True)]


def _paired(shown: list[ShownText], texts: list[str]) -> list[tuple[ShownText, str]] | None:
    """Each text with what shows it; None when they are not as many. A session is shown only while a command runs."""
    always = [each for each in shown if each.form != "session"]
    if len(texts) == len(shown) and all(
        _session(*pair) for pair in zip(shown, texts, strict=True) if pair[0].form == "session"
    ):
        return list(zip(shown, texts, strict=True))
    return list(zip(always, texts, strict=True)) if len(texts) == len(always) else None


def _session(shown: ShownText, text: str) -> str | None:
    """The session of a command that still runs, where a text is what shows it."""
    before, after = shown.around
    number = text.removeprefix(before).removesuffix(after)
    return number if text == before + number + after and number.isdecimal() else None


def _default(tool: str) -> bool | None:
    return False if tool == "apply_patch" else None


def _result(tool: str, pairs: Iterable[tuple[ShownText, str]]) -> CodexResult:
    outputs: list[str] = []
    seen: dict[str, str] = {}
    for shown, text in pairs:
        if shown.form == "object" and (frame := _frame(text)):
            return framed(frame)
        if shown.form == "session":
            seen["session_id"] = _session(shown, text) or ""
        elif shown.form == "words" and (found := _fields(shown, text)) is not None:
            seen |= found
            outputs += [found["output"]] if "output" in found else []
        else:
            outputs.append(text)
    output = "\n".join(outputs)
    if seen.get("session_id", "").isdecimal():
        return f"Process running with session ID {seen['session_id']}\nOutput:\n{output}", None
    code = seen.get("exit_code", "")
    if code.removeprefix("-").isdecimal():
        return f"Process exited with code {code}\nOutput:\n{output}", code != "0"
    return output, _default(tool)


def _fields(shown: ShownText, text: str) -> dict[str, str] | None:
    """The fields that stand among words; None when the text does not have those words."""
    spelt = (_FIELDS[piece] if position % 2 else re.escape(piece) for position, piece in enumerate(shown.pieces))
    try:
        match = re.fullmatch("".join(spelt), text, re.DOTALL)
    except re.error:  # a field that is shown twice
        return None
    return match.groupdict() if match else None


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
