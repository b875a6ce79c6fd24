"""Code in a reply that was run: AutoGen runs its blocks, and the next turn says `exitcode: 1 (execution failed)`."""

from __future__ import annotations

import re

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Call
from agent_wiki.trajectory.lazily import regex

_SHELLS = frozenset({"sh", "bash", "shell", "zsh"})
_BLOCK = regex(r"^```[ \t]*([\w+-]{1,20})[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE, needs=("```",))
_EXIT_CODE = regex(r"exitcode: (-?\d{1,10}) \(execution (?:succeeded|failed)\)")


def take_output(builder: TrajectoryBuilder, text: str, name: str | None = None) -> bool:
    """Take a turn as what the code in the reply before it printed: that code becomes a call, the turn its result.

    `name` is the turn's speaker. False, and nothing is taken, where the turn has no exit code or the reply no code.
    """
    exit_code = _EXIT_CODE.match(text)
    reply = builder.messages[-1] if builder.messages else None
    if exit_code is None or reply is None or reply.role != "assistant" or reply.tool_calls:
        return False
    calls = _calls_in(reply.content or "")
    builder.add_calls(reply, calls)
    if calls:
        builder.tool(reply.tool_calls[0].id, text, is_error=exit_code[1] != "0", name=name)
    return bool(calls)


def _calls_in(text: str) -> list[Call]:
    """The blocks of code in a reply as one call, since they have one result: of a shell where all are for one."""
    blocks = [(block[1].lower(), block[2].strip("\n")) for block in _BLOCK.finditer(text)]
    if not blocks:
        return []
    code = "\n\n".join(lines for _, lines in blocks)
    is_shell = all(language in _SHELLS for language, _ in blocks)
    return [(None, "bash", {"command": code}) if is_shell else (None, "execute_code", {"code": code})]
