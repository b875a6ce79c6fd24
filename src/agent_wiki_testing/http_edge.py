"""The sockets of the test server: paths, connections that are dropped, what is recorded of the wire."""

from __future__ import annotations

import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Protocol
from urllib.parse import urlsplit

from agent_wiki_testing.checks import MOST_BATCH_BYTES, MOST_BODY_BYTES, check_headers
from agent_wiki_testing.faults import Occasion
from agent_wiki_testing.protocol import EndpointName, Received, Refused, Response, json_bytes
from agent_wiki_testing.service import Messages, occasion_of, parsed

_ROUTES: tuple[tuple[str, re.Pattern[str], EndpointName], ...] = (
    ("POST", re.compile(r"/v1/messages()"), "messages"),
    ("POST", re.compile(r"/v1/messages/count_tokens()"), "count-tokens"),
    ("POST", re.compile(r"/v1/messages/batches()"), "batch-create"),
    ("GET", re.compile(r"/v1/messages/batches()"), "batch-list"),
    ("GET", re.compile(r"/v1/messages/batches/(\w+)"), "batch-retrieve"),
    ("POST", re.compile(r"/v1/messages/batches/(\w+)/cancel"), "batch-cancel"),
    ("DELETE", re.compile(r"/v1/messages/batches/(\w+)"), "batch-delete"),
    ("GET", re.compile(r"/v1/messages/batches/(\w+)/results"), "batch-results"),
)
_SECRET_HEADERS = frozenset({"authorization", "x-api-key"})
_TESTER_PATHS = re.compile(r"/testing/(ledger|clock)")
_BOTH_WAYS = 2  # socket.SHUT_RDWR


class Site(Protocol):
    """What the sockets need of the server behind them."""

    messages: Messages
    received: list[Received]
    bugs: list[BaseException]
    keeps_bodies: bool

    def respond(self, received: Received, name: str, body: Any, occasion: Occasion) -> Response: ...

    def respond_to_tester(self, name: str, body: Any) -> Response: ...


class HttpServer(ThreadingHTTPServer):
    """Sockets and threads on loopback. Connections stay open between requests and are all closed at the end."""

    daemon_threads = False
    request_queue_size = 512

    def __init__(self, site: Site, port: int) -> None:
        self.site = site
        self._open: set[Any] = set()
        self._lock = Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End what clients keep open, so that no thread waits for another request."""
        with self._lock:
            for request in self._open:
                _shut(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - socketserver's signature
        error = sys.exception()
        # Also where a client that is gone is noticed only when what is left for it is to be written out at the end.
        if error is not None and not isinstance(error, ConnectionError):
            self.site.bugs.append(error)


def _shut(connection: Any) -> None:
    try:
        connection.shutdown(_BOTH_WAYS)
    except OSError:
        return  # the client was faster


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave together
    server: HttpServer

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True  # the client is gone; what came from it is on record

    def do_GET(self) -> None:
        self._dispatch()

    def do_POST(self) -> None:
        self._dispatch()

    def do_DELETE(self) -> None:
        self._dispatch()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
        """Says nothing: a test looks at what was received."""

    def _dispatch(self) -> None:
        path = urlsplit(self.path).path
        tester = _TESTER_PATHS.fullmatch(path)
        if tester is not None:
            raw = self._body(MOST_BODY_BYTES)
            self._send(self.server.site.respond_to_tester(tester[1], parsed(raw) if raw else None))
            return
        for method, route, endpoint in _ROUTES:
            match = route.fullmatch(path)
            if match is not None and method == self.command:
                self._serve(endpoint, match[1])
                return
        self._body(MOST_BODY_BYTES)
        self._send(Response(404, json_bytes(Refused("not_found_error", "Not found").body())))

    def _serve(self, endpoint: EndpointName, name: str) -> None:
        """Receive one request, answer it or drop it, and keep what there is to know of it."""
        site = self.server.site
        headers = {key.lower(): value for key, value in self.headers.items()}
        received = Received(endpoint, site.messages.attempts.next(endpoint), self.path, headers)
        site.received.append(received)
        occasion = Occasion(endpoint, received.number)
        if self._drops("drop-unread", occasion):
            return
        raw = self._body(MOST_BATCH_BYTES if endpoint == "batch-create" else MOST_BODY_BYTES)
        try:
            body, occasion = self._read_request(received, name, raw)
            if self._drops("drop-read", occasion):
                return
            with site.messages.ledger.in_flight(endpoint):
                response = site.respond(received, name, body, occasion)
        except Refused as refused:
            response = Response(refused.status, json_bytes(refused.body(received.request_id())), refused.headers)
        received.status = response.status
        if not self._drops("drop-answered", occasion):
            received.is_answered = self._deliver(response, received, occasion)

    def _read_request(self, received: Received, name: str, raw: bytes | None) -> tuple[Any, Occasion]:
        """The body's values and the request as faults see it. Raises `Refused`."""
        site = self.server.site
        received.raw = (raw or b"") if site.keeps_bodies else b""
        given, received.headers = received.headers, _without_keys(received.headers)
        check_headers(given, site.messages.setting.endpoint, has_body=bool(raw))
        if raw is None:
            raise Refused("request_too_large", "Request exceeds the maximum size")
        body = parsed(raw) if raw else None
        occasion = occasion_of(site.messages.attempts, received.endpoint, received.number, raw or name.encode())
        received.digest = occasion.digest
        return body, occasion

    def _body(self, most_bytes: int) -> bytes | None:
        """The bytes of the body, None for one that is too long; that connection cannot go on."""
        length = self.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most_bytes:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def _drops(self, kind: Any, occasion: Occasion) -> bool:
        """Whether the connection was dropped here."""
        if self.server.site.messages.setting.faults.strike((kind,), occasion) is None:
            return False
        self.close_connection = True
        _shut(self.connection)
        return True

    def _deliver(self, response: Response, received: Received, occasion: Occasion) -> bool:
        """Whether all of the response was handed to the network."""
        headers = {**response.headers, "request-id": received.request_id()}
        if self.server.site.messages.setting.faults.strike(("drop-midway",), occasion) is None:
            self._send(Response(response.status, response.body, headers))
            return True
        self._send(Response(response.status, response.body, headers), len(response.body) // 2)
        self.close_connection = True
        _shut(self.connection)
        return False

    def _send(self, response: Response, most_bytes: int | None = None) -> None:
        self.send_response(response.status)
        headers = {"content-type": "application/json", **response.headers, "content-length": str(len(response.body))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body[:most_bytes])
        self.wfile.flush()


def _without_keys(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _SECRET_HEADERS}
