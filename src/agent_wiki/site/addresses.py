"""Where things lie in the site: one page a lesson, one a session, lists at the top. Pure."""

from __future__ import annotations

from urllib.parse import quote

from agent_wiki.wiki.layout import ARCHIVE, caseless_file_stem, kind_of

START = "index.html"
SEARCH = "search.html"
REVIEW = "review.html"

_NO_FOLDER = str.maketrans("\\:", "--")


def lesson_file(path: str) -> str | None:
    """The site's file for a page of the wiki; None for summaries, which are part of their session's, and for others.

    No folder of the site begins with an underscore: static hosts that know Jekyll leave such folders out.
    """
    kind = kind_of(path)
    if kind is None or kind == "summary":
        return None
    folder, _, name = path.translate(_NO_FOLDER).rpartition("/")
    if kind == "skill":
        return f"{folder}.html"
    return f"{'archived' if folder == ARCHIVE else folder}/{name.removesuffix('.md')}.html"


def session_file(session_id: str) -> str:
    """The site's file for a session."""
    return f"sessions/{caseless_file_stem(session_id)}.html"


def list_file(section: str, number: int = 1) -> str:
    """The site's file for the n-th page of a list."""
    return f"{section}.html" if number == 1 else f"{section}-{number}.html"


def href(file: str, anchor: str = "") -> str:
    """A file of the site as an address from its top, ready for an attribute."""
    return quote(file) + (f"#{quote(anchor)}" if anchor else "")


def way_up(file: str) -> str:
    """What leads from a file of the site to its top: empty, or `../`."""
    return "../" * file.count("/")


def turn_anchor(turn: int) -> str:
    """The anchor of a turn in its session's page."""
    return f"t{turn}"
