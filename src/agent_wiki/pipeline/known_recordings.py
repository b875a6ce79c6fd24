"""Which recordings a wiki was asked about, and which of them a question comes from: `.wiki/asked.json`.

With it `wiki worklist` needs no recordings named again, and `wiki apply --request DIGEST` no recording at all. It is
machinery: without it a recording has to be named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from itertools import starmap
from pathlib import Path
from typing import Any

from agent_wiki.pipeline import recordings_cache
from agent_wiki.pipeline.bucket_state import is_in_bucket
from agent_wiki.readers.buckets import path_of_listed
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.values import mapping

_NAME = "asked.json"
_VERSION = 1


@dataclass(slots=True)
class KnownRecordings:
    """Full paths and addresses, of folders where folders were named.

    `requests` has the digest of a question's prompt and the recording that it is about.
    """

    folder: WikiFolder
    asked: set[str] = field(default_factory=set)
    requests: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: WikiFolder) -> KnownRecordings:
        """What the wiki remembers; nothing where the file is missing or damaged."""
        kept = folder.read_machinery(_NAME)
        if not isinstance(kept, dict) or kept.get("version") != _VERSION:
            return cls(folder)
        paths, requests = kept.get("recordings"), kept.get("requests")
        asked = {path for path in paths if isinstance(path, str)} if isinstance(paths, list) else set()
        return cls(folder, asked, _texts(mapping(requests)))

    def existing(self) -> list[RecordingPath]:
        """All recordings, and folders of them, that were read or asked about and still exist, sorted.

        Of buckets those that were asked about; where none was, the objects that were read and have sessions.
        """
        asked = [path_of_listed(path) for path in sorted(self.asked) if is_in_bucket(path)]
        read = recordings_cache.load(self.folder).items()
        objects = {key: entry for key, entry in read if is_in_bucket(key) and entry["sessions"]}
        return [*self.on_disk(), *(asked or starmap(recordings_cache.known_path, objects.items()))]

    def on_disk(self) -> list[Path]:
        """Those that need no bucket."""
        read = recordings_cache.load(self.folder)
        return [Path(path) for path in sorted({*self.asked, *read}) if not is_in_bucket(path) and Path(path).exists()]

    def of_request(self, wanted: str) -> RecordingPath | None:
        """The recording that a request, by its digest or the beginning of it, is about; None when that is not known."""
        found = {path for digest, path in self.requests.items() if is_named(digest, wanted)}
        path = path_of_listed(found.pop()) if len(found) == 1 else None
        return path if path is not None and path.is_file() else None

    def note(self, recordings: Iterable[RecordingPath], requests: Mapping[str, RecordingPath]) -> None:
        """Remember recordings that were asked about, and requests. A path that holds a secret is not written down."""
        asked = {str(path.resolve()) for path in recordings}
        found = {digest: str(path.resolve()) for digest, path in requests.items()}
        self.asked |= {path for path in asked if not redact_text(path)[1]}
        self.requests.update({digest: path for digest, path in found.items() if not redact_text(path)[1]})
        self._save()

    def drop(self, recordings: Collection[str]) -> None:
        """Forget recordings, and the requests about them."""
        self.asked -= set(recordings)
        self.requests = {digest: path for digest, path in self.requests.items() if path not in recordings}
        self._save()

    def _save(self) -> None:
        kept = {"recordings": sorted(self.asked), "requests": self.requests}
        self.folder.write_machinery(_NAME, {"version": _VERSION, **kept})


def is_named(digest: str, wanted: str) -> bool:
    """True when `wanted` is the digest, or its beginning, with or without `sha256:`."""
    start = wanted.removeprefix("sha256:")
    return bool(start) and digest.removeprefix("sha256:").startswith(start)


def _texts(values: Mapping[Any, Any]) -> dict[str, str]:
    return {key: value for key, value in values.items() if isinstance(key, str) and isinstance(value, str)}
