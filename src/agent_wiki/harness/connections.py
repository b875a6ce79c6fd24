"""Which agents a project is worked on with, and what of `wiki connect` is installed for each."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from agent_wiki.errors import AgentWikiError
from agent_wiki.harness.agents import AGENTS, Agent
from agent_wiki.harness.hook_settings import installed_events, installed_rules
from agent_wiki.harness.pointer_block import has_block
from agent_wiki.harness.project_files import is_own_file, read_file
from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class Connection:
    """What an agent supports, and what is installed for it in a folder.

    `is_pointed`: the pointer is in its file. `events` are those with a hook of ours; OpenCode has a plugin instead, in
    `own_file`. `sign` is what says that the project is worked on with it, empty if nothing does.
    """

    agent: Agent
    pointer: str
    is_pointed: bool
    events: tuple[str, ...]
    has_own_file: bool
    rules: tuple[str, ...]
    sign: str
    is_on_path: bool
    problem: str = ""

    @property
    def is_connected(self) -> bool:
        """Whether it is installed for this agent. The pointer alone says so only of one that has nothing else.

        Several agents read one file: a pointer in it may have been written for another.
        """
        if self.agent.hook_file is not None or self.agent.own_file is not None:
            return bool(self.events) or self.has_own_file
        return self.is_pointed

    def to_json(self) -> dict[str, Any]:
        """The same as JSON: what is supported, and below `installed` what is there."""
        agent = self.agent
        return {
            "agent": agent.name,
            "title": agent.title,
            "pointer": self.pointer,
            "hook_file": agent.hook_file.name if agent.hook_file else None,
            "hooks": [hook.event for hook in agent.hook_file.hooks] if agent.hook_file else [],
            "own_file": agent.own_file.name if agent.own_file else None,
            "permissions": list(agent.permissions.rules) if agent.permissions else [],
            "sign": self.sign or None,
            "is_on_path": self.is_on_path,
            "installed": {
                "pointer": self.is_pointed,
                "hooks": list(self.events),
                "own_file": self.has_own_file,
                "permissions": list(self.rules),
            },
            "problem": self.problem or None,
        }


def connections(folder: Path) -> list[Connection]:
    """The state of every known agent in `folder`. A file that cannot be read is that connection's problem."""
    return [_connection(agent, folder) for agent in AGENTS]


def sign_of(agent: Agent, folder: Path) -> str:
    """The first file or folder that says that the project is worked on with an agent; empty if there is none."""
    return next((sign for sign in agent.signs if (folder / sign).exists()), "")


def has_hooks(agent: Agent, folder: Path) -> bool:
    """Whether an agent has a hook or a file of ours in `folder`."""
    found = _connection(agent, folder)
    return bool(found.events) or found.has_own_file


def _connection(agent: Agent, folder: Path) -> Connection:
    pointer = agent.pointer(folder)
    is_pointed, has_own_file, problem = False, False, ""
    events: list[str] = []
    rules: list[str] = []
    try:
        is_pointed = has_block(read_file(folder, pointer)[1])
        if agent.hook_file is not None:
            events = installed_events(_settings(folder, agent.hook_file.name), agent.hook_file)
        if agent.permissions is not None:
            rules = installed_rules(_settings(folder, agent.permissions.file), agent.permissions)
        if agent.own_file is not None:
            has_own_file = is_own_file(read_file(folder, agent.own_file.name)[1])
    except AgentWikiError as error:
        problem = str(error).removesuffix("; nothing was written")
    return Connection(
        agent=agent,
        pointer=pointer,
        is_pointed=is_pointed,
        events=tuple(events),
        has_own_file=has_own_file,
        rules=tuple(rules),
        sign=sign_of(agent, folder),
        is_on_path=bool(agent.program) and shutil.which(agent.program) is not None,
        problem=problem,
    )


def _settings(folder: Path, name: str) -> str:
    content = read_file(folder, name)[1]
    return "{}" if content is None else content.decode("utf-8", "replace")
