"""A failure that existed before, and the harness's own rule for replies (signals 15 and 8)."""

from __future__ import annotations

import re
from bisect import bisect_right

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.engines.offline.signals.runners import purpose
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_UNCHANGED = regex(
    r"\bgit (?:stash(?: push| save| -u|\s*(?:&&|;|$))|worktree add|checkout \S*(?:~\d|\^|origin/\S+|main|master)\b)"
)
_BEFORE = regex(
    r"\bpre-?existing\b|\balready (?:fail|broken|red)\w*|\bunrelated to (?:my|our|the|this|these)\b"
    r"|\b(?:fail\w*|broken) (?:on|without|before|even without) (?:the |my |our |these |this )?(?:main|master"
    r"|base|change\w*|clean)"
    r"|\bnot (?:caused by|related to|from) (?:my|our|the|this|these)\b",
    re.IGNORECASE,
)
_FINDING = regex(r"^(?:--- FAIL|FAILED? |FAIL:|ERROR:?|E  )|\b(?:[Ee]rror|FAILED|Exception)\b|^\S+:\d+:\d+: ")
_BASELINE = Wording(
    "safeguards/failing-before",
    "Check failures against unchanged code",
    "Run a check that fails in an unexpected place on the unchanged code too (`git stash` or a second worktree), "
    "and report "
    "what fails there as already failing.",
    "A test, build or linter fails in a place that the change does not touch.",
    ("testing", "git", "verification"),
)
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
    """Lessons about checks that failed before, and about refused replies."""
    return [*_baselines(session), *_refused_replies(session)]


def _baselines(session: MinedSession) -> list[Lesson]:
    """A check fails, fails on the unchanged code too, and the agent says so."""
    failed = [attempt for attempt in session.attempts if attempt.verdict == "failed" and _checks(attempt)]
    positions = [attempt.position for attempt in failed]
    for without in session.attempts:
        match = _UNCHANGED.search(without.line[:2000])
        if match is None:
            continue
        start = bisect_right(positions, without.position - 13)
        first = next((each for each in failed[start : start + 1] if each.position < without.position), None)
        again = _fails_again(session, without, first) if first else None
        if first is None or again is None:
            continue
        for turn, text in session.said(again.turn + 1, (again.result_turn or again.turn) + 6):
            said = _BEFORE.search(text)
            if said:
                sentence = _sentence_at(text, said.start())
                head, why = first.actions[-1].head, plain_line(sentence, 200)
                rationale = f"`{head}` failed; on the unchanged code it failed as well: {why}"
                evidence: list[CitedQuote | None] = [
                    session.quote(turn, sentence),
                    session.quote(without.turn, without.line),
                ]
                evidence.append(session.quote(first.turn, first.line))
                return lesson(
                    _BASELINE, rationale, evidence, {first.turn}, 63, remedy=without.turn, confirmed=again.turn
                )
    return []


def _checks(attempt: Attempt) -> set[str]:
    return {command.head for command in attempt.actions if purpose(command.head)}


def _fails_again(session: MinedSession, without: Attempt, first: Attempt) -> Attempt | None:
    """The same check with the same findings: a stash that cannot be restored is not a failed check."""
    known = _findings(first)
    for each in [without, *session.attempts_after(without, 3)]:
        if _checks(each) & _checks(first) and each.verdict == "failed" and known & _findings(each):
            return each
    return None


def _findings(attempt: Attempt) -> set[str]:
    """The lines that say what failed, without numbers."""
    lines = (line.strip() for line in attempt.output.splitlines()[:2000])
    return {re.sub(r"\d+", "0", line) for line in lines if len(line) < 300 and _FINDING.search(line)}


def _refused_replies(session: MinedSession) -> list[Lesson]:
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


def _sentence_at(text: str, position: int) -> str:
    start = max(text.rfind("\n", 0, position), text.rfind(". ", 0, position) + 1) + 1
    return text[start:].partition("\n")[0].strip()
