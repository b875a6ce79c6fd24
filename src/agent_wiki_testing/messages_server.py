"""The test server whole: the services behind, the sockets before them, and what a test may look at."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from agent_wiki_testing.answers import Answerer, echo
from agent_wiki_testing.batches import Batches
from agent_wiki_testing.endpoint import Clock, Endpoint
from agent_wiki_testing.faults import Fault, Faults, Occasion
from agent_wiki_testing.http_edge import HttpServer
from agent_wiki_testing.ledger import Ledger
from agent_wiki_testing.protocol import EndpointName, Received, Refused, Response, json_bytes
from agent_wiki_testing.service import Messages, Setting, raise_status_fault


class MessagesServer:
    """The test server; as a context manager it runs in threads of this process until the block ends.

    `answer` gives the answers (see `answers.py`), `endpoint` says what it can do, `faults` what goes wrong, `seed`
    fixes their chances. `keeps_bodies=False` is for long benchmarks. What an answerer raises is raised again at the
    end of the block: a bug in a test is no fault of the service.
    """

    def __init__(
        self,
        answer: Answerer = echo,
        endpoint: Endpoint | None = None,
        faults: Sequence[Fault] = (),
        *,
        seed: int = 0,
        port: int = 0,
        keeps_bodies: bool = True,
    ) -> None:
        self.clock = Clock()
        self.received: list[Received] = []
        self.bugs: list[BaseException] = []
        self.keeps_bodies = keeps_bodies
        self._stopping = Event()
        wait = self._stopping.wait
        self.setting = Setting(endpoint or Endpoint(), answer, Faults(faults, seed), self.clock, wait)
        self.messages = Messages(self.setting)
        self.batches = Batches(self.messages)
        self._http = HttpServer(self, port)
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """What the client takes as `base_url`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def ledger(self) -> Ledger:
        """What was billed, and the most requests at once."""
        return self.messages.ledger

    def bodies(self, endpoint: EndpointName = "messages") -> list[Any]:
        """The bodies of all requests to one endpoint that were read, as JSON values, in order of arrival."""
        return [received.body() for received in list(self.received) if received.endpoint == endpoint and received.raw]

    def __enter__(self) -> MessagesServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._close()
        self._thread.join()
        if self.bugs and error is None:
            raise self.bugs[0]

    def serve_until_interrupted(self) -> None:
        """Run in this thread until Ctrl-C."""
        try:
            self._http.serve_forever()
        except KeyboardInterrupt:
            self._stopping.set()
        finally:
            self._close()

    def _close(self) -> None:
        self._http.close_connections()
        self._http.server_close()

    def respond(self, received: Received, name: str, body: Any, occasion: Occasion) -> Response:
        """The response to a request whose body is read. `name` is the batch's in a batch's paths. Raises `Refused`."""
        raise_status_fault(self.setting.faults, occasion)
        if received.endpoint == "messages":
            return _ok(self.messages.create(body, occasion))
        if received.endpoint == "count-tokens":
            return _ok(self.messages.count_tokens(body))
        if not self.setting.endpoint.has_batches:
            raise Refused("not_found_error", "Not found")
        if received.endpoint == "batch-list":
            query = dict(parse_qsl(urlsplit(received.path).query))
            return _ok(self.batches.page(query, self.base_url))
        return self._respond_of_batch(received.endpoint, name, body)

    def _respond_of_batch(self, endpoint: EndpointName, name: str, body: Any) -> Response:
        if endpoint == "batch-create":
            return _ok(self.batches.create(body))
        if endpoint == "batch-cancel":
            return _ok(self.batches.cancel(name, self.base_url))
        if endpoint == "batch-delete":
            return _ok(self.batches.delete(name))
        if endpoint == "batch-results":
            return Response(200, self.batches.results(name), {"content-type": "application/x-jsonl"})
        return _ok(self.batches.retrieve(name, self.base_url))

    def respond_to_tester(self, name: str, body: Any) -> Response:
        """What is not the service's: `/testing/ledger`, and `/testing/clock` with `{"advance_seconds": …}`."""
        if name == "clock":
            self.clock.advance(float(body["advance_seconds"]))
        return _ok(self.ledger.to_json())


def _ok(values: dict[str, Any]) -> Response:
    return Response(200, json_bytes(values))
