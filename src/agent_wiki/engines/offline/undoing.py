"""Whether the agent reverted, after the user's words, what it had done before them."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession, edit_old_text, edit_text
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_REVERTS = regex(r"\bgit (?:revert|restore|reset|checkout [^\n;&|]{0,80}--)")
_SHORTEST_LINE = 12
_WITHIN_CALLS = 12


def undoing(session: MinedSession, turn: int) -> Call | None:
    """The first call after `turn`, before the user speaks again, that removes what an edit before it had written."""
    written = {
        line.strip() for edit in session.edits if edit.turn < turn for line in edit_text(edit).splitlines()
    } - _read_before(session, turn)
    for call in session.calls_after(turn, _WITHIN_CALLS):
        if any(session.message(each).role == "user" for each in range(turn + 1, call.turn)):
            return None
        kept = {line.strip() for line in edit_text(call).splitlines()}
        removed = {line.strip() for line in edit_old_text(call).splitlines()} - kept
        is_reverted = any(len(line) >= _SHORTEST_LINE for line in removed & written)
        if call.mark is None and (is_reverted or _REVERTS.search((call.command() or "")[:2000])):
            return call
    return None


def _read_before(session: MinedSession, turn: int) -> set[str]:
    """Lines that edits had replaced: they were there before."""
    return {line.strip() for edit in session.edits if edit.turn < turn for line in edit_old_text(edit).splitlines()}
