"""Hooks and permissions in the JSON settings of an agent: added and removed, with every other byte unchanged."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_wiki.errors import RunError
from agent_wiki.harness import json_members
from agent_wiki.harness.agents.agent import HookFile, Permissions

_Path = tuple[str | int, ...]


def with_hooks(text: str | None, form: HookFile, commands: Mapping[str, str]) -> str:
    """Settings with one hook for each event: event → command. An existing hook of ours is updated.

    Raises `RunError` with file and line of what is not JSON, or of a place that cannot have hooks.
    """
    edited = text if text is not None else "{\n}\n"
    for hook in form.hooks:
        settings = _checked(edited, form)
        existing = next(_our_hooks(settings, form, hook.event), None)
        if existing is not None:
            edited = _with_command(edited, (*existing, form.command_key), commands[hook.event])
            continue
        entry = form.entry(hook, commands[hook.event])
        if text is None and not settings:
            edited = json.dumps({**form.other_members, "hooks": {hook.event: [entry]}}, indent=2) + "\n"
        elif "hooks" not in settings:
            edited = json_members.with_member(edited, (), "hooks", {hook.event: [entry]})
        elif hook.event not in settings["hooks"]:
            edited = json_members.with_member(edited, ("hooks",), hook.event, [entry])
        else:
            edited = json_members.with_member(edited, ("hooks", hook.event), "", entry)
    return edited


def without_hooks(text: str, form: HookFile) -> str | None:
    """Settings without hooks of ours, otherwise unchanged; None if nothing else is left. Raises `RunError`."""
    edited: str | None = text
    for hook in reversed(form.hooks):
        while edited is not None:
            path = next(_our_hooks(_checked(edited, form), form, hook.event), None)
            if path is None:
                break
            edited = json_members.without_member(edited, path)
    is_as_made = bool(form.other_members) and edited == json.dumps(dict(form.other_members), indent=2) + "\n"
    return None if is_as_made else edited


def installed_events(text: str, form: HookFile) -> list[str]:
    """The events for which settings have a hook of ours. Raises `RunError`."""
    settings = _checked(text, form)
    return [hook.event for hook in form.hooks if next(_our_hooks(settings, form, hook.event), None) is not None]


def with_rules(text: str | None, permissions: Permissions) -> str:
    """Settings that also allow what `permissions` says. Raises `RunError` for a place that cannot have rules."""
    edited = text if text is not None else "{\n}\n"
    for rule in permissions.rules:
        present = _rules(edited, permissions)
        if present is not None and rule in present:
            continue
        edited = _with_element(edited, permissions.path, rule)
    return edited


def without_rules(text: str, permissions: Permissions, added: Sequence[str]) -> str | None:
    """Settings without the rules that were `added`, otherwise unchanged; None if nothing else is left.

    Raises `RunError`.
    """
    edited: str | None = text
    for rule in reversed(permissions.rules):
        present = _rules(edited, permissions) if edited is not None else None
        if edited is not None and present is not None and rule in added and rule in present:
            edited = json_members.without_member(edited, (*permissions.path, present.index(rule)))
    return edited


def installed_rules(text: str, permissions: Permissions) -> list[str]:
    """The rules that settings have. Raises `RunError`."""
    present = _rules(text, permissions) or []
    return [rule for rule in permissions.rules if rule in present]


def added_rules(text: str | None, permissions: Permissions) -> list[str]:
    """The rules that `wiki connect` added, by its note of them. Raises `RunError` for what is no such note."""
    noted = _object(text, permissions.added_file).get("rules") if text is not None else []
    if not isinstance(noted, list):
        raise RunError(f"{permissions.added_file}:1: no list of rules; move it away, nothing was written")
    return [rule for rule in permissions.rules if rule in noted]


def added_note(added: Sequence[str], permissions: Permissions) -> str | None:
    """The content of that file; None where no rule was added."""
    about = f"what `wiki connect --allow` added to {permissions.file}, and `--remove` takes out of it again"
    return json.dumps({"about": about, "rules": list(added)}, indent=2) + "\n" if added else None


def _with_element(text: str, path: tuple[str, ...], element: str) -> str:
    """`text` with an element at the end of the array at `path`, which is made with what it is in if missing."""
    settings = json.loads(text.removeprefix("\ufeff"))
    for depth, key in enumerate(path):
        if key not in settings:
            value: Any = [element]
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return json_members.with_member(text, path[:depth], key, value)
        settings = settings[key]
    return json_members.with_member(text, path, "", element)


def _rules(text: str, permissions: Permissions) -> list[Any] | None:
    """The list that rules are in; None if it does not exist. Raises `RunError` where another kind of value is."""
    place: Any = _object(text, permissions.file)
    for depth, key in enumerate(permissions.path, start=1):
        kind, wanted = (list, "an array") if depth == len(permissions.path) else (dict, "an object")
        if key not in place:
            return None
        place = place[key]
        if not isinstance(place, kind):
            path = permissions.path[:depth]
            line = json_members.line_of(text, path)
            raise RunError(f"{permissions.file}:{line}: {'.'.join(path)} is not {wanted}; nothing was written")
    return list(place)


def _with_command(text: str, path: _Path, command: str) -> str:
    found: Any = json.loads(text.removeprefix("\ufeff"))
    for key in path:
        found = found[key]
    return text if found == command else json_members.with_value(text, path, command)


def _our_hooks(settings: Mapping[str, Any], form: HookFile, event: str) -> Iterator[_Path]:
    """The path of every hook of an event that runs this program's hook for it."""
    subcommand = next(hook.subcommand for hook in form.hooks if hook.event == event)
    for path, hook in _hooks_of(settings.get("hooks", {}).get(event, ()), form):
        if isinstance(hook, dict) and is_our_command(hook.get(form.command_key), subcommand):
            yield ("hooks", event, *path)


def _hooks_of(entries: Any, form: HookFile) -> Iterator[tuple[_Path, Any]]:
    for position, entry in enumerate(entries):
        if form.is_flat:
            yield (position,), entry
            continue
        hooks = entry.get("hooks") if isinstance(entry, dict) else None
        for inner, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            yield (position, "hooks", inner), hook


def is_our_command(command: Any, subcommand: str) -> bool:
    """Whether a command runs `wiki hook <subcommand>`, by whatever path."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return len(words) > 2 and Path(words[0]).name == "wiki" and words[1:3] == ["hook", subcommand]


def _checked(text: str, form: HookFile) -> dict[str, Any]:
    """Settings as values, checked for having a place for hooks. Raises `RunError` with the line that is wrong."""
    settings = _object(text, form.name)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        line = json_members.line_of(text, ("hooks",))
        raise RunError(f"{form.name}:{line}: hooks is not an object; nothing was written")
    for hook in form.hooks:
        if not isinstance(hooks.get(hook.event, []), list):
            line = json_members.line_of(text, ("hooks", hook.event))
            raise RunError(f"{form.name}:{line}: hooks.{hook.event} is not an array; nothing was written")
    return settings


def _object(text: str, name: str) -> dict[str, Any]:
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise RunError(f"{name}:{error.lineno}: not JSON ({error.msg}); fix it, nothing was written") from error
    except RecursionError as error:
        raise RunError(f"{name}: nested too deeply; nothing was written") from error
    except ValueError as error:  # a number of thousands of digits
        raise RunError(f"{name}: not JSON that can be read ({str(error)[:100]}); nothing was written") from error
    if not isinstance(settings, dict):
        raise RunError(f"{name}:1: not a JSON object; nothing was written")
    return settings
