"""Connects an agent with a wiki: the pointer where it reads it, hooks, permissions; and takes all of it out again.

Everything is planned from the folder's content; `project_files.carry_out` writes it.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path

from agent_wiki.errors import RunError, UsageError
from agent_wiki.harness.agents import AGENTS, Agent
from agent_wiki.harness.agents.agent import HookFile, OwnFile, Permissions
from agent_wiki.harness.connections import has_hooks
from agent_wiki.harness.hook_settings import (
    added_note,
    added_rules,
    installed_rules,
    with_hooks,
    with_rules,
    without_hooks,
    without_rules,
)
from agent_wiki.harness.pointer_block import has_block, with_block, without_block
from agent_wiki.harness.project_files import FileChange, State, is_own_file, read_file
from agent_wiki.harness.projects import DEFAULT_WIKI, project_root, project_wiki
from agent_wiki.harness.reminders import consult_command
from agent_wiki.trajectory.checkout import checkout_of, folders_of_main_checkout
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.templates import Templates


@dataclass(slots=True)
class ConnectionPlan:
    """All changes of one connection, and notes on what a person must know or do."""

    changes: list[FileChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def names(self, state: State) -> list[str]:
        """The files in that state, in the order in which they are written. One that is not there is in none."""
        there = (change for change in self.changes if change.before is not None or change.after is not None)
        return [change.name for change in there if change.state == state]

    def add(self, other: ConnectionPlan) -> None:
        """Take over another plan for the same folder, but for the changes and notes that are already in this one."""
        self.changes += [change for change in other.changes if change not in self.changes]
        self.notes += [note for note in other.notes if note not in self.notes]


def agent_named(name: str) -> Agent:
    """The agent of that name. Raises `UsageError`."""
    found = next((each for each in AGENTS if each.name == name), None)
    if found is None:
        names = [each.name for each in AGENTS]
        nearest = get_close_matches(name, names, n=1) or [each for each in names if each.startswith(name)]
        meant = f"; did you mean {nearest[0]}?" if nearest else ""
        raise UsageError(f"connect: {name!r} is not one of {', '.join(names)}{meant}")
    return found


def plan(
    agent: Agent, folder: Path, wiki: Path | None, *, is_allowed: bool = False, mining: Sequence[str] = ()
) -> ConnectionPlan:
    """The changes that connect an agent in `folder`. Nothing is written.

    `wiki` is the wiki to point at, None for the nearest one; `is_allowed` adds the permission to consult it; `mining`
    are words for `wiki hook stop` that name an engine. Raises `UnsafePath` for a link that leads out of the folder,
    `RunError` with file and line of what cannot be edited.
    """
    place = _wiki_place(folder, wiki)
    made = ConnectionPlan()
    pointer = agent.pointer(folder)
    target, before = read_file(folder, pointer)
    text = Templates().render("connect/pointer.md", wiki=place, consult=consult_command(place))
    made.changes.append(FileChange(pointer, target, before, with_block(before, text, pointer, agent.new_pointer)))
    for name in _settings_files(agent):
        target, before, settings = _read_text(folder, name)
        if agent.hook_file is not None and agent.hook_file.name == name:
            settings = with_hooks(settings, agent.hook_file, _commands(agent, agent.hook_file, place, mining))
        if agent.permissions is not None and agent.permissions.file == name and is_allowed:
            added = _change_of_added(agent.permissions, folder, settings)
            settings = with_rules(settings, agent.permissions)
            made.changes.append(added)
        made.changes.append(FileChange(name, target, before, _encoded(settings)))
    if agent.own_file is not None:
        made.changes.append(_own_change(agent.own_file, folder, place, mining))
    made.notes += _notes(agent, folder, place, is_allowed=is_allowed)
    return made


def plan_removal(agent: Agent, folder: Path, leaving: Sequence[Agent] = ()) -> ConnectionPlan:
    """The changes that disconnect an agent in `folder`: whatever was there before stays, byte for byte.

    A pointer that another agent connected here reads in the same file is kept, unless that one is of those `leaving`.
    Raises like `plan`.
    """
    made = ConnectionPlan()
    for pointer in dict.fromkeys((agent.pointer(folder), *agent.former_pointers)):
        target, before = read_file(folder, pointer)
        others = [
            each.name for each in AGENTS if each not in (agent, *leaving) and _shares_pointer(each, folder, pointer)
        ]
        if others and has_block(before):
            made.notes.append(f"{pointer} keeps its pointer: {', '.join(others)} is connected and reads it")
        elif before is not None:
            after = without_block(before, pointer, agent.new_pointer)
            made.changes.append(FileChange(pointer, target, before, after))
    for name in _settings_files(agent):
        target, before, settings = _read_text(folder, name)
        if agent.permissions is not None and agent.permissions.file == name:
            settings = _without_added(agent.permissions, folder, settings, made)
        if settings is not None and agent.hook_file is not None and agent.hook_file.name == name:
            settings = without_hooks(settings, agent.hook_file)
        made.changes.append(FileChange(name, target, before, _encoded(settings)))
    if agent.own_file is not None:
        target, before = read_file(folder, agent.own_file.name)
        after = None if is_own_file(before) else before
        made.changes.append(FileChange(agent.own_file.name, target, before, after))
    return made


def _change_of_added(permissions: Permissions, folder: Path, settings: str | None) -> FileChange:
    """The file that says which rules are not a person's, once `settings` have all of them."""
    target, before, noted = _read_text(folder, permissions.added_file)
    added = added_rules(noted, permissions)
    present = installed_rules(settings or "{}", permissions)
    missing = [rule for rule in permissions.rules if rule not in present or rule in added]
    return FileChange(permissions.added_file, target, before, _encoded(added_note(missing, permissions)))


