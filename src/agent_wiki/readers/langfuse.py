"""Langfuse's scheduled export to a bucket: a row for each observation (`observations_v2/`), JSON or JSON lines.

<project>/observations_v2/<time>.jsonl.gz
<project>/scores/<time>.jsonl.gz            of the same run: what was judged of its traces and sessions
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import RecordingUnavailable, UnreadableRecording
from agent_wiki.readers.chat_messages import content_text
from agent_wiki.readers.chat_values import count, identifier, mapping, number, objects, text_or_none
from agent_wiki.readers.recorded import epoch_seconds
from agent_wiki.readers.recorded_prompts import json_or_text, prompt_of, reply_of
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.recording_path import path_beside
from agent_wiki.readers.span_conversations import trajectories_of_spans
from agent_wiki.readers.spans import Kind, Score, Span, Turns
from agent_wiki.trajectory import Trajectory, Usage

FORMAT = "langfuse"

_ALWAYS = frozenset({"id", "trace_id", "type", "start_time", "project_id", "parent_observation_id"})
_KINDS: dict[str, Kind] = {"GENERATION": "model", "AGENT": "agent", "TOOL": "tool"}
_SCORED_TYPES = ("NUMERIC", "BOOLEAN")
_READ = ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
_WRITTEN = ("cache_creation_input_tokens", "input_cache_creation")


def claims(sample: Sample) -> bool:
    """Rows with the columns that every export of observations has."""
    return any(row.keys() >= _ALWAYS for row in _first_rows(sample))


def _first_rows(sample: Sample) -> list[dict[str, Any]]:
    values = sample.values
    if sample.shape == "document" and values and isinstance(values[0], list):
        values = values[0][:1]
    return objects(values)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every conversation with a model. Raises `UnreadableRecording` when there is none, or the text of none."""
    turns = Turns()
    spans = [_span(row, turns) for row in _rows(recording)]
    yield from trajectories_of_spans(recording, FORMAT, spans, _scores(recording))


def _rows(recording: Recording) -> Iterator[dict[str, Any]]:
    return (row for row in recording.values() if isinstance(row, dict))


def _span(row: dict[str, Any], turns: Turns) -> Span:
    kind = _KINDS.get(str(row.get("type")).upper(), "other")
    has_failed = row.get("level") == "ERROR"
    span = Span(
        kind,
        identifier(row.get("id")) or "",
        identifier(row.get("trace_id")) or "",
        identifier(row.get("parent_observation_id")),
        identifier(row.get("session_id")),
        name=text_or_none(row.get("name")) if kind in ("agent", "tool") else None,
        start=epoch_seconds(row.get("start_time")),
        end=epoch_seconds(row.get("end_time")),
        is_error=True if has_failed else None,
        exit_status="error" if has_failed and kind == "agent" else None,
    )
    if kind == "tool":
        _add_result(span, row)
    elif kind == "model":
        span.prompt, span.reply = turns.of(prompt_of(row.get("input"))), turns.of(reply_of(row.get("output")))
        span.model = text_or_none(row.get("provided_model_name"))
        span.usage = _usage(mapping(row.get("usage_details")))
        span.cost_usd = number(row.get("total_cost")) or None  # 0 stands for a model without a price
    return span


def _add_result(span: Span, row: dict[str, Any]) -> None:
    """The arguments and the result; LangChain's result is a message, which says whose call it answers."""
    output = json_or_text(row.get("output"))
    attributes = mapping(mapping(json_or_text(row.get("metadata"))).get("attributes"))
    span.arguments = row.get("input")
    span.call_id = text_or_none(attributes.get("gen_ai.tool.call.id"))
    if isinstance(output, dict) and text_or_none(output.get("tool_call_id")):
        span.call_id, output = output["tool_call_id"], output.get("content")
    if output not in (None, ""):
        span.result = content_text(output)
    elif span.is_error:
        span.result = text_or_none(row.get("status_message"))


def _usage(details: dict[str, Any]) -> Usage | None:
    """Langfuse's counts do not overlap: what was cached is not in `input`, nor reasoning in `output`."""
    counts = {key: tokens for key, value in details.items() if (tokens := count(value)) is not None}
    read, written = (_sum(counts, lambda key, names=names: key in names) for names in (_READ, _WRITTEN))
    sent = _sum(counts, lambda key: key.startswith("input") and key not in _READ + _WRITTEN)
    usage = Usage(sent, written, read, _sum(counts, lambda key: key.startswith("output")))
    return usage if usage != Usage() else None


def _sum(counts: dict[str, int], is_wanted: Any) -> int | None:
    wanted = [tokens for key, tokens in counts.items() if is_wanted(key)]
    return sum(wanted) if wanted else None


def _scores(recording: Recording) -> dict[str, list[Score]]:
    """The scores of the same run, by trace and by session. One that is about a single observation is no outcome."""
    name = f"../scores/{recording.path.name}"
    found: dict[str, dict[str, tuple[str, Score]]] = defaultdict(dict)
    if recording.has_beside(name):
        scores = Recording(path_beside(recording.path, name), f"{recording.name}: {name}")
        try:
            for row in _rows(scores):
                _add_score(found, row)
        except RecordingUnavailable:
            raise
        except UnreadableRecording as error:
            recording.warnings.append(f"{error}; read without scores")
    return {about: [score for _, score in by_id.values()] for about, by_id in found.items()}


def _add_score(found: dict[str, dict[str, tuple[str, Score]]], row: dict[str, Any]) -> None:
    name, value = text_or_none(row.get("name")), number(row.get("value"))
    about = identifier(row.get("trace_id")) or identifier(row.get("session_id"))
    if not name or value is None or not about or row.get("observation_id") or row.get("data_type") not in _SCORED_TYPES:
        return
    score_id, updated = identifier(row.get("id")) or "", str(row.get("updated_at"))
    if updated >= found[about].get(score_id, ("",))[0]:
        found[about][score_id] = (updated, Score(name, value))
