"""Rows of kind `episode`: what a session tried in vain or believed wrongly, as one short row that leads to its summary.

An episode is no page. It is what a summary lists under its dead ends, as far as it says why; a dead end that names no
more than what was dropped helps nobody who was not there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from agent_wiki.pages.sessions import Arc, NotedTurn, Session
from agent_wiki.pages.support import Joined
from agent_wiki.trajectory.evidence import least_trusted
from agent_wiki.wiki.kinds import EPISODE
from agent_wiki.wiki.layout import episode_id
from agent_wiki.wiki.scopes import REPOSITORY
from agent_wiki.wiki.text import plain_line

_MOST_CHARACTERS = 240  # of a summary in the index, and of a request
MOST_TAG_CHARACTERS = 80  # in a row of the index
_FEWEST_WORDS = 10  # besides code: fewer name what was dropped, and not why
_CODE = re.compile(r"`[^`]*`")


def episode_row(
    session: Session, path: str, arc: Arc, tags: Sequence[str], left_out: Collection[int] = ()
) -> dict[str, Any] | None:
    """The row of an arc's dead ends; None where it has none that says why. `left_out`: turns that are not shown."""
    notes = [note for note in arc.dead_ends if note.turn not in left_out and _says_why(note)]
    if not notes:
        return None
    row: dict[str, Any] = {
        "kind": EPISODE,
        "id": episode_id(path),
        "title": plain_line(arc.title or arc.goal, _MOST_CHARACTERS),
        "tags": [plain_line(tag, MOST_TAG_CHARACTERS) for tag in tags],
        "trigger": plain_line(arc.goal, _MOST_CHARACTERS),
        "summary": plain_line(" ".join(note.text for note in notes), _MOST_CHARACTERS),
        "link": path,
    }
    trusts = [note.trust for note in notes if note.trust is not None]
    if trusts:
        row["trust"] = least_trusted(trusts)
    if session.record.repository:
        row["scope"] = f"{REPOSITORY}:{session.record.repository}"
    return row


def rejected_turns(rejected: Collection[Joined[Any]], session_id: str) -> list[int]:
    """The turns of a session that bear lessons which the owner retired: no episode brings these back."""
    contributions = (each for joined in rejected for each in joined.contributions)
    own = (each.entry for each in contributions if each.session.session_id == session_id)
    return sorted({cited.turn for entry in own for cited in entry.evidence})


def _says_why(note: NotedTurn) -> bool:
    return len(_CODE.sub("", note.text).split()) >= _FEWEST_WORDS
