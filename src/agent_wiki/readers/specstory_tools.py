"""A call as SpecStory writes it: an element with a summary, some text, and fences; which of them is the result."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from agent_wiki.trajectory.calls import SHELL_TOOLS
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import dataclass, regex

_CLOSING = regex(r"(?:</details>)?\s*</tool-use>\s*")
BEGINS_TOOL, _END_OF_CALL = "<tool-use", "</tool-use>"
_FENCE = regex(r"(`{3,}|~{3,})(.*)")
_FENCES = ("```", "~~~")  # most lines begin with neither, which is seen sooner
_ATTRIBUTE = regex(r'(?:data-tool-)?(name|type)="([^"\n]{0,100})"')
_EDITS = regex(r'type="write"|name="edit_file(?:_v\d{1,3})?"')
_SUMMARY = regex(r"<summary>(.{0,2000}?)</summary>", re.DOTALL)
_ELEMENTS = regex(r"</?(?:tool-use|details|summary)\b[^>\n]{0,400}>")
_TITLE = regex(r"Tool use: \*\*([^*\n]{1,100})\*\*(?: • (.{0,2000}))?", re.DOTALL)
_SUMMARY_TITLE = regex(r"Tool use: \*\*([^*\n]{1,100})\*\*(?:(?: •)? (.{0,2000}))?", re.DOTALL)
_PATCHED = regex(r"\*\*(Add|Update|Delete): `([^`\n]{1,400})`\*\*")  # a file of a patch, with its changes below
_INLINE = regex(r"`([^`\n]{1,4000})`")
_NAMED_FILE = regex(r"(?:Read|Edit|Delete|Create|Write) file: (\S.{0,400})")
_WRITTEN = regex(
    r"(?:The file|File created successfully at:) (\S.{0,400}?)(?= has been\b| was\b| \(|[ \t]*$)", re.MULTILINE
)
_RUN = regex(r"Run command: (\S.{0,2000})")
_SHELL_LANGUAGES = frozenset({"bash", "sh", "shell", "zsh", "powershell", "pwsh", "cmd"})
_SHELL_TYPES = frozenset({"shell", "bash"})
_VERSION = regex(r"_v\d{1,3}$")
_ENTITY = regex(r"&(?:gt|lt|amp|quot|#\d{1,4});")
_LOADING = regex(r"Status: \**loading\**")
_MOST_LINES = 20_000  # of one call


@dataclass(frozen=True, slots=True)
class Fence:
    language: str
    text: str


def closing_line(lines: Sequence[str], at: int) -> int:
    """The line after the element that begins at line `at`.

    An end inside a fence is a tool's text, and so is one of an element within this one, as in another chat that the
    tool was given; but where fences and elements do not match, the first end counts. A fence right after the element
    is its result, put in the wrong place.
    """
    first: int | None = None
    fence, depth = "", 0
    for place in range(at, min(len(lines), at + _MOST_LINES)):
        line = lines[place]
        mark = _FENCE.match(line) if line.startswith(_FENCES) else None
        if _END_OF_CALL in line and _CLOSING.fullmatch(line):
            depth -= not fence
            if not fence and depth <= 0:
                return _after_stray_fence(lines, place + 1)
            first = place if first is None else first
        elif line.startswith(BEGINS_TOOL):
            depth += not fence
        elif mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
    return _after_stray_fence(lines, first + 1) if first is not None else len(lines)


def _after_stray_fence(lines: Sequence[str], at: int) -> int:
    mark = _FENCE.match(lines[at]) if at < len(lines) else None
    if mark is None:
        return at
    ends = (place for place in range(at + 1, min(len(lines), at + 200)) if lines[place].rstrip() == mark[1])
    return next(ends, at - 1) + 1


def tool_call(attributes: str, lines: Sequence[str]) -> tuple[str, dict[str, Any], str | None]:
    """A call's name, its arguments as far as they are shown, and its result; None where none is shown.

    Of an edit a file is named, and a failure is said: one of which nothing else is shown was made. One that was still
    loading when the chat was saved has no result.
    """
    name, arguments, result = _tool_call(attributes, lines)
    if result is not None and _LOADING.fullmatch(result.strip()):
        return _VERSION.sub("", name), arguments, None
    if result is None and _EDITS.search(attributes) and arguments.get("file_path"):
        result = ""
    return _VERSION.sub("", name), arguments, result if result is None else _unescaped(result)


def _unescaped(text: str) -> str:
    """Cursor's output is written with entities instead of its signs."""
    return html.unescape(text) if _ENTITY.search(text) and not any(sign in text for sign in "<>`") else text


