"""Which wiki a command means; and `wiki catalog` of one in which nothing has changed, answered before all imports.

The parser of the command line takes as long to load as looking at fifty thousand files does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_DEFAULT_WIKI = Path("wiki")


def wiki_folder(named: Path | None) -> Path:
    """The wiki that was named; else `wiki` here; else the nearest one above, up to the repository's root.

    In a linked worktree that has none, the main checkout's. Outside of a repository only `wiki` here: one further up
    may be another project's, and the hooks look no further either.
    """
    from agent_wiki.trajectory.checkout import folders_of_checkout, folders_of_main_checkout

    here = Path.cwd()
    return named or _nearest(here, (*folders_of_checkout(here), *folders_of_main_checkout(here)))


def shared_wiki_folder(named: Path | None) -> Path:
    """The same for an agent at work: in a linked worktree the main checkout's wiki, into which its hooks mine."""
    from agent_wiki.trajectory.checkout import folders_of_main_checkout

    here = Path.cwd()
    shared = next(filter(_is_wiki, (each / _DEFAULT_WIKI for each in folders_of_main_checkout(here))), None)
    return named or shared or wiki_folder(None)


def _nearest(here: Path, folders: Iterable[Path]) -> Path:
    found = next((each for each in folders if _is_wiki(each / _DEFAULT_WIKI)), here)
    return _DEFAULT_WIKI if found == here else found / _DEFAULT_WIKI


def _is_wiki(folder: Path) -> bool:
    return (folder / "_config.yaml").is_file()


def is_catalogued(words: Sequence[str]) -> bool:
    """Whether a command line is `wiki catalog [--wiki FOLDER]` and all is up to date; if so, the report is printed."""
    match words:
        case ["catalog"]:
            wiki = wiki_folder(None)
        case ["catalog", "--wiki", named]:
            wiki = Path(named)
        case _:
            return False
    from agent_wiki.pipeline.finished import nothing_to_catalog
    from agent_wiki.pipeline.report import Report

    pages = nothing_to_catalog(wiki)
    if pages is None:
        return False
    report = Report("catalog", str(wiki))
    report.leave_unchanged(pages)
    sys.stdout.write("".join(f"{line}\n" for line in report.lines()))
    return True
