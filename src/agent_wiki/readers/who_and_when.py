"""Who&When failure logs: `{question, ground_truth, is_correct | is_corrected, history, mistake_…}`.

Several agents talk; none calls tools. The recorded roles are one agent's view ("user" is every
other speaker), or the speaker's own name. Here only a person's turns are user turns: role `human`, a turn without a
name, and the opening prompt with the question. Agents are assistants with their name. Code that a terminal ran is a
call (`text_calls.py`); other output of a terminal is an injected user turn. `ground_truth` and the annotations of the
mistake are answer keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import message_text
from agent_wiki.readers.chat_values import content_id
from agent_wiki.readers.recorded import identifier, mapping, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.text_calls import take_output
from agent_wiki.trajectory import Source, Trajectory

FORMAT = "who-and-when"

_ANSWER_KEYS = ("ground_truth", "mistake_agent", "mistake_step", "mistake_reason")
_VERDICTS = ("is_correct", "is_corrected")
_GENERIC_ROLES = frozenset({"user", "assistant", "system"})
_PERSONS = frozenset({"human", "user"})


def claims(sample: Sample) -> bool:
    """An object with a question, a history and either annotations or a verdict."""
    document = sample.document()
    is_annotated = any(key in document for key in _ANSWER_KEYS + _VERDICTS)
    return isinstance(document.get("history"), list) and "question" in document and is_annotated


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one trajectory of the file. Raises `UnreadableRecording` when its history is empty."""
    document = mapping(recording.document())
    history = objects(document.get("history"))
    if not history:
        raise UnreadableRecording(recording.name, "no history")
    builder = TrajectoryBuilder()
    question = text_or_none(document.get("question"))
    asks_at = _asking_turn(history, question)
    if question and asks_at is None:
        builder.user(question)
    for position, message in enumerate(history):
        _add(builder, message, is_request=position == asks_at)
    task_id = identifier(document.get("question_ID")) or identifier(document.get("question_id"))
    source = Source(
        FORMAT,
        task_id=task_id,
        resolved=next((document[key] for key in _VERDICTS if isinstance(document.get(key), bool)), None),
        hygiene={"answer_keys_withheld": sum(document.get(key) is not None for key in _ANSWER_KEYS)},
    )
    yield builder.finish(content_id(FORMAT, task_id, messages=history), source)


def _asking_turn(history: list[dict[str, Any]], question: str | None) -> int | None:
    """The position of the turn that asks the question: the opening turn, or a person's turn."""
    for position, message in enumerate(history):
        if question and (position == 0 or _is_person(message)) and question.strip() in message_text(message):
            return position
    return None


def _add(builder: TrajectoryBuilder, message: dict[str, Any], *, is_request: bool) -> None:
    speaker = _speaker(message)
    if message.get("role") == "system":
        builder.system(message_text(message))
    elif is_request or _is_person(message):
        builder.user(message_text(message), name=speaker)
    elif speaker is not None and speaker.replace("_", "").lower() == "computerterminal":
        if not take_output(builder, message_text(message), speaker):
            builder.user(message_text(message), "injected", name=speaker)
    else:
        builder.assistant(message_text(message), name=speaker)


def _is_person(message: dict[str, Any]) -> bool:
    speaker = _speaker(message)
    return message.get("role") == "user" if speaker is None else speaker.lower() in _PERSONS


def _speaker(message: dict[str, Any]) -> str | None:
    """Who spoke: the name, or a role that is a name; None for a generic role."""
    role = text_or_none(message.get("role"))
    return text_or_none(message.get("name")) or (role if role and role not in _GENERIC_ROLES else None)
