"""OpenCode: `AGENTS.md`, and a plugin in `.opencode/plugins/`, because it has no hooks that run a command."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.harness.agents.agent import Agent, OwnFile


def _pointer(folder: Path) -> str:
    """`AGENTS.md`; `CLAUDE.md` where that is the only one, for OpenCode reads one of them."""
    is_other = (folder / "CLAUDE.md").exists() and not (folder / "AGENTS.md").exists()
    return "CLAUDE.md" if is_other else "AGENTS.md"


AGENT = Agent(
    name="opencode",
    title="OpenCode",
    program="opencode",
    pointer=_pointer,
    former_pointers=("AGENTS.md", "CLAUDE.md"),
    signs=(".opencode", "opencode.json", "opencode.jsonc"),
    own_file=OwnFile(".opencode/plugins/agent-wiki.js", "connect/opencode.js"),
)
