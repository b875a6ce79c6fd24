"""A name is not where the agent imports it from, and is found in another module (signals 7 and 9)."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, quote_line
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 14
_REFUSED = regex(
    r"^(?:ImportError: cannot import name '(\w{3,60})' from|ModuleNotFoundError: No module named) '([\w.]+)'"
)
_IMPORT = regex(r"\bfrom ([\w.]{1,80}) import (\w{3,60})\b")


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each name that was imported from a module without it and then from one that has it."""
    return [each for failed in session.attempts if failed.verdict == "failed" for each in _lesson(session, failed)]


def _lesson(session: MinedSession, failed: Attempt) -> list[Lesson]:
    line = next((each.strip() for each in failed.output.splitlines() if _REFUSED.match(each.strip())), None)
    match = _REFUSED.match(line) if line else None
    if line is None or match is None:
        return []
    for module, name in _IMPORT.findall(failed.line):
        if module != match[2] or (match[1] or name) != name:
            continue
        for later in session.attempts_after(failed, _WITHIN_CALLS):
            right = next((where for where, each in _IMPORT.findall(later.line) if each == name), None)
            if right and right != module and _is_package(right, module) and later.verdict == "passed":
                return _worded(session, (failed, later), name, (module, right), line)
    return []


def _is_package(right: str, wrong: str) -> bool:
    """Both are modules of one package: a name of this session's own code is no news to another."""
    return right.partition(".")[0] == wrong.partition(".")[0] and "." in wrong


def _worded(
    session: MinedSession, attempts: tuple[Attempt, Attempt], name: str, modules: tuple[str, str], line: str
) -> list[Lesson]:
    failed, worked = attempts
    wrong, right = modules
    package = right.partition(".")[0]
    wording = Wording(
        "imports/other-module",
        f"Import {name} from {right}",
        f"Import `{name}` from `{right}`: `{wrong}` does not have it.",
        f"About to import `{name}` of `{package}`.",
        (package.replace("_", "-"), "python", "imports"),
    )
    rationale = f"`{wrong}` answered `{line[:200]}`; the import from `{right}` worked."
    evidence = [quote_line(session, failed, line), session.quote(worked.turn, f"from {right} import {name}")]
    evidence.insert(1, session.quote(failed.turn, f"from {wrong} import {name}"))
    return lesson(wording, rationale, evidence, {failed.turn}, 74, remedy=worked.turn, confirmed=worked.turn)
