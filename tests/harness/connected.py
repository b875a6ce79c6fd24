"""An agent connected by `wiki connect` in this process, as several test files need it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.harness.agents import AGENTS

FILES_OF = {
    "claude-code": ["CLAUDE.md", ".claude/settings.json"],
    "codex": ["AGENTS.md", ".codex/hooks.json"],
    "gemini": ["GEMINI.md", ".gemini/settings.json"],
    "qwen": ["QWEN.md", ".qwen/settings.json"],
    "opencode": ["AGENTS.md", ".opencode/plugins/agent-wiki.js"],
    "copilot": [".github/copilot-instructions.md", ".github/hooks/agent-wiki.json"],
    "cursor": [".cursor/rules/agent-wiki.mdc", ".cursor/hooks.json"],
    "agents-md": ["AGENTS.md"],
}
NAMES = [agent.name for agent in AGENTS]
SETTINGS = """\
{
    "permissions": {
        "allow": ["Bash(npm run test:*)", "Read(~/.zshrc)"],
        "deny": []
    },
    "hooks": {
        "Stop": [ {"hooks": [ {"type": "command", "command": "say d\\u00f6ne", "timeout": 5} ]} ],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": "wiki hook stopwatch"}]
            }
        ]
    },
    "model": "opus"
}
"""


def connect(folder: Path, capsys: pytest.CaptureFixture[str], agent: str, *options: str) -> dict[str, Any]:
    """What `wiki connect AGENT` reports as JSON."""
    exit_code = main(["connect", agent, "--dir", str(folder), "--json", *options])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == exit_code
    return found


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `wiki connect WORD…` prints for a person."""
    assert main(["connect", *words, "--dir", str(folder)]) == 0
    return capsys.readouterr().out


def commands_of(settings: dict[str, Any], event: str) -> list[str]:
    """The commands of the hooks of an event."""
    return [hook["command"] for entry in settings["hooks"][event] for hook in entry["hooks"]]
