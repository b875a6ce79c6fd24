"""A check fails, an edit, the same check passes (signal 5): the lesson is what the finding says to use instead."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson
from agent_wiki.engines.offline.linters import Finding, findings
from agent_wiki.shell.edited_parts import edit_old_text, edit_text
from agent_wiki.trajectory.calls import Call

_WITHIN_CALLS = 25


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each failed check that an edit made pass, when a finding names a replacement."""
    found: list[Lesson] = []
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions and (named := findings(failed.output)):
            passed = _same_check_passes(session, failed)
            if passed is not None:
                found += _lesson(session, failed, passed, named)
    return found


def _same_check_passes(session: MinedSession, failed: Attempt) -> Attempt | None:
    heads = {command.head for command in failed.actions}
    passed = (each for each in session.attempts_after(failed, _WITHIN_CALLS) if each.verdict == "passed")
    return next((each for each in passed if heads & {command.head for command in each.actions}), None)


def _lesson(session: MinedSession, failed: Attempt, passed: Attempt, named: list[Finding]) -> list[Lesson]:
    edits = session.edits_between(failed.position, passed.position)
    for finding in named:
        edit = _adopts(edits, finding)
        if finding.replacement and edit:
            return _replaced(session, failed, passed, finding, edit)
    return []


def _adopts(edits: list[Call], finding: Finding) -> Call | None:
    """The edit that inserted the replacement where it was not before."""
    if finding.replacement is None:
        return None
    new = finding.replacement[1]
    return next((edit for edit in edits if new in edit_text(edit) and new not in edit_old_text(edit)), None)


def _replaced(session: MinedSession, failed: Attempt, passed: Attempt, finding: Finding, edit: Call) -> list[Lesson]:
    old, new = finding.replacement or ("", "")
    language = _language(edit)
    code = "tests" if re.search("[Tt]est", f"{finding.message} {finding.rule}") else "code"
    place = f" in {language.capitalize()} {code}" if language else ""
    wording = Wording(
        "linters/use-instead",
        f"Use {new} instead of {old}",
        f"Use `{new}` instead of `{old}`{place}: the linter rule `{finding.rule}` asks for it.",
        f"Writing `{old}`{place}.",
        tuple(filter(None, (language, "linting", finding.rule.lower()))),
    )
    line = next((each for each in edit_text(edit).splitlines() if new in each), "")
    quoted = [(failed.result_turn, finding.line), (passed.turn, passed.line), (edit.turn, line)]
    why = f"`{failed.actions[0].head}` failed with `{finding.message}` ({finding.rule}) and passed after the edit."
    evidence = [session.quote(*each) for each in quoted]
    return lesson(wording, why, evidence, {failed.turn}, 82, remedy=edit.turn, confirmed=passed.turn)


def _language(edit: Call) -> str:
    extension = (edit.path() or "").rsplit(".", 1)[-1].lower()
    names = {"go": "go", "py": "python", "ts": "typescript", "tsx": "typescript", "js": "javascript", "rs": "rust"}
    return names.get(extension, "")
