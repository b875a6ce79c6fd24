"""Writes spans as OTLP JSON, one export request a line, as the collector's file exporter does."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

_IDS = ("traceId", "spanId", "parentSpanId")
_LEFT_OUT = (
    "gen_ai.tool.definitions", "model_request_parameters", "logfire.", "pydantic_ai.all_messages", "tool.parameters",
    "llm.invocation_parameters", "exception.stacktrace", "service.", "telemetry.",
)  # fmt: skip


class LineExporter(SpanExporter):
    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def export(self, spans):
        json.dump(_readable(MessageToDict(encode_spans(spans))), self._file)
        self._file.write("\n")
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._file.close()


def provider(path: Path) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(LineExporter(path)))
    return made


def _readable(value):
    """Ids in hex, as OTLP's JSON wants them, and without attributes that no reader looks at."""
    if isinstance(value, dict):
        return {key: _hex(each) if key in _IDS else _readable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_readable(each) for each in value if not _is_left_out(each)]
    return value


def _hex(text: str) -> str:
    return base64.b64decode(text).hex()


def _is_left_out(value) -> bool:
    return isinstance(value, dict) and str(value.get("key", "")).startswith(_LEFT_OUT)
