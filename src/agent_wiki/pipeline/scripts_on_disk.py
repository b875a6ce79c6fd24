"""The files of `skills/<slug>/scripts/`: written with the skill, and left alone where a person edited one."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.pages.model import skill_fields
from agent_wiki.pages.skill import Script, script_digest
from agent_wiki.wiki.generated import origin_of
from agent_wiki.wiki.layout import skill_path
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.store import WikiFolder


class ScriptFiles:
    """The scripts of a wiki's skills."""

    def __init__(self, folder: WikiFolder) -> None:
        self._folder = folder

    def names(self, slug: str) -> list[str]:
        """The files in a skill's folder of scripts, sorted; hidden ones are nobody's."""
        scripts = self._folder.root / "skills" / slug / "scripts"
        if not scripts.is_dir() or scripts.is_symlink():
            return []
        return sorted(each.name for each in scripts.iterdir() if each.is_file() and not each.name.startswith("."))

    def read(self, slug: str) -> dict[str, str]:
        """File name → text."""
        return {
            name: self._folder.read_text(f"skills/{slug}/scripts/{name}", errors="replace") or ""
            for name in self.names(slug)
        }

    def write(self, slug: str, scripts: Sequence[Script]) -> list[str]:
        """Bring a skill's scripts up to date, before its page is written. Out: the paths that a person edited.

        The page on disk says what each script was when it was written; a file that differs is left alone, and so is
        one that the page does not name.
        """
        edited: list[str] = []
        wanted = {script.file: script.text for script in scripts}
        on_disk = self.read(slug)
        if on_disk == wanted:
            return edited
        ours = self._written_before(slug)
        for name in sorted({*wanted, *on_disk}):
            path = f"skills/{slug}/scripts/{name}"
            text = on_disk.get(name)
            if text is not None and text != wanted.get(name) and ours is not None and script_digest(text) not in ours:
                edited.append(path)
            elif name in wanted:
                self._put(path, wanted[name])
            else:
                self._folder.remove(path)
        return edited

    def _put(self, path: str, text: str) -> None:
        self._folder.write_text(path, text)
        if path.endswith((".sh", ".bash")) or text.startswith("#!"):
            self._folder.make_executable(path)

    def _written_before(self, slug: str) -> set[str] | None:
        """The digests of the scripts that the page on disk names; None where that page knows of none."""
        text = self._folder.read_text(skill_path(slug), errors="replace")
        if text is None or origin_of(text) in ("merged", "foreign"):
            return None
        page = parse_page(text, skill_path(slug))
        listed = str(dict(skill_fields(page.fields)).get("scripts") or "")
        return {each.rpartition(":")[2].strip() for each in listed.split(",")}

    def remove(self, slug: str) -> None:
        """Take away all of a skill's scripts."""
        for name in self.names(slug):
            self._folder.remove(f"skills/{slug}/scripts/{name}")