def _tool_call(attributes: str, lines: Sequence[str]) -> tuple[str, dict[str, Any], str | None]:
    given = dict(_ATTRIBUTE.findall(attributes))
    fences, rest = taken_apart(lines)
    summary = " ".join(html.unescape(each).strip() for each in _SUMMARY.findall(rest))
    headed = _SUMMARY_TITLE.search(summary)
    title = headed or _TITLE.search(rest)
    name = given.get("name") or (title[1] if title else "") or "unknown"
    about = (title[2] or "").strip() if title else ""
    about = about if headed else about or summary
    if (patch := _patch(lines)) is not None:
        return name, {"patch": patch}, ""
    text = _ELEMENTS.sub("", _SUMMARY.sub("", rest))
    text = _TITLE.sub("", text).strip()
    if (parameters := _parameters(text, fences)) is not None:
        rest_of = [each.text for each in fences[1:]]
        shown = rest_of[-1] if rest_of else None
        return name, *(_terminal_call(parameters, shown) if "commandLine" in parameters else (parameters, shown))
    if given.get("type") in _SHELL_TYPES or name.lower() in SHELL_TOOLS:
        return name, *_shell_call(about, text, fences)
    return name, *_other_call(about, text, fences)


def _parameters(text: str, fences: list[Fence]) -> dict[str, Any] | None:
    """The arguments of a call that SpecStory does not know, shown as JSON; None where it shows none so."""
    if not fences or "Parameters:" not in text.splitlines():
        return None
    value = value_or(fences[0].text, None)
    return value if isinstance(value, dict) else None


def _terminal_call(parameters: dict[str, Any], shown: str | None) -> tuple[dict[str, Any], str | None]:
    """Copilot's terminal: the command as it was run in the end; what it printed is not always saved."""
    line, saved = parameters["commandLine"], value_or(shown or "", None)
    forms = line if isinstance(line, dict) else {"original": line}
    command = next((forms[name] for name in ("userEdited", "toolEdited", "original") if forms.get(name)), "")
    if isinstance(saved, dict):
        shown = next((str(saved[name]) for name in ("toolCallResult", "content") if saved.get(name)), None)
    return {"command": html.unescape(str(command)), **parameters}, shown


def exit_code(arguments: dict[str, Any]) -> int | None:
    """How a command of Copilot's terminal ended, where it is saved with the call."""
    state = arguments.get("terminalCommandState")
    code = state.get("exitCode") if isinstance(state, dict) else None
    return code if isinstance(code, int) else None


def _patch(lines: Sequence[str]) -> str | None:
    """The patch that the files and changes of an element make; None where it names no file so."""
    found: list[str] = []
    is_inside = False
    for line in lines:
        head = _PATCHED.fullmatch(line.strip()) if not is_inside else None
        if head:
            found.append(f"*** {head[1]} File: {head[2]}")
        elif line.startswith("```"):
            is_inside = not is_inside and bool(found)
        elif is_inside:
            found.append(line)
    return "\n".join(["*** Begin Patch", *found, "*** End Patch"]) if found else None


def _shell_call(about: str, text: str, fences: list[Fence]) -> tuple[dict[str, str], str | None]:
    command = next((each.text for each in fences if each.language in _SHELL_LANGUAGES), None)
    if command is not None:
        results = list(fences)
        results.remove(next(each for each in fences if each.language in _SHELL_LANGUAGES))
    else:
        inline, run = _INLINE.search(text), _RUN.match(about)
        quoted = about[1:-1] if about[:1] == "`" == about[-1:] else ""
        command = inline[1] if inline else run[1] if run else quoted
        results = fences
    said = _INLINE.sub("", text).strip()
    arguments = {"command": command, **({"description": said} if said else {})}
    return arguments, "\n".join(each.text for each in results) if results else None


def _other_call(about: str, text: str, fences: list[Fence]) -> tuple[dict[str, str], str | None]:
    inline = _INLINE.match(text.lstrip())
    file = inline or _NAMED_FILE.match(about) or (_WRITTEN.match(fences[-1].text) if fences else None)
    arguments = {"file_path": file[1]} if file else {}
    if about and not (file and file[1] in about):
        arguments["about"] = about
    if len(fences) > 1:
        arguments["content"] = "\n".join(each.text for each in fences[:-1])
    if fences and fences[-1].language != "diff":
        return {**arguments, **({"shown": text} if text and not inline else {})}, fences[-1].text
    if fences:
        arguments["diff"] = fences[-1].text
    return arguments, text if text and not inline else None


def taken_apart(lines: Sequence[str]) -> tuple[list[Fence], str]:
    """The fences among lines, and the other text."""
    fences: list[Fence] = []
    rest: list[str] = []
    opened: re.Match[str] | None = None
    inside: list[str] = []
    for line in lines:
        mark = _FENCE.match(line) if line.startswith(_FENCES) else None
        if opened is None and mark:
            opened, inside = mark, []
        elif opened is not None and mark and mark[1].startswith(opened[1]) and not mark[2].strip():
            fences.append(Fence(opened[2].strip().lower(), "\n".join(inside)))
            opened = None
        else:
            (rest if opened is None else inside).append(line)
    if opened is not None:
        fences.append(Fence(opened[2].strip().lower(), "\n".join(inside)))
    return fences, "\n".join(rest)
