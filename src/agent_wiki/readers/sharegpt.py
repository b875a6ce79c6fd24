"""Conversations in the form of ShareGPT, `{"conversations": [{"from", "value"}]}`, where an agent works in them.

Training data is kept so, a conversation an element or a line. LLaMA-Factory has turns of their own for calls and
results (`function_call`, `observation`), Hermes Agent saves its sessions with calls in the replies' text and results
in turns of a `tool`. A conversation without a call or a result is a chat, and left out. (Read after LLaMA-Factory's
documentation, and public files.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import Call, call_of, content_text
from agent_wiki.readers.chat_values import content_hashes
from agent_wiki.readers.recorded import iso_utc, mapping, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.text_calls import asks_for_results, results_in, take_last_calls, take_output, take_results
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.json_text import value_or

FORMAT = "sharegpt"

_CALL, _REPLY, _RESULT = "call", "reply", "result"
_KINDS = {
    "system": "system",
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "model", "chatgpt", "bot"), _REPLY),
    **dict.fromkeys(("function_call", "tool_call"), _CALL),
    **dict.fromkeys(("observation", "tool", "function", "function_response", "tool_response", "tool_result"), _RESULT),
}
_PREFERENCES = frozenset({"chosen", "rejected"})  # a pair of replies to choose from
_OF_RESULT = frozenset({"tool_call_id", "name", "content"})
_CALLS_BEGIN = ("<function=", "<tool_call>")
_TURNS_LOOKED_AT = 200

Turn = tuple[str, str]  # what kind it is of, and its text


def claims(sample: Sample) -> bool:
    """Conversations, of which some in the first ones have a call or a result; or one such conversation."""
    conversations = [_turns(row, _TURNS_LOOKED_AT) for row in sample.listed()]
    return any(_has_work(turns) for turns in conversations if turns)


def _turns(row: dict[str, Any], most: int | None = None) -> list[Turn] | None:
    """The turns of a conversation; None where it is none."""
    said = row.get("conversations")
    if not isinstance(said, list) or not said or not _PREFERENCES.isdisjoint(row):
        return None
    turns = [_turn(mapping(each)) for each in said[:most]]
    return [turn for turn in turns if turn] if all(turns[:2]) else None


def _turn(recorded: dict[str, Any]) -> Turn | None:
    kind = _KINDS.get(str(recorded.get("from", recorded.get("role"))).lower())
    value = recorded.get("value", recorded.get("content"))
    if kind is None or value is None:
        return None
    is_json = kind == _CALL and not isinstance(value, str)
    return kind, json.dumps(value, ensure_ascii=False) if is_json else content_text(value)


def _has_work(turns: list[Turn]) -> bool:
    """Whether a tool is called: in a turn of its own, or at the end of a reply that results follow."""
    if any(kind in (_CALL, _RESULT) for kind, _ in turns):
        return True
    return any(
        kind == _REPLY and after == "user" and results_in(result) and asks_for_results(text)
        for (kind, text), (after, result) in pairwise(turns)
    )


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every conversation in which a tool is called. Raises `UnreadableRecording` when there is none."""
    found, chats, lost = False, 0, 0
    for _, value in recording.numbered():
        row = mapping(value)
        turns = _turns(row)
        if turns and _has_work(turns):
            found = True
            lost += len(row["conversations"]) - len(turns)
            yield _trajectory(row, turns)
        else:
            chats += 1
    if chats:
        recording.warnings.append(f"{recording.name}: {chats:,} without a tool's call or result, left out")
    if lost:
        recording.warnings.append(f"{recording.name}: turns of an unknown kind or without content, left out: {lost:,}")
    recording.expect_messages(found)


def _trajectory(row: dict[str, Any], turns: list[Turn]) -> Trajectory:
    builder = TrajectoryBuilder()
    system = text_or_none(row.get("system"))
    if system and ("system", system) not in turns:
        builder.system(system)
    before = ""
    for kind, text in turns:
        _take(builder, kind, text, before)
        before = kind
    take_last_calls(builder)
    completed, saved = row.get("completed"), iso_utc(row.get("timestamp"))
    is_hermes = isinstance(completed, bool)  # whose time is that of saving
    source = Source(FORMAT, ended_at=saved if is_hermes else None)
    if is_hermes:
        source.exit_status = "completed" if completed else "not completed"
    *earlier, session_id = [f"{FORMAT}-{each}" for each in content_hashes(objects(row.get("conversations")), 12)]
    made = builder.finish(
        session_id,
        source,
        model=text_or_none(row.get("model")) or text_or_none(mapping(row.get("metadata")).get("model")),
        timestamp=None if is_hermes else saved,
    )
    made.earlier_ids = earlier  # Hermes Agent saves a session again as it grows
    return made


def _take(builder: TrajectoryBuilder, kind: str, text: str, before: str) -> None:
    if kind == "system":
        builder.system(text)
    elif kind == _REPLY:
        builder.assistant(text)
    elif kind == _CALL:
        calls, rest = _calls(text)
        builder.assistant(rest, calls=calls)
    elif kind == _RESULT:
        _take_results(builder, text)
    elif not (take_output(builder, text) or _answers(builder, text, before)):
        is_output = bool(before) and bool(results_in(text))  # of a call that could not be read
        builder.user(text, "injected" if is_output else None)


def _calls(text: str) -> tuple[list[Call], str]:
    """The calls of a turn that is JSON, and what else is in it; none where it is text, which may end with some."""
    value = value_or(text.strip(), None)
    values = value if isinstance(value, list) else [value]
    calls = [call_of(each) for each in values if _is_call(each)]
    others = (content_text(each) for each in values if not _is_call(each))
    return calls, "\n".join(filter(None, others)) if calls else text


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and "name" in value


def _take_results(builder: TrajectoryBuilder, text: str) -> None:
    results = [_unwrapped(each) for each in results_in(text) or [text]]
    if not take_results(builder, results):
        for result in results:
            builder.tool(None, result)


def _unwrapped(text: str) -> str:
    """What a tool returned: Hermes Agent keeps it with the name of the tool."""
    value = mapping(value_or(text.strip(), None))
    is_wrapped = "content" in value and "name" in value and value.keys() <= _OF_RESULT
    return content_text(value["content"]) if is_wrapped else text


def _answers(builder: TrajectoryBuilder, text: str, before: str) -> bool:
    """Take a turn after a call as what came of it, such as the page of a browser, though it is in the user's place.

    A reply of any kind is a call where it is nothing else.
    """
    last = builder.messages[-1] if builder.messages else None
    said = last.content or "" if last is not None else ""
    is_call = before == _CALL or said.startswith(_CALLS_BEGIN)
    return is_call and asks_for_results(said) and take_results(builder, [text])
