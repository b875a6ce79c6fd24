"""Checks and the agent's way with them: a check weakened and restored, a failure that existed before, the harness's
own rule for replies (signals 6, 15 and 8)."""

from __future__ import annotations

import re
from bisect import bisect_right

from agent_wiki.engines.offline.attempts import Attempt, MinedSession, edit_old_text, edit_text
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.engines.offline.signals.runners import purpose
from agent_wiki.engines.offline.user_words import UserWords, user_words
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_SILENCED = regex(
    r"\bt\.Skip(?:f|Now)?\(|@pytest\.mark\.(?:skip|xfail)|\b(?:it|describe|test)\.skip\(|\bxit\(|//\s?nolint|#\s?noqa"
    r"|#\s?type: ignore|@ts-(?:ignore|expect-error)|eslint-disable|continue-on-error: true|\|\| true\b"
    r"|#\[ignore\]|@Disabled\b"
)
_OBJECTIONS_NEARBY = 3
_UNHOOKED = regex(r"\bgit (?:commit|push)\b[^\n;&|]{0,200}--no-verify")
_GATE = regex(
    r"\b(?:skip|disabl|ignor|suppress|silenc|bypass|hid(?:e|ing)|nolint|noqa|no-verify|work-?around"
    r"|proper(?:ly)?|actual(?:ly)? fix"
    r"|fix the (?:cause|root|actual|real))",
    re.IGNORECASE,
)
_FIX_GATES = Wording(
    "safeguards/silenced-failure",
    "Fix failures instead of silencing them",
    "Fix the cause of what a check or a hook reports; leave skips, suppressions and `--no-verify` to the user's "
    "decision.",
    "A test, a linter or a commit hook fails, and a skip or a suppression would get past it.",
    ("checks", "testing", "linting", "user-consent"),
)
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
    """Lessons about checks that were weakened or failed before, and about refused replies."""
    return [*_gates(session), *_baselines(session), *_refused_replies(session)]


def _gates(session: MinedSession) -> list[Lesson]:
    """A weakened check: the call is refused for it, or the user objects and it is restored. Reported once."""
    said = [words for words in user_words(session) if _GATE.search(words.text)] if session.has_workspace else []
    turns = [words.turn for words in said]
    for call in session.calls if said else ():
        mark = _weakens(call)
        start = bisect_right(turns, call.turn)
        for words in said[start : start + _OBJECTIONS_NEARBY] if mark else ():
            is_refused = words.rejected is not None and words.rejected.turn == call.turn
            if mark and (is_refused or _restored(session, words, mark)):
                rationale = (
                    f'`{mark}` was used to get past a check; the user objected: "{plain_line(words.text, 200)}".'
                )
                evidence = [session.quote(call.turn, _line_with(call, mark)), session.quote(words.turn, words.text)]
                return lesson(_FIX_GATES, rationale, evidence, {words.turn}, 87)
    return []


def _weakens(call: Call) -> str | None:
    """The mark by which a call weakens a check."""
    command = call.command()
    match = _UNHOOKED.search(command[:4000]) if command else None
    if match:
        return "--no-verify"
    new = edit_text(call)[:20_000] if command is None else ""
    match = _SILENCED.search(new)
    return match[0] if match and match[0] not in edit_old_text(call) else None


def _restored(session: MinedSession, words: UserWords, mark: str) -> bool:
    later = session.calls_after(words.turn, 30)
    if mark == "--no-verify":
        return any("git commit" in (call.command() or "") and mark not in (call.command() or "") for call in later)
    return any(mark in edit_old_text(call) and mark not in edit_text(call) for call in later)


def _line_with(call: Call, mark: str) -> str:
    text = call.command() or edit_text(call)
    return next((line for line in text.splitlines() if mark in line), text)


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
