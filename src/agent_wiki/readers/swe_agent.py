"""SWE-agent trajectories (`.traj`): `{environment, trajectory, history, info, replay_config}`.

`history` is what the model saw and said, and is preferred; `trajectory` has the same steps as action and
observation, and is used only without a history. An agent without native tool calls has its command in `action`;
that becomes a call named "bash", or of the agent's own editor, and the next user message is its result. A
demonstration is not a user request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Call, add_message, calls_of, message_text, parts_of, thinking_of
from agent_wiki.readers.chat_values import content_ids
from agent_wiki.readers.recorded import count, identifier, mapping, number, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.swe_agent_edits import Editor
from agent_wiki.trajectory import Source, Trajectory, Usage
from agent_wiki.trajectory.json_text import value_or

FORMAT = "swe-agent"

# What it says of a silent command, also where none had run.
_SILENT = ("Your command ran successfully and did not", "Your last command ran successfully and did not")
_HISTORY_KEYS = frozenset({"agent", "message_type", "thought", "action"})
_STEP_KEYS = frozenset({"action", "observation"})


def claims(sample: Sample) -> bool:
    """An object whose `trajectory` has actions and observations, or whose `history` looks like this agent's."""
    document = sample.document()
    step = _first(document.get("trajectory"))
    if step is not None and step.keys() >= _STEP_KEYS:
        return True
    message = _first(document.get("history"))
    return message is not None and "role" in message and bool(message.keys() & _HISTORY_KEYS)


def _first(value: Any) -> dict[str, Any] | None:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else None


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one trajectory of the file. Raises `UnreadableRecording` when it has neither history nor steps."""
    document = mapping(recording.document())
    history, steps = objects(document.get("history")), objects(document.get("trajectory"))
    builder = TrajectoryBuilder()
    if history:
        _add_history(builder, history)
    elif steps:
        _add_steps(builder, steps)
    else:
        raise UnreadableRecording(recording.name, "neither history nor steps in it")
    settings = mapping(value_or(recorded := document.get("replay_config"), recorded))  # in newer files JSON text
    source = _source(document, settings)
    model = mapping(mapping(settings.get("agent")).get("model")).get("name")
    *earlier, session_id = content_ids(FORMAT, source.task_id, messages=history or steps)
    made = builder.finish(session_id, source, agent=FORMAT, model=text_or_none(model))
    made.earlier_ids = earlier
    yield made


def _add_history(builder: TrajectoryBuilder, history: list[dict[str, Any]]) -> None:
    editor = Editor()
    waiting: str | None = None  # the id of an action (not a native call) without a result so far
    for message in history:
        role = message.get("role")
        is_demonstration = bool(message.get("is_demo")) or message.get("message_type") == "demonstration"
        if role == "assistant" and not is_demonstration:
            waiting = _add_reply(builder, message, editor)
        elif role == "user" and waiting:
            _add_result(builder, waiting, message_text(message), editor)
            waiting = None
        elif role == "tool":
            call_id = identifier(message.get("tool_call_id")) or _answered_call(message)
            _add_result(builder, call_id, message_text(message), editor)
        elif is_demonstration or message_text(message).startswith(_SILENT):
            builder.user(parts_of(message.get("content")).text(), "injected")
        else:
            add_message(builder, message)


def _add_reply(builder: TrajectoryBuilder, message: dict[str, Any], editor: Editor) -> str | None:
    """Add one reply; returns the id of its call if that is an action, whose result is a user message."""
    native = [editor.native(call) for call in calls_of(message)]
    parts = parts_of(message.get("content"))
    calls = native or _action(message, editor)
    ids = builder.assistant(parts.text(), thinking=thinking_of(message, parts), calls=calls)
    return ids[0] if ids and not native else None


def _add_result(builder: TrajectoryBuilder, call_id: str | None, text: str, editor: Editor) -> None:
    builder.tool(call_id, text, is_error=True if editor.shown(text) else None)


def _action(record: dict[str, Any], editor: Editor) -> list[Call]:
    """The command of a reply or a step as a call; empty without a command."""
    action = text_or_none(record.get("action"))
    return [editor.typed(action)] if action else []


def _answered_call(message: dict[str, Any]) -> str | None:
    answered = message.get("tool_call_ids")
    return identifier(answered[0]) if isinstance(answered, list) and answered else None


def _add_steps(builder: TrajectoryBuilder, steps: list[dict[str, Any]]) -> None:
    for message in objects(steps[0].get("query")):  # newer files record the prompt of each step
        if message.get("role") in ("system", "user"):
            add_message(builder, message, mark="injected" if message.get("is_demo") else None)
    editor = Editor()
    for step in steps:
        text = text_or_none(step.get("response")) or text_or_none(step.get("thought"))
        native = [editor.native(call) for call in calls_of(step)]
        ids = builder.assistant(text, calls=native or _action(step, editor))
        if ids and isinstance(step.get("observation"), str):
            _add_result(builder, ids[0], step["observation"], editor)


def _source(document: dict[str, Any], settings: dict[str, Any]) -> Source:
    details = mapping(document.get("info"))
    stats = mapping(details.get("model_stats"))
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    is_measured = bool(sent or received)  # a replayed demonstration records zeros because no model was asked
    return Source(
        FORMAT,
        agent_version=text_or_none(details.get("swe_agent_version")),
        task_id=identifier(mapping(settings.get("problem_statement")).get("id")),
        exit_status=text_or_none(details.get("exit_status")),
        usage=Usage(input_tokens=sent, output_tokens=received) if is_measured else None,
        cost_usd=number(stats.get("instance_cost")) if is_measured else None,
    )
