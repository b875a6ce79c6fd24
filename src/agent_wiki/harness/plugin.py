"""A wiki's folder as a plugin: its skills, the hooks and the MCP server in one install.

The files are the same for every wiki and every machine, so no run writes them again. Claude Code runs them from the
wiki's own folder and says where that is. Codex copies a plugin when it is added and starts everything in the project,
where the wiki is found by its place. Gemini CLI links an extension; hooks are no part of its manifest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_wiki.errors import UsageError
from agent_wiki.harness.agents import Agent, claude_code, codex
from agent_wiki.harness.projects import project_root
from agent_wiki.harness.skills_folder import InstallPlan, State, plan, remove, states, write
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import CONFIG

NAME = "wiki"
MARKETPLACE = "agent-wiki"
_VERSION = "1.0.0"
_SAYS = "What earlier sessions learned: skills, pages to consult before a task, and hooks that add to them."
_CLAUDE_ROOT = "${CLAUDE_PLUGIN_ROOT}"
_GEMINI_ROOT = "${extensionPath}"
_CLAUDE, _CODEX = claude_code.AGENT, codex.AGENT


@dataclass(frozen=True, slots=True)
class PluginChange:
    """What becomes of the plugin's files, by their paths in the wiki; `left_alone` have other content."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]
    left_alone: tuple[str, ...]


def plugin_files() -> dict[str, bytes]:
    """Path in the wiki → content: manifests for Claude Code, Codex and Gemini CLI, and a marketplace of one plugin."""
    identity = {"name": NAME, "version": _VERSION, "description": _SAYS}
    author = {"name": MARKETPLACE}
    of_claude = {
        "hooks": _hooks(_CLAUDE, f' --wiki "{_CLAUDE_ROOT}"'),
        "mcpServers": _server(["--wiki", _CLAUDE_ROOT]),
    }
    of_codex = {"hooks": {"hooks": _hooks(_CODEX, "")}, "mcpServers": _server([])}
    plugins = [{"name": NAME, "source": "./"}]
    marketplace = {"name": MARKETPLACE, "description": _SAYS, "owner": author, "plugins": plugins}
    gemini = {**identity, "contextFileName": "AGENTS.md", "mcpServers": _server(["--wiki", _GEMINI_ROOT])}
    return {
        ".claude-plugin/marketplace.json": _json(marketplace),
        ".claude-plugin/plugin.json": _json({**identity, "author": author, **of_claude}),
        ".codex-plugin/plugin.json": _json({**identity, "skills": "./skills/", **of_codex}),
        "gemini-extension.json": _json(gemini),
    }


def _hooks(agent: Agent, named: str) -> dict[str, Any]:
    """An agent's hooks by their events. What does not name the wiki means that of the folder it is started in."""
    if (file := agent.hook_file) is None:
        return {}
    return {each.event: [file.entry(each, f"wiki hook {each.subcommand}{named}")] for each in file.hooks}


def _server(words: list[str]) -> dict[str, Any]:
    return {NAME: {"command": "wiki", "args": ["mcp", *words]}}


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def notes(wiki: Path) -> list[str]:
    """What would run twice: hooks that `wiki connect` put into the project, each a line."""
    project = project_root(wiki.absolute().parent)
    found = [(each.name, project / each.hook_file.name) for each in (_CLAUDE, _CODEX) if each.hook_file]
    return [
        f"{path}: has the hooks of `wiki connect` already; with the plugin each runs twice "
        f"(`wiki connect {agent} --remove` takes them out)"
        for agent, path in found
        if _has_hooks(path)
    ]


def _has_hooks(path: Path) -> bool:
    try:
        return b"wiki hook " in path.read_bytes()
    except OSError:
        return False


def change(wiki: Path, *, is_removal: bool, is_forced: bool, is_dry_run: bool) -> PluginChange:
    """Write the files into a wiki, or take them out; those with other content stay unless forced.

    Raises `UsageError` for a folder that is no wiki, `UnsafePath` for a link on the way, and `RunError`.
    """
    if not (wiki / CONFIG).is_file():
        raise UsageError(f"{wiki}: no wiki; `wiki init --wiki {wiki}` makes one")
    files = plugin_files()
    found = states(wiki, files)
    if not is_removal:
        planned: InstallPlan = plan(found, is_forced=is_forced)
        if not is_dry_run:
            write(wiki, files, planned.to_write)
        return PluginChange(planned.to_write, (), planned.unchanged, planned.left_alone)
    taken: frozenset[State] = frozenset({"same", "former", *(("other",) if is_forced else ())})
    ours = tuple(path for path, state in found.items() if state in taken)
    left = tuple(path for path, state in found.items() if state == "other" and not is_forced)
    if not is_dry_run:
        remove(wiki, ours)
    return PluginChange((), ours, (), left)
