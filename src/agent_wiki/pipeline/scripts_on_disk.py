"""The files of `skills/<slug>/scripts/`: written with the skill, and left alone where a person edited one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from agent_wiki.pages.skill import Script, script_digest
from agent_wiki.wiki.generated import CONFLICT_MARKERS, origin_of
from agent_wiki.wiki.layout import skill_path
from agent_wiki.wiki.store import WikiFolder

_LISTED = re.compile(r"^  scripts: (.*)$", re.MULTILINE)  # on a page that git merged there may be several
_DIGEST = re.compile(r":([0-9a-f]{12})\b")


class ScriptFiles:
    """The scripts of a wiki's skills. The owner keeps `kept`; `released` may be written whoever edited them."""

    def __init__(self, folder: WikiFolder, kept: Collection[str] = (), released: Collection[str] = ()) -> None:
        self._folder = folder
        self._kept, self._released = kept, released

    def names(self, slug: str) -> list[str]:
        """The files in a skill's folder of scripts, sorted; hidden ones are nobody's."""
        scripts = self._folder.root / "skills" / slug / "scripts"
        if not scripts.is_dir() or scripts.is_symlink():
            return []
        return sorted(each.name for each in scripts.iterdir() if each.is_file() and not each.name.startswith("."))

    def read(self, slug: str) -> dict[str, str]:
        """File name → text."""
        return {name: self._folder.text_or_empty(f"skills/{slug}/scripts/{name}") for name in self.names(slug)}

    def write(
        self, slug: str, versions: Sequence[Sequence[Script]], *, is_page_edited: bool = False, may_run: bool = True
    ) -> list[str]:
        """Bring a skill's scripts up to date, before its page is written. Out: the paths that a person edited.

        In: the scripts of each session that contributes to the skill, of the one that speaks for it first. The page on
        disk says what each script was when it was written; a file that differs is left alone, and so is one that the
        page does not name. One that git merged from several versions is not an edited one. A page that a person edited
        is left with its scripts as they are. Only scripts that `may_run` become executable.
        """
        edited: list[str] = []
        wanted = {script.file: script.text for script in versions[0]}
        on_disk = self.read(slug)
        if on_disk == wanted:
            return edited
        ours = self._written_before(slug)
        for name in sorted({*wanted, *on_disk}):
            path = f"skills/{slug}/scripts/{name}"
            if is_page_edited and path not in self._released:
                continue
            text = on_disk.get(name)
            if text is not None and text != wanted.get(name) and self._is_edited(path, text, ours):
                merged_from = [each.text for scripts in versions for each in scripts if each.file == name]
                if path not in self._kept and _is_mixed(text, merged_from):
                    self._put(path, wanted[name], may_run=may_run)
                else:
                    edited.append(path)
            elif name in wanted:
                self._put(path, wanted[name], may_run=may_run)
            else:
                self._folder.remove(path)
        return edited

    def _is_edited(self, path: str, text: str, ours: Collection[str] | None) -> bool:
        if path in self._kept:
            return True
        return path not in self._released and ours is not None and script_digest(text) not in ours

    def _put(self, path: str, text: str, *, may_run: bool) -> None:
        self._folder.write_text(path, text)
        if not may_run:
            return
        if path.endswith((".sh", ".bash")) or text.startswith("#!"):
            self._folder.make_executable(path)

    def _written_before(self, slug: str) -> set[str] | None:
        """The digests of the scripts that the page on disk names; None where that page knows of none."""
        text = self._folder.read_text(skill_path(slug), errors="replace")
        if text is None or origin_of(text) == "foreign":
            return None
        return {digest for listed in _LISTED.findall(text) for digest in _DIGEST.findall(listed)}

    def remove(self, slug: str) -> None:
        """Take away all of a skill's scripts but those that the owner keeps."""
        for name in self.names(slug):
            path = f"skills/{slug}/scripts/{name}"
            if path not in self._kept:
                self._folder.remove(path)


def _is_mixed(text: str, versions: Sequence[str]) -> bool:
    """Whether git made a text of the lines of versions, the first of which is the one that is wanted now."""
    lines = {line for line in text.splitlines() if not line.startswith(CONFLICT_MARKERS)}
    known = [set(version.splitlines()) for version in versions]
    return len(known) > 1 and known[0] <= lines <= set[str]().union(*known)
