"""What is said where a wiki was to be and is none: in one sentence, with the wikis that lie beside."""

from __future__ import annotations

import os
import shlex
from itertools import islice
from pathlib import Path

from agent_wiki.errors import UsageError
from agent_wiki.wiki.layout import CONFIG, INDEX, SESSIONS
from agent_wiki.wiki.text import plain_line

_MOST_LOOKED_AT = 1_000
_LONGEST_NAME = 1_000  # a path that is cut cannot be copied


def require_folder(folder: Path, *, is_named_by_option: bool = True) -> None:
    """Raise `UsageError` where there is no such folder."""
    if not folder.is_dir():
        raise no_wiki(folder, is_named_by_option=is_named_by_option)


def no_wiki(folder: Path, *, is_named_by_option: bool = True) -> UsageError:
    """That this folder is no wiki, and which one beside it is; else how one is made.

    Of a wiki that is unfinished, what completes it. `is_named_by_option`: a command asks for it.
    """
    place = _shown(folder)
    if _is_unfinished(folder):
        name = shlex.quote(plain_line(str(folder), _LONGEST_NAME))
        return UsageError(
            f"{place}: an unfinished wiki, with records of sessions and without an index; "
            f"`wiki ingest PATH --wiki {name}` completes it, and `wiki catalog --wiki {name}` what is recorded so far"
        )
    beside = min(_wikis_in(folder.parent), default=None)
    if beside is None:
        return UsageError(
            f"{place}: no wiki here; `wiki ingest PATH` makes one of recordings, `wiki init` an empty one"
        )
    name = plain_line(str(folder.parent / beside), _LONGEST_NAME)
    how = ": name it with --wiki" if is_named_by_option else ""
    return UsageError(f"{place}: no wiki here; {name} is one{how}")


def _shown(folder: Path) -> str:
    """The folder's path; a bare name, which follows the command's own, is shown as what lies here."""
    return str(folder) if folder.is_absolute() or len(folder.parts) != 1 else f"./{folder}"


def _is_unfinished(folder: Path) -> bool:
    """Whether a first run ended, as on a full disk, after it had written records and before it wrote the index."""
    return not (folder / INDEX).exists() and any((folder / SESSIONS).glob("*.json"))


def _wikis_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [each.name for each in islice(entries, _MOST_LOOKED_AT) if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [name for name in names if all((folder / name / file).is_file() for file in (CONFIG, INDEX))]
