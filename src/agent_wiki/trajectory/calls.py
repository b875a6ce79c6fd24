"""Calls paired with their results: the view of a trajectory that miners work on.

Some formats have no tool calls (mini-swe-agent: a ```bash block answered by a user message). Their readers
turn these into calls and results, so that this view is the same for all formats.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from agent_wiki.trajectory import MessageMark, ToolCall, Trajectory
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import dataclass, regex

SHELL_TOOLS = frozenset(
    {"bash", "shell", "exec_command", "run_shell_command", "execute_bash", "run_in_terminal", "local_shell",
     "terminal", "execute_command", "cmd", "python3-shell", "container.exec", "unified_exec", "powershell", "pwsh",
     "shell_command", "run_terminal_cmd", "run_terminal_command", "run_command", "executecommand",
     "execute_bash_command", "execute_shell_command", "run_bash_command"}
)  # fmt: skip
_SHELLS_OF_SERVERS = frozenset({"bash", "shell", "run_command", "execute_command"})  # `mcp__workspace__bash`
_MAY_BE_SHELLS = frozenset({"exec", "Execute"})  # of OpenClaw and of Droid, where they are given a command

_PATH_KEYS = (
    "file_path", "path", "notebook_path", "filename", "absolute_path", "filePath", "absolutePath",
    "AbsolutePath", "TargetFile", "filepath",
)  # fmt: skip

# Codex: a command that still runs, and in code mode a script; Copilot and OpenClaw: a command in the background. Each
# is polled by a tool of its own.
_RUNS_ON = regex(
    r"^(?:Process running with session ID|Script running with cell ID|<command started in background with shellId:"
    r"|Command still running \(session) ([^\s>,)]{1,80})",
    re.MULTILINE,
    needs=("running with", "in background", "still running"),
)
# Claude Code: a command that was sent to the background prints into a file, which is read by any tool that reads.
SENT_TO_BACKGROUND = (
    r"Command (?:running in background with ID|did not complete within [^\n]{1,60} moved to the background)\b"
)
_IN_BACKGROUND = regex(
    rf"^{SENT_TO_BACKGROUND}(?:: | \(ID: )(\w{{4,40}})",
    re.MULTILINE,
    needs=("Command running in background", "moved to the background"),
)
# Claude Code says at the end of a command or of an agent in the background, in a turn of its own, what came of it.
_LAUNCHED = "Async agent launched"
_NOTICE = "<task-notification>"
_ENDED = regex(
    r"<tool-use-id>(?P<id>[^<\s]{1,80})</tool-use-id>.*?<status>(?P<status>completed|failed)</status>\s*"
    r"<summary>(?P<summary>[^<]{1,400})</summary>(?:.*?<result>(?P<result>.*)</result>)?",
    re.DOTALL,
)
STILL_RUNS = regex(r"\[The command (?:has no new output|timed out) after [\d.]{1,12} seconds?\b")
"""What OpenHands puts behind the output of a command that has not ended."""
_END_OF_RESULT = 800  # characters
# Antigravity: what still works in the background gets a second result, which brings the end.
_CONTINUES = regex(r"\ATool is running as a background task\b")
_BACKGROUND_OUTPUT = regex(r"\btasks[/\\]{1,2}(\w{4,40})\.output\b", needs=(".output",))
_READS_LINE = frozenset({"-lc", "-c", "-command", "/c"})  # what stands before the line that a shell is given
_FAILED_POLL = ("write_stdin failed", "<tool_use_error>")
_POLLS = {
    "write_stdin": ("session_id", "Process"),
    "wait": ("cell_id", "Script"),
    "read_bash": ("shellId", "<command"),
    "BashOutput": ("bash_id", "Command"),
    "TaskOutput": ("task_id", "Command"),
    "process": ("sessionId", "Command"),
}
_NO_POLL = frozenset({"kill", "list", "write", "clear", "remove", "log"})  # of what a poll's tool does besides
# OpenClaw says at the end of a command, before the user's next words, what came of it; the name is cut off.
_EVENT = regex(
    r"^System: \[[^\]\n]{8,60}\] "
    r"(?P<line>Exec (?:completed|failed) \((?P<name>[\w-]{3,40}), code (?P<code>-?\d{1,10})\)[^\n]*)",
    re.MULTILINE,
    needs=("] Exec ",),
)


@dataclass(slots=True)
class Call:
    """One tool call and its result. `result_turn`, `result` and `is_error` are None without a result.

    `continues`: the earlier call of a command that was still running, of which this one reads the rest; `ended_by` is
    the other way round, the last such call.
    """

    turn: int
    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    result_turn: int | None = None
    result: str | None = None
    is_error: bool | None = None
    mark: MessageMark | None = None  # of the result: rejected, cancelled
    position: int = 0  # among all calls of the trajectory, from 0
    continues: Call | None = field(default=None, compare=False, repr=False)
    ended_by: Call | None = field(default=None, compare=False, repr=False)
    verdict: object = field(default=None, compare=False, repr=False)  # kept by `shell.verdict`
    _command: str | None = field(default=None, compare=False, repr=False)
    _is_read: bool = field(default=False, compare=False, repr=False)

    def command(self) -> str | None:
        """The shell command line, when the tool is a shell; else None. It is looked for once."""
        if not self._is_read:
            self._command, self._is_read = self._read_command(), True
        return self._command

    def _read_command(self) -> str | None:
        name = self.name.lower()
        is_given = (self.name in _MAY_BE_SHELLS or name.rpartition("__")[2] in _SHELLS_OF_SERVERS) and (
            "command" in self.arguments
        )
        is_shell = name in SHELL_TOOLS or is_given
        if not is_shell or self.gives_keys():
            return None
        for key in ("command", "cmd", "script", "code", "input", "CommandLine", "bash_command"):
            value = self.arguments.get(key)
            if isinstance(value, list):  # Codex: ["bash", "-lc", "…"], ["powershell.exe", "-NoLogo", "-Command", "…"]
                parts = [str(part) for part in value]
                if parts[:1] == ["apply_patch"] and len(parts) == 2:
                    return f"apply_patch <<'PATCH'\n{parts[1]}\nPATCH"  # as a shell would be given it: it is one text
                return parts[-1] if len(parts) > 2 and parts[-2].lower() in _READS_LINE else " ".join(parts)
            if isinstance(value, str):
                return value
        return None

    def gives_keys(self) -> bool:
        """Whether it only gives keys to a command that still runs (OpenHands)."""
        return self.arguments.get("is_input") in (True, "true")

    def path(self) -> str | None:
        """The file the call names, when one of its arguments is a path."""
        for key in _PATH_KEYS:
            value = self.arguments.get(key)
            if isinstance(value, str):
                return value
        return None

    def replacements(self) -> list[tuple[str, dict[str, Any]]]:
        """The edits of several files in one call (Copilot), each with its file."""
        several = self.arguments.get("replacements")
        edits = [each for each in several if isinstance(each, dict)] if isinstance(several, list) else []
        return [(each["filePath"], each) for each in edits if isinstance(each.get("filePath"), str)]


def paired_calls(trajectory: Trajectory) -> list[Call]:
    """Every call of the agent in recorded order, with its result where the recording has one.

    The calls of a simulated user (tau2-bench), which are on user messages, are not the agent's. They are paired once
    and kept with the trajectory: every module works on the same `Call`s.
    """
    return list(trajectory.worked_out(_paired))


def _paired(trajectory: Trajectory) -> list[Call]:
    calls: list[Call] = []
    waiting: dict[str, Call] = {}
    running: dict[str, Call] = {}
    launched: dict[str, Call] = {}  # what works in the background, by the id of the call
    left: Call | None = None  # the command that has the terminal, for it had not ended when the harness answered
    for turn, message in trajectory.turns():
        if message.mark == "injected" and (message.content or "").startswith(_NOTICE):
            _end_launched(launched, turn, message.content or "")
        elif message.role == "user":
            _end_running(running, turn, message.content or "")
        for tool_call in message.tool_calls if message.role == "assistant" else ():
            call = Call(turn, tool_call.name, _parsed(tool_call.arguments), tool_call.arguments, position=len(calls))
            call.continues = running.get(_polled(call)) or (left if _awaits(call) else None)
            calls.append(call)
            waiting[tool_call.id] = call
        if message.role == "tool" and message.tool_call_id in waiting:
            call = waiting.pop(message.tool_call_id)
            call.result_turn, call.result = turn, message.content or ""
            call.is_error, call.mark = message.is_error, message.mark
            _settle_poll(call)
            left = _left_running(call, left)
            if session := _RUNS_ON.search(call.result[:400]):
                running[f"{session[0].partition(' ')[0]} {session[1]}"] = call.continues or call
            elif _CONTINUES.match(call.result):
                waiting[message.tool_call_id] = call
            elif started := _IN_BACKGROUND.search(call.result[:400]):
                running[f"Command {started[1]}"] = launched[message.tool_call_id] = call
            elif call.result.startswith(_LAUNCHED):
                launched[message.tool_call_id] = call
    return calls


def _left_running(call: Call, left: Call | None) -> Call | None:
    """The command that has the terminal after a call: one that the call left there, or that was there before it."""
    if call.command() is None and (left is None or call.continues is not left):
        return left
    return (call.continues or call) if STILL_RUNS.search((call.result or "")[-_END_OF_RESULT:]) else None


def _end_launched(launched: dict[str, Call], turn: int, notice: str) -> None:
    """Give a call in the background the result that a notice of its end has, unless the agent has read it before."""
    ended = _ENDED.search(notice)
    call = launched.pop(ended["id"], None) if ended else None
    if ended is None or call is None or call.ended_by is not None:
        return
    call.result_turn, call.result = turn, (ended["result"] or ended["summary"]).strip()
    call.is_error = ended["status"] == "failed"


def _end_running(running: dict[str, Call], turn: int, text: str) -> None:
    """The same for commands of which events before a user's words say how they ended."""
    for event in _EVENT.finditer(text):
        names = [name for name in running if name.startswith(f"Command {event['name']}")]
        call = running.pop(names[0]) if len(names) == 1 else None
        if call is not None and call.ended_by is None:
            call.result_turn, call.result, call.is_error = turn, event["line"], event["code"] != "0"


