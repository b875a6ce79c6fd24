"""A wiki of two sessions, and what its owner does to its pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent_wiki.pipeline.owners_pages import reject
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval.page_names import files_named
from agent_wiki.wiki.page import parse_page
from tests.wikis import Script, ingest, record, rule, skill

ONE, TWO = "Run `make check` before each change of the cart.", "Read the log of the check."
SKILL = "skills/check-the-cart/SKILL.md"
SCRIPT = "skills/check-the-cart/scripts/check.sh"
CATALOG = ("catalog",)
CHECK = "#!/bin/sh\nmake check\n"


def two_sessions(folder: Path) -> Script:
    """What the engine says of them: two rules, and a skill with a script."""
    told = Script(folder)
    files = [{"file": "check.sh", "text": CHECK}]
    told.says("a", rules=[rule(ONE), rule(TWO, tags=["logs"])], skill=skill("check-the-cart", scripts=files))
    told.says("b", rules=[rule(ONE)])
    return told


def wiki_of_two_sessions(folder: Path, script: Script) -> Path:
    """A wiki of two sessions: two rules, a skill with a script."""
    paths = [record(folder / "t", "a", writes={"check.sh": CHECK}), record(folder / "t", "b")]
    assert ingest(paths, folder / "wiki", script.engine, archive_covered=False).exit_code == 0
    return folder / "wiki"


def page_of(wiki: Path, text: str) -> str:
    """The path of the page, archived or not, that states this rule."""
    pages = [page for folder in ("guidelines", "_archived") for page in (wiki / folder).glob("*__*.md")]
    (path,) = (page for page in pages if parse_page(page.read_text(encoding="utf-8"), "").lead == text)
    return path.relative_to(wiki).as_posix()


def edit(wiki: Path, path: str, old: str = "", new: str = "A word of mine.\n") -> str:
    """Put `new` in the place of `old`, or at the end; the text of the file then."""
    file = wiki / path
    text = file.read_text(encoding="utf-8")
    edited = text.replace(old, new, 1) if old else text + new
    assert edited != text
    file.write_text(edited, encoding="utf-8")
    return edited


def catalog(wiki: Path) -> Report:
    return ingest([], wiki, "offline", stages=CATALOG)


def did(act: Callable[[Path, list[str], Report], Report], wiki: Path, *names: str) -> Report:
    return act(wiki, files_named(wiki, names), Report("test", str(wiki)))


def rejected(wiki: Path, *names: str, why: str = "", for_good: bool = False) -> Report:
    return reject(wiki, files_named(wiki, names), why, Report("reject", str(wiki)), for_good=for_good)
