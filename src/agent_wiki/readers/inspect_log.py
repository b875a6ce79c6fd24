"""Inspect evaluation logs: `.json` (one document) and `.eval` (a zip with a header and one member per sample).

Each sample is one trajectory. A score becomes the reward if it is a number or one of Inspect's letters
(C correct, P partial, I incorrect, N no answer). `target` is an answer key. `model_usage` is the sample's total
usage, including that of a model-graded scorer, which is not recorded separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import add_message, content_text
from agent_wiki.readers.chat_values import content_id, summed_usage
from agent_wiki.readers.recorded import count, identifier, iso_utc, mapping, number, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.zip_members import json_member, json_members
from agent_wiki.trajectory import Source, Trajectory, Usage

FORMAT = "inspect"

_HEADERS = ("header.json", "_journal/start.json")  # the first is written when the evaluation ends
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_DEEPEST_REFERENCE = 20  # a message's content and arguments are shallow; deeper nesting is hostile
_ATTACHMENT = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")


def claims(sample: Sample) -> bool:
    """A zip with a log's header, or a document with an `eval` that names its task."""
    if sample.shape == "zip":
        return any(name in sample.values for name in _HEADERS)
    return "task" in mapping(sample.document().get("eval"))


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every sample as one trajectory. Raises `UnreadableRecording` when no sample can be read."""
    found = 0
    for header, place, sample in _samples(recording):
        messages = objects(sample.get("messages"))
        if not messages:
            recording.warnings.append(f"{recording.name}: {place} has no messages, skipped")
            continue
        found += 1
        yield _trajectory(header, sample, messages)
    if not found:
        raise UnreadableRecording(recording.name, "no sample with messages in it")


def _samples(recording: Recording) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Yield `(header, place for messages, sample)` in recorded order; a damaged member loses that sample only."""
    names = recording.sample()
    if names.shape != "zip":
        document = mapping(recording.document())
        for position, sample in enumerate(objects(document.get("samples")), start=1):
            yield document, f"sample {position}", sample
        return
    header_name = next(name for name in _HEADERS if name in names.values)
    header = mapping(json_member(recording.path, recording.name, header_name))
    members = [name for name in names.values if name.startswith("samples/") and name.endswith(".json")]
    for name, sample in json_members(recording.path, recording.name, members, recording.warnings):
        yield header, f"member {name!r}", mapping(sample)


def _trajectory(header: dict[str, Any], sample: dict[str, Any], messages: list[dict[str, Any]]) -> Trajectory:
    evaluation = mapping(header.get("eval"))
    transcript = mapping(sample.get("transcript"))  # older logs
    attached = mapping(sample.get("attachments")) or mapping(transcript.get("content"))
    builder = TrajectoryBuilder()
    for message in messages:
        _add(builder, mapping(_resolved(message, attached)) if attached else message)
    events = objects(sample.get("events")) or objects(transcript.get("events"))
    source = _source(evaluation, sample, messages)
    source.ended_at = iso_utc(sample.get("completed_at")) or _event_time(reversed(events))
    started = iso_utc(sample.get("started_at")) or _event_time(iter(events)) or iso_utc(evaluation.get("created"))
    session_id = text_or_none(sample.get("uuid")) or content_id(source.task_id, source.trial, messages=messages)
    model = text_or_none(evaluation.get("model"))
    return builder.finish(session_id.replace("/", "-"), source, model=model, timestamp=started)


def _event_time(events: Iterator[dict[str, Any]]) -> str | None:
    return next((moment for event in events if (moment := iso_utc(event.get("timestamp")))), None)


def _resolved(value: Any, attached: dict[str, Any], depth: int = 0) -> Any:
    """`value` with references to the sample's attachments replaced by their text."""
    if isinstance(value, str) and "://" in value:
        return _ATTACHMENT.sub(lambda found: str(attached.get(found.group(1), found.group(0))), value)
    if depth >= _DEEPEST_REFERENCE:
        return value
    if isinstance(value, list):
        return [_resolved(each, attached, depth + 1) for each in value]
    if isinstance(value, dict):
        return {key: _resolved(each, attached, depth + 1) for key, each in value.items()}
    return value


def _add(builder: TrajectoryBuilder, message: dict[str, Any]) -> None:
    if message.get("role") == "tool":
        error = message.get("error")
        text = content_text(message.get("content")) or text_or_none(mapping(error).get("message")) or ""
        name = text_or_none(message.get("function"))
        builder.tool(identifier(message.get("tool_call_id")), text, is_error=True if error else None, name=name)
        return
    add_message(builder, message)
    for part in objects(message.get("content")):
        if part.get("type") == "tool_use" and "result" in part:  # a tool that the provider ran
            flag = True if part.get("error") else None
            builder.tool(identifier(part.get("id")), content_text(part["result"]), is_error=flag)


def _source(evaluation: dict[str, Any], sample: dict[str, Any], messages: list[dict[str, Any]]) -> Source:
    task, sample_id = text_or_none(evaluation.get("task")), identifier(sample.get("id"))
    limit = text_or_none(mapping(sample.get("limit")).get("type"))
    per_model = [mapping(each) for each in mapping(sample.get("model_usage")).values()]
    costs = [cost for each in per_model if (cost := number(each.get("total_cost"))) is not None]
    return Source(
        FORMAT,
        task_id="/".join(part for part in (task, sample_id) if part) or None,
        trial=identifier(sample.get("epoch")),
        reward=_reward(sample),
        exit_status="error" if sample.get("error") else (f"{limit} limit" if limit else None),
        usage=summed_usage(_usage(each) for each in per_model) or _only_reply(sample, messages),
        cost_usd=sum(costs) if costs else None,
        duration_seconds=number(sample.get("total_time")),
        hygiene={"answer_keys_withheld": int(sample.get("target") not in (None, "", []))},
    )


def _reward(sample: dict[str, Any]) -> float | None:
    """The first recorded score that is a number, a boolean or one of Inspect's letters."""
    scores = [*mapping(sample.get("scores")).values(), sample.get("score")]
    for score in scores:
        value = mapping(score).get("value")
        reward = _LETTERS.get(value) if isinstance(value, str) else number(value)
        if isinstance(value, bool):
            reward = float(value)
        if reward is not None:
            return reward
    return None


def _usage(record: dict[str, Any]) -> Usage | None:
    """Inspect's counts. Some providers include cached tokens in the input, which the total reveals."""
    read_, written = count(record.get("input_tokens_cache_read")), count(record.get("input_tokens_cache_write"))
    sent, received = count(record.get("input_tokens")), count(record.get("output_tokens"))
    if sent is not None and read_ and count(record.get("total_tokens")) == sent + (received or 0):
        sent = max(sent - read_, 0)
    usage = Usage(sent, written, read_, received)
    return usage if usage != Usage() else None


def _only_reply(sample: dict[str, Any], messages: list[dict[str, Any]]) -> Usage | None:
    """Older logs record the last reply's usage only; for a sample with a single reply that is the total."""
    replies = sum(message.get("role") == "assistant" for message in messages)
    return _usage(mapping(mapping(sample.get("output")).get("usage"))) if replies == 1 else None
