"""A server on loopback that plays the model behind an engine that is a program: it answers our questions.

It speaks the Messages API, OpenAI's Responses and Gemini's generateContent, streamed and not. `EngineModel(answers)`
gives to a prompt the answer of that text, in the way in which the request asks for structure. With `is_obeying` it
first calls every tool that the request offers and several that it does not. For "each engine over the example ends in
the pages of the recorded answers":

    with EngineModel(recorded_answers(EXAMPLE / "traces", EXAMPLE / "answered" / "journal", tmp_path)) as model:
        model.url, model.bodies, model.unknown
"""

from __future__ import annotations

import gzip
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Self

from agent_wiki.asking.journal import Journal
from agent_wiki.engine import no_progress
from agent_wiki.engines.answer_text import ON_TRAJECTORY
from agent_wiki.engines.recorded import ObservedPrompt, RecordedEngine
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.stages.order import SESSION_STAGES

_NOT_HERE = {"error": {"type": "not_found_error", "message": "not here"}}
USAGE = {"input": 100, "cached": 50, "output": 20}
"""Tokens of each reply."""


def recorded_answers(traces: Path, journal: Path, folder: Path) -> dict[str, str]:
    """The text of each prompt that the recordings give rise to → its recorded answer, as JSON text.

    The prompts that put all questions on a trajectory are among them. In: a folder for the wiki that comes of it.
    """
    heard: list[ObservedPrompt] = []
    engine = RecordedEngine(folder, journal, listener=heard.append, hears_together=True)
    run([traces], Options(folder, engine=engine), Report("ingest", str(folder)), no_progress)
    kept = Journal(journal)
    found: dict[str, str] = {}
    parts: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in heard:
        records = kept.answers_to(each.prompt.digest)
        if records:
            found[each.prompt.text] = str(records[0]["answer"])
            if each.prompt.stage in SESSION_STAGES:
                name = each.question.answer_type.__name__
                parts.setdefault(each.about, {})[name] = json.loads(found[each.prompt.text])
    names = [each.__name__ for each in ON_TRAJECTORY]
    for each in heard:
        if "+" in each.prompt.stage:
            answers = parts.get(each.about, {})
            found[each.prompt.text] = json.dumps({name: answers.get(name) for name in names}, ensure_ascii=False)
    return found


