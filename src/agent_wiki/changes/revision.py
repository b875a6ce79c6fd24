"""The revision that a wiki is compared with: which files differ from it, and what they held there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from agent_wiki.errors import UsageError
from agent_wiki.pipeline.git_files import ask_git, commit_of, git_output, paths_at, texts_at
from agent_wiki.pipeline.sidecar import packs_since
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import MACHINERY, SESSIONS, SIDECAR
from agent_wiki.wiki.missing import require_folder
from agent_wiki.wiki.store import WikiFolder

FileChange = Literal["new", "changed", "gone"]

DEFAULT_BASE = "HEAD"
_RECORDS = f"{SESSIONS}/"
_CHANGES: Mapping[str, FileChange] = {"A": "new", "D": "gone"}


@dataclass(frozen=True, slots=True)
class Revision:
    """A wiki at a commit; "" before the first one. `folder` is the wiki's place in its repository, with a slash."""

    wiki: Path
    name: str
    commit: str
    folder: str

    def changed_files(self) -> dict[str, FileChange]:
        """Every file of the wiki that is now another than in this revision, by path in the wiki.

        Files that git ignores are left out; of a wiki that is ignored as a whole only those of `.wiki/`.
        """
        found: dict[str, FileChange] = {}
        is_ignored = git_output(self.wiki, "check-ignore", ".") != b""
        ignored = f"--exclude=/{self.folder}{MACHINERY}/" if is_ignored else "--exclude-standard"
        words = ["ls-files", "-z", "--others", ignored]
        if self.commit:
            given = ("--no-ext-diff", "--no-renames", "--name-status", "-z", "--relative", self.commit)
            fields = _fields(git_output(self.wiki, "diff", *given, "--", "."))
            for status, path in zip(fields, fields, strict=False):
                found[path] = _CHANGES.get(status, "changed")
        else:
            words.append("--cached")
        for path in _fields(git_output(self.wiki, *words, "--", ".")):
            found[path] = "changed" if found.get(path) == "gone" else "new"
        return dict(sorted(found.items()))

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """What files held, by path; those that the revision has not are left out."""
        named = [path for path in paths if "\n" not in path]
        found = texts_at(self.wiki, [(self.commit, path) for path in named]) if self.commit else iter(())
        return {path: text for path, text in zip(named, found, strict=False) if text is not None}


def revision_of(wiki: Path, name: str = "", option: str = "--base") -> Revision:
    """The revision of this name; of another branch, where the wiki's own left it. Without a name the last commit.

    Raises `UsageError` where the wiki is in no repository, or this one does not have the revision of the `option`.
    """
    require_folder(wiki)
    folder, problem = ask_git(wiki, "rev-parse", "--show-prefix")
    if problem:
        raise UsageError(f"{wiki}: nothing to compare it with: it lies in no git work tree ({problem})")
    own = commit_of(wiki, DEFAULT_BASE)
    commit = commit_of(wiki, name) if name else own
    if name and not commit:
        is_shallow = git_output(wiki, "rev-parse", "--is-shallow-repository").strip() == b"true"
        hint = "; this clone is shallow: fetch it first" if is_shallow else ""
        raise UsageError(f"{option} {name}: no such revision here{hint}")
    if own and commit != own:
        commit = git_output(wiki, "merge-base", commit, own).decode().strip() or commit
    return Revision(wiki, name or DEFAULT_BASE, commit, folder.decode("utf-8", "replace").rstrip("\n"))


def with_records(revision: Revision, files: Mapping[str, FileChange], problems: list[str]) -> dict[str, FileChange]:
    """The files that differ from a revision, records that git ignores included.

    In: the files that differ as git knows it. Where records are not in git, the packs of a sidecar say which differ.
    What cannot be known is left out, with a line in `problems`.
    """
    folder = WikiFolder(revision.wiki)
    then = revision.texts([SIDECAR]).get(SIDECAR)
    if then is None and folder.read_text(SIDECAR, errors="replace") is None:
        return dict(files)
    if then is None:
        at_base = paths_at(revision.wiki, revision.commit) if revision.commit else []
        was = revision.texts(path for path in at_base if path.startswith(_RECORDS))
        now = [path for path in folder.files() if path.startswith(_RECORDS)]
    else:
        was, now = packs_since(folder, then, problems)
    others = {path: change for path, change in files.items() if not path.startswith(_RECORDS)}
    return others | _differences(folder, was, now)


def _differences(folder: WikiFolder, was: Mapping[str, str], now: Iterable[str]) -> dict[str, FileChange]:
    there = set(now)
    found: dict[str, FileChange] = dict.fromkeys(sorted(was.keys() - there), "gone")
    for path in sorted(there):
        if path not in was:
            found[path] = "new"
        elif folder.read_text(path, errors="replace") != was[path]:
            found[path] = "changed"
    return found


def _fields(output: bytes) -> Iterator[str]:
    return (each.decode("utf-8", "surrogateescape") for each in output.split(b"\0") if each)
