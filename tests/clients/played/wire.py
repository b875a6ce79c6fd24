"""What the four protocols have in common: what a request asks, and what a reply is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tests.clients.played.turns import Call, Tool, Turn

Json = dict[str, Any]
Role = Literal["system", "user", "assistant", "tool"]

_FOLDER = re.compile(r"(?:[Ww]orking (?:directory|in the directory)|<cwd>)(?:: ?| )?([^\n<\"]+)")


@dataclass(frozen=True)
class Said:
    """One message of the conversation so far."""

    role: Role
    text: str = ""


@dataclass(frozen=True)
class Asked:
    """A request, whatever its protocol. `folder` is where the program says it works."""

    conversation: Sequence[Said]
    tools: Sequence[Tool]
    folder: str
    is_streamed: bool
    schema: Mapping[str, Any] | None = None

    @property
    def is_compaction(self) -> bool:
        """Whether the program asks for a summary of the conversation because its context is full."""
        last = self.conversation[-1].text if self.conversation else ""
        return "detailed summary of the conversation" in last or "CONTEXT CHECKPOINT COMPACTION" in last

    @property
    def text(self) -> str:
        """All that users and the program said, as one text."""
        return "\n".join(each.text for each in self.conversation if each.role in {"user", "system"})


@dataclass(frozen=True)
class Tokens:
    """What a reply is said to have cost. No two steps of a session have the same figures."""

    plain: int
    cached: int
    written: int
    output: int


@dataclass(frozen=True)
class Reply:
    """One reply, before it has the form of a protocol. `ident` is different for each."""

    turn: Turn
    tokens: Tokens
    ident: str
    model: str

    @property
    def calls(self) -> Sequence[tuple[str, Call]]:
        """Each call with an id of its own."""
        return [(f"call_{self.ident}_{number}", call) for number, call in enumerate(self.turn.calls)]


@dataclass(frozen=True)
class Answered:
    """A reply in the form of a protocol: as one object and as a stream of (event's name, data)."""

    whole: Json
    events: Sequence[tuple[str | None, Json | str]]
    tool_names: Sequence[str] = field(default=())


class Wire(Protocol):
    """One protocol: how a request is understood and a reply is put."""

    name: str

    def asked(self, body: Json, path: str) -> Asked:
        """What the request says."""

    def answered(self, asked: Asked, reply: Reply) -> Answered:
        """The reply as this protocol has it."""


def text_of(content: Any) -> str:
    """The text of a message, whether it is one string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def folder_in(text: str) -> str:
    """The working folder that a program's own prompt names; "." if it names none."""
    found = _FOLDER.search(text)
    return found[1].strip() if found else "."
