"""The server that plays the model: Anthropic Messages, OpenAI Responses and Chat Completions, Gemini.

    python -m tests.clients.played.server FOLDER [--raise-loopback]

prints its port on the first line. Each request is kept as `FOLDER/requests/NNNN.json`, and what was answered as a line
of `FOLDER/sent.jsonl`: the truth with which a reading of the program's own recording is compared.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from tests.clients.played.anthropic_wire import AnthropicWire
from tests.clients.played.chat_wire import ChatWire
from tests.clients.played.gemini_wire import GeminiWire
from tests.clients.played.playing import Played, played
from tests.clients.played.responses_wire import ResponsesWire
from tests.clients.played.wire import Answered, Asked, Json, Reply, Wire

REQUESTS, SENT = "requests", "sent.jsonl"

_WIRES: Mapping[str, Wire] = {
    "/messages": AnthropicWire(),
    "/responses": ResponsesWire(),
    "/chat/completions": ChatWire(),
    "enerateContent": GeminiWire(),
}
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_NOT_FOUND: Json = {"error": {"type": "not_found_error", "message": "not here"}}


class Ledger:
    """What was asked and what was sent, on disk before the program sees a reply."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / REQUESTS).mkdir(parents=True, exist_ok=True)
        self._numbers, self._lock = count(1), Lock()

    def keep(self, path: str, body: Any) -> int:
        """Keep a request; returns its number. Headers are not kept: they hold keys."""
        with self._lock:
            number = next(self._numbers)
        text = json.dumps({"path": path, "body": body}, ensure_ascii=False)
        (self.folder / REQUESTS / f"{number:04d}.json").write_text(text, encoding="utf-8")
        return number

    def sent(self, number: int, wire: Wire, asked: Asked, said: Played, answered: Answered) -> None:
        """Keep what was answered."""
        line = {
            "number": number,
            "wire": wire.name,
            "scenario": said.scenario,
            "step": said.step,
            "is_aside": said.is_aside,
            "text": said.turn.text,
            "has_thinking": bool(said.turn.thinking) and wire.name != ChatWire.name,
            "calls": [asdict(call) for call in said.turn.calls],
            "tools": list(answered.tool_names),
            "offered": [tool.name for tool in asked.tools],
            "tokens": asdict(said.tokens),
        }
        with self._lock, (self.folder / SENT).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


class Handler(BaseHTTPRequestHandler):
    """One connection of a program."""

    protocol_version = "HTTP/1.1"
    ledger: Ledger

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Nothing is printed: the requests are kept."""

    def do_HEAD(self) -> None:
        """A program looks whether somebody is there."""
        self._reply(200, {})

    def do_GET(self) -> None:
        """A list of models, and nothing else."""
        is_list = self._path.endswith("/models")
        models = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        self._reply(200, models) if is_list else self._reply(404, _NOT_FOUND)

    def do_POST(self) -> None:
        """A request to the model."""
        content = self._content()
        body: Json = json.loads(content) if content.startswith(b"{") else {}
        number = self.ledger.keep(self.path, body)
        wire = next((wire for ending, wire in _WIRES.items() if ending in self._path), None)
        try:
            if "count_tokens" in self._path or "countTokens" in self._path:
                self._reply(200, {"input_tokens": len(content) // 4, "totalTokens": len(content) // 4})
            elif wire is None:
                self._reply(404, _NOT_FOUND)
            else:
                self._answer(number, wire, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the program was stopped

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _answer(self, number: int, wire: Wire, body: Json) -> None:
        asked = wire.asked(body, self._path)
        said = played(asked, self.ledger.folder)
        ident = f"{said.scenario}_{number:04d}".replace("-", "_")
        reply = Reply(said.turn, said.tokens, ident, str(body.get("model") or "scripted"))
        answered = wire.answered(asked, reply)
        self.ledger.sent(number, wire, asked, said, answered)
        if asked.is_streamed:
            self._stream(answered)
        else:
            self._reply(200, answered.whole)

    def _content(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            content = b"".join(iter(self._chunk, b""))
        else:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(content) if self.headers.get("content-encoding") == "gzip" else content

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().strip() or b"0", 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    def _reply(self, status: int, body: Json) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _stream(self, answered: Answered) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, event in answered.events:
            text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
            self.wfile.write(((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode())
            self.wfile.flush()


def raise_loopback() -> None:
    """Switch the loopback interface on, which is off in a new network namespace. Raises `OSError`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        fcntl.ioctl(opened, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _UP_AND_RUNNING))


def main(words: list[str]) -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # as the first process of a namespace it inherits what others leave
    if "--raise-loopback" in words:
        raise_loopback()
    Handler.ledger = Ledger(Path(words[0]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # which ends with the process that started this one, however that ends


if __name__ == "__main__":
    main(sys.argv[1:])
