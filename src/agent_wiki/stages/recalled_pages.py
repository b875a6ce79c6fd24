"""Pages of a wiki that a session read: what an engine says came of them, checked against what the recording shows."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from agent_wiki.engine import Answer, Problem
from agent_wiki.pages.sessions import RecallEntry, RecallStatus
from agent_wiki.recall.reads import WikiRead
from agent_wiki.shell.result_lines import MOST_QUOTED
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import is_verbatim
from agent_wiki.wiki.layout import page_id, page_title


class RecalledPage(Answer):
    """A page of a wiki that the session read, and what came of it."""

    page: str = Field(description="The page as the session named it, relative to the wiki's folder.")
    status: RecallStatus = Field(description="`ignored` unless a later turn shows that something came of it.")
    turn: int | None = Field(default=None, ge=1, description="The turn of the quote.")
    quote: str | None = Field(
        default=None, max_length=MOST_QUOTED, description="Verbatim, required for every status but `ignored`."
    )


def checked_recall(recalled: RecalledPage, trajectory: Trajectory) -> RecalledPage | None:
    """The page, without a quote that is not verbatim; None where its status needs the quote."""
    if recalled.quote and is_verbatim(trajectory, recalled.turn or 0, recalled.quote):
        return recalled
    if recalled.status != "ignored":
        return None
    return recalled.model_copy(update={"turn": None, "quote": None}) if recalled.quote else recalled


class PagesRead:
    """The pages that the recording of a session shows to be read, each with its first read."""

    def __init__(self, reads: Sequence[WikiRead]) -> None:
        self._named = {page_id(read.page): read for read in reversed(reads) if not read.is_index}
        self._shown: dict[str, WikiRead] = {}
        for read in reads:
            if read.shows_page:
                self._shown.setdefault(page_id(read.page), read)

    def recalled(
        self, claims: Sequence[RecalledPage], first_turn: int, last_turn: int, dropped: list[Problem]
    ) -> list[RecalledPage]:
        """Of what an engine says of the pages of an arc that which was read, and the arc's other reads.

        A page that was not read, or that was read after the quoted turn, goes to `dropped`; a page that was read in the
        arc and not mentioned is `ignored`. How a page was used is for the engine to say. A page that a search only
        listed may have been used, and cannot have been ignored.
        """
        claimed = {page_id(each.page): each for each in reversed(claims)}
        unread = [name for name, each in claimed.items() if not _is_after(each, self._named.get(name))]
        dropped += [
            Problem("recalled", f"{claimed[name].page}: the session had not read it") for name in reversed(unread)
        ]
        found = [
            each
            for name, each in reversed(claimed.items())
            if name not in unread and (name in self._shown or each.status != "ignored")
        ]
        return found + [
            RecalledPage(page=read.page, status="ignored")
            for name, read in self._shown.items()
            if first_turn <= read.turn <= last_turn and (name not in claimed or name in unread)
        ]


def _is_after(recalled: RecalledPage, read: WikiRead | None) -> bool:
    if read is None or recalled.turn is None:
        return read is not None
    return recalled.turn >= read.turn if read.script else recalled.turn > read.turn


def recall_entry(recalled: RecalledPage) -> RecallEntry:
    """A recalled page as a session's record holds it."""
    page = page_id(recalled.page), page_title(recalled.page), recalled.status
    return RecallEntry(*page, recalled.quote, recalled.turn) if recalled.quote else RecallEntry(*page)
