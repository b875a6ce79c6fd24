"""The harness's own rules for replies (signal 8)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson, WordedEntry, lesson
from agent_wiki.engines.offline.tables import AnyOf, entries
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_SEVERAL = 2
_FOUND = regex(r"(?i:(?:found|got|received) [2-9] )")
_MOST_READ = 300  # a refusal says at its start what it wants
_BLOCK = regex(r"^ {0,3}```\w*\s*\n.+?^ {0,3}```", re.MULTILINE | re.DOTALL)


class HarnessRule(WordedEntry):
    """One entry of `tables/safeguards.toml`: `asks` is how a harness words it when it refuses a reply.

    `refuses_several`: it refuses a reply that has several commands, and not one that has none.
    """

    asks: AnyOf
    refuses_several: bool = False


def lessons(session: MinedSession) -> list[Lesson]:
    """The harness refuses a reply for its commands; the next is carried out. One lesson for each of its rules."""
    return [each for rule in entries("safeguards", HarnessRule) for each in _refused(session, rule)]


def _refused(session: MinedSession, rule: HarnessRule) -> list[Lesson]:
    messages = session.trajectory.messages
    for turn, message in session.trajectory.turns():
        text = message.content or ""
        match = rule.asks.search(text[:_MOST_READ]) if message.mark == "injected" else None
        refused = messages[turn - 2] if match and 2 <= turn < len(messages) else None
        if (
            match is None
            or refused is None
            or refused.tool_calls
            or text[:_MOST_READ].strip() in (refused.content or "")
        ):
            continue  # a plan that is handed on to another model refuses nothing
        if rule.refuses_several and len(_BLOCK.findall(refused.content or "")) < _SEVERAL and not _FOUND.search(text):
            continue
        if len(messages[turn].tool_calls) == 1:
            start = text.rfind("\n", 0, match.start()) + 1
            line = text[start : match.end() + 120].partition("\n")[0]
            answered = f"The harness carried nothing out and answered `{plain_line(line, 120)}`"
            rationale = f"{answered}; the next reply, with one call, was carried out."
            evidence = [session.quote(turn, line)]
            return lesson(rule.wording, rationale, evidence, {turn}, 56, remedy=turn + 1, confirmed=turn + 1)
    return []
