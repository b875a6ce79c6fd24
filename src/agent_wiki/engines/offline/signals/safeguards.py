"""The harness's own rule for replies (signal 8)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.trajectory.lazily import regex

_ONE_COMMAND = regex(
    r"(?:exactly one|only one|a single|one and only one) (?:action|command|tool call|code block|bash block)\b"
    r"|(?:found|got|received) [02-9] (?:actions|commands|code blocks)",
    re.IGNORECASE,
)
_ONE_BLOCK = Wording(
    "safeguards/one-command",
    "Put one command in each reply",
    "Write exactly one command block in each reply; put alternatives and second thoughts into plain text.",
    "A harness that takes the command from a code block in the reply.",
    ("harness", "reply-format"),
)


def lessons(session: MinedSession) -> list[Lesson]:
    """The harness refuses a reply for its commands; the next reply with one is carried out."""
    messages = session.trajectory.messages
    for turn, message in session.trajectory.turns():
        match = _ONE_COMMAND.search((message.content or "")[:600]) if message.mark == "injected" else None
        if match is None or not 2 <= turn < len(messages) or messages[turn - 2].tool_calls:
            continue
        if len(messages[turn].tool_calls) == 1:
            line = (message.content or "")[: match.end() + 120]
            rationale = (
                "The harness carried nothing out and asked for one command; the next reply, with one, was carried out."
            )
            start = line.rfind("\n", 0, match.start()) + 1
            evidence = [session.quote(turn, line[start:].partition("\n")[0])]
            return lesson(_ONE_BLOCK, rationale, evidence, {turn}, 56, remedy=turn + 1, confirmed=turn + 1)
    return []
