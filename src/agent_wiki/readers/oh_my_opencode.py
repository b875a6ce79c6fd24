"""Sessions of OpenCode as the plugin oh-my-opencode keeps them for hooks: `~/.claude/transcripts/ses_….jsonl`.

A line a prompt, a call or a result, `{type, timestamp, content | tool_name, tool_input, tool_output}`, without ids: a
result repeats its call's input, unless more than a minute went by or a hook changed it. What the agent said is
recorded by no version that was seen. A call that failed to run, that was refused or that a hook denied has no result.
(Read after the plugin's public source, code-yeongyu/oh-my-opencode, and sessions that a user published.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import iso_utc, mapping, short_digest, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory

FORMAT = "oh-my-opencode"

_AGENT = "opencode"
_KEYS = frozenset({"type", "timestamp", "tool_name", "tool_input", "tool_output"})
_SESSION = re.compile(r"ses_\w{4,80}")
_BY_PLUGIN = re.compile(r"\s*\[(?:BACKGROUND TASK|ALL BACKGROUND TASKS?|SYSTEM REMINDER)\b[^\]\n]{0,80}\]")
_ABORTED = "User aborted the command\n</bash_metadata>"
_TEXTS = ("output", "preview", "diff")
_ASIDE = frozenset({"truncated", "outputPath", "diagnostics"})
_SHELL, _INVALID = "bash", "invalid"


def claims(sample: Sample) -> bool:
    """Lines of which one is a call or a result, with a tool's name and input and without an id."""
    return any(map(_is_of_tool, sample.records()))


def _is_of_tool(record: dict[str, Any]) -> bool:
    is_named = isinstance(record.get("tool_name"), str) and isinstance(record.get("timestamp"), str)
    is_whole = "tool_input" in record and record.keys() <= _KEYS
    return is_named and is_whole and record.get("type") == ("tool_result" if "tool_output" in record else "tool_use")


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one session of a file, known by the file's name. Raises `UnreadableRecording` when it has no messages."""
    session = _Session()
    for record in recording.records():
        session.take(record)
    yield from recording.with_messages(session.trajectory(recording.path.name.partition(".")[0]))


class _Session:
    """Processes the lines of one file in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.first: dict[str, Any] = {}  # line, which identifies a session without a name
        self._text: str | None = None  # of the reply that is not yet added, and its calls
        self._calls: list[tuple[str, Any]] = []
        self._waiting = _WaitingCalls()
        self._strays = 0

    def take(self, record: dict[str, Any]) -> None:
        """Process one line. A reply holds the calls up to the next result: where it ends is not recorded."""
        self.first = self.first or record
        self.builder.note_time(iso_utc(record.get("timestamp")))
        kind, tool = record.get("type"), str(record.get("tool_name"))
        if kind == "tool_use":
            self._calls.append((tool, record.get("tool_input")))
        elif kind == "tool_result":
            self._end_reply()
            self._take_result(tool, record.get("tool_input"), record.get("tool_output"))
        elif kind in ("user", "assistant"):
            self._end_reply()
            text = text_or_none(record.get("content"))
            if kind == "assistant":
                self._text = text
            else:
                self.builder.user(text, "injected" if text and _BY_PLUGIN.match(text) else None)

    def trajectory(self, name: str) -> Trajectory:
        """The trajectory of all lines processed. `name`: the file's, which is the session's."""
        self._end_reply()
        made_up = f"{FORMAT}-{short_digest(str(self.first.get(key)) for key in sorted(self.first))}"
        session_id = name if _SESSION.fullmatch(name) else made_up
        return self.builder.finish(session_id, Source(FORMAT), agent=_AGENT)

    def _end_reply(self) -> None:
        text, calls, self._text, self._calls = self._text, self._calls, None, []
        if text or calls:
            ids = self.builder.assistant(text, calls=[(None, tool, arguments) for tool, arguments in calls])
            for call_id, (tool, arguments) in zip(ids, calls, strict=True):
                self._waiting.add(call_id, tool, arguments)

    def _take_result(self, tool: str, arguments: Any, output: Any) -> None:
        """A result of which no text is recorded is left out, for it may have been long."""
        call_id = self._waiting.pop(tool, arguments, output)
        if (text := _text_of(output)) is None:
            return
        if call_id is None:
            self._strays += 1
            call_id = f"stray_{self._strays:03d}"
        has_failed, mark = _outcome(tool, mapping(output), text)
        self.builder.tool(call_id, text, is_error=has_failed, name=tool, mark=mark)


class _WaitingCalls:
    """The calls without a result so far, by what a result repeats of them."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, None]] = {}
        self._by_sign: dict[tuple[str, str, str], list[str]] = {}

    def add(self, call_id: str, tool: str, arguments: Any) -> None:
        """One more call."""
        self._open.setdefault(tool, {})[call_id] = None
        for sign in _signs(tool, arguments):
            self._by_sign.setdefault(sign, []).append(call_id)

    def pop(self, tool: str, arguments: Any, output: Any) -> str | None:
        """The call that a result answers: the last with this input or this description, else the only one of the tool.

        The last, because a call without a result may have been repeated.
        """
        still = self._open.get(tool, {})
        for sign in [*_signs(tool, arguments), *_signs(tool, output)[1:]]:
            ids = self._by_sign.get(sign, [])
            while ids and ids[-1] not in still:
                ids.pop()
            if ids:
                found = ids.pop()
                del still[found]
                return found
        return still.popitem()[0] if len(still) == 1 else None


def _signs(tool: str, arguments: Any) -> list[tuple[str, str, str]]:
    description = text_or_none(mapping(arguments).get("description"))
    whole = (tool, "input", json.dumps(arguments, sort_keys=True))
    return [whole, (tool, "description", description)] if description else [whole]


def _text_of(output: Any) -> str | None:
    """What is recorded of a result's text: of early versions what OpenCode keeps beside it, which may be nothing."""
    if isinstance(output, str):
        return output
    shown = mapping(output)
    texts = [text for key in _TEXTS if isinstance(text := shown.get(key), str)]
    if texts:
        return next(filter(None, texts), "")
    rest = {key: value for key, value in shown.items() if key not in _ASIDE}
    return json.dumps(rest, ensure_ascii=False) if rest else None


def _outcome(tool: str, shown: dict[str, Any], text: str) -> tuple[bool | None, MessageMark | None]:
    """Whether a result is a failure, and its mark: only what ran to its end has one, a command with any exit code."""
    if text.rstrip().endswith(_ABORTED):
        return None, "interrupt"
    if "exit" in shown or tool == _SHELL:
        code = shown.get("exit")
        return (code != 0 if isinstance(code, int) else None), None
    return tool == _INVALID, None
