"""What the played model says: turns of text, thinking and calls, with calls named by what they do.

Each program has tools of its own, so a call here is only "run this command" or "read this file"; `tools.py` finds the
tool that the program offers for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Kind = Literal["bash", "read", "write", "edit", "agent", "skill", "mcp", "raw"]


@dataclass(frozen=True)
class Call:
    """A call by what it does. `fails` says that the program has to report its result as an error."""

    kind: Kind
    arguments: Mapping[str, Any]
    fails: bool = False


@dataclass(frozen=True)
class Turn:
    """One reply of the model."""

    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a file of a scenario has it."""
        return asdict(self)


@dataclass(frozen=True)
class Tool:
    """A tool that a program offers the model; `namespace` is Codex's grouping of tools."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "function"
    namespace: str | None = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.schema.get("properties") or {}
        return found


def turn_of(values: Mapping[str, Any]) -> Turn:
    """The turn that `Turn.to_json` wrote."""
    return Turn(values["text"], tuple(Call(**each) for each in values["calls"]), values["thinking"])


def says(text: str = "", *calls: Call, thinking: str = "") -> Turn:
    """A turn with its calls."""
    return Turn(text, calls, thinking)


def bash(command: str, *, fails: bool = False) -> Call:
    """Run a command."""
    return Call("bash", {"command": command}, fails)


def read(path: str) -> Call:
    """Read a file with the program's own tool."""
    return Call("read", {"path": path})


def write(path: str, content: str) -> Call:
    """Write a file with the program's own tool."""
    return Call("write", {"path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    """Replace a text with the program's own tool."""
    return Call("edit", {"path": path, "old": old, "new": new})


def agent(prompt: str) -> Call:
    """Start a subagent."""
    return Call("agent", {"prompt": prompt})


def skill(name: str) -> Call:
    """Load a skill by the program's own tool."""
    return Call("skill", {"name": name})


def mcp(tool: str, **arguments: Any) -> Call:
    """Call a tool of the server that is configured as `wiki`."""
    return Call("mcp", {"tool": tool, "arguments": arguments})


def raw(name: str, **arguments: Any) -> Call:
    """Call a tool by exactly this name, whether it is offered or not."""
    return Call("raw", {"name": name, "arguments": arguments})
