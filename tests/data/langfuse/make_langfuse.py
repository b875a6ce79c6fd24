"""Makes observations_v2/run.jsonl and scores/run.jsonl with Langfuse's SDK and an agent of LangGraph.

The SDK's own spans are kept from leaving the process. Its server turns them into rows; here that is done by hand, by
the columns that Langfuse documents: inputs, outputs and types are the SDK's, the rows around them are not.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langfuse import Langfuse, propagate_attributes
from langfuse.langchain import CallbackHandler
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

FOLDER = Path(__file__).parent
SHOWN = ("GENERATION", "TOOL")  # what no reader looks at is left out
CALLS = [
    {"name": "list_files", "args": {"folder": "src"}, "id": "c1"},
    {"name": "read_file", "args": {"path": "missing.py"}, "id": "c2"},
]


class Scripted(BaseChatModel):
    model_name: str = "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **_):
        return self.bind(tools=[{"type": "function", "function": {"name": each.name}} for each in tools])

    def _generate(self, messages, *_, **__):
        first = not any(message.type == "tool" for message in messages)
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        text, calls = ("Let me look.", CALLS) if first else ("There are two files.", [])
        message = AIMessage(text, tool_calls=calls, usage_metadata=usage, response_metadata={"model_name": "scripted"})
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def list_files(folder: str) -> list[str]:
    """Lists a folder."""
    return ["a.py", "b.py"]


@tool
def read_file(path: str) -> str:
    """Reads a file."""
    raise ValueError(f"no such file: {path}")


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
model = Scripted().bind_tools([list_files, read_file])
graph = StateGraph(MessagesState)
graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([list_files, read_file], handle_tool_errors=True))
graph.add_edge("__start__", "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "agent")
question = [("system", "You list files."), ("user", "How many files are in src?")]
with propagate_attributes(session_id="chat-1"):
    graph.compile(name="lister").invoke({"messages": question}, config={"callbacks": [CallbackHandler()]})
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
