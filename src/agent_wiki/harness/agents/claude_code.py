"""Claude Code: `CLAUDE.md`, and hooks and permissions in `.claude/settings.json`.

`Stop` does not fire for a turn that a person interrupts; `SessionEnd` does when that session is left.
"""

from __future__ import annotations

from pathlib import Path

from agent_wiki.harness.agents.agent import Agent, Hook, HookFile, Permissions

_SETTINGS = ".claude/settings.json"


def _pointer(folder: Path) -> str:
    is_inner = (folder / ".claude" / "CLAUDE.md").exists() and not (folder / "CLAUDE.md").exists()
    return ".claude/CLAUDE.md" if is_inner else "CLAUDE.md"


AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    program="claude",
    pointer=_pointer,
    former_pointers=("CLAUDE.md", ".claude/CLAUDE.md"),
    signs=(".claude", "CLAUDE.md", "CLAUDE.local.md"),
    hook_file=HookFile(
        _SETTINGS,
        (
            Hook("SessionStart", "start", 10),
            Hook("Stop", "stop", 60),
            Hook("SubagentStop", "stop", 60),
            Hook("SessionEnd", "stop", 60),
        ),
    ),
    permissions=Permissions(
        _SETTINGS,
        ("permissions", "allow"),
        ("Bash(wiki consult:*)", "mcp__wiki__*"),
        note="Claude Code ignores a project's permissions until you start `claude` in the folder once and trust it",
    ),
)