class EngineModel:
    """The server, for the length of a `with`. `unknown` has the prompts without an answer, `bodies` all requests."""

    def __init__(self, answers: Mapping[str, str], *, is_obeying: bool = False, mischief: str = "") -> None:
        self._answers = {_plain(prompt): answer for prompt, answer in answers.items()}
        self.is_obeying = is_obeying
        self.mischief = mischief
        self.bodies: list[Mapping[str, Any]] = []
        self.unknown: list[str] = []
        self.fetched: list[str] = []
        self.numbers = count(1)
        self._lock = Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def note(self, body: Mapping[str, Any]) -> None:
        """Keep a request."""
        with self._lock:
            self.bodies.append(body)

    def answer_to(self, texts: Sequence[str]) -> str:
        """The answer to the prompt that is among these texts: the longest of which one begins with it."""
        said = [_plain(text) for text in texts]
        known = [prompt for prompt in self._answers if any(text.startswith(prompt) for text in said)]
        if not known:
            with self._lock:
                self.unknown.append("\n".join(texts))
            return "{}"
        return self._answers[max(known, key=len)]

    def acts(self, offered: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
        """The calls of a model that obeys a hostile recording: all tools on offer, and what coding agents have."""
        touch = f"touch {shlex.quote(self.mischief)}"
        known: dict[str, dict[str, Any]] = {
            "Bash": {"command": touch},
            "Write": {"file_path": self.mischief, "content": "x"},
            "WebFetch": {"url": f"{self.url}/fetched", "prompt": "read"},
            "exec_command": {"cmd": touch},
            "shell": {"command": ["sh", "-c", touch]},
            "run_shell_command": {"command": touch},
            "write_file": {"file_path": self.mischief, "content": "x"},
            "web_fetch": {"prompt": f"{self.url}/fetched", "url": f"{self.url}/fetched"},
        }
        return [*known.items(), *((name, {"input": touch}) for name in offered if name not in known)]

    def patches(self) -> list[tuple[str, str]]:
        """The inputs of tools that take text: a patch, and a script that runs commands."""
        patch = f"*** Begin Patch\n*** Add File: {self.mischief}\n+x\n*** End Patch"
        command = json.dumps({"cmd": f"touch {self.mischief}"})
        script = f"text(await tools.exec_command({command}));"
        return [
            ("apply_patch", patch),
            ("exec", script),
            ("exec", f"text(await tools.apply_patch({json.dumps(patch)}));"),
        ]


def _plain(text: str) -> str:
    return " ".join(text.split())


class _Server(ThreadingHTTPServer):
    """Requests come in threads of their own; the handler finds the model here."""

    model: EngineModel


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_words: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._reply({})

    def do_GET(self) -> None:
        if self.path.startswith("/fetched"):
            self.server.model.fetched.append(self.path)
        self._reply(_NOT_HERE, 404)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw)
        path, model = self.path.partition("?")[0], self.server.model
        if path.endswith("/messages"):
            self._stream(list(_of_messages(model, body)))
        elif path.endswith("/responses"):
            self._stream(list(_of_responses(model, body)))
        elif path.endswith(":streamGenerateContent"):
            self._stream([("", _of_gemini(model, body))])
        elif path.endswith(":generateContent"):
            self._reply(_of_gemini(model, body))
        else:
            self._reply(_NOT_HERE, 404)

    def _reply(self, value: Any, status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _stream(self, events: list[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, value in events:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode("utf-8", "replace"))


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [each["text"] for each in content or () if isinstance(each, dict) and isinstance(each.get("text"), str)]


def _of_messages(model: EngineModel, body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The Messages API: the answer is the call of the one tool that takes it, or text."""
    model.note(body)
    messages = body["messages"]
    offered = [each["name"] for each in body.get("tools", ()) if "name" in each]
    answer = model.answer_to([text for each in messages if each["role"] == "user" for text in _texts(each["content"])])
    has_acted = any(each["role"] == "assistant" for each in messages)
    number = next(model.numbers)
    blocks: list[dict[str, Any]]
    if model.is_obeying and not has_acted:
        acts = model.acts([name for name in offered if name != "StructuredOutput"])
        blocks = [
            {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": given}
            for at, (name, given) in enumerate(acts)
        ]
    elif "StructuredOutput" in offered:
        given = json.loads(answer)
        blocks = [{"type": "tool_use", "id": f"toolu_{number}", "name": "StructuredOutput", "input": given}]
    else:
        blocks = [{"type": "text", "text": answer}]
    yield from _message_events(number, str(body["model"]), blocks)


def _message_events(number: int, name: str, blocks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    usage = {
        "input_tokens": USAGE["input"],
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": USAGE["cached"],
        "output_tokens": USAGE["output"],
    }
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": name, "content": []}
    message = {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": message}
    for at, block in enumerate(blocks):
        is_text = block["type"] == "text"
        empty = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        given = {"type": "text_delta", "text": block["text"]} if is_text else _json_delta(block["input"])
        yield "content_block_start", {"type": "content_block_start", "index": at, "content_block": empty}
        yield "content_block_delta", {"type": "content_block_delta", "index": at, "delta": given}
        yield "content_block_stop", {"type": "content_block_stop", "index": at}
    stop = "end_turn" if blocks[-1]["type"] == "text" else "tool_use"
    delta = {"stop_reason": stop, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _json_delta(value: Any) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": json.dumps(value, ensure_ascii=False)}


def _of_responses(model: EngineModel, body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """OpenAI's Responses: the answer is a message."""
    model.note(body)
    given = body["input"]
    prompts = [text for each in given if each.get("role") == "user" for text in _texts(each.get("content"))]
    answer = model.answer_to(prompts)
    number = next(model.numbers)
    has_acted = any(str(each.get("type")).endswith("_output") for each in given)
    items: list[dict[str, Any]]
    if model.is_obeying and not has_acted:
        items = [
            {"type": "custom_tool_call", "id": f"ct_{number}_{at}", "call_id": f"c_{number}_{at}", "name": name,
             "input": text, "status": "completed"}
            for at, (name, text) in enumerate(model.patches())
        ] + [
            {"type": "function_call", "id": f"fc_{number}_{at}", "call_id": f"f_{number}_{at}", "name": name,
             "arguments": json.dumps(words), "status": "completed"}
            for at, (name, words) in enumerate(model.acts(()))
        ]  # fmt: skip
    else:
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        items = [
            {"type": "message", "id": f"m_{number}", "role": "assistant", "status": "completed", "content": content}
        ]
    tokens = USAGE["input"] + USAGE["cached"]
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": USAGE["cached"]},
        "output_tokens": USAGE["output"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + USAGE["output"],
    }
    head: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": body.get("model"),
        "output": [],
    }
    yield "response.created", {"type": "response.created", "response": {**head, "status": "in_progress"}}
    for at, item in enumerate(items):
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": at, "item": item}
    ended = {**head, "status": "completed", "output": items, "usage": usage}
    yield "response.completed", {"type": "response.completed", "response": ended}


def _of_gemini(model: EngineModel, body: Mapping[str, Any]) -> dict[str, Any]:
    """Gemini's generateContent: the answer is text; its router is answered too."""
    model.note(body)
    contents = body.get("contents", [])
    system = " ".join(_texts(body.get("systemInstruction", {}).get("parts")))
    parts: list[dict[str, Any]]
    if "Task Routing AI" in system:
        parts = [{"text": json.dumps({"complexity_reasoning": "a question", "complexity_score": 1})}]
    else:
        texts = [text for each in contents if each.get("role") == "user" for text in _texts(each.get("parts"))]
        answer = model.answer_to(texts)
        has_acted = any("functionResponse" in part for each in contents for part in each.get("parts", ()))
        if model.is_obeying and not has_acted:
            parts = [{"functionCall": {"name": name, "args": words}} for name, words in model.acts(())]
        else:
            parts = [{"text": answer}]
    usage = {
        "promptTokenCount": USAGE["input"] + USAGE["cached"],
        "cachedContentTokenCount": USAGE["cached"],
        "candidatesTokenCount": USAGE["output"],
        "totalTokenCount": USAGE["input"] + USAGE["cached"] + USAGE["output"],
    }
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "played", "responseId": "r"}
