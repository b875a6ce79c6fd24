"""mini-swe-agent trajectories: `{info, messages, trajectory_format, instance_id}`.

Version 1 has no native tool calls: the command is the only ```bash block of a reply, and the next user message is
its result. That block becomes a call named "bash"; the reply's text is unchanged. Of the other user messages,
the first is the task; the harness's response to a reply without exactly one command is marked as injected.
The raw provider reply in `extra.response` has model, time, usage and reasoning. The verdict is not in the file:
`resolved` comes from a `report.json` beside it, as written by the SWE-bench harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.beside import REPORTS
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Call, add_message, calls_of, message_text, parts_of, thinking_of
from agent_wiki.readers.chat_values import content_ids, reply_usage, summed_usage
from agent_wiki.readers.recorded import identifier, iso_utc, mapping, number, objects, seconds_between, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sidecars import json_beside
from agent_wiki.trajectory import Source, Trajectory

FORMAT = "mini-swe-agent"

_RETURN_CODE = re.compile(r"\s{0,20}<returncode>(-?\d{1,12})</returncode>")
_TIMED_OUT = re.compile(r"The last command <command>.{0,20000}?</command> timed out", re.DOTALL)
_FENCES = ("```bash", "```mswea_bash_command")


def claims(sample: Sample) -> bool:
    """An object with messages that names the format, or whose `info` looks like this harness's."""
    document = sample.document()
    if not isinstance(document.get("messages"), list):
        return False
    named = document.get("trajectory_format")
    details = mapping(document.get("info"))
    return (isinstance(named, str) and named.startswith(FORMAT)) or (
        "exit_status" in details and ("mini_version" in details or "submission" in details)
    )


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one trajectory of the file. Raises `UnreadableRecording` when it has no messages."""
    document = mapping(recording.document())
    messages = objects(document.get("messages"))
    if not messages:
        raise UnreadableRecording(recording.name, "no messages")
    task_id = identifier(document.get("instance_id"))
    source = _source(document, messages, _resolved_beside(recording, task_id))
    *earlier, session_id = content_ids(FORMAT, task_id, messages=messages)
    made = _built(messages, source).finish(
        session_id, source, agent=FORMAT, model=_model(document, messages), timestamp=next(_times(messages), None)
    )
    made.earlier_ids = earlier
    yield made


def _built(messages: list[dict[str, Any]], source: Source) -> TrajectoryBuilder:
    builder = TrajectoryBuilder()
    waiting: list[str] = []  # ids of calls without a result
    has_task = False
    for message in messages:
        role = message.get("role")
        if role == "assistant":
            waiting = _add_reply(builder, message)
        elif role in ("user", "exit") and waiting:
            _add_result(builder, waiting.pop(0), message, source.exit_status)
        elif role in ("user", "exit"):
            builder.user(message_text(message), "injected" if has_task else None)
            has_task = True
        else:
            returncode = mapping(message.get("extra")).get("returncode")
            add_message(builder, message, is_error=returncode != 0 if isinstance(returncode, int) else None)
            waiting = [call_id for call_id in waiting if call_id != message.get("tool_call_id")]
    return builder


def _add_reply(builder: TrajectoryBuilder, message: dict[str, Any]) -> list[str]:
    calls = calls_of(message) or _commands(message)
    parts = parts_of(message.get("content"))
    thinking = thinking_of(message, parts) or thinking_of(_provider_reply(message), parts)
    return builder.assistant(parts.text(), thinking=thinking, calls=calls)


def _commands(message: dict[str, Any]) -> list[Call]:
    """The reply's command as a call: a recorded action, or the one fenced block that the harness accepts."""
    actions = mapping(message.get("extra")).get("actions")
    if isinstance(actions, list) and actions:
        return [
            (identifier(action.get("tool_call_id")), "bash", {"command": action["command"]})
            for action in objects(actions)
            if isinstance(action.get("command"), str)
        ]
    blocks = fenced_commands(message_text(message))
    return [(None, "bash", {"command": blocks[0].strip()})] if len(blocks) == 1 else []


def fenced_commands(text: str) -> list[str]:
    """The bodies of all ```bash blocks, in order. Linear in the length of the text."""
    bodies: list[str] = []
    lines = text.split("\n")
    start: int | None = None
    for number_, line in enumerate(lines):
        if start is None and line.rstrip().endswith(_FENCES):
            start = number_ + 1
        elif start is not None and line.startswith("```"):
            bodies.append("\n".join(lines[start:number_]))
            start = None
    return bodies


def _add_result(builder: TrajectoryBuilder, call_id: str, message: dict[str, Any], exit_status: str | None) -> None:
    text = message_text(message)
    stated = _RETURN_CODE.match(text)
    is_error: bool | None = None
    if stated:
        is_error = int(stated.group(1)) != 0
    elif _TIMED_OUT.match(text):
        is_error = True
    elif exit_status == "Submitted":
        is_error = False  # the harness accepted what this command printed as the submission
    builder.tool(call_id, text, is_error=is_error)


def _provider_reply(message: dict[str, Any]) -> dict[str, Any]:
    """The message as the provider sent it, inside `extra.response.choices[0]`."""
    choices = mapping(mapping(message.get("extra")).get("response")).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return mapping(mapping(first).get("message"))


def _responses(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (mapping(mapping(message.get("extra")).get("response")) for message in messages)


def _times(messages: list[dict[str, Any]]) -> Iterator[str]:
    """The timestamps of messages, in recorded order."""
    for message in messages:
        extra = mapping(message.get("extra"))
        candidates = (message.get("timestamp"), extra.get("timestamp"), mapping(extra.get("response")).get("created"))
        moment = next((found for each in candidates if (found := iso_utc(each))), None)
        if moment:
            yield moment


def _model(document: dict[str, Any], messages: list[dict[str, Any]]) -> str | None:
    settings = mapping(mapping(mapping(document.get("info")).get("config")).get("model"))
    answered = (text_or_none(response.get("model")) for response in _responses(messages))
    return text_or_none(settings.get("model_name")) or next((model for model in answered if model), None)


def _source(document: dict[str, Any], messages: list[dict[str, Any]], resolved: bool | None) -> Source:
    details = mapping(document.get("info"))
    times = list(_times(messages))
    return Source(
        FORMAT,
        agent_version=text_or_none(details.get("mini_version")),
        cwd=text_or_none(mapping(mapping(details.get("config")).get("environment")).get("cwd")),
        task_id=identifier(document.get("instance_id")),
        resolved=resolved,
        exit_status=text_or_none(details.get("exit_status")),
        usage=summed_usage(reply_usage(response.get("usage")) for response in _responses(messages)),
        cost_usd=number(mapping(details.get("model_stats")).get("instance_cost")),
        duration_seconds=seconds_between(times[0], times[-1]) if len(times) > 1 else None,
        ended_at=times[-1] if times else None,
    )


def _resolved_beside(recording: Recording, task_id: str | None) -> bool | None:
    """`resolved` for this instance from a report in the recording's folder, if it is clearly about it.

    Either the report names the instance, or it is flat and its folder is named after the instance.
    """
    if task_id is None:
        return None
    verdicts = next(filter(None, (json_beside(recording, name) for name in REPORTS)), {})
    own = verdicts.get(task_id)
    if not isinstance(own, dict):
        own = verdicts if recording.path.parent.name == task_id else {}
    return own["resolved"] if isinstance(own.get("resolved"), bool) else None