def _without_added(permissions: Permissions, folder: Path, settings: str | None, made: ConnectionPlan) -> str | None:
    """Settings without the rules that `wiki connect` added; a note names those of which nothing says so."""
    target, before, noted = _read_text(folder, permissions.added_file)
    added = added_rules(noted, permissions)
    kept = [rule for rule in installed_rules(settings or "{}", permissions) if rule not in added]
    if kept:
        made.notes.append(f"{permissions.file} keeps {', '.join(kept)}: nothing says that `wiki connect` added it")
    if before is not None:
        made.changes.append(FileChange(permissions.added_file, target, before, None))
    return None if settings is None else without_rules(settings, permissions, added)


def _settings_files(agent: Agent) -> Iterator[str]:
    """The JSON files of an agent, each once."""
    named = [each.name for each in [agent.hook_file] if each is not None]
    named += [each.file for each in [agent.permissions] if each is not None]
    yield from dict.fromkeys(named)


def _read_text(folder: Path, name: str) -> tuple[Path, bytes | None, str | None]:
    target, before = read_file(folder, name)
    try:
        return target, before, None if before is None else before.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RunError(f"{name}: not UTF-8 text; nothing was written") from error


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")


def _own_change(own: OwnFile, folder: Path, wiki: str, mining: Sequence[str]) -> FileChange:
    target, before = read_file(folder, own.name)
    if before is not None and not is_own_file(before):
        raise RunError(f"{own.name}: not made by `wiki connect`; move it away, nothing was written")
    text = Templates().render(own.template, command=["wiki", "hook", "stop", "--wiki", wiki, *mining])
    return FileChange(own.name, target, before, text.encode("utf-8"))


def _commands(agent: Agent, form: HookFile, wiki: str, mining: Sequence[str]) -> dict[str, str]:
    """Event → command. Naming the wiki permits the hook to create it."""
    named = [] if agent.answer_form == "text" else ["--agent", agent.name]
    more = {"start": named, "stop": mining}
    return {
        hook.event: shlex.join(["wiki", "hook", hook.subcommand, "--wiki", wiki, *more.get(hook.subcommand, ())])
        for hook in form.hooks
    }


def wiki_of(folder: Path, wiki: Path | None) -> Path:
    """The wiki that an agent in `folder` is pointed at: the one that is named, else the nearest, there or not."""
    here = folder.resolve()
    return wiki.resolve() if wiki is not None else project_wiki(None, here, {}) or here / DEFAULT_WIKI


def _wiki_place(folder: Path, wiki: Path | None) -> str:
    """The wiki's path in the pointer: relative to the folder if the wiki is in the project, else absolute."""
    here, found = folder.resolve(), wiki_of(folder, wiki)
    shared = next(folders_of_main_checkout(here), here)  # of a worktree: the hooks look there from the same folder
    for root, start in ((checkout_of(here) or here, here), (project_root(here).resolve(), shared)):
        if found.resolve().is_relative_to(root):
            return Path(os.path.relpath(found, start)).as_posix()
    return found.as_posix()


def _shares_pointer(agent: Agent, folder: Path, pointer: str) -> bool:
    """Whether another agent is connected in `folder` and reads the same file."""
    return (folder / agent.pointer(folder)).resolve() == (folder / pointer).resolve() and has_hooks(agent, folder)


def _notes(agent: Agent, folder: Path, wiki: str, *, is_allowed: bool) -> list[str]:
    """What a person must know or do."""
    notes = [] if shutil.which("wiki") else ["`wiki` is not on the path: the agent and its hooks will not find it"]
    if is_allowed and agent.permissions is None:
        notes.append(f"--allow: {agent.title} has no setting in the project for it")
    elif is_allowed and agent.permissions is not None and agent.permissions.note:
        notes.append(agent.permissions.note)
    return notes + list(agent.notes(folder, wiki) if agent.notes is not None else ())
