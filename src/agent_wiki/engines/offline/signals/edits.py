"""What edits teach: a refused edit that was corrected, a name that the agent says it corrected (signals 5 and 10)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession, edit_old_text, edit_text
from agent_wiki.engines.offline.generalize import WELL_KNOWN_FILES
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, tag
from agent_wiki.shell.tools import EDIT_TOOLS
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 4
_INDENTATION = regex(r"IndentationError|unexpected indent|unindent does not match|expected an indented block")
_INDENT = Wording(
    "edits/keep-indentation",
    "Keep indentation in replacement text",
    "Give replacement text the indentation of the lines it replaces: an edit tool puts it in as it stands.",
    "Lines of an indented block are to be replaced by line number.",
    ("editing", "indentation", "python"),
)
_NAME = r"`(?P<{}>[A-Za-z_][\w.-]{{1,50}}(?:\(\))?)`"
_CORRECTED = tuple(
    regex(pattern.replace("NEW", _NAME.format("new")).replace("OLD", _NAME.format("old")))
    for pattern in (
        r"(?:should be|must be|has to be|is called|needs?|expects?|use|using) NEW,? (?:instead of|rather than|not) OLD",
        r"OLD (?:is|was|has been) (?:deprecated|renamed|removed|replaced).{0,60}?NEW",
        r"(?:replace|change) OLD (?:with|by|to) NEW",
    )
)
_TROUBLE = regex(
    r"\b(?:schema|error|warning|deprecat|unknown|invalid|not allowed|unsupported|renamed|removed|fail|diagnostic|no "
    r"longer)\w*\b",
    re.IGNORECASE,
)


def lessons(session: MinedSession) -> list[Lesson]:
    """Lessons from edits that were refused and repeated, and from names corrected in well-known files."""
    found: list[Lesson] = []
    for call in session.calls:
        if call.name.lower() in EDIT_TOOLS:
            found += _indentation(session, call) if has_failed(call) else _corrected(session, call)
    return found


def _indentation(session: MinedSession, failed: Call) -> list[Lesson]:
    """The same lines again, otherwise indented, are accepted."""
    match = _INDENTATION.search((failed.result or "")[:4000])
    if not match:
        return []
    for later in session.calls[failed.position + 1 : failed.position + 1 + _WITHIN_CALLS]:
        old, new = _new_text(failed), _new_text(later)
        is_again = later.name == failed.name and not has_failed(later)
        if is_again and old != new and _bare(old) == _bare(new) and _bare(old):
            evidence = [session.quote(failed.result_turn, _line_with(failed.result or "", match[0]))]
            evidence += [session.quote(failed.turn, old), session.quote(later.turn, new)]
            rationale = f"`{failed.name}` refused the lines with `{match[0]}`, and took them with their indentation."
            return lesson(_INDENT, rationale, evidence, {failed.turn}, 74, remedy=later.turn, confirmed=later.turn)
    return []


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
                line = _line_with(text, match[0])
                rationale = f'The agent found the cause and put it right: "{plain_line(line, 200)}".'
                evidence = [session.quote(turn, line), session.quote(edit.turn, edit_text(edit))]
                return lesson(wording, rationale, evidence, {edit.turn}, 70, remedy=edit.turn)
    return []


def _swaps(edit: Call, old: str, new: str) -> bool:
    before, after = edit_old_text(edit), edit_text(edit)
    return old in before and new in after and old not in after and new not in before


def _new_text(call: Call) -> str:
    value = call.arguments.get("replacement_text")
    return value if isinstance(value, str) else edit_text(call)


def _bare(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _line_with(text: str, piece: str) -> str:
    return next((line.strip() for line in text.splitlines() if piece in line), "")
