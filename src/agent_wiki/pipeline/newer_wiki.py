"""A wiki that a newer version of this program wrote: it is read as far as it can be, and never written.

What this program cannot read it would make again in its own older form, and take out what was made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic_core import from_json

from agent_wiki.errors import NewerVersion, RunError, UnreadablePage
from agent_wiki.wiki import records
from agent_wiki.wiki.config import VERSION, version_of_config
from agent_wiki.wiki.corpus_records import RECORD_FOLDERS
from agent_wiki.wiki.form_versions import check_version, is_newer, newer
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder


def newer_files(
    problems: Iterable[UnreadablePage], config_version: int, *, is_refused: bool = True
) -> list[NewerVersion]:
    """The files of a wiki that are of a newer version: its configuration, and those of its problems.

    Raises `RunError` where there are such files and that `is_refused`.
    """
    found = [each for each in problems if isinstance(each, NewerVersion)]
    if is_newer(config_version, VERSION):
        found.insert(0, NewerVersion(CONFIG, newer(config_version, VERSION)))
    if found and is_refused:
        more = f" (and {len(found) - 1} more such files)" if found[1:] else ""
        raise RunError(f"{found[0]}{more}; nothing was written")
    return found


def refuse_newer_wiki(folder: WikiFolder) -> None:
    """Raise the same for who writes into a wiki that was not loaded; what cannot be read at all is passed over."""
    newer_files(_unreadable_records(folder), version_of_config(folder.text_or_empty(CONFIG)))


def _unreadable_records(folder: WikiFolder) -> Iterator[UnreadablePage]:
    for place in RECORD_FOLDERS:
        for path, content in folder.files_of(place.rstrip("/"), ".json"):
            try:
                check_version(from_json(content), path, records.VERSION)
            except UnreadablePage as error:
                yield error
            except ValueError:  # two versions between conflict markers, or damage
                continue
