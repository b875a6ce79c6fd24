"""Makes observations_v2/run.jsonl and scores/run.jsonl with Langfuse's SDK and an agent of LangGraph.

The SDK's own spans are kept from leaving the process. Its server turns them into rows; here that is done by hand, by
the columns that Langfuse documents: inputs, outputs and types are the SDK's, the rows around them are not.

    python -m tests.data.langfuse.make_langfuse
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from langfuse import Langfuse, propagate_attributes
from langfuse.langchain import CallbackHandler
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.data.scripted_agent import ask

FOLDER = Path(__file__).parent
SHOWN = ("GENERATION", "TOOL")  # what no reader looks at is left out


def moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def row(span) -> dict[str, object]:
    given = span.attributes
    kind = str(given.get("langfuse.observation.type", "span")).upper()
    details = json.loads(given.get("langfuse.observation.usage_details", "{}"))
    return {
        "id": f"{span.context.span_id:016x}",
        "trace_id": f"{span.context.trace_id:032x}",
        "project_id": "p1",
        "parent_observation_id": f"{span.parent.span_id:016x}" if span.parent else "",
        "type": kind,
        "start_time": moment(span.start_time),
        "end_time": moment(span.end_time),
        "name": span.name,
        "level": given.get("langfuse.observation.level", "DEFAULT"),
        "status_message": given.get("langfuse.observation.status_message", ""),
        "session_id": given.get("session.id", ""),
        "input": given.get("langfuse.observation.input", "") if kind in SHOWN else "",
        "output": given.get("langfuse.observation.output", "") if kind in SHOWN else "",
        "provided_model_name": given.get("langfuse.observation.model.name", ""),
        "usage_details": {key: count for key, count in details.items() if key in ("input", "output", "total")},
        "total_cost": 0,
    }


kept = InMemorySpanExporter()
client = Langfuse(public_key="none", secret_key="none", base_url="http://127.0.0.1:9", span_exporter=kept)
with propagate_attributes(session_id="chat-1"):
    ask({"callbacks": [CallbackHandler()]}, model_name="scripted")
client.flush()
rows = [row(span) for span in kept.get_finished_spans()]
scores = [
    {"id": "s1", "trace_id": rows[0]["trace_id"], "name": "resolved", "value": 1, "data_type": "BOOLEAN"},
    {"id": "s2", "trace_id": rows[0]["trace_id"], "name": "tone", "value": 0.5, "data_type": "NUMERIC"},
]
for folder, lines in (("observations_v2", rows), ("scores", scores)):
    path = FOLDER / folder / "run.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
