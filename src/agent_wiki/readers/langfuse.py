"""Langfuse's scheduled export to a bucket: a row for each observation (`observations_v2/`), JSON or JSON lines.

<project>/observations_v2/<time>.jsonl.gz   what began between the export before and this one
<project>/scores/<time>.jsonl.gz            what was judged meanwhile of traces and sessions, also of earlier ones
<project>/manifests/<time>.json             which files an export consists of

A conversation may be in several files, and its scores in others still: `exports.py` says which belong together. Without
that a file is read with the scores of the same name.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import PartOfRecording, RecordingUnavailable, UnreadableRecording
from agent_wiki.readers.chat_messages import content_text
from agent_wiki.readers.exports import ABOUT, ExportPart, Mentions, is_about, mentions_of
from agent_wiki.readers.recorded import count, epoch_seconds, identifier, mapping, number, objects, text_or_none
from agent_wiki.readers.recorded_prompts import json_or_text, prompt_of, reply_of
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.span_conversations import trajectories_of_spans
from agent_wiki.readers.spans import Kind, Score, Span, Turns, may_be_outcome, rows_of_part
from agent_wiki.trajectory import Trajectory, Usage

FORMAT = "langfuse"

_ALWAYS = frozenset({"id", "trace_id", "type", "start_time", "project_id", "parent_observation_id"})
_KINDS: dict[str, Kind] = {"GENERATION": "model", "AGENT": "agent", "TOOL": "tool"}
_SCORED = frozenset({"id", "trace_id", "name", "value", "data_type"})
_SCORED_TYPES = ("NUMERIC", "BOOLEAN")
_LISTED = frozenset({"exportSource", "window", "files"})
_READ = ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
_WRITTEN = ("cache_creation_input_tokens", "input_cache_creation")


def claims(sample: Sample) -> bool:
    """Rows with the columns that every export of observations has, or of scores; or the manifest of an export."""
    return any(row.keys() >= _ALWAYS for row in _first_rows(sample)) or bool(_other_part(sample))


def _other_part(sample: Sample) -> str:
    """What a file of an export is that holds no observation; empty for any other."""
    rows = _first_rows(sample)
    if any(row.keys() >= _SCORED and "start_time" not in row for row in rows):
        return "scores of the observations beside it"
    return "the list of an export's files" if any(row.keys() >= _LISTED for row in rows) else ""


def _first_rows(sample: Sample) -> list[dict[str, Any]]:
    values = sample.values
    if sample.shape == "document" and values and isinstance(values[0], list):
        values = values[0][:1]
    return objects(values)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every conversation with a model that begins in the file. Raises `UnreadableRecording` when there is none.

    Also where the text of none is recorded; `PartOfRecording` for what only adds to the conversations of other files.
    """
    if what := _other_part(recording.sample()):
        deque(recording.objects(), maxlen=0)  # so that a damaged line is reported
        raise PartOfRecording(recording.name, f"no recording: {what}")
    part = recording.part or ExportPart((f"../{ABOUT}/{recording.path.name}",))
    turns = Turns()
    spans = [_span(row, turns) for row in rows_of_part(recording, Recording.objects, _ids)]
    yield from trajectories_of_spans(recording, FORMAT, spans, _scores(recording, part))


def mentions(recording: Recording) -> Mentions:
    """The conversations that a file holds something of, or says an outcome of. Raises `UnreadableRecording`."""
    if _other_part(recording.sample()):
        return mentions_of([about] for row in recording.objects() if (about := _about(row)))
    return mentions_of(map(_ids, recording.objects()))


def _ids(row: dict[str, Any]) -> list[str | None]:
    return [identifier(row.get("trace_id")), identifier(row.get("session_id"))]


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


def _scores(recording: Recording, part: ExportPart) -> dict[str, list[Score]]:
    """The outcomes in the files of scores, by trace and by session; of one that was given again the latest."""
    found: dict[str, dict[str, tuple[str, Score]]] = defaultdict(dict)
    for name in filter(is_about, part.others):
        if recording.has_beside(name):
            try:
                for row in recording.other(name).objects():
                    _add_score(found, row)
            except RecordingUnavailable:
                raise
            except UnreadableRecording as error:
                recording.warnings.append(f"{error}; read without scores")
    return {about: [score for _, score in by_id.values()] for about, by_id in found.items()}


def _add_score(found: dict[str, dict[str, tuple[str, Score]]], row: dict[str, Any]) -> None:
    about = _about(row)
    if about is not None:
        score = Score(str(row.get("name")), number(row.get("value")))
        score_id, updated = identifier(row.get("id")) or "", str(row.get("updated_at"))
        if updated >= found[about].get(score_id, ("",))[0]:
            found[about][score_id] = (updated, score)


def _about(row: dict[str, Any]) -> str | None:
    """The trace or the session of which a row says the outcome; None for any other score."""
    if row.get("observation_id") or row.get("data_type") not in _SCORED_TYPES or number(row.get("value")) is None:
        return None  # what is about a single observation is no outcome of the whole
    if not may_be_outcome(text_or_none(row.get("name")) or ""):
        return None
    return identifier(row.get("trace_id")) or identifier(row.get("session_id"))