def _settle_poll(call: Call) -> None:
    """Let a poll end, so far, the call that it continues; one that could not be made says nothing of it."""
    if call.continues is None:
        return
    if (call.result or "").startswith(_FAILED_POLL):
        call.continues = None
    else:
        call.continues.ended_by = call


def _awaits(call: Call) -> bool:
    """Whether it only waits for the command that has the terminal, or gives it keys that do not stop it (OpenHands)."""
    keys = call.arguments.get("command")
    return keys == "" or (call.gives_keys() and isinstance(keys, str) and not keys.startswith("C-"))


def _polled(call: Call) -> str:
    """What a call awaits: a process, a script or a command in the background, by its name; empty for any other call."""
    argument, kind = _POLLS.get(call.name, ("", ""))
    if kind:
        return "" if call.arguments.get("action") in _NO_POLL else f"{kind} {call.arguments.get(argument)}"
    output = _BACKGROUND_OUTPUT.search(call.command() or call.path() or "")
    return f"Command {output[1]}" if output else ""


def command_of(tool_call: ToolCall) -> str | None:
    """The shell command line of a call that is not paired yet, when the tool is a shell; else None."""
    return Call(0, tool_call.name, _parsed(tool_call.arguments), tool_call.arguments).command()


def _parsed(arguments: str) -> dict[str, Any]:
    value = value_or(arguments, arguments)
    return value if isinstance(value, dict) else {"input": value}
