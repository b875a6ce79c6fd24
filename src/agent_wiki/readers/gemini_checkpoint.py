"""Chats that Gemini CLI's `/chat save` and `/chat share` write: the model's history, without ids, times and tokens.

Of older versions a bare list of messages with a `role` and `parts`, of newer ones an object with that list as `history`
beside an `authType`. Every history begins with the context that the program gives the model. (Read from `logger.ts`,
`chatCommand.ts` and `environmentContext.ts` of google-gemini/gemini-cli, Apache-2.0.)
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_values import content_ids
from agent_wiki.readers.gemini_cli import add_messages
from agent_wiki.readers.gemini_parts import responses_in, said_text
from agent_wiki.readers.recorded import mapping, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import Source, Trajectory
from agent_wiki.trajectory.lazily import regex

FORMAT = "gemini-checkpoint"

_AGENT = "gemini-cli"
_CONTEXT = regex(r"(?:<session_context>\n)?This is the Gemini CLI\. We are setting up the context for our chat\.")
_FOLDER = regex(
    r"^ {0,4}(?:I'm currently working in the directory: "
    r"|(?:I'm currently working in the following directories:|- \*\*Workspace Directories:\*\*)\n  - )(.+)$",
    re.MULTILINE,
)
_TAG = regex(r"checkpoint-(.+)\.json")  # what the user called the chat
_TYPES = {"model": "gemini", "user": "user"}
_MESSAGES_LOOKED_AT = 3
_MOST_NAMED = 10


def claims(sample: Sample) -> bool:
    """A list of messages with `parts`, bare or as `history`, that begins with the program's own context."""
    value = sample.values[0] if sample.shape == "document" else None
    history = value.get("history") if isinstance(value, dict) else value
    return any(map(_is_context, objects(history)[:_MESSAGES_LOOKED_AT]))


def _is_context(content: dict[str, Any]) -> bool:
    is_users = content.get("role") == "user" and isinstance(content.get("parts"), list)
    return is_users and _CONTEXT.match(said_text(content["parts"])) is not None


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one chat of a file. What is no message of it is left out with a warning."""
    contents = list(_contents(recording))
    messages = _messages(contents)
    builder = TrajectoryBuilder()
    add_messages(builder, messages)
    context = next((said_text(content["parts"]) for content in contents if _is_context(content)), "")
    folder, tag = _FOLDER.search(context), _TAG.match(recording.path.name)
    source = Source(
        FORMAT,
        cwd=text_or_none(folder[1].strip()) if folder else None,
        title=unquote(tag[1]) if tag else None,
        hygiene={"split_replies_joined": sum(message["is_joined"] for message in messages)},
    )
    *earlier, session_id = content_ids(FORMAT, messages=contents)
    made = builder.finish(session_id, source, agent=_AGENT)
    made.earlier_ids = earlier
    yield from recording.with_messages(made)


def _contents(recording: Recording) -> Iterator[dict[str, Any]]:
    """The entries of the history that are messages; the others are reported in one warning."""
    odd: list[str] = []
    entries = 0
    for entries, entry in enumerate(_entries(recording), start=1):
        if isinstance(entry, dict) and isinstance(entry.get("parts") or [], list) and "role" in entry:
            yield entry
        else:
            odd.append(str(entries))
    if odd:
        named = ", ".join(odd[:_MOST_NAMED]) + (", …" if odd[_MOST_NAMED:] else "")
        recording.warnings.append(f"{recording.name}: of {entries} entries {len(odd)} no message, skipped: {named}")


def _entries(recording: Recording) -> Iterator[Any]:
    for element in recording.elements():
        history = mapping(element).get("history")
        yield from history if isinstance(history, list) else [element]


def _messages(contents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries as the program's own recordings have them: a reply that was saved in several entries is one."""
    found: list[dict[str, Any]] = []
    for content in contents:
        kind, parts = _TYPES.get(str(content["role"]), "info"), _with_files(content.get("parts") or [])
        if kind == "gemini" and found and found[-1]["type"] == kind:
            found[-1]["content"] += parts
            found[-1]["is_joined"] = True
        else:
            found.append({"type": kind, "content": parts, "is_joined": False})
    for message, following in pairwise(found):
        if message["type"] == "gemini" and following["type"] == "user":
            _name_calls(message["content"], responses_in(following["content"]))
    return found


def _with_files(parts: list[Any]) -> list[Any]:
    """The parts of a message, in which what follows a tool's result (files that it read) is a part of that result."""
    found: list[Any] = []
    files: list[Any] | None = None
    for part in parts:
        response = mapping(part).get("functionResponse")
        if isinstance(response, dict):
            files = objects(response.get("parts"))
            found.append({"functionResponse": response | {"parts": files}})
        elif files is not None:
            files.append(part)
        else:
            found.append(part)
    return found


def _name_calls(parts: list[Any], responses: list[dict[str, Any]]) -> None:
    """Give each call without an id that of the next result of its tool: only results are saved with one."""
    waiting: defaultdict[str, deque[Any]] = defaultdict(deque)
    for response in responses:
        waiting[str(response.get("name"))].append(response.get("id"))
    for call in (mapping(part).get("functionCall") for part in parts):
        if isinstance(call, dict) and (ids := waiting[str(call.get("name"))]):
            answered = ids.popleft()
            call["id"] = text_or_none(call.get("id")) or answered
