"""A tool of the harness does not take a call, and takes it with the whole path of the file (signals 8 and 12).

It is the same thing, asked for in another way, so that nothing else can be the cause; and what a harness refuses is met
in every repository. That the lines to replace are not there is no lesson: agents look again unasked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, tag
from agent_wiki.shell.files_written import BEGIN_PATCH
from agent_wiki.shell.tools import bare_tool_name, tool_kind
from agent_wiki.shell.verdict import has_failed
from agent_wiki.stages.call_effects import KEPT_BACK
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 12
_MOST_HEAD = 600
_NO_FILE = regex(r"[Ff]ile not found|[Ff]ailed to read file to update|[Nn]o such file|does not exist")
_START = "the folder that the session began in"


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call that a tool refused."""
    found: list[Lesson] = []
    for failed in session.calls:
        line = _refusal(failed) if tool_kind(failed) == "edit" or failed.command() is not None else ""
        found += _whole_path(session, failed, line) if line else []
    return found


def _refusal(call: Call) -> str:
    """The line in which a tool that is no shell says that a file is not there; empty where none does."""
    is_shell = call.command() is not None and _tool(call) != "apply_patch"
    head = re.sub(r"</?\w+>", "", (call.result or "")[:_MOST_HEAD])
    if is_shell or call.mark is not None or not (has_failed(call) or KEPT_BACK.search(head)):
        return ""
    return next((line.strip() for line in head.splitlines() if _NO_FILE.search(line)), "")


def _tool(call: Call) -> str:
    """The tool's own name; of a patch that a shell was given, the program that takes it."""
    return "apply_patch" if BEGIN_PATCH in (call.command() or "") else bare_tool_name(call.name)


def _later(session: MinedSession, failed: Call) -> Iterator[Call]:
    """The calls made once the refusal was seen, as far as they went through."""
    seen = failed.result_turn or failed.turn
    for call in session.calls[failed.position + 1 : failed.position + 1 + _WITHIN_CALLS]:
        is_done = call.mark is None and call.result is not None and not has_failed(call)
        if call.turn >= seen and is_done and not KEPT_BACK.search((call.result or "")[:_MOST_HEAD]):
            yield call


def _whole_path(session: MinedSession, failed: Call, line: str) -> list[Lesson]:
    """The same edit is taken with a longer path of the same file."""
    for later in _later(session, failed):
        begin = _begin_of_path(failed, later) if later.name == failed.name else ""
        before = session.calls[: failed.position]
        if begin and any(begin.rstrip("/") in each.raw_arguments for each in before):  # the work was there
            return _lesson(session, failed, later, line)
    return []


def _begin_of_path(failed: Call, later: Call) -> str:
    """The folders with which a path begins in a call that is otherwise the same; empty where more is different."""
    begins = set()
    for name, value in failed.arguments.items():
        other = later.arguments.get(name)
        if not isinstance(value, str) or not isinstance(other, str) or value == other:
            continue
        at = next((n for n, (one, two) in enumerate(zip(value, other, strict=False)) if one != two), len(value))
        begin = other[at : at + len(other) - len(value)]
        is_put_in = other == value[:at] + begin + value[at:] and re.fullmatch(r"[^\s'\"]{1,200}/", begin)
        begins.add(begin if is_put_in else "")
    return begins.pop() if len(begins) == 1 and set(later.arguments) == set(failed.arguments) else ""


def _lesson(session: MinedSession, failed: Call, taken: Call, line: str) -> list[Lesson]:
    """In: the refused call, the one that was taken, and the line of the refusal."""
    tool, error = _tool(failed), _NO_FILE.search(line)
    title = f"Give {tool} whole paths"
    if error is None or not has_length_of_title(title):
        return []
    wording = Wording(
        "refusals/whole-path",
        title,
        f"Give `{tool}` the absolute path of a file, or the one from {_START}: a shorter one is looked up there, "
        "wherever the work is.",
        f"Files have to be edited elsewhere than in {_START}, or `{tool}` answers `{error[0]}`.",
        (tag(tool, "tool", most=40), "harness", "tool-arguments"),
    )
    evidence = [session.quote(failed.result_turn, line), session.quote(taken.turn, taken.raw_arguments)]
    rationale = f"`{tool}` answered `{plain_line(line, 160)}`; `{_tool(taken)}` went through with the longer path."
    return lesson(wording, rationale, evidence, {failed.turn}, 62, remedy=taken.turn, confirmed=taken.turn)
