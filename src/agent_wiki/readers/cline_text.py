"""What Cline and Roo Code write into texts: calls of tools as XML, results, the user's words, and their own notes."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence

from agent_wiki.readers.builder import Call
from agent_wiki.trajectory.lazily import dataclass, regex

_NAMES = """access_mcp_resource apply_diff apply_patch ask_followup_question attempt_completion browser_action
    codebase_search condense edit_file execute_command fetch_instructions generate_image insert_content
    list_code_definition_names list_files load_mcp_documentation new_rule new_task plan_mode_respond read_file
    replace_in_file run_slash_command search_and_replace search_files skill switch_mode update_todo_list use_mcp_tool
    use_skill use_subagents web_fetch web_search write_to_file"""
_CALL = regex(rf"^[ \t]*<({'|'.join(_NAMES.split())})>", re.MULTILINE)
_PARAMETER = regex(r"<([a-z_]{1,40})>")
_PARAMETER_END = regex(r"</([a-z_]{1,40})>")
_LONG = frozenset({"content", "diff", "result", "response", "args", "arguments"})  # may quote their own closing tag
_PATH = regex(r"<path>([^<\n]{1,1000})</path>")
_SPOKEN = {"attempt_completion": "result", "plan_mode_respond": "response"}
"""Tools by which the agent only speaks, and the parameter with its words."""

_ENVIRONMENT = regex(r"<environment_details>(.*?)(?:</environment_details>|\Z)\s*", re.DOTALL)
_WORDS = ("task", "user_message", "feedback", "answer")
_RESULT = regex(r"\s*\[([\w-]{1,80})(?:\]| for [^\n]{0,4000}?\]| for .{0,20000}?'\]) Result:\s?", re.DOTALL)
_FOLDER = regex(r"^# Current (?:Working|Workspace) Directory \((.{1,400}?)\)(?: Files)?$", re.MULTILINE)
_REMOTE = regex(r'"origin: ([^"\s]{1,300})"')
_MODEL = regex(r"<model>([^<\n]{1,100})</model>")
_FAILED = regex(
    r"\s*(?:Command failed with exit code [1-9]|Command execution was not successful|The tool execution failed\b"
    r"|Error (?:executing|reading|writing|searching|parsing)\b|Missing value for required parameter)"
    r"|Exit code: [1-9]"
)
_REFUSED = regex(r"\s*The user denied this operation")


@dataclass(frozen=True, slots=True)
class Environment:
    """What `environment_details` say of the session; None for what they do not."""

    cwd: str | None = None
    remote: str | None = None
    model: str | None = None
    is_roo: bool = False


@dataclass(frozen=True, slots=True)
class UserText:
    """A text of a user's message without the environment. `tool`: the tool whose result it is, `text` that result.

    `words`: what the user said in it; `note`: what is left, which the program wrote.
    """

    words: tuple[str, ...]
    note: str
    tool: str | None = None
    text: str = ""


def environment_in(text: str) -> Environment:
    """The surroundings that a text describes."""
    found = _ENVIRONMENT.search(text)
    if found is None:
        return Environment()
    details = found[1]
    cwd, remote, model = _FOLDER.search(details), _REMOTE.search(details), _MODEL.search(details)
    return Environment(cwd and cwd[1], remote and remote[1], model and model[1], "<slug>" in details)


def user_text(text: str) -> UserText:
    """A text of a user's message taken apart."""
    text = _ENVIRONMENT.sub("", text)
    said, rest = tagged(text, _WORDS, at=r"(?:^|(?<=[:>]))[ \t]*")  # elsewhere the user speaks of such a tag
    words = tuple(each.strip() for each in said if each.strip())
    result = _RESULT.match(text)
    if result:
        return UserText(words, "", result[1], text[result.end() :])
    return UserText(words, rest.strip())


def tagged(text: str, names: Sequence[str], at: str = "") -> tuple[list[str], str]:
    """The contents of elements in a text, up to the first end of each, and the rest of it.

    `at`: an expression for what stands right before each beginning.
    """
    marks = list(re.finditer(rf"(?:{at}<|<(/))({'|'.join(names)})>", text, re.MULTILINE))
    last_end = {mark[2]: mark.start() for mark in marks if mark[1]}
    found: list[str] = []
    rest: list[str] = []
    opened: re.Match[str] | None = None
    position = 0
    for mark in marks:
        if opened is None and not mark[1] and last_end.get(mark[2], -1) > mark.start():
            rest.append(text[position : mark.start()])
            opened = mark
        elif opened is not None and mark[1] and mark[2] == opened[2]:
            found.append(text[opened.end() : mark.start()])
            opened, position = None, mark.end()
    rest.append(text[position:])
    return found, "".join(rest)


def has_failed(result: str) -> bool | None:
    """Whether a tool's result says itself that it failed; None where it does not."""
    return True if _FAILED.match(result) or _FAILED.search(result[:400]) else None


def was_refused(result: str) -> bool:
    """Whether the user refused the call."""
    return _REFUSED.match(result) is not None


def spoken(calls: list[Call]) -> tuple[list[str], list[Call]]:
    """The agent's words in calls that only say something, and the other calls."""
    words = [mapping.get(_SPOKEN[name]) for _, name, mapping in calls if name in _SPOKEN and isinstance(mapping, dict)]
    return [each for each in words if isinstance(each, str) and each.strip()], [
        call for call in calls if call[1] not in _SPOKEN
    ]


def mcp_call(call: Call) -> Call:
    """A call of a server's tool under that tool's name; any other call unchanged."""
    call_id, name, arguments = call
    if name != "use_mcp_tool" or not isinstance(arguments, dict):
        return call
    given = arguments.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"input": given}
    return call_id, f"mcp__{arguments.get('server_name')}__{arguments.get('tool_name')}", given


def taken_apart(text: str) -> tuple[str, str, list[Call]]:
    """A reply's text → its words, its thinking, and the calls that it writes as XML, without ids."""
    thoughts, text = tagged(text, ("thinking",))
    calls: list[Call] = []
    words: list[str] = []
    position = 0
    while match := _CALL.search(text, position):
        closing = f"</{match[1]}>"
        end = text.find(closing, match.end())
        following = _CALL.search(text, end) if end >= 0 else None
        last = text.rfind(closing, match.end(), following.start() if following else len(text))
        if last < 0:
            break
        words.append(text[position : match.start()])
        calls.append((None, match[1], _parameters(text[match.end() : last])))
        position = last + len(closing)
    words.append(text[position:])
    return "\n\n".join(each.strip() for each in words if each.strip()), "\n\n".join(map(str.strip, thoughts)), calls


def _parameters(body: str) -> dict[str, str]:
    ends: dict[str, list[int]] = {}
    for end in _PARAMETER_END.finditer(body):
        ends.setdefault(end[1], []).append(end.start())
    found: dict[str, str] = {}
    position = 0
    for match in _PARAMETER.finditer(body):
        after = ends.get(match[1], [])
        at = bisect_left(after, match.end())
        if match.start() >= position and at < len(after):
            end_at = after[-1] if match[1] in _LONG else after[at]
            found[match[1]] = body[match.end() : end_at].strip("\n")
            position = end_at
    if "path" not in found and (path := _PATH.search(found.get("args", ""))):
        found["path"] = path[1]
    return found
