"""The agents that `wiki connect` knows. Another one is a module with an `AGENT`, and a line here."""

from __future__ import annotations

from agent_wiki.harness.agents import agents_md, claude_code, codex, copilot, cursor, gemini, opencode, qwen
from agent_wiki.harness.agents.agent import Agent

AGENTS: tuple[Agent, ...] = (
    claude_code.AGENT,
    codex.AGENT,
    gemini.AGENT,
    qwen.AGENT,
    opencode.AGENT,
    copilot.AGENT,
    cursor.AGENT,
    agents_md.AGENT,
)

__all__ = ["AGENTS", "Agent"]
