"""The harness's own rule for replies (signal 8)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.engines.offline.tables import written
from agent_wiki.wiki.text import plain_line

_HARNESS, _MOST_READ = ("harness", "reply-format"), 600
# What a harness asks for, and the rule that it is.
_RULES = (
    (
        written("one_command", re.IGNORECASE),
        Wording(
            "safeguards/one-command",
            "Put one command in each reply",
            "Write exactly one command block in each reply; put alternatives and second thoughts into plain text.",
            "A harness that takes the command from a code block in the reply.",
            _HARNESS,
        ),
    ),
    (
        written("a_tool_call", re.IGNORECASE),
        Wording(
            "safeguards/tool-call",
            "Call a tool in each reply",
            "Call a tool in each reply until the work is handed in: a reply of words alone is refused.",
            "A harness that carries out the tool call of each reply, and answers `No tool calls found`.",
            _HARNESS,
        ),
    ),
)


def lessons(session: MinedSession) -> list[Lesson]:
    """The harness refuses a reply for its commands; the next reply is carried out. One lesson for each of its rules."""
    return [lesson for asks, wording in _RULES for lesson in _refused(session, asks, wording)]


def _refused(session: MinedSession, asks: re.Pattern[str], wording: Wording) -> list[Lesson]:
    messages = session.trajectory.messages
    for turn, message in session.trajectory.turns():
        text = message.content or ""
        match = asks.search(text[:_MOST_READ]) if message.mark == "injected" else None
        if match is None or not 2 <= turn < len(messages) or messages[turn - 2].tool_calls:
            continue
        if len(messages[turn].tool_calls) == 1:
            start = text.rfind("\n", 0, match.start()) + 1
            line = text[start : match.end() + 120].partition("\n")[0]
            answered = f"The harness carried nothing out and answered `{plain_line(line, 120)}`"
            rationale = f"{answered}; the next reply, with one call, was carried out."
            evidence = [session.quote(turn, line)]
            return lesson(wording, rationale, evidence, {turn}, 56, remedy=turn + 1, confirmed=turn + 1)
    return []
