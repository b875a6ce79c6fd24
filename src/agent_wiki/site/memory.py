"""What the last builds of a wiki's sites left to know: which files hold no secret, and that nothing is new.

`.wiki/site.json` knows files by size and times of change. Without it everything is looked at again, and the site has
the same bytes. What it says counts only as long as this program is the same, file by file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import agent_wiki
from agent_wiki.errors import RunError
from agent_wiki.pipeline.forget_machinery import SITE_MEMORY
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.wiki.files import Signature, digest_of, scan, signature_of
from agent_wiki.wiki.layout import AUDIT_LOG, MACHINERY
from agent_wiki.wiki.store import GIT_IGNORE, WikiFolder

_MOST_SITES = 8


class SiteMemory:
    """The memory of a wiki's sites, as it was when this was made; so were the wiki's files."""

    def __init__(self, wiki: Path) -> None:
        self._folder = WikiFolder(wiki)
        self.files: Mapping[str, Signature] = scan(str(wiki))
        self._audit = _signature(wiki / AUDIT_LOG)
        found = self._folder.read_cache(SITE_MEMORY)
        is_ours = isinstance(found, dict) and found.get("program") == program_digest()
        self._clean: dict[str, Signature] = found["clean"] if is_ours else {}
        self._sites: dict[str, list[Any]] = found["sites"] if is_ours else {}

    def clean(self) -> set[str]:
        """The files in which no secret was found, and that have not changed since."""
        return {path for path, signature in self._clean.items() if self.files.get(path) == signature}

    def digest(self, *more: object, recordings: Iterable[RecordingPath]) -> str:
        """Of all that a site is made from; "" where that cannot be known without reading it."""
        places = list(recordings)
        if not all(isinstance(place, Path) for place in places):
            return ""  # in a bucket
        seen = [(str(place), _signature(Path(str(place)))) for place in places]
        return _digest(digest_of(self.files), self._audit, more, seen)

    def report_of(self, out: Path, inputs: str) -> dict[str, Any] | None:
        """What the last build said of a site that was made from the same, and lies there as it was made."""
        known = self._sites.get(_digest(str(out.resolve())))
        if not inputs or known is None or known[0] != inputs or known[1] != digest_of(scan(str(out))):
            return None
        return dict(known[2])

    def remember(
        self, out: Path, inputs: str, report: Mapping[str, Any], *, is_checked: bool, excused: Collection[str] = ()
    ) -> None:
        """Keep what a build found, where the wiki may be written to.

        `is_checked`: no file of the wiki has a secret, but for those that its owner's exceptions have `excused`.
        """
        known = self.files if is_checked else {path: self.files[path] for path in self.clean()}
        clean = {path: signature for path, signature in known.items() if path not in excused}
        name = _digest(str(out.resolve()))
        sites = {key: site for key, site in self._sites.items() if key != name}
        sites = dict(list(sites.items())[-_MOST_SITES + 1 :])
        if inputs:
            sites[name] = [inputs, digest_of(scan(str(out))), dict(report)]
        try:
            machinery_of(self._folder.root)
            self._folder.write_cache(SITE_MEMORY, {"program": program_digest(), "clean": clean, "sites": sites})
        except (RunError, OSError):
            return  # nobody has to be able to write to a wiki in order to read it


def machinery_of(wiki: Path) -> Path:
    """The folder of a wiki that git does not see, made where it is not there. Raises `OSError`."""
    machinery = wiki / MACHINERY
    machinery.mkdir(exist_ok=True)
    ignore = machinery / ".gitignore"
    if not ignore.exists():
        ignore.write_text(GIT_IGNORE, encoding="utf-8")
    return machinery


@lru_cache(maxsize=1)
def program_digest() -> str:
    """Of this program's files, so that another version, or an edited one, finds nothing known."""
    files = scan(str(Path(agent_wiki.__file__).parent))
    return digest_of({path: signature for path, signature in files.items() if "__pycache__/" not in path})


def _signature(path: Path) -> Signature:
    try:
        return signature_of(os.lstat(path))
    except OSError:
        return ""


def _digest(*values: object) -> str:
    return hashlib.blake2b(repr(values).encode("utf-8", "replace"), digest_size=16).hexdigest()
