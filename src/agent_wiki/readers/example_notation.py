"""Small sessions written as text, as the examples of rules are: readable in a page of docs, a trajectory in a test.

    user: what the user says                harness: what a harness writes as the user
    agent: what the agent says; right before a call it is said in the same turn
    $ a shell command                       edit: file, then lines `- old` and `+ new`
    call: tool {"argument": "value"}        run: {"command": "…", "timeout": 5} (a shell command with more arguments)
    = a line of a result                    ! the same of a call that failed
    refused: the reason why the user refused the call
    & a shell command of the same reply     ~ what the harness says of a call that it called off

A session that does not begin with the user begins with a request.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.trajectory import MessageMark, Source, Trajectory
from agent_wiki.trajectory.lazily import dataclass

_REQUEST = "Please fix the cart."
_FOLDER = "/home/kim/shop"
_REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def example_session(text: str) -> Trajectory:
    """The session that a text describes. Raises `ValueError` naming a line that is not in this notation."""
    writer = _Writer()
    for line in text.strip("\n").splitlines():
        writer.add(line)
    return writer.done()


@dataclass(slots=True)
class _Pending:
    """A call that is being described."""

    name: str
    arguments: dict[str, Any]
    result: list[str] = field(default_factory=list)
    has_failed: bool = False
    is_refused: bool = False
    is_called_off: bool = False


class _Writer:
    """Builds a trajectory line by line."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.said: str | None = None
        self.call: _Pending | None = None
        self.beside: list[_Pending] = []  # the calls of the same reply before it
        self.calls = 0

    def add(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        if mark in ("=", "!", "-", "+", "~", "refused:") and self.call is not None:
            self._extend(self.call, mark, rest)
        elif mark == "&" and self.call is not None:
            self.beside.append(self.call)
            self.call = _Pending("Bash", {"command": rest})
        elif mark in ("user:", "harness:"):
            self._end_turn()
            self.builder.user(rest, mark="injected" if mark == "harness:" else None)
        elif mark == "agent:":
            self._end_turn()
            self.said = rest
        else:
            self._begin(mark, rest, line)

    def _begin(self, mark: str, rest: str, line: str) -> None:
        said, self.said = self.said, None
        self._end_turn()
        self.said = said
        if mark == "$":
            self.call = _Pending("Bash", {"command": rest})
        elif mark == "run:":
            self.call = _Pending("Bash", json.loads(rest))
        elif mark == "edit:":
            self.call = _Pending("Edit", {"file_path": rest, "old_string": "", "new_string": ""})
        elif mark == "call:":
            name, _, arguments = rest.partition(" ")
            self.call = _Pending(name, json.loads(arguments or "{}"))
        else:
            raise ValueError(f"no line of an example session: {line!r}")

    def _extend(self, call: _Pending, mark: str, rest: str) -> None:
        if mark in ("-", "+"):
            key = "old_string" if mark == "-" else "new_string"
            call.arguments[key] = f"{call.arguments[key]}\n{rest}".lstrip("\n")
            return
        call.has_failed = mark != "="
        call.is_refused, call.is_called_off = mark == "refused:", mark == "~"
        call.result.append(f"{_REFUSED} the user said:\n{rest}" if call.is_refused else rest)

    def _end_turn(self) -> None:
        if not self.builder.messages and self.call is None and self.said is not None:
            self.builder.user(_REQUEST)
        if self.call is not None:
            self._end_calls([*self.beside, self.call])
        elif self.said is not None:
            self.builder.assistant(self.said)
        self.said, self.call, self.beside = None, None, []

    def _end_calls(self, calls: list[_Pending]) -> None:
        if not self.builder.messages:
            self.builder.user(_REQUEST)
        named = {f"c{self.calls + number}": call for number, call in enumerate(calls, start=1)}
        self.calls += len(calls)
        self.builder.assistant(
            self.said, calls=[(call_id, call.name, json.dumps(call.arguments)) for call_id, call in named.items()]
        )
        for call_id, call in named.items():
            mark: MessageMark | None = "rejected" if call.is_refused else "cancelled" if call.is_called_off else None
            self.builder.tool(call_id, "\n".join(call.result), is_error=call.has_failed, mark=mark)

    def done(self) -> Trajectory:
        self._end_turn()
        return self.builder.finish("example", Source("example", cwd=_FOLDER))
