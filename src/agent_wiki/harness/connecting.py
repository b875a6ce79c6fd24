"""Adds the pointer to a wiki where an agent reads it, marked and only once, and removes it again without a trace.

In a Markdown file it is a block between two markers at the end of the file, with exactly one line end before it, which
is removed with it. In a settings file it is a hook for the start of a session and one for the end of a turn. Everything
is planned from the folder's content (`plan`) before anything is written (`carry_out`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from agent_wiki.errors import RunError, UnsafePath, UsageError
from agent_wiki.harness import json_members
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import INDEX
from agent_wiki.wiki.replacing import replacing
from agent_wiki.wiki.templates import Templates

AGENTS = ("claude-code", "codex", "agents-md")
BEGIN, END = "<!-- agent-wiki:begin -->", "<!-- agent-wiki:end -->"

State = Literal["written", "removed", "unchanged"]

_DEFAULT_WIKI = "wiki"
_HOOKS = {"SessionStart": ("start", 10), "Stop": ("stop", 60)}  # event → subcommand, seconds it may take
_SETTINGS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
_MARKER = re.compile(rb"^[ \t]*<!-- agent-wiki:(begin|end) -->[ \t]*\r?$", re.MULTILINE)
_CODEX_NOTES = (
    "Codex reads .codex/hooks.json in a project that you trust, and runs a new hook after you approve it in /hooks",
    "a Codex without hooks: put notify = {notify} into ~/.codex/config.toml by hand (a project's own is ignored)",
)


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file, named relative to the folder; `after` is None for a file that is removed."""

    name: str
    target: Path
    before: bytes | None
    after: bytes | None

    @property
    def state(self) -> State:
        """Whether the file is created, changed, removed or left alone."""
        if self.before == self.after:
            return "unchanged"
        return "removed" if self.after is None else "written"


