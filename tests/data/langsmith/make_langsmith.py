"""Makes runs.jsonl with LangSmith's SDK and an agent of LangGraph, whose model answers by script.

The SDK sends its runs to a server on loopback, which keeps what a bulk export has of them. LangSmith's own server was
not there to write an export: the fields are those that it documents, their values are the SDK's.

    python -m tests.data.langsmith.make_langsmith
"""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path

from langchain_core.tracers import LangChainTracer
from langsmith import Client
from tests.data.scripted_agent import ask

FIELDS = ("id", "trace_id", "parent_run_id", "name", "run_type", "start_time", "end_time", "error", "dotted_order")
JSON_FIELDS = ("inputs", "outputs")
SHOWN = ("llm", "tool")  # what no reader looks at is left out
runs: dict[str, dict[str, object]] = {}


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        run = json.loads(self.rfile.read(int(self.headers["content-length"])))
        runs.setdefault(run.get("id") or self.path.rpartition("/")[2], {}).update(run)
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def do_PATCH(self):
        self.do_POST()

    def do_GET(self):
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_):
        pass


def row(run) -> dict[str, object]:
    is_shown = run["run_type"] in SHOWN
    metadata = {key: value for key, value in run["extra"]["metadata"].items() if key in ("thread_id", "ls_model_name")}
    usage = run["extra"]["metadata"].get("usage_metadata") or {}
    return {
        **{
            name: (run.get(name) or "").splitlines()[0] if name == "error" and run.get(name) else run.get(name)
            for name in FIELDS
        },
        **{name: json.dumps(run.get(name)) if is_shown else None for name in JSON_FIELDS},
        "session_id": "p1",
        "status": "error" if run.get("error") else "success",
        "extra": json.dumps({"metadata": metadata}),
        "feedback_stats": json.dumps({} if run.get("parent_run_id") else {"correctness": {"n": 1, "avg": 1.0}}),
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
    }


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="none", auto_batch_tracing=False)
ask({"callbacks": [LangChainTracer(client=client)], "metadata": {"thread_id": "chat-1"}})
client.flush()
server.shutdown()
lines = [json.dumps(row(run)) + "\n" for run in runs.values()]
Path(__file__).with_name("runs.jsonl").write_text("".join(lines), encoding="utf-8")
