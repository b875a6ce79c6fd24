"""The log of changes in which VS Code keeps a chat: `{"kind", "k", "v", "i"}`, a change a line.

    0   `v` is the whole document                     1   `v` is the value at the path `k`
    2   `v` is added to the list at `k`, from `i` on   3   what is at `k` is taken out

(Read after VS Code's source, MIT.)
"""

from __future__ import annotations

from typing import Any

from agent_wiki.readers.recording import Recording

FIRST = "v"
_WHOLE, _SET, _ADD, _REMOVE = range(4)
_MOST_LISTED = 1_000_000  # elements of a list: a chat has some hundreds of requests


def is_first_change(value: Any) -> bool:
    """Whether a line is the whole document with which such a log begins."""
    return isinstance(value, dict) and value.get("kind") == _WHOLE and isinstance(value.get(FIRST), dict)


def document_of(recording: Recording) -> Any:
    """The document after all changes. One that does not fit is left out, with a warning."""
    document: Any = {}
    for line, change in recording.lines():
        if is_first_change(change):
            document = change[FIRST]
        elif not isinstance(change, dict) or not _has_changed(document, change):
            recording.warnings.append(f"{recording.name}:{line}: a change of what is not there, skipped")
    return document


def _has_changed(document: Any, change: dict[str, Any]) -> bool:
    path = change.get("k")
    if not isinstance(path, list) or not path:
        return False
    place = document
    for key in path[:-1]:
        place = _at(place, key)
    return _has_set(place, path[-1], change)


def _at(place: Any, key: Any) -> Any:
    """What lies under a key, or at a position; None where there is nothing."""
    if isinstance(place, dict):
        return place.get(key) if isinstance(key, str) else None
    is_position = isinstance(place, list) and isinstance(key, int) and 0 <= key < len(place)
    return place[key] if is_position else None


def _has_set(place: Any, key: Any, change: dict[str, Any]) -> bool:
    kind, value = change.get("kind"), change.get("v")
    is_member = isinstance(place, dict) and isinstance(key, str)
    is_element = isinstance(place, list) and isinstance(key, int) and 0 <= key <= min(len(place), _MOST_LISTED)
    if not (is_member or is_element):
        return False
    if kind == _ADD:
        return _has_added(place, key, change)
    if kind == _REMOVE:
        if is_member:
            place.pop(key, None)
        elif key < len(place):
            place[key] = None
        return True
    if kind == _SET and is_element and key == len(place):
        place.append(value)
    elif kind == _SET:
        place[key] = value
    return kind == _SET


def _has_added(place: Any, key: Any, change: dict[str, Any]) -> bool:
    """Add to a list, which is there or begins here; `i` says how many of its elements stay."""
    listed, added, kept = _at(place, key), change.get("v"), change.get("i")
    if listed is None and isinstance(place, dict):
        listed = place[key] = []
    if not isinstance(listed, list) or not isinstance(added, list | None):
        return False
    if isinstance(kept, int) and 0 <= kept <= len(listed):
        del listed[kept:]
    listed += added or []
    return True
