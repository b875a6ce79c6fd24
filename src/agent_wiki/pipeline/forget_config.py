"""What `wiki forget` takes out of `_config.yaml`: all that names the sessions, or was made of what they said."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agent_wiki.wiki.config import CLUSTERS, OVERRIDES, TAGS, TASKS, is_stage_made
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.values import mapping, texts_of
from agent_wiki.wiki.yaml_syntax import load_yaml


def without_sessions(
    text: str, sessions: Collection[str], gone: Collection[str], compared: Collection[Collection[str]]
) -> str:
    """The configuration without some sessions.

    In: ids of the sessions; ids of the guidelines that no other session states; the sets of guidelines and sessions
    that answers compared which go too. An entry that a stage made of such an answer goes, and is made again; of what a
    person wrote only the session's id goes from the lists of tasks.
    """
    root = mapping(load_yaml(text))
    tags = mapping(mapping(root.get("tags")).get("guideline"))
    text = edit_config(text, TAGS, {name: None for name in tags if name in gone})
    overrides = mapping(root.get("session_family_overrides"))
    text = edit_config(text, OVERRIDES, {name: None for name in overrides if name in sessions})
    clusters = _made_of(mapping(root.get("clusters")), "members", gone, compared)
    text = edit_config(text, CLUSTERS, dict.fromkeys(clusters))
    tasks = mapping(root.get("tasks"))
    made = _made_of(tasks, "sessions", sessions, compared)
    text = edit_config(text, TASKS, dict.fromkeys(made))
    for name, entry in tasks.items():
        listed = texts_of(entry.get("sessions")) if isinstance(entry, dict) and name not in made else []
        if not set(sessions).isdisjoint(listed):
            left = [each for each in listed if each not in sessions]
            text = edit_config(text, (*TASKS, name), {"sessions": left})
    return text


def _made_of(
    entries: Mapping[str, Any], field: str, gone: Collection[str], compared: Collection[Collection[str]]
) -> list[str]:
    """The names of a stage's entries that are about what is gone, or were made of an answer that goes."""
    return [
        name
        for name, entry in entries.items()
        if isinstance(entry, dict) and is_stage_made(entry) and _is_of(texts_of(entry.get(field)), gone, compared)
    ]


def _is_of(listed: Collection[str], gone: Collection[str], compared: Collection[Collection[str]]) -> bool:
    return not set(gone).isdisjoint(listed) or any(set(listed) <= set(each) for each in compared)
