"""The keys of `_config.yaml`: what each says, what its value may be, and which is meant by one that is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from agent_wiki.errors import UsageError
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.values import mapping

KEYS: dict[str, tuple[type, str]] = {
    "schema_version": (int, "the version of the file's form"),
    "tags": (dict, "tags of guidelines, by page"),
    "tags.guideline": (dict, "tags of guidelines, by page"),
    "clusters": (dict, "guidelines that state the same rule"),
    "tasks": (dict, "sessions that attempted the same thing"),
    "session_family_overrides": (dict, "sessions pinned to a task, trial or condition"),
    "rules": (dict, "rules of the embedded engine"),
    "rules.ignore": (list, "rules of the embedded engine that are switched off"),
    "rejected": (dict, "pages retired for good"),
    "released": (dict, "pages let out of quarantine, with their texts"),
    "allowed_secrets": (dict, "what only looks like a secret, by its digest"),
    "forgotten": (list, "sessions that stay out for good, by digests of their ids"),
    "trust": (list, "other wikis whose word on trust is taken"),
    "kept": (list, "pages that you edited and keep"),
    "pii": (str, "personal data: replace, or keep"),
    "summary_names": (str, "what summaries' files are named by: session, or title"),
    "summaries": (str, "where summaries and records lie: pages, or sidecar:PLACE"),
}
"""Key → the type of its value, and what it says. Below a mapping whose keys are not listed, names are the owner's."""

_ENTRIES_ARE_MAPPINGS = ("clusters", "tasks", "session_family_overrides", "released", "allowed_secrets")
_NOT_SHOWN = ("tags", "rules", "schema_version")  # what is below them is
_DEFAULTS = {"summaries": "pages", "summary_names": "session", "pii": "replace"}
_MOST_SHOWN = 60


def check_key(key: str) -> None:
    """Raise `UsageError` with the nearest key that there is, for one that there is not."""
    names = key.split(".")
    for depth in range(1, len(names) + 1):
        name = ".".join(names[:depth])
        if name in KEYS:
            continue
        if _has_own_names(".".join(names[: depth - 1])):
            return
        nearest = get_close_matches(name, KEYS, n=1)
        meant = f"did you mean {nearest[0]}?" if nearest else f"there is {', '.join(KEYS)}"
        raise UsageError(f"{CONFIG}: {name}: no such key; {meant}")


def check_patch(patch: Mapping[str, Any]) -> None:
    """The same for every key that a patch sets; one that it takes out may have any name."""
    for key, _ in _set_keys(patch):
        check_key(key)


def problems_in(values: Mapping[str, Any]) -> list[str]:
    """What is wrong with a configuration, one line each: unknown keys, and values and entries of another type."""
    problems = []
    for key, value in _set_keys(values):
        try:
            check_key(key)
        except UsageError as error:
            problems.append(str(error))
            continue
        wanted = KEYS[key][0] if key in KEYS else None
        if wanted is not None and not isinstance(value, wanted):
            problems.append(f"{CONFIG}: {key}: not a {_TYPES[wanted]}")
    return problems + [f"{CONFIG}: {key}: not a mapping" for key in _entries_that_are_none(values)]


def _entries_that_are_none(values: Mapping[str, Any]) -> Iterator[str]:
    """The entries that no run can use, and which it passes over."""
    for key in _ENTRIES_ARE_MAPPINGS:
        for name, entry in mapping(values.get(key)).items():
            if entry is not None and not isinstance(entry, dict):
                yield f"{key}.{name}"


_TYPES: dict[type, str] = {dict: "mapping", list: "list", str: "text", int: "number"}


def value_at(values: Any, key: str) -> Any:
    """What a key holds; None where it is not set. Raises `UsageError` for one that there is not."""
    check_key(key)
    for name in key.split("."):
        values = values.get(name) if isinstance(values, Mapping) else None
    return _DEFAULTS.get(key) if values is None else values


def overview(values: Mapping[str, Any]) -> list[str]:
    """A line a key for a person: its value, or how much there is of it, and what it says."""
    shown = [(key, _short(value_at(values, key)), says) for key, (_, says) in KEYS.items() if key not in _NOT_SHOWN]
    wide = max(len(key) for key, _, _ in shown), max(len(value) for _, value, _ in shown)
    return [f"{key:{wide[0]}}  {value:{wide[1]}}  {says}" for key, value, says in shown] + problems_in(values)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return (f"{len(value)} entries" if len(value) > 1 else "1 entry") if value else "none"
    if isinstance(value, list):
        text = ", ".join(map(str, value))
        return (text if len(text) <= _MOST_SHOWN else f"{len(value)} of them") or "none"
    return "none" if value is None else str(value)[:_MOST_SHOWN]


def _has_own_names(key: str) -> bool:
    """Whether the owner chooses the names below a key."""
    return key in KEYS and KEYS[key][0] is dict and not any(other.startswith(f"{key}.") for other in KEYS)


def _set_keys(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The keys that are set, down to those below which names are the owner's."""
    for name, value in values.items():
        key = f"{above}{name}"
        if value is None:
            continue
        yield key, value
        if isinstance(value, Mapping) and key in KEYS and not _has_own_names(key):
            yield from _set_keys(value, f"{key}.")