@dataclass(slots=True)
class ConnectionPlan:
    """All changes of one connection, and notes on what a person must know or do."""

    changes: list[FileChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def names(self, state: State) -> list[str]:
        """The files in that state, in the order in which they are written."""
        return [change.name for change in self.changes if change.state == state]


def plan(agent: str, folder: Path, wiki: Path | None, *, is_removal: bool) -> ConnectionPlan:
    """The changes that connect an agent in `folder` (or disconnect it). Nothing is written.

    `wiki` is the wiki to point at, None for the nearest one. Raises `UsageError` for an unknown agent or folder,
    `UnsafePath` for a link that leads out of the folder, `RunError` with file and line of what cannot be edited.
    """
    if agent not in AGENTS:
        raise UsageError(f"connect: {agent!r} is not one of {', '.join(AGENTS)}")
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    place = _wiki_place(folder, wiki)
    made = ConnectionPlan()
    pointer = _pointer_file(agent, folder)
    target, before = _read(folder, pointer)
    if is_removal:
        after = None if before is None else without_block(before, pointer)
    else:
        text = Templates().render("connect/pointer.md", wiki=place, consult=_consult(place))
        after = with_block(before, text, pointer)
    made.changes.append(FileChange(pointer, target, before, after))
    if agent in _SETTINGS:
        made.changes.append(_settings_change(folder, _SETTINGS[agent], place, is_removal=is_removal))
    if not is_removal:
        made.notes += _notes(agent, folder, place)
    return made


def carry_out(planned: ConnectionPlan) -> None:
    """Write and remove what was planned. Files are replaced atomically: a reader sees the old one or the new one.

    Raises `RunError` naming the file.
    """
    for change in planned.changes:
        if change.state == "unchanged":
            continue
        try:
            if change.after is None:
                change.target.unlink(missing_ok=True)
                with suppress(OSError):  # a folder that is not empty is kept
                    if "/" in change.name:
                        change.target.parent.rmdir()
            else:
                change.target.parent.mkdir(parents=True, exist_ok=True)
                with replacing(change.target) as stream:
                    stream.write(change.after)
        except OSError as error:
            raise RunError(f"{change.target}: cannot write ({error.strerror}); the file was not changed") from error


def with_block(before: bytes | None, text: str, name: str) -> bytes:
    """A file's content with a block of `text`, which replaces an existing block or is appended.

    Raises `RunError` with file and line if markers do not match.
    """
    content = before if before is not None else b""
    if b"\0" in content:
        raise RunError(f"{name}: not UTF-8 text; nothing was written")
    span = _block_span(content, name)
    judged = content if span is None else content[span[0] :]  # an existing block keeps its line ends
    line_end = b"\r\n" if re.match(rb"[^\n]*\r\n", judged) else b"\n"
    block = line_end.join([BEGIN.encode(), *text.rstrip("\n").encode("utf-8", "replace").split(b"\n"), END.encode()])
    if span is not None:
        return content[: span[0]] + block + content[span[1] :]
    if before is None:
        return block + line_end
    apart = b"\r\n" if content.endswith(b"\r") else line_end
    return content + apart + block + line_end


def without_block(content: bytes, name: str) -> bytes | None:
    """A file's content as it was before the block; None for a file with nothing else. Raises `RunError`."""
    span = _block_span(content, name)
    if span is None:
        return content
    before, after = content[: span[0]], content[span[1] :]
    for line_end in (b"\r\n", b"\n"):
        if after.startswith(line_end):
            after = after[len(line_end) :]
            break
    if not before and not after:
        return None
    for line_end in (b"\r\n", b"\n"):
        if before.endswith(line_end):
            return before[: -len(line_end)] + after
    return before + after


def _block_span(content: bytes, name: str) -> tuple[int, int] | None:
    """The span of the block, from the start of its first marker to the end of its last; None without one."""
    found = [(match[1], match.start(), match.end() - match[0].endswith(b"\r")) for match in _MARKER.finditer(content)]
    if not found:
        return None
    if [kind for kind, _, _ in found] != [b"begin", b"end"]:
        line = content.count(b"\n", 0, found[0][1]) + 1
        raise RunError(f"{name}:{line}: the markers of agent-wiki must be there once, begin before end; fix them")
    return found[0][1], found[1][2]


def with_hooks(text: str | None, commands: Mapping[str, tuple[str, int]], name: str) -> str:
    """Settings with one hook for each event: event → (command, seconds). An existing hook of ours is updated.

    Raises `RunError` with file and line of what is not JSON, or of a place that cannot have hooks.
    """
    edited = text if text is not None else "{\n}\n"
    for event, (command, seconds) in commands.items():
        standing = next(_our_hooks(_checked(edited, name), event), None)
        if standing is not None:
            edited = _with_command(edited, standing, command)
            continue
        hook = {"type": "command", "command": command, "timeout": seconds}
        entry = {"hooks": [hook]}
        settings = _checked(edited, name)
        if text is None and not settings:
            edited = json.dumps({"hooks": {event: [entry]}}, indent=2) + "\n"
        elif "hooks" not in settings:
            edited = json_members.with_member(edited, (), "hooks", {event: [entry]})
        elif event not in settings["hooks"]:
            edited = json_members.with_member(edited, ("hooks",), event, [entry])
        else:
            edited = json_members.with_member(edited, ("hooks", event), "", entry)
    return edited


def without_hooks(text: str, name: str) -> str | None:
    """Settings without hooks of ours, otherwise unchanged; None if nothing else is left. Raises `RunError`."""
    edited: str | None = text
    for event in reversed(_HOOKS):
        while edited is not None:
            path = next(_our_hooks(_checked(edited, name), event), None)
            if path is None:
                break
            edited = json_members.without_member(edited, path)
    return edited


def _with_command(text: str, path: json_members.Path, command: str) -> str:
    settings: Any = json.loads(text.removeprefix("\ufeff"))
    for key in path:
        settings = settings[key]
    return text if settings["command"] == command else json_members.with_value(text, (*path, "command"), command)


def _our_hooks(settings: Mapping[str, Any], event: str) -> Iterator[tuple[str | int, ...]]:
    """The path of every hook of an event that runs this program's hook for it."""
    for position, entry in enumerate(settings.get("hooks", {}).get(event, ())):
        hooks = entry.get("hooks") if isinstance(entry, dict) else None
        for inner, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            if isinstance(hook, dict) and _is_ours(hook.get("command"), _HOOKS[event][0]):
                yield ("hooks", event, position, "hooks", inner)


def _is_ours(command: Any, subcommand: str) -> bool:
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return len(words) > 2 and Path(words[0]).name == "wiki" and words[1:3] == ["hook", subcommand]


def _checked(text: str, name: str) -> dict[str, Any]:
    """Settings as values, checked for having a place for hooks. Raises `RunError` with the line that is wrong."""
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise RunError(f"{name}:{error.lineno}: not JSON ({error.msg}); fix it, nothing was written") from error
    except RecursionError as error:
        raise RunError(f"{name}: nested too deeply; nothing was written") from error
    if not isinstance(settings, dict):
        raise RunError(f"{name}:1: not a JSON object; nothing was written")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        line = json_members.line_of(text, ("hooks",))
        raise RunError(f"{name}:{line}: hooks is not an object; nothing was written")
    for event in _HOOKS:
        if not isinstance(hooks.get(event, []), list):
            line = json_members.line_of(text, ("hooks", event))
            raise RunError(f"{name}:{line}: hooks.{event} is not an array; nothing was written")
    return settings


def _settings_change(folder: Path, name: str, wiki: str, *, is_removal: bool) -> FileChange:
    target, before = _read(folder, name)
    try:
        text = None if before is None else before.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RunError(f"{name}: not UTF-8 text; nothing was written") from error
    if is_removal:
        after = None if text is None else without_hooks(text, name)
    else:
        after = with_hooks(text, _commands(wiki), name)
    return FileChange(name, target, before, None if after is None else after.encode("utf-8"))


def _commands(wiki: str) -> dict[str, tuple[str, int]]:
    """Event → (command, seconds). Naming the wiki permits the hook to create it."""
    return {
        event: (shlex.join(["wiki", "hook", subcommand, "--wiki", wiki]), seconds)
        for event, (subcommand, seconds) in _HOOKS.items()
    }


def _wiki_place(folder: Path, wiki: Path | None) -> str:
    """The wiki's path in the pointer: relative to the folder if the wiki is in the project, else absolute."""
    from agent_wiki.harness.projects import project_root, project_wiki

    here = folder.resolve()
    found = wiki.resolve() if wiki is not None else project_wiki(None, here, {}) or here / _DEFAULT_WIKI
    if not found.resolve().is_relative_to(project_root(here).resolve()):
        return found.as_posix()
    return Path(os.path.relpath(found, here)).as_posix()


def _consult(wiki: str) -> str:
    return shlex.join(["wiki", "consult", *([] if wiki == _DEFAULT_WIKI else ["--wiki", wiki])])


def reminder(wiki: Path | None, cwd: Path, environment: Mapping[str, str]) -> str:
    """The text for an agent at the start of a session; empty if there is no wiki with pages."""
    from agent_wiki.harness.projects import project_wiki

    found = project_wiki(wiki, cwd, environment)
    try:
        pages = sum(1 for line in (found / INDEX).read_bytes().splitlines() if line.strip()) if found else 0
    except OSError:
        pages = 0
    if found is None or pages == 0:
        return ""
    place = Path(os.path.relpath(found, cwd)).as_posix()
    consult = _consult(_DEFAULT_WIKI if project_wiki(None, cwd, environment) == found else place)
    return Templates().render("connect/session-start.md", wiki=place, consult=consult, pages=pages)


def _pointer_file(agent: str, folder: Path) -> str:
    """The Markdown file that an agent reads in this folder."""
    if agent != "claude-code":
        return "AGENTS.md"
    is_inner = (folder / ".claude" / "CLAUDE.md").exists() and not (folder / "CLAUDE.md").exists()
    return ".claude/CLAUDE.md" if is_inner else "CLAUDE.md"


def _notes(agent: str, folder: Path, wiki: str) -> Sequence[str]:
    """What a person must do by hand."""
    import shutil

    notes = [] if shutil.which("wiki") else ["`wiki` is not on the path: the agent and its hooks will not find it"]
    if agent == "codex":
        notify = json.dumps(["wiki", "hook", "stop", "--wiki", wiki])
        notes += [note.format(notify=notify) for note in _CODEX_NOTES]
        if (folder / "AGENTS.override.md").exists():
            notes.append("AGENTS.override.md exists here: Codex reads it instead of AGENTS.md")
    return notes


def _read(folder: Path, name: str) -> tuple[Path, bytes | None]:
    """A file's real path and its content, None if it does not exist. Raises `UnsafePath` and `RunError`."""
    try:
        target = (folder / name).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise UnsafePath(f"{folder / name}: a link that leads out of {folder}; nothing was written")
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            raise RunError(f"{folder / name}: not a regular file; nothing was written")
        return target, target.read_bytes() if target.exists() else None
    except OSError as error:
        raise RunError(f"{folder / name}: cannot read ({error.strerror}); nothing was written") from error
    except RuntimeError as error:
        raise UnsafePath(f"{folder / name}: links form a cycle; nothing was written") from error
