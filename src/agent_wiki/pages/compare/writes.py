"""Calls that change something, in one short line each, by which trials of a task are compared.

book_reservation(cabin=economy; flights=HAT136 2024-05-20)      a tool of an API, with its arguments
Edit: parser/lexer.py                                           a tool that edits a file
shell: git commit                                               a program with its subcommand
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.programs import WITH_SUBCOMMAND, only_reads
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.task_runners import task_words
from agent_wiki.shell.tools import EDIT_TOOLS, kind_of_name
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

LONGEST_WRITE = 240

_LONGEST_VALUE = 60
_SHELL = "shell"
_ABSOLUTE = regex(r"[/~]|[A-Za-z]:[\\/]|\\\\")  # of Windows too
_PROGRAM = regex(r"[\w.+:-]{1,40}")
_PATCHED_FILE = regex(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$", re.MULTILINE)


def write_of(call: Call, cwd: str | None = None) -> Iterator[str]:
    """The changes that one call makes, none for a call that only reads. Paths below `cwd` are shortened."""
    command = call.command()
    name = call.name.rpartition("__")[2] or call.name
    if command is not None:
        yield from _shell_writes(command, cwd)
    elif name.lower() in EDIT_TOOLS:
        yield from _edits(call, name, cwd)
    elif changes_something(name):
        yield with_arguments(name, call.arguments)


def changes_something(tool: str) -> bool:
    """Whether a tool of that name changes something, and does not only look, plan, ask or have others work."""
    return kind_of_name(tool) in ("edit", "run", "ship", "service")


def tool_of(write: str) -> str:
    """What a call in one line is named by, also where it was cut: `order`, `Edit: src/a.py`, `shell: git commit`."""
    name = write.partition("(")[0]
    return write if ": " in name else name


def changed_file(write: str) -> str:
    """The file that a call in one line changes, empty if it names none: of `Edit: src/a.py`, `shell: > log.txt`."""
    tool, sign, file = write.partition(": ")
    if not sign or "(" in tool:
        return ""
    return file if tool != _SHELL else file[2:] if file.startswith("> ") else ""


def arguments_of(write: str) -> dict[str, str]:
    """A write's arguments, name → shortened value; empty for edits and shell commands."""
    if not write.endswith(")"):
        return {}
    inner = write.partition("(")[2][:-1]
    return {name: value for name, sign, value in (part.partition("=") for part in inner.split("; ")) if sign}


def _edits(call: Call, name: str, cwd: str | None) -> Iterator[str]:
    if call.arguments.get("command") == "view":
        return
    path = call.path()
    files = [path] if path else _PATCHED_FILE.findall(call.raw_arguments.replace("\\n", "\n"))[:5]
    for file in files:
        yield f"{name}: {_short_path(file, cwd)}"


def _short_path(path: str, cwd: str | None) -> str:
    """`path` relative to the session's folder, or its last two parts: pages must not reveal a machine's layout."""
    if not _ABSOLUTE.match(path):
        return path
    path = path.replace("\\", "/").rstrip("/")
    folder = (cwd or "").replace("\\", "/").rstrip("/") + "/"
    return path[len(folder) :] if cwd and path.startswith(folder) else "/".join(path.split("/")[-2:])


def _shell_writes(command: str, cwd: str | None) -> Iterator[str]:
    for simple in simple_commands(command):
        for file in simple.writes:
            yield f"{_SHELL}: > {_short_path(file, cwd)}"
        name = _changing(simple)
        if name:
            yield f"{_SHELL}: {name}"


def _changing(command: SimpleCommand) -> str:
    """The program, with its subcommand if that decides what it does; empty for one that only reads or checks."""
    program, words = command.program, command.words
    if program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words[1:]):
        return "sed -i"
    if not _PROGRAM.fullmatch(program) or only_reads(words) or is_check(command):
        return ""
    subcommand = task_words(words)[:1] if program in WITH_SUBCOMMAND else []
    return " ".join((program, *subcommand)) if all(map(_PROGRAM.fullmatch, subcommand)) else ""


def with_arguments(name: str, arguments: dict[str, Any]) -> str:
    """A call of a tool with as many of its arguments, shortened, as one line holds: the longest are left out first."""
    parts = [
        f"{key}={value}" for key, value in ((str(key), _leaves(value)) for key, value in arguments.items()) if value
    ]
    text = f"{name}({'; '.join(parts)})"
    while len(text) > LONGEST_WRITE and parts:
        parts.remove(max(reversed(parts), key=len))
        text = f"{name}({'; '.join([*parts, '…'])})"
    return text


def _leaves(value: Any) -> str:
    """The scalar values in `value`, in recorded order, as one short line without the separators of a write."""
    found: list[str] = []
    waiting = [value]
    while waiting and len(found) < 12:
        each = waiting.pop(0)
        if isinstance(each, dict):
            waiting = [*each.values(), *waiting]
        elif isinstance(each, list):
            waiting = [*each, *waiting]
        elif each is not None:
            found.append(str(each)[: 2 * _LONGEST_VALUE])
    line = " ".join(" ".join(found).replace(";", ",").split())
    return line if len(line) <= _LONGEST_VALUE else line[: _LONGEST_VALUE - 1].rstrip() + "…"
