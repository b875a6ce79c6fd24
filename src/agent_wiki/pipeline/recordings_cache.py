"""Which files were read before, and what was in them: `.wiki/recordings.json`. Without it all is read again.

A file is known by its full path, size and time of change, and so are the files beside it that were looked at with it.
It is machinery: nothing of it reaches a page.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from agent_wiki.pipeline.mine import Mined
from agent_wiki.readers.recording_path import Signature, signature_beside, signature_of
from agent_wiki.redaction.redact import redact_text
from agent_wiki.report import Failure
from agent_wiki.wiki.store import WikiFolder

_NAME = "recordings.json"
_VERSION = 3

_FAILURE_FIELDS = {each.name for each in fields(Failure)}

Cache = dict[str, dict[str, Any]]


def load(folder: WikiFolder) -> Cache:
    """Path → `{"size", "changed", "sha256", "sessions": [[session id, digest, status]]}`, and where there is one
    `"beside"`: name → signature."""
    kept = folder.read_machinery(_NAME)
    if not isinstance(kept, dict) or kept.get("version") != _VERSION or not isinstance(kept.get("files"), dict):
        return {}
    files: Cache = {path: entry for path, entry in kept["files"].items() if _is_sound(entry)}
    return files


def _is_sound(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("sessions"), list):
        return False
    if not isinstance(entry.get("beside", {}), dict):
        return False
    failure = entry.get("failure")
    if failure is not None and (not isinstance(failure, dict) or failure.keys() != _FAILURE_FIELDS):
        return False
    return all(isinstance(each, list) and len(each) == 3 for each in entry["sessions"])


def unchanged(cache: Cache, path: Path) -> dict[str, Any] | None:
    """What is known of a file that has not changed since; None for any other."""
    entry = cache.get(str(path.resolve()))
    if entry is None:
        return None
    try:
        if signature_of(path) != (entry.get("size"), entry.get("changed")):
            return None
    except OSError:
        return None  # gone since it was listed: reading it will say so
    return entry if all(_as_kept(signature_beside(path, name)) == kept for name, kept in _beside(entry)) else None


def _beside(entry: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(entry.get("beside", {}).items())


def _as_kept(signature: Signature | None) -> list[int | str] | None:
    return None if signature is None else list(signature)


def note(cache: Cache, path: Path, mined: Mined, *, terms: list[str]) -> None:
    """Remember a file that was read, also one that cannot be; forget one where a bug struck, so it is tried again."""
    key = str(path.resolve())
    if redact_text(key)[1]:
        return  # a path that holds a secret is not written down; its file is read each time
    if (
        mined.bug
        or mined.signature is None
        or any(session.status in ("failed", "waiting") for session in mined.sessions)
    ):
        cache.pop(key, None)
        return
    sessions = [
        [session.session_id, session.digest, "mined" if session.status == "unchanged" else session.status]
        for session in mined.sessions
    ]
    entry: dict[str, Any] = {"size": mined.signature[0], "changed": mined.signature[1], "sha256": mined.sha256}
    cache[key] = {**entry, "terms": terms, "sessions": sessions}
    if mined.looked_at:
        cache[key]["beside"] = {name: _as_kept(signature) for name, signature in mined.looked_at.items()}
    if mined.failure:
        cache[key].update(failure=asdict(mined.failure), is_foreign=mined.is_foreign)


def save(folder: WikiFolder, cache: Cache) -> None:
    """Write the cache, entries of files that are gone left out."""
    kept = {path: entry for path, entry in cache.items() if Path(path).exists()}
    folder.write_machinery(_NAME, {"version": _VERSION, "files": kept})
