"""Calls that change something, in one short line each, by which trials of a task are compared.

book_reservation(cabin=economy; flights=HAT136 2024-05-20)      a tool of an API, with its arguments
Edit: parser/lexer.py                                           a tool that edits a file
shell: git commit                                               a program with its subcommand
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

LONGEST_WRITE = 240

_LONGEST_VALUE = 60
_READING_VERBS_TEXT = """
    get list search find read view fetch query check show describe lookup look calculate compute think count
    open glob grep ls cat scroll goto navigate screenshot inspect browse retrieve explore status wait poll
    verify validate plan todo todowrite todoread task agent ask skill memory recall toolsearch exitplanmode
    enterplanmode websearch webfetch google analyze review compare monitor help is has can await spawn
    taskoutput bashoutput killshell stdin
"""
_READING_VERBS = frozenset(_READING_VERBS_TEXT.split())
_BOOKKEEPING = frozenset({"update_plan", "write_stdin", "writetodos", "write_todos", "save_memory", "submit_plan"})
_EDITS = frozenset(
    {"edit", "write", "multiedit", "notebookedit", "write_file", "replace", "create_file", "edit_file", "create",
     "insert", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "patch", "apply_patch",
     "write_to_file", "replace_file_content", "multi_replace_file_content"}
)  # fmt: skip
_READING_PROGRAMS_TEXT = """
    cat sed head tail less more nl awk gawk find fd ls jq yq tree wc tee sort uniq cut tr column echo printf
    true false test [ [[ : cd pushd popd pwd grep egrep fgrep rg ag which type file stat du df date sleep env
    export set source . diff cmp md5sum sha256sum xxd od hexdump strings basename dirname realpath readlink ps
    top whoami hostname uname id man for while if then do done fi case esac else elif return exit read time
    xargs seq local unset trap wait pytest tox nox mypy pyright ruff flake8 pylint eslint tsc jest vitest
    golangci-lint shellcheck ping nslookup dig netstat lsof free history clear
"""
_READING_PROGRAMS = frozenset(_READING_PROGRAMS_TEXT.split())
_READING_SUBCOMMANDS_TEXT = """
    status log diff show blame branch ls-files grep rev-parse remote describe reflog shortlog ls-remote
    cat-file rev-list merge-base fetch config get list view logs describe top explain version info search doc
    vet help ls inspect ps images env fmt-check checks test lint check clippy typecheck cluster-info auth whoami
"""
_READING_SUBCOMMANDS = frozenset(_READING_SUBCOMMANDS_TEXT.split())
_WITH_SUBCOMMAND_TEXT = """
    git gh go cargo npm pnpm yarn npx uv pip pip3 poetry docker kubectl helm make mise just terraform aws
    gcloud az brew apt apt-get systemctl dotnet mvn gradle bundle rails flyctl wrangler conda
"""
_WITH_SUBCOMMAND = frozenset(_WITH_SUBCOMMAND_TEXT.split())
_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_TAKES_A_VALUE = frozenset({"-C", "-c", "-n", "--namespace", "-R", "--repo", "--context", "--git-dir", "--work-tree"})
_PROGRAM = regex(r"[\w.+-]{1,40}")
_PATCHED_FILE = regex(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$", re.MULTILINE)


def write_of(call: Call, cwd: str | None = None) -> Iterator[str]:
    """The changes that one call makes, none for a call that only reads. Paths below `cwd` are shortened."""
    command = call.command()
    name = call.name.rpartition("__")[2] or call.name
    if command is not None:
        yield from _shell_writes(command, cwd)
    elif name.lower() in _EDITS:
        yield from _edits(call, name, cwd)
    elif changes_something(name):
        yield with_arguments(name, call.arguments)


def changes_something(tool: str) -> bool:
    """Whether a tool of that name changes something. A name that starts with a reading verb does not."""
    words = _CAMEL.sub("_", tool).lower().replace("-", "_").replace(".", "_").split("_")
    is_looking = bool(_READING_VERBS & set(words[:2])) or tool.lower() in _READING_VERBS
    return not is_looking and tool.lower() not in _BOOKKEEPING


def tool_of(write: str) -> str:
    """The name a write starts with: `book_reservation`, `Edit: parser/lexer.py`, `shell: git commit`."""
    return write.partition("(")[0] if write.endswith(")") else write


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
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    return "/".join(path.replace("\\", "/").rstrip("/").split("/")[-2:]) if path.startswith(("/", "~")) else path


def _shell_writes(command: str, cwd: str | None) -> Iterator[str]:
    for simple in simple_commands(command):
        for file in simple.writes:
            yield f"shell: > {_short_path(file, cwd)}"
        name = _changing(simple.program, list(simple.words[1:]))
        if name:
            yield f"shell: {name}"


def _changing(program: str, words: list[str]) -> str:
    """The program, with its subcommand if that decides what it does; empty for one that only reads."""
    if program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return "sed -i"
    if not _PROGRAM.fullmatch(program) or program in _READING_PROGRAMS:
        return ""
    if program not in _WITH_SUBCOMMAND:
        return program
    subcommand = _subcommand(words)
    if subcommand in _READING_SUBCOMMANDS or not _PROGRAM.fullmatch(subcommand or "-"):
        return ""
    return f"{program} {subcommand}".rstrip()


def _subcommand(words: list[str]) -> str:
    """The first word that is neither an option nor the value of an option known to take one."""
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            return word
        is_value = not is_value and word in _TAKES_A_VALUE
    return ""


def with_arguments(name: str, arguments: dict[str, Any]) -> str:
    """A call of a tool with as many of its arguments, shortened, as one line holds."""
    parts = [
        f"{key}={value}" for key, value in ((str(key), _leaves(value)) for key, value in arguments.items()) if value
    ]
    text = f"{name}({'; '.join(parts)})"
    while len(text) > LONGEST_WRITE and parts:
        parts.pop()
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
