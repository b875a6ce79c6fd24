"""Which records on disk were judged by the rules as they are now: a cache, so that a large wiki is judged once."""

from __future__ import annotations

from collections.abc import Set

from agent_wiki.pages.judged import VERSION
from agent_wiki.wiki.layout import SESSIONS
from agent_wiki.wiki.store import WikiFolder

_NAME = "judged.json"


def judged_records(folder: WikiFolder) -> Set[str]:
    """The paths of the records that are as they were when a run last judged them."""
    known = folder.read_cache(_NAME)
    if not isinstance(known, dict) or known.get("version") != VERSION or not isinstance(known.get("files"), dict):
        return frozenset()
    files = folder.files()
    return {path for path, signature in known["files"].items() if files.get(path) == signature}


def remember_judged(folder: WikiFolder) -> None:
    """Remember that every record is judged as it is on disk now."""
    found = {path: signature for path, signature in folder.files().items() if path.startswith(f"{SESSIONS}/")}
    folder.write_cache(_NAME, {"version": VERSION, "files": found})
