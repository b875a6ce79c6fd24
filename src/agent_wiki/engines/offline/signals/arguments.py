"""A tool refuses a call, and works with other arguments or after another call (signals 8 and 12)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, innermost_error, lesson, tag
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.shell.result_lines import error_line
from agent_wiki.shell.tools import EDIT_TOOLS, bare_tool_name
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 16
_LOOKS_UP = regex(r"^(?:get|find|search|list|look_?up|query|fetch|show|read|view|describe|calculate)(?:[_A-Z]|$)")
_READS = named("reads")

_WANTS_ARGUMENT = written("wants_argument")
_EVERY_AGENT_KNOWS = frozenset("path file_path filePath command content query pattern url text input cmd".split())  # noqa: SIM905


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each refused call that was corrected by other arguments or by another call before it."""
    found: list[Lesson] = []
    for failed in session.calls:
        found += (*_prepared(session, failed), *_missing(session, failed))
    return found


def _next_success(session: MinedSession, failed: Call) -> Call | None:
    """The next carried out call of the same tool, when it is not the same call again."""
    for later in session.calls[failed.position + 1 : failed.position + 1 + _WITHIN_CALLS]:
        if later.name == failed.name and later.mark is None and later.result is not None and not has_failed(later):
            return later if later.arguments != failed.arguments else None
    return None


def _missing(session: MinedSession, failed: Call) -> list[Lesson]:
    """A tool says which argument is missing, is given it besides the others, and works."""
    is_own = failed.command() is not None or bare_tool_name(failed.name).lower() in EDIT_TOOLS  # its schema is at hand
    head = (failed.result or "")[:600] if has_failed(failed) and not is_own else ""
    match = _WANTS_ARGUMENT.search(head)
    name = next(filter(None, match.groups()), "") if match else ""
    worked = _next_success(session, failed) if name and name not in _EVERY_AGENT_KNOWS else None
    if worked is None or failed.arguments.get(name) or not worked.arguments.get(name) or not failed.arguments:
        return []
    if not _asks_alike(failed, worked):
        return []
    line, action = error_line(head), failed.arguments.get("action") or failed.arguments.get("command")
    where = f" for the action `{action}`" if isinstance(action, str) and action and action in head else ""
    wording = Wording(
        "arguments/missing",
        f"Give {failed.name} its {name}",
        f"Give `{failed.name}` the argument `{name}`{where}: without it the call is refused.",
        f"`{failed.name}` is to be called{where}, or answers that `{name}` is missing.",
        (tag(failed.name, "tool", most=40), tag(name), "tool-arguments"),
    )
    return _lesson(session, failed, worked, wording, line, f"it worked with `{name}`", 72)


def _prepared(session: MinedSession, failed: Call) -> list[Lesson]:
    """One other tool, called in between, is what makes the same tool work."""
    if not has_failed(failed) or failed.command() is not None or failed.name.lower() in _READS | EDIT_TOOLS:
        return []
    result = failed.result or ""
    line = innermost_error(result) or error_line(result[:600])
    name = error_name(line, session)
    between: list[Call] = []
    for later in session.calls[failed.position + 1 : failed.position + 1 + _WITHIN_CALLS]:
        if later.name != failed.name:
            between.append(later)
            continue
        steps = {each.name for each in between if not has_failed(each) and each.mark is None}
        is_again = not has_failed(later) and later.mark is None and later.result is not None
        if not is_again or len(steps) != 1 or name is None or not _is_step(between[-1]):
            return []
        step = between[-1].name
        if not _asks_alike(failed, later) or not _names(step) & (
            _names(failed.name) | set(re.findall(r"[a-z]+", line.lower()))
        ):
            return []  # nothing but their order speaks for it
        wording = Wording(
            "arguments/preparing-call",
            f"Call {step} before {failed.name} again",
            f"Call `{step}` before trying `{failed.name}` again when `{failed.name}` answers `{name}`.",
            f"`{failed.name}` answers `{name}`.",
            (tag(failed.name, "tool", most=40), tag(step, "tool", most=40), "tool-order"),
        )
        rationale = f"`{failed.name}` answered `{plain_line(line, 200)}`; after `{step}` it worked."
        evidence = [session.quote(failed.result_turn, line), session.quote(between[-1].turn, between[-1].raw_arguments)]
        return lesson(wording, rationale, evidence, {failed.turn}, 67, remedy=between[-1].turn, confirmed=later.turn)
    return []


def _asks_alike(failed: Call, later: Call) -> bool:
    """The call is made again, and not for something else."""
    same = sum(later.arguments.get(name) == value for name, value in failed.arguments.items())
    return 2 * same > len(failed.arguments) or not failed.arguments


def _names(tool: str) -> set[str]:
    """The things that a tool's name names: `push_files` → files."""
    words = re.findall(r"[A-Z]?[a-z]+", bare_tool_name(tool))
    return {word.lower().rstrip("s") for word in words[1:]}


def _is_step(call: Call) -> bool:
    """A call that changes something: no shell, no edit, no look-up."""
    is_own = call.command() is None and call.name.lower() not in _READS | EDIT_TOOLS
    name = bare_tool_name(call.name)
    return is_own and not _LOOKS_UP.match(name) and not name.startswith(("wait", "think", "update_"))


def _lesson(
    session: MinedSession, failed: Call, worked: Call, wording: Wording, line: str, what: str, weight: int
) -> list[Lesson]:
    if not has_length_of_title(wording.title):
        return []
    rationale = f"`{failed.name}` answered `{plain_line(line, 200)}`; {what}."
    changes = (name for name, value in worked.arguments.items() if failed.arguments.get(name) not in (None, value))
    changed = next(changes, "")
    start = max(worked.raw_arguments.find(f'"{changed}"'), 0)
    evidence = [session.quote(failed.result_turn, line), session.quote(worked.turn, worked.raw_arguments[start:])]
    return lesson(wording, rationale, evidence, {failed.turn}, weight, remedy=worked.turn, confirmed=worked.turn)
