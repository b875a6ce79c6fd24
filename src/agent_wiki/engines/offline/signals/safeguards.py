"""The harness's own rule for replies (signal 8)."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson, WordedEntry, lesson
from agent_wiki.engines.offline.tables import AnyOf, entries
from agent_wiki.wiki.text import plain_line

_MOST_READ = 600


class HarnessRule(WordedEntry):
    """One entry of `tables/safeguards.toml`: `asks` is how a harness words it when it refuses a reply."""

    asks: AnyOf


def lessons(session: MinedSession) -> list[Lesson]:
    """The harness refuses a reply for its commands; the next reply is carried out. One lesson for each of its rules."""
    return [lesson for rule in entries("safeguards", HarnessRule) for lesson in _refused(session, rule)]


def _refused(session: MinedSession, rule: HarnessRule) -> list[Lesson]:
    messages = session.trajectory.messages
    for turn, message in session.trajectory.turns():
        text = message.content or ""
        match = rule.asks.search(text[:_MOST_READ]) if message.mark == "injected" else None
        if match is None or not 2 <= turn < len(messages) or messages[turn - 2].tool_calls:
            continue
        if len(messages[turn].tool_calls) == 1:
            start = text.rfind("\n", 0, match.start()) + 1
            line = text[start : match.end() + 120].partition("\n")[0]
            answered = f"The harness carried nothing out and answered `{plain_line(line, 120)}`"
            rationale = f"{answered}; the next reply, with one call, was carried out."
            evidence = [session.quote(turn, line)]
            return lesson(rule.wording, rationale, evidence, {turn}, 56, remedy=turn + 1, confirmed=turn + 1)
    return []
