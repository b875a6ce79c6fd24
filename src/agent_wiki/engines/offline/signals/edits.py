"""What edits teach: a name in a well-known file that the agent says it corrected (signal 10)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.generalize import WELL_KNOWN_FILES
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, tag
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.edited_parts import edit_old_text, edit_text
from agent_wiki.shell.tools import EDIT_TOOLS
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_NAME = r"`(?P<{}>[A-Za-z_][\w.-]{{1,50}}(?:\(\))?)`"
_CORRECTED = tuple(
    regex(pattern.replace("NEW", _NAME.format("new")).replace("OLD", _NAME.format("old")))
    for pattern in (
        r"(?:should be|must be|has to be|is called|needs?|expects?|use|using) NEW,? (?:instead of|rather than|not) OLD",
        r"OLD (?:is|was|has been) (?:deprecated|renamed|removed|replaced).{0,60}?NEW",
        r"(?:replace|change) OLD (?:with|by|to) NEW",
    )
)
_TROUBLE = written("trouble", re.IGNORECASE)


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from names corrected in well-known files."""
    edits = (call for call in session.calls if call.name.lower() in EDIT_TOOLS and not has_failed(call))
    return [lesson for edit in edits for lesson in _corrected(session, edit)]


def _corrected(session: MinedSession, edit: Call) -> list[Lesson]:
    """The agent says which name is right, and the edit replaces the wrong one with it."""
    file = (edit.path() or "").rsplit("/", 1)[-1]
    if file not in WELL_KNOWN_FILES or edit.mark is not None:
        return []
    for turn, text in session.said(edit.turn, edit.turn):
        for pattern in _CORRECTED:
            match = pattern.search(text[:1500])
            if match and _TROUBLE.search(text[:1500]) and _swaps(edit, match["old"], match["new"]):
                wording = Wording(
                    "edits/name-corrected",
                    f"Use {match['new']}, not {match['old']}, in {file}",
                    f"Use `{match['new']}` instead of `{match['old']}` in `{file}`.",
                    f"Writing `{file}`, or `{match['old']}` in it is reported as wrong.",
                    (tag(file, ""), "configuration"),
                )
                line = next((each.strip() for each in text.splitlines() if match[0] in each), "")
                rationale = f'The agent found the cause and put it right: "{plain_line(line, 200)}".'
                evidence = [session.quote(turn, line), session.quote(edit.turn, edit_text(edit))]
                return lesson(wording, rationale, evidence, {edit.turn}, 70, remedy=edit.turn)
    return []


def _swaps(edit: Call, old: str, new: str) -> bool:
    before, after = edit_old_text(edit), edit_text(edit)
    return old in before and new in after and old not in after and new not in before
