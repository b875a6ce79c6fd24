"""What an agent harness gives a hook, and the transcript that it means.

Claude Code gives every hook JSON on standard input, and so do Codex, Gemini CLI and Qwen Code (session_id,
transcript_path, cwd, hook_event_name, stop_hook_active), Copilot (in camelCase) and Cursor (conversation_id,
workspace_roots). Codex's older `notify` gives JSON as the last argument, its names with dashes. Where no transcript is
named, it is found by the session's id, as the agents' modules say. OpenCode's plugin gives the recording itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_wiki.errors import AgentWikiError
from agent_wiki.trajectory.lazily import dataclass, regex

# A session that is left before its first turn and Claude Code's own subagents (a compaction) have no transcript.
_OFTEN_UNRECORDED = frozenset({"SubagentStop", "SessionEnd", "subagentStop", "sessionEnd"})
_SESSION_ID = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{7,99}")


class HookProblem(AgentWikiError):
    """A hook's input cannot be used; `str()` is one line for the log."""


class NothingRecorded(HookProblem):
    """A session or subagent ended of which its harness keeps no transcript."""


@dataclass(frozen=True, slots=True)
class HookInput:
    """What a harness says about a turn that ended. `is_continuation`: another hook made the agent continue.

    `recording` is the session itself, as JSON, where the harness keeps none in a file.
    """

    event: str
    session_id: str
    transcript: Path | None
    cwd: Path
    is_continuation: bool = False
    recording: bytes | None = None


def parse_input(text: str, here: Path) -> HookInput:
    """The input of a hook, in any harness's spelling. `here` is used for a missing `cwd`. Raises `HookProblem`."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookProblem(f"the hook's input is not JSON ({type(error).__name__})") from error
    if not isinstance(fields, dict):
        raise HookProblem("the hook's input is not a JSON object")
    transcript = _text(fields, "agent_transcript_path", "transcript_path", "transcriptPath")
    return HookInput(
        event=_text(fields, "hook_event_name", "type") or ("SessionEnd" if "reason" in fields else "Stop"),
        session_id=_text(fields, "session_id", "thread-id", "thread_id", "sessionId", "conversation_id"),
        transcript=_path(transcript) if transcript else None,
        cwd=Path(_text(fields, "cwd") or _first_folder(fields.get("workspace_roots")) or here),
        is_continuation=fields.get("stop_hook_active") is True,
        recording=json.dumps(recording).encode() if isinstance(recording := fields.get("recording"), dict) else None,
    )


def _text(fields: Mapping[str, Any], *names: str) -> str:
    """The first of the named fields that is a text with characters in it."""
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")


def _path(text: str) -> Path:
    """A path in which `~` is the user's folder; as it is where it names a user that this machine does not know."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _first_folder(roots: Any) -> str:
    return next((each for each in roots if isinstance(each, str)), "") if isinstance(roots, list) else ""


@contextmanager
def transcript_of(hook: HookInput, environment: Mapping[str, str]) -> Iterator[Path]:
    """A file with the session: a temporary one for a given recording, else the file that the harness names or keeps.

    Raises `HookProblem` if there is none, `NothingRecorded` where that is nothing unusual.
    """
    if hook.recording is None:
        yield _transcript_file(hook, environment)
        return
    from agent_wiki.harness.saving import standard_input_as_file

    with standard_input_as_file(hook.recording) as (path, _):
        yield path


def _transcript_file(hook: HookInput, environment: Mapping[str, str]) -> Path:
    if hook.transcript is not None:
        if hook.transcript.is_file():
            return hook.transcript
        kind = NothingRecorded if hook.event in _OFTEN_UNRECORDED else HookProblem
        raise kind(f"{hook.transcript}: no such transcript")
    if not _SESSION_ID.fullmatch(hook.session_id):
        raise HookProblem("the hook's input names neither a transcript nor a session")
    from agent_wiki.harness.agents import AGENTS

    finders = [agent.transcript_of for agent in AGENTS if agent.transcript_of is not None]
    transcript = next((path for find in finders if (path := find(hook.session_id, environment)) is not None), None)
    if transcript is None:
        raise HookProblem(f"no agent keeps a transcript of session {hook.session_id}")
    return transcript
