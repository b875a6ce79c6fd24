"""LangSmith's bulk exports: a row for each run, in Parquet or as JSON lines with the same fields.

An export has files for each stretch of time: a thread that continues is in several (`exports.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from agent_wiki.readers.chat_messages import content_text
from agent_wiki.readers.exports import Mentions, mentions_of
from agent_wiki.readers.recorded import count, epoch_seconds, identifier, mapping, number, text_or_none
from agent_wiki.readers.recorded_prompts import json_or_text, prompt_of, reply_of
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.span_conversations import trajectories_of_spans
from agent_wiki.readers.spans import Kind, Score, Span, Turns, rows_of_part
from agent_wiki.trajectory import Trajectory, Usage

FORMAT = "langsmith"

_ALWAYS = frozenset({"id", "trace_id", "run_type", "start_time"})
_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool"}
_THREADS = ("session_id", "thread_id", "conversation_id")


def claims(sample: Sample) -> bool:
    """Rows with the fields that say where a run belongs."""
    return any(row.keys() >= _ALWAYS for row in sample.records())


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every conversation with a model. Raises `UnreadableRecording` when there is none, or the text of none."""
    turns = Turns()
    spans: list[Span] = []
    scores: dict[str, dict[str, list[Score]]] = defaultdict(dict)  # by trace and run: a later file counts
    for row in rows_of_part(recording, Recording.objects, _ids):
        span = _span(row, turns)
        spans.append(span)
        scores[span.trace][span.id] = _scores(row) if span.parent is None else []
    found = {trace: [score for each in of_runs.values() for score in each] for trace, of_runs in scores.items()}
    yield from trajectories_of_spans(recording, FORMAT, spans, found)


def mentions(recording: Recording) -> Mentions:
    """The traces and threads that a file holds something of. Raises `UnreadableRecording`."""
    return mentions_of(map(_ids, recording.objects()))


def _ids(row: dict[str, Any]) -> list[str | None]:
    return [identifier(row.get("trace_id")), _thread(_metadata(row))]


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    return mapping(mapping(json_or_text(row.get("extra"))).get("metadata"))


def _thread(metadata: dict[str, Any]) -> str | None:
    return next((name for key in _THREADS if (name := identifier(metadata.get(key)))), None)


def _span(row: dict[str, Any], turns: Turns) -> Span:
    kind = _KINDS.get(str(row.get("run_type")).lower(), "other")
    metadata = _metadata(row)
    error = text_or_none(row.get("error"))
    span = Span(
        kind,
        identifier(row.get("id")) or "",
        identifier(row.get("trace_id")) or "",
        identifier(row.get("parent_run_id")),
        _thread(metadata),
        name=text_or_none(row.get("name")) if kind == "tool" else None,
        start=epoch_seconds(row.get("start_time")),
        end=epoch_seconds(row.get("end_time")),
        is_error=True if error or row.get("status") == "error" else None,
    )
    if kind == "tool":
        _add_result(span, row, error)
    elif kind == "model":
        span.prompt, span.reply = turns.of(prompt_of(row.get("inputs"))), turns.of(reply_of(row.get("outputs")))
        span.model = text_or_none(metadata.get("ls_model_name"))
        usage = Usage(input_tokens=count(row.get("prompt_tokens")), output_tokens=count(row.get("completion_tokens")))
        span.usage = usage if usage != Usage() else None
        span.cost_usd = number(row.get("total_cost")) or None  # 0 stands for a model without a price
    return span


def _add_result(span: Span, row: dict[str, Any], error: str | None) -> None:
    """The arguments and the result: LangChain's are text in `{"input"}`, and a message in `{"output"}`."""
    inputs, output = json_or_text(row.get("inputs")), json_or_text(row.get("outputs"))
    span.arguments = (
        json_or_text(inputs["input"]) if isinstance(inputs, dict) and inputs.keys() == {"input"} else inputs
    )
    if isinstance(output, dict) and output.keys() == {"output"}:
        output = output["output"]
    message = mapping(mapping(output).get("kwargs")) or mapping(output)
    if call_id := text_or_none(message.get("tool_call_id")):
        span.call_id, output = call_id, message.get("content")
        span.is_error = True if message.get("status") == "error" else span.is_error
    span.result = content_text(output) if output not in (None, "", {}) else error


def _scores(row: dict[str, Any]) -> list[Score]:
    """The feedback of a trace: where all who gave it agree, the mean is what they said."""
    stats = mapping(json_or_text(row.get("feedback_stats")))
    return [Score(name, mapping(each).get("avg")) for name, each in stats.items()]
