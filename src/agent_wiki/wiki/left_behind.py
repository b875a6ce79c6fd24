"""Temporary files that a run left in `.wiki/` because it was killed while it wrote."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agent_wiki.wiki.layout import MACHINERY

_TEMPORARY = re.compile(r"(?:\..+\.)?(\d{1,10})\.tmp")  # as `store` and `replacing` name them, with the process


def left_behind(root: Path) -> list[str]:
    """The temporary files of processes that no longer run, by path in the wiki, sorted."""
    found: list[str] = []
    for folder, folders, names in os.walk(root / MACHINERY):
        folders[:] = [name for name in folders if not Path(folder, name).is_symlink()]
        for name in names:
            match = _TEMPORARY.fullmatch(name)
            if match is not None and not _runs(int(match[1])):
                found.append(Path(folder, name).relative_to(root).as_posix())
    return sorted(found)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # somebody else's
    return True
