"""The bytes of `_index.jsonl`, from a folder that nobody vouches for. A hook reads it at the start of each session."""

from __future__ import annotations

import stat
from pathlib import Path

from agent_wiki.errors import RunError
from agent_wiki.wiki.layout import INDEX
from agent_wiki.wiki.missing import no_wiki


def index_bytes(wiki: Path) -> bytes:
    """The bytes of the index. Raises `UsageError` if the folder is not a wiki, `RunError` for a link."""
    index = wiki / INDEX
    try:
        if not stat.S_ISREG(index.lstat().st_mode):
            raise RunError(f"{index}: not a regular file; a link is never followed")
        return index.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise no_wiki(wiki) from None
    except OSError as error:
        raise RunError(f"{index}: cannot read ({error.strerror})") from error
