"""The program that an engine's name means."""

from __future__ import annotations

from agent_wiki.engines.programs import claude_code, codex, command, gemini
from agent_wiki.engines.programs.program import Program
from agent_wiki.errors import UsageError


def program_named(name: str) -> Program:
    """In: the value of `--engine`. Raises `UsageError` for a program that is not known."""
    kind, _, words = name.partition(":")
    if kind == command.NAME:
        return command.CommandProgram(words)
    for each in (claude_code.ClaudeCode(), codex.Codex(), gemini.Gemini()):
        if each.name == name:
            return each
    raise UsageError(f"no program {name!r}")
