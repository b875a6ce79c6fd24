"""What consolidating worked out of the guidelines' words: `.wiki/compared.json`. Without it all is compared again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent_wiki import __version__
from agent_wiki.pages.compare.likenesses import Compared
from agent_wiki.wiki.store import WikiFolder

NAME = "compared.json"
_VERSION = [1, __version__]


@contextmanager
def remembered(folder: WikiFolder, compared: Compared) -> Iterator[None]:
    """Inside, `compared` has what the last run kept; afterwards it is kept for the next one, where it has changed."""
    kept = folder.read_cache(NAME)
    if isinstance(kept, dict) and kept.get("version") == _VERSION:
        compared.lines, compared.alike = kept["lines"], kept["alike"]
    before = (compared.lines, compared.alike)
    yield
    if (compared.lines, compared.alike) != before:
        folder.write_cache(NAME, {"version": _VERSION, "lines": compared.lines, "alike": compared.alike})
