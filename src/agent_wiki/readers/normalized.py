"""Our own envelope, as `trajectory.envelope_chunks` writes it: read back unchanged, without normalizing twice.

Reading a file and writing the trajectory again gives the same bytes. What does not match the envelope is reported:
a wrong type or a missing field makes the recording unreadable, an unknown field is dropped with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import (
    HYGIENE,
    SCHEMA_VERSION,
    Message,
    MessageMark,
    Role,
    Source,
    ToolCall,
    Trajectory,
    Usage,
)

FORMAT = "normalized"  # names the reader; `source.format` keeps the recorded format

_HEAD = {"session_id": "str", "agent": "str | None", "model": "str | None", "timestamp": "str | None"}
_ENVELOPE = frozenset({*_HEAD, "schema_version", "source", "messages"})
_CALL = frozenset({"id", "type", "function", "mark"})
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "float": (int, float),
    "int": (int,),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
}


class _Misfit(ValueError):
    """The document is not our envelope; the message says where and why."""


def claims(sample: Sample) -> bool:
    """Envelopes with a schema version and a source that names its format."""
    values = sample.values if sample.shape == "lines" else sample.values[:1]
    return sample.shape != "zip" and bool(values) and all(_is_envelope(value) for value in values)


def _is_envelope(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("schema_version"), int):
        return False
    source = value.get("source")
    return "messages" in value and isinstance(source, dict) and isinstance(source.get("format"), str)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The trajectory of the document, or one per line. Raises `UnreadableRecording` naming the field that is wrong."""
    if recording.sample().shape == "lines":
        for line, value in recording.lines():
            yield _checked(recording, value, line)
    else:
        yield _checked(recording, recording.document(), None)


def _checked(recording: Recording, value: Any, line: int | None) -> Trajectory:
    unknown: list[str] = []
    try:
        trajectory = trajectory_of(value, unknown)
    except _Misfit as misfit:
        raise UnreadableRecording(recording.name, str(misfit), line) from misfit
    for field_name in sorted(set(unknown)):
        recording.warnings.append(f"{recording.name}: unknown field {field_name}, left out")
    return trajectory


def trajectory_of(value: Any, unknown: list[str]) -> Trajectory:
    """The trajectory of a parsed envelope; names of unknown fields are added to `unknown`.

    Raises ValueError naming the first field that is missing or of a wrong type.
    """
    envelope = _typed(value, "dict", "the envelope")
    version = envelope.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise _Misfit(f"schema_version is {version!r}, this program reads {SCHEMA_VERSION}")
    unknown += envelope.keys() - _ENVELOPE
    head = {name: _typed(envelope.get(name), kind, name) for name, kind in _HEAD.items()}
    source = _source(_typed(envelope.get("source"), "dict", "source"), unknown)
    messages = _typed(envelope.get("messages"), "list", "messages")
    turns = [_message(each, f"messages[{position}]", unknown) for position, each in enumerate(messages)]
    return Trajectory(source=source, messages=turns, **head)


def _typed(value: Any, kind: str, place: str) -> Any:
    """`value` if its type is `kind`, such as "str" or "float | None". Raises `_Misfit` otherwise."""
    name, _, rest = kind.partition(" | ")
    if value is None and rest == "None":
        return None
    expected = _TYPES[name]
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        found = "missing" if value is None else f"a {type(value).__name__}"
        raise _Misfit(f"{place} is {found}, expected {name}")
    return value


def _source(record: dict[str, Any], unknown: list[str]) -> Source:
    kinds = {each.name: str(each.type) for each in fields(Source)}
    unknown += [f"source.{name}" for name in record.keys() - kinds.keys()]
    source = Source(_typed(record.get("format"), "str", "source.format"))
    for name in kinds.keys() & record.keys():
        value, place = record[name], f"source.{name}"
        if name == "usage":
            value = _usage(value, unknown)
        elif name == "hygiene":
            value = _hygiene(_typed(value, "dict", place), unknown)
        else:
            value = _typed(value, kinds[name], place)
        setattr(source, name, value)
    return source


def _hygiene(record: dict[str, Any], unknown: list[str]) -> dict[str, int]:
    unknown += [f"source.hygiene.{name}" for name in record.keys() - HYGIENE.keys()]
    known = sorted(HYGIENE.keys() & record.keys())
    return {name: _typed(record[name], "int", f"source.hygiene.{name}") for name in known}


def _usage(value: Any, unknown: list[str]) -> Usage | None:
    if value is None:
        return None
    record = _typed(value, "dict", "source.usage")
    names = [each.name for each in fields(Usage)]
    unknown += [f"source.usage.{name}" for name in record.keys() - set(names)]
    return Usage(**{name: _typed(record.get(name), "int | None", f"source.usage.{name}") for name in names})


def _message(value: Any, place: str, unknown: list[str]) -> Message:
    record = _typed(value, "dict", place)
    kinds = {each.name: str(each.type) for each in fields(Message)}
    unknown += [f"messages[].{name}" for name in record.keys() - kinds.keys()]
    calls = _typed(record.get("tool_calls", []), "list", f"{place}.tool_calls")
    plain = ("content", "thinking", "tool_call_id", "name", "is_error")
    return Message(
        role=_one_of(record.get("role"), get_args(Role), f"{place}.role"),
        tool_calls=[_call(call, f"{place}.tool_calls[{n}]", unknown) for n, call in enumerate(calls)],
        mark=_one_of(record.get("mark"), (None, *get_args(MessageMark)), f"{place}.mark"),
        **{name: _typed(record.get(name), kinds[name], f"{place}.{name}") for name in plain},
    )


def _one_of(value: Any, allowed: tuple[Any, ...], place: str) -> Any:
    if not isinstance(value, str | None) or value not in allowed:
        raise _Misfit(f"{place} is {value!r}, expected one of {', '.join(str(each) for each in allowed if each)}")
    return value


def _call(value: Any, place: str, unknown: list[str]) -> ToolCall:
    record = _typed(value, "dict", place)
    unknown += [f"tool_calls[].{name}" for name in record.keys() - _CALL]
    function = _typed(record.get("function"), "dict", f"{place}.function")
    return ToolCall(
        id=_typed(record.get("id"), "str", f"{place}.id"),
        name=_typed(function.get("name"), "str", f"{place}.function.name"),
        arguments=_typed(function.get("arguments"), "str", f"{place}.function.arguments"),
        mark=_one_of(record.get("mark"), (None, "no-result"), f"{place}.mark"),
    )
