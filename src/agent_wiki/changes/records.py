"""Which records differ from a revision: as git knows it, or by the packs of a sidecar where they are not in git."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_wiki.changes.revision import FileChange, Revision
from agent_wiki.pipeline.git_files import paths_at
from agent_wiki.pipeline.sidecar import packs_since
from agent_wiki.wiki.layout import SESSIONS, SIDECAR
from agent_wiki.wiki.store import WikiFolder

_RECORDS = f"{SESSIONS}/"


def with_records(revision: Revision, files: Mapping[str, FileChange], problems: list[str]) -> dict[str, FileChange]:
    """The files that differ from a revision, records that git ignores included.

    In: the files that differ as git knows it. What cannot be known is left out, with a line in `problems`.
    """
    folder = WikiFolder(revision.wiki)
    then = revision.texts([SIDECAR]).get(SIDECAR)
    if then is None and folder.read_text(SIDECAR, errors="replace") is None:
        return dict(files)
    if then is None:
        was = revision.texts(path for path in _at(revision) if path.startswith(_RECORDS))
        now = [path for path in folder.files() if path.startswith(_RECORDS)]
    else:
        was, now = packs_since(folder, then, problems)
    others = {path: change for path, change in files.items() if not path.startswith(_RECORDS)}
    return others | _differences(folder, was, now)


def _at(revision: Revision) -> list[str]:
    return paths_at(revision.wiki, revision.commit) if revision.commit else []


def _differences(folder: WikiFolder, was: Mapping[str, str], now: Iterable[str]) -> dict[str, FileChange]:
    there = set(now)
    found: dict[str, FileChange] = dict.fromkeys(sorted(was.keys() - there), "gone")
    for path in sorted(there):
        if path not in was:
            found[path] = "new"
        elif folder.read_text(path, errors="replace") != was[path]:
            found[path] = "changed"
    return found
