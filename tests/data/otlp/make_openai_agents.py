"""Makes openai-agents-chat.jsonl and openai-agents-responses.jsonl: openai-agents, recorded by OpenInference.

The model is a server on loopback that answers by script.
"""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path

from agents import Agent, Runner, function_tool
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from exporting import provider
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

CALLS = [("c1", "list_files", '{"folder":"src"}'), ("c2", "read_file", '{"path":"missing.py"}')]
HAND_OVER = [("c3", "transfer_to_helper", "{}")]


def next_reply(model: str, results: int):
    """The text, and the calls, of the reply to a prompt with so many results."""
    if model == "helper":
        return "A helper answer.", []
    return ("Let me look.", CALLS) if results == 0 else (None, HAND_OVER)


def chat(request):
    results = sum(message["role"] == "tool" for message in request["messages"])
    text, calls = next_reply(request["model"], results)
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"object": "chat.completion", "created": 1_700_000_000, "choices": [choice], "usage": usage}


def response(request):
    results = sum(isinstance(item, dict) and item.get("type") == "function_call_output" for item in request["input"])
    text, calls = next_reply(request["model"], results)
    summary = [{"type": "summary_text", "text": "I look first."}]
    items = [{"type": "reasoning", "id": "r1", "summary": summary}] if calls == CALLS else []
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append({"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content})
    for call_id, name, arguments in calls:
        call = {"id": f"f{call_id}", "call_id": call_id, "name": name, "arguments": arguments}
        items.append({"type": "function_call", "status": "completed", **call})
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    details = {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 1}}
    head = {"object": "response", "created_at": 1_700_000_000, "status": "completed", "tools": []}
    choices = {"parallel_tool_calls": True, "tool_choice": "auto", "instructions": request.get("instructions")}
    return {**head, **choices, "output": items, "usage": usage | details}


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = chat(request) if self.path.endswith("/chat/completions") else response(request)
        body = json.dumps({"id": "x", "model": request["model"], **answer}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@function_tool
def list_files(folder: str) -> list[str]:
    return ["a.py", "b.py"]


@function_tool
def read_file(path: str) -> str:
    raise ValueError(f"no such file: {path}")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = AsyncOpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
for kind, model in (("chat", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)):
    traces = provider(Path(__file__).with_name(f"openai-agents-{kind}.jsonl"))
    OpenAIAgentsInstrumentor().instrument(tracer_provider=traces)
    helper = Agent(name="helper", instructions="You help.", model=model(model="helper", openai_client=client))
    boss = Agent(
        name="boss",
        instructions="You list files.",
        model=model(model="scripted", openai_client=client),
        tools=[list_files, read_file],
        handoffs=[helper],
    )
    Runner.run_sync(boss, "How many files are in src?")
    traces.shutdown()
    OpenAIAgentsInstrumentor().uninstrument()
server.shutdown()
