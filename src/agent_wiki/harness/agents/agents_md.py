"""Any agent that reads `AGENTS.md`: the pointer alone."""

from __future__ import annotations

from agent_wiki.harness.agents.agent import Agent, always

AGENT = Agent(name="agents-md", title="any agent", pointer=always("AGENTS.md"), signs=("AGENTS.md",))
