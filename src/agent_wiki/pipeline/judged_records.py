"""Which records on disk were judged by the rules as they are now: a cache, so that a large wiki is judged once."""

from __future__ import annotations

from collections.abc import Iterable, Set

from agent_wiki.pages import judged
from agent_wiki.wiki.store import WikiFolder

_NAME = "judged.json"


def judged_records(folder: WikiFolder) -> Set[str]:
    """The paths of the records that are as they were when a run last judged them."""
    known = folder.read_cache(_NAME)
    if (
        not isinstance(known, dict)
        or known.get("version") != judged.VERSION
        or not isinstance(known.get("files"), dict)
    ):
        return frozenset()
    files = folder.files()
    return {path for path, signature in known["files"].items() if files.get(path) == signature}


def remember_judged(folder: WikiFolder, read: Iterable[str]) -> None:
    """Remember that the records at the paths that were `read` are judged as they are on disk now.

    Of the others, which a run left unread, those stay remembered that were.
    """
    files, known = folder.files(), {*judged_records(folder), *read}
    found = {path: files[path] for path in sorted(known) if path in files}
    folder.write_cache(_NAME, {"version": judged.VERSION, "files": found})
