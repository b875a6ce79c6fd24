r"""Calls that a reply holds as text, for models without calls of their own; the user's next turn is the result.

    <function=bash>\n<parameter=command>ls</parameter>\n</function>   OpenHands, SWE-agent, SWE-smith, Qwen
    <tool_call>{"name": "ls", "arguments": {}}</tool_call>            Hermes; several, with a result each
    ```python … ```                                                  AutoGen, mini-SWE-agent and others run such blocks

A reply may also explain such a notation. So it is a call where it ends the reply, and what comes next begins as results
do: `OBSERVATION:`, `EXECUTION RESULT of [bash]:`, `Output:`, `<tool_response>`, or of code with its exit code.
"""

from __future__ import annotations

import re
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Call, call_of
from agent_wiki.trajectory import Message
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import regex

_FUNCTION, _FUNCTION_END = "<function=", "</function>"
_CALL, _CALL_END = "<tool_call>", "</tool_call>"
_PARAMETER, _PARAMETER_END = "<parameter=", "</parameter>"
_RESPONSE, _RESPONSE_END = "<tool_response>", "</tool_response>"
_NAME = regex(r"[\w.:/-]{1,80}")
_MOST_CALLS = 50  # of one reply
_RESULT = regex(
    r"\s*(?:OBSERVATION|EXECUTION RESULT|Observation|Output|Execution (?:result|output))s?"
    r"(?: of \[[^\]\n]{1,80}\])?: ?(?:\n|\Z)"
    r"|Your (?:last )?command ran successfully and did not produce any output"
)
_RAISED = regex(r"\s*\w[^\n]{0,80}:\s*(?:```\w{0,10}\n)?\s*(?:Execution failed\b|Traceback \(most recent call last\):)")
_LAST_WORDS = {"finish": "message", "submit": "message", "attempt_completion": "result"}  # of calls that end the work

_FENCE = "```"
_SHELLS = frozenset({"sh", "bash", "shell", "zsh", "mswea_bash_command"})
_BLOCK = regex(r"^```[ \t]*([\w+-]{1,20})[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE, needs=("```",))
_EXIT_CODE = regex(r"exitcode: (-?\d{1,10}) \(execution (?:succeeded|failed)\)|<returncode>(-?\d{1,10})</returncode>")


def take_output(builder: TrajectoryBuilder, text: str, name: str | None = None) -> bool:
    """Take a user's turn as what came of the calls that the reply before it holds as text; they become its calls.

    `name` is the turn's speaker. False, and nothing is taken, where the turn is no result or the reply has no call.
    """
    reply = _last_reply(builder)
    if reply is None:
        return False
    if exit_code := _EXIT_CODE.match(text):
        calls = _code_in(reply.content or "")
        builder.add_calls(reply, calls)
        if calls:
            builder.tool(reply.tool_calls[0].id, text, is_error=exit_code[exit_code.lastindex or 1] != "0", name=name)
        return bool(calls)
    return take_results(builder, results_in(text), name)


def take_results(builder: TrajectoryBuilder, results: list[str], name: str | None = None) -> bool:
    """The same for results that are known as such; False where the last reply does not hold as many calls."""
    reply = _last_reply(builder)
    if reply is None or not results:
        return False
    said, calls = _calls_at_end(reply.content or "")
    if not calls and said.endswith(_FENCE):
        calls = _code_in(said)
    if not calls or len(results) != len(calls):
        return False
    reply.content = said or None
    builder.add_calls(reply, calls)
    for call, result in zip(reply.tool_calls, results, strict=True):
        builder.tool(call.id, result, is_error=True if _RAISED.match(result) else None, name=name)
    return True


def asks_for_results(text: str) -> bool:
    """Whether a reply ends with calls, and not with one that ends the work."""
    _, calls = _calls_at_end(text)
    return bool(calls) and not any(name in _LAST_WORDS for _, name, _ in calls)


def take_last_calls(builder: TrajectoryBuilder) -> None:
    """Take the calls of a last reply, of which nothing came. One that ends the work is no call but its last words."""
    reply = _last_reply(builder)
    said, calls = _calls_at_end(reply.content or "") if reply else ("", [])
    if reply is None or not calls:
        return
    words = [_words_of(name, given) for _, name, given in calls if name in _LAST_WORDS]
    reply.content = "\n\n".join(filter(None, [said, *words])) or None
    builder.add_calls(reply, [call for call in calls if call[1] not in _LAST_WORDS])
    if reply.content is None and reply.thinking is None and not reply.tool_calls:
        builder.messages.pop()
        builder.hygiene["empty_messages_dropped"] += 1


def _words_of(name: str, given: Any) -> str:
    words = given.get(_LAST_WORDS[name]) if isinstance(given, dict) else None
    return words.strip() if isinstance(words, str) else ""


def _last_reply(builder: TrajectoryBuilder) -> Message | None:
    """The last message, if it is a reply without calls of its own."""
    last = builder.messages[-1] if builder.messages else None
    return last if last is not None and last.role == "assistant" and not last.tool_calls else None


def _calls_at_end(text: str) -> tuple[str, list[Call]]:
    """What a reply says before the calls that end it, and these calls; all of it and none where one cannot be read."""
    calls: list[Call] = []
    rest = text = text.rstrip()
    while len(calls) < _MOST_CALLS and rest.endswith((_FUNCTION_END, _CALL_END)):
        start = rest.rfind(_CALL if rest.endswith(_CALL_END) else _FUNCTION)
        call = _call_in(rest[start:]) if start >= 0 else None
        if call is None:
            return text, []
        calls.append(call)
        rest = rest[:start].rstrip()
    return rest, calls[::-1]


def _call_in(text: str) -> Call | None:
    """The call of a text that is one, from its first tag to its last; None where it says none."""
    inner = text.removeprefix(_CALL).removesuffix(_CALL_END).strip()
    if not inner.startswith(_FUNCTION):
        value = value_or(inner, None)
        return call_of(value) if isinstance(value, dict) and isinstance(value.get("name"), str) else None
    name, _, body = inner.removeprefix(_FUNCTION).partition(">")
    if not _NAME.fullmatch(name) or not body.endswith(_FUNCTION_END):
        return None
    arguments = {}
    for piece in body.removesuffix(_FUNCTION_END).split(_PARAMETER_END):
        key, closed, value = piece.lstrip().removeprefix(_PARAMETER).partition(">")
        if closed and _NAME.fullmatch(key):
            arguments[key] = value.removeprefix("\n").removesuffix("\n")
    return None, name, arguments


def results_in(text: str) -> list[str]:
    """What a turn says came of calls: of each, where it has tags for them; none for any other turn."""
    if not text.lstrip().startswith(_RESPONSE):
        return [text] if _RESULT.match(text) else []
    *results, rest = text.split(_RESPONSE_END)
    if rest.strip() or not all(each.lstrip().startswith(_RESPONSE) for each in results):
        return []
    return [each.lstrip().removeprefix(_RESPONSE).strip("\n") for each in results]


def _code_in(text: str) -> list[Call]:
    """The blocks of code in a reply as one call, since they have one result: of a shell where all are for one."""
    blocks = [(block[1].lower(), block[2].strip("\n")) for block in _BLOCK.finditer(text)]
    if not blocks:
        return []
    code = "\n\n".join(lines for _, lines in blocks)
    is_shell = all(language in _SHELLS for language, _ in blocks)
    return [(None, "bash", {"command": code}) if is_shell else (None, "execute_code", {"code": code})]
