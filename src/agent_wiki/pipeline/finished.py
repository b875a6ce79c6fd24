"""Whether the last run was the same and nothing has changed since: then there is nothing to read, ask or write.

The answer is based on `.wiki/finished.json`: a digest over the name, size and times of change of every file of the
wiki, as a run left it, with what that run did. With any difference the run is complete. Nothing here takes long to
import, for `wiki catalog` asks before it imports anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_wiki import __version__
from agent_wiki.stages.order import CATALOG
from agent_wiki.wiki.files import Signature, digest_of, scan
from agent_wiki.wiki.layout import MACHINERY, SESSIONS

if TYPE_CHECKING:
    from agent_wiki.engine import Engine
    from agent_wiki.wiki.store import WikiFolder

_NAME = "finished.json"


def terms(stages: Sequence[str], engine: Engine, *, archive_covered: bool) -> dict[str, Any]:
    """What, besides the files, decides what a run does."""
    return {
        "version": __version__,
        "engine": [engine.name, engine.version],
        "stages": sorted(stages),
        "archive_covered": archive_covered,
    }


def note(folder: WikiFolder, done: Mapping[str, Any], pages: Mapping[str, int], warnings: Sequence[str]) -> None:
    """Remember that a run ended with the wiki as it is now. `warnings` are the engine's, which every run repeats."""
    if not folder.is_dry_run:
        wiki = digest_of(folder.files())
        folder.write_machinery(_NAME, {**done, "pages": dict(pages), "warnings": list(warnings), "wiki": wiki})


def forget(folder: WikiFolder) -> None:
    """From here on the wiki is not as a run left it: a run that is killed must not look finished."""
    folder.write_machinery(_NAME, {})


def is_same(folder: WikiFolder, wanted: Mapping[str, Any]) -> dict[str, int] | None:
    """The page counts of the last run when this one would find everything as that left it; else None."""
    return _pages(folder.root, wanted, folder.files)


def nothing_to_catalog(wiki: Path) -> dict[str, int] | None:
    """The same for `wiki catalog`, which asks no engine and so has nothing to say where none had a warning."""
    wanted = {"version": __version__, "stages": [CATALOG], "archive_covered": True, "warnings": []}
    return _pages(wiki, wanted, lambda: scan(str(wiki)))


def archives_covered(wiki: Path) -> bool:
    """Whether the last run moved what a skill covers to `_archived/`, as a run does that nobody tells otherwise."""
    try:
        last = json.loads((wiki / MACHINERY / _NAME).read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    return not isinstance(last, dict) or last.get("archive_covered") is not False


def _pages(
    wiki: Path, wanted: Mapping[str, Any], files: Callable[[], Mapping[str, Signature]]
) -> dict[str, int] | None:
    try:
        if _has_new_records(wiki):
            return None
        last = json.loads((wiki / MACHINERY / _NAME).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(last, dict) or not isinstance(last.get("pages"), dict):
        return None
    alike = all(last.get(name) == value for name, value in wanted.items() if name != "stages")
    if not alike or not set(wanted["stages"]) <= set(last.get("stages") or ()):
        return None
    return dict(last["pages"]) if last.get("wiki") == digest_of(files()) else None


def _has_new_records(wiki: Path) -> bool:
    """Whether a record came or went since the last run ended: then nobody need look at all files to know it."""
    records = wiki / SESSIONS
    return records.is_dir() and records.stat().st_mtime_ns > (wiki / MACHINERY / _NAME).stat().st_mtime_ns
