"""From a call by what it does to the tool that a program offers for it, with the arguments that this tool has."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from tests.clients.played.turns import Call, Tool

Concrete = tuple[str, dict[str, Any]]
Offered = Mapping[str, Tool]

_SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell")
_PATHS = ("file_path", "filePath", "absolute_path", "path")


def concrete(call: Call, tools: Sequence[Tool], folder: str) -> Concrete:
    """The tool's name and arguments. `folder` is where the program works: some tools take absolute paths only."""
    offered = {tool.name: tool for tool in tools}
    return _MAKERS[call.kind](call.arguments, offered, folder)


def _first(offered: Offered, *names: str) -> Tool | None:
    return next((offered[name] for name in names if name in offered), None)


def _known(tool: Tool, *names: str) -> str:
    """The first of these parameters that the tool has."""
    return next((name for name in names if name in tool.parameters), names[0])


def _absolute(path: str, folder: str) -> str:
    return str(PurePosixPath(folder) / path)


def _bash(arguments: Mapping[str, Any], offered: Offered, _folder: str) -> Concrete:
    command = arguments["command"]
    tool = _first(offered, *_SHELLS) or Tool("Bash")
    if tool.name == "exec_command":
        return tool.name, {"cmd": command}
    if tool.name == "shell" and tool.parameters.get("command", {}).get("type") == "array":
        return tool.name, {"command": ["bash", "-lc", command]}
    more = {"description": "Run a command", "is_background": False}
    return tool.name, {"command": command, **{name: more[name] for name in more if name in tool.parameters}}


def _read(arguments: Mapping[str, Any], offered: Offered, folder: str) -> Concrete:
    tool = _first(offered, "Read", "read", "read_file", "view")
    if tool is None:
        return _bash({"command": f"cat {shlex.quote(arguments['path'])}"}, offered, folder)
    return tool.name, {_known(tool, *_PATHS): _absolute(arguments["path"], folder)}


def _write(arguments: Mapping[str, Any], offered: Offered, folder: str) -> Concrete:
    path, content = arguments["path"], arguments["content"]
    tool = _first(offered, "Write", "write", "write_file", "create")
    if tool is None:
        script = f"mkdir -p {PurePosixPath(path).parent}; cat > {path} <<'END'\n{content}END"
        return _bash({"command": script}, offered, folder)
    text = _known(tool, "content", "file_text")
    return tool.name, {_known(tool, *_PATHS): _absolute(path, folder), text: content}


def _edit(arguments: Mapping[str, Any], offered: Offered, folder: str) -> Concrete:
    path, old, new = arguments["path"], arguments["old"], arguments["new"]
    if "apply_patch" in offered:
        return "apply_patch", {"input": patch(path, old, new)}
    tool = _first(offered, "Edit", "edit", "replace")
    if tool is None:
        return _bash({"command": f"sed -i 's/{old}/{new}/' {path}"}, offered, folder)
    if "edits" in tool.parameters:
        return tool.name, {"path": _absolute(path, folder), "edits": [{"oldText": old, "newText": new}]}
    made = {
        _known(tool, *_PATHS): _absolute(path, folder),
        _known(tool, "old_string", "oldString", "old_str"): old,
        _known(tool, "new_string", "newString", "new_str"): new,
    }
    return tool.name, made | ({"instruction": "Change the line"} if "instruction" in tool.parameters else {})


def patch(path: str, old: str, new: str) -> str:
    """A change of one line as Codex's `apply_patch` takes it."""
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"


def _agent(arguments: Mapping[str, Any], offered: Offered, _folder: str) -> Concrete:
    tool = _first(offered, "Agent", "Task", "task", "agent") or Tool("Agent")
    more = {
        "description": "Look at the tests",
        "subagent_type": "general" if tool.name == "task" else "general-purpose",
    }
    return tool.name, {"prompt": arguments["prompt"], **{name: more[name] for name in more if name in tool.parameters}}


def _skill(arguments: Mapping[str, Any], offered: Offered, _folder: str) -> Concrete:
    tool = _first(offered, "Skill", "skill", "activate_skill") or Tool("Skill")
    return tool.name, {_known(tool, "skill", "name", "command"): arguments["name"]}


def _mcp(arguments: Mapping[str, Any], offered: Offered, _folder: str) -> Concrete:
    name = arguments["tool"]
    found = [
        each.name for each in offered.values() if each.name.endswith(name) and "wiki" in f"{each.namespace}{each.name}"
    ]
    return (found or [f"mcp__wiki__{name}"])[0], dict(arguments["arguments"])


def _raw(arguments: Mapping[str, Any], _offered: Offered, _folder: str) -> Concrete:
    return arguments["name"], dict(arguments["arguments"])


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], Offered, str], Concrete]] = {
    "bash": _bash,
    "read": _read,
    "write": _write,
    "edit": _edit,
    "agent": _agent,
    "skill": _skill,
    "mcp": _mcp,
    "raw": _raw,
}
