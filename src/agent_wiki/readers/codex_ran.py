"""What Codex ran, by its own account: the items it records as completed, with their exit codes and output.

In code mode these are the calls. A script for the tool `exec` says what the model wrote; which commands, patches and
MCP calls came of it only the items say. Which script an item belongs to is not recorded, but when it began is.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from agent_wiki.readers.recorded import epoch_seconds, flat_text, mapping, objects, text_or_none
from agent_wiki.trajectory.lazily import dataclass, regex

_IN_A_SHELL = regex(r"\S*sh -l?c ")
_OF_THE_AGENT = frozenset({"agent", "unified_exec_startup"})  # not the user's own `!command`, and no poll


@dataclass(frozen=True, slots=True)
class RanItem:
    """A command, a patch or an MCP call that ran, in the form of a call and its result.

    `began`: seconds since 1970; `process`: the session id of a command, by which it is polled.
    """

    item_id: str
    tool: str
    arguments: dict[str, Any]
    output: str
    is_error: bool | None
    is_refused: bool = False
    began: float | None = None
    process: str | None = None


def ran_item(event: dict[str, Any]) -> RanItem | None:
    """What an `item_completed` event says was run; None for any other item (messages, reasoning, compactions)."""
    item = mapping(event.get("item"))
    if (item_id := text_or_none(item.get("id"))) is None:
        return None
    return item_ran(item, item_id, epoch_seconds(event.get("started_at_ms")))


def item_ran(item: dict[str, Any], item_id: str, began: float | None = None) -> RanItem | None:
    """What an item says is run, or was: in a rollout, or as `codex exec --json` prints it."""
    form = _FORMS.get(str(item.get("type")))
    return form(item_id, item, began) if form else None


def _command(item_id: str, item: dict[str, Any], began: float | None) -> RanItem | None:
    command = item.get("command")
    if str(item.get("source", "agent")) not in _OF_THE_AGENT or not command:
        return None
    code, output = item.get("exit_code"), _output(item)
    has_code = isinstance(code, int) and not isinstance(code, bool)
    return RanItem(
        item_id,
        "exec_command",
        {"cmd": command_line(command)},
        f"Process exited with code {code}\nOutput:\n{output}" if has_code else output,
        code != 0 if has_code else _has_failed(item),
        item.get("status") == "declined",
        began,
        text_or_none(item.get("process_id")),
    )


def command_line(command: Any) -> str:
    """The line that a shell was given, out of the recorded argv (`["/bin/bash", "-lc", "make test"]`) or text."""
    if not isinstance(command, list):
        return _unquoted(flat_text(command))
    parts = [str(part) for part in command]
    return parts[2] if len(parts) == 3 and parts[1] in ("-lc", "-c", "-Command") else shlex.join(parts)


def _unquoted(line: str) -> str:
    """The line within `/bin/bash -lc '…'`; any other text as it is."""
    try:
        parts = shlex.split(line) if _IN_A_SHELL.match(line) else []
    except ValueError:  # a quote that is not closed
        parts = []
    return parts[2] if len(parts) == 3 else line


def _output(item: dict[str, Any]) -> str:
    """What a command printed, in the first of its forms that is recorded."""
    whole = (flat_text(item.get(key)) for key in ("aggregated_output", "formatted_output"))
    return next((text for text in whole if text), "") or _streams(item)


def _streams(item: dict[str, Any]) -> str:
    return "\n".join(text for key in ("stdout", "stderr") if (text := flat_text(item.get(key))))


def _change(item_id: str, item: dict[str, Any], began: float | None) -> RanItem | None:
    is_refused = item.get("status") == "declined"
    patch = {"input": _patch_of(item.get("changes"))}
    return RanItem(item_id, "apply_patch", patch, _streams(item), _has_failed(item), is_refused, began)


def _patch_of(changes: Any) -> str:
    """The patch of recorded changes: by path `add`, `delete` or `update` with a unified diff, or a list of kinds.

    `codex exec --json` names paths and kinds alone: then each file has a heading and no lines.
    """
    if isinstance(changes, list):
        changes = {str(each.get("path")): {"type": each.get("kind")} for each in objects(changes)}
    changed = mapping(changes).items()
    lines = [line for path, change in changed if isinstance(change, dict) for line in _patch_lines(path, change)]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _patch_lines(path: str, change: dict[str, Any]) -> Iterator[str]:
    kind = flat_text(change.get("type"))
    yield f"*** {kind.capitalize() or 'Update'} File: {path}"
    if moved := flat_text(change.get("move_path")):
        yield f"*** Move to: {moved}"
    if kind == "add":
        yield from (f"+{line}" for line in flat_text(change.get("content")).splitlines())
    elif kind == "update":
        yield from flat_text(change.get("unified_diff")).splitlines()


def _mcp_call(item_id: str, item: dict[str, Any], began: float | None) -> RanItem | None:
    result, error, arguments = item.get("result"), item.get("error"), item.get("arguments")
    content = result.get("content") if isinstance(result, dict) else error
    output = flat_text(content) or flat_text(error.get("message") if isinstance(error, dict) else error)
    is_error = _has_failed(item) or (isinstance(result, dict) and bool(result.get("isError")))
    given = arguments if isinstance(arguments, dict) else {"input": arguments} if arguments else {}
    return RanItem(item_id, f"mcp__{item.get('server')}__{item.get('tool')}", given, output, is_error, began=began)


def _has_failed(item: dict[str, Any]) -> bool | None:
    return {"completed": False, "failed": True}.get(str(item.get("status")))


def _agent_call(item_id: str, item: dict[str, Any], began: float | None) -> RanItem | None:
    """A subagent that was started, or awaited; its turns are in a session of its own."""
    given = {"message": item["prompt"]} if isinstance(item.get("prompt"), str) else {}
    receivers, states = item.get("receiver_thread_ids"), item.get("agents_states")
    output = json.dumps({"receiver_thread_ids": receivers, "agents_states": states}, ensure_ascii=False)
    return RanItem(item_id, flat_text(item.get("tool")) or "agent", given, output, _has_failed(item), began=began)


def _search(item_id: str, item: dict[str, Any], began: float | None) -> RanItem | None:
    """A search on the web: where what it found is recorded, each title with its address."""
    if item.get("kind", "web.search") != "web.search":
        return None
    found = objects(item.get("results"))
    lines = (f"{flat_text(each.get('title'))} {flat_text(each.get('url'))}".strip() for each in found)
    given = {"query": flat_text(item.get("query"))}
    return RanItem(item_id, "web_search", given, "\n".join(lines), is_error=None, began=began)


_FORMS: dict[str, Callable[[str, dict[str, Any], float | None], RanItem | None]] = {
    "CommandExecution": _command,
    "FileChange": _change,
    "McpToolCall": _mcp_call,
    "Extension": _search,
    "command_execution": _command,
    "file_change": _change,
    "mcp_tool_call": _mcp_call,
    "collab_tool_call": _agent_call,
    "web_search": _search,
}
