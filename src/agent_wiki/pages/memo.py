"""What a page was rendered from, in a digest: as long as it is the same, so is the page, and it need not be made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent_wiki.pages.sessions import Session


class Known(NamedTuple):
    """A page as it lies on disk: the digest of what it was rendered from, "" for unknown; its date and index line."""

    inputs: str
    date: str  # "" for none
    line: str


class Inputs:
    """Digests of what pages are rendered from.

    In: all sessions; by session id the digest of its record; the digest of the templates.
    """

    def __init__(self, sessions: Mapping[str, Session], records: Mapping[str, str], templates: str) -> None:
        self._templates = templates
        self._alone: dict[str, str] = {}
        self._sessions = {
            name: "\n".join((records[name], session.root_id, *session.paths))
            for name, session in sessions.items()
            if session.page is None and name in records
        }

    def digest(self, sessions: Iterable[Session], *more: object) -> str:
        """Of a page: the sessions that contribute to it and all else that it says, as values that `repr` tells apart.

        None is what the records say themselves: the pages of one session of which nothing else is said, as most are,
        share a digest. "" where a session has no record, which no known page has.
        """
        try:
            parts = [self._sessions[each.record.session_id] for each in sessions]
        except KeyError:
            return ""
        if len(parts) > 1 or any(each is not None for each in more):
            return self._digest(repr(more), *parts)
        if parts[0] not in self._alone:
            self._alone[parts[0]] = self._digest(parts[0])
        return self._alone[parts[0]]

    def _digest(self, *parts: str) -> str:
        text = "\n".join((self._templates, *parts))
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
