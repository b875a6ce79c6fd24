"""Which wiki a command means; and `wiki catalog` of one in which nothing has changed, answered before all imports.

The parser of the command line takes as long to load as looking at fifty thousand files does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

_DEFAULT_WIKI = Path("wiki")


def wiki_folder(named: Path | None) -> Path:
    """The wiki that was named; else `wiki` here; else the nearest one above, up to the repository's root."""
    if named is not None:
        return named
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / _DEFAULT_WIKI / "_config.yaml").is_file():
            return _DEFAULT_WIKI if folder == here else folder / _DEFAULT_WIKI
        if (folder / ".git").exists():
            break
    return _DEFAULT_WIKI


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
    from agent_wiki.report import Report

    pages = nothing_to_catalog(wiki)
    if pages is None:
        return False
    report = Report("catalog", str(wiki))
    report.leave_unchanged(pages)
    sys.stdout.write("".join(f"{line}\n" for line in report.lines()))
    return True
