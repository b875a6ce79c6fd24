"""File changes as Codex records them, written as the patch that its tool `apply_patch` takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.recorded import flat_text, mapping, objects


def patch_of(changes: Any) -> str:
    """The patch of recorded changes: by path `add`, `delete` or `update` with a unified diff, or a list of kinds.

    `codex exec --json` names paths and kinds alone: then each file has a heading and no lines.
    """
    if isinstance(changes, list):
        changes = {str(each.get("path")): {"type": each.get("kind")} for each in objects(changes)}
    changed = mapping(changes).items()
    lines = [line for path, change in changed if isinstance(change, dict) for line in _lines(path, change)]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _lines(path: str, change: dict[str, Any]) -> Iterator[str]:
    kind = flat_text(change.get("type"))
    yield f"*** {kind.capitalize() or 'Update'} File: {path}"
    if moved := flat_text(change.get("move_path")):
        yield f"*** Move to: {moved}"
    if kind == "add":
        yield from (f"+{line}" for line in flat_text(change.get("content")).splitlines())
    elif kind == "update":
        yield from flat_text(change.get("unified_diff")).splitlines()
