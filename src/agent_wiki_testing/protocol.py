"""What passes between the HTTP edge of the test server and the rest of it: refusals, answers, names of endpoints."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal

EndpointName = Literal[
    "messages",
    "count-tokens",
    "batch-create",
    "batch-list",
    "batch-retrieve",
    "batch-cancel",
    "batch-delete",
    "batch-results",
    "batch-item",  # one request inside of a batch; never a path
]

STATUS_BY_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}


class Refused(Exception):
    """The server answers with an error of the service's shape. Never leaves the test server."""

    def __init__(self, error_type: str, message: str, headers: dict[str, str] | None = None) -> None:
        self.error_type = error_type
        self.status = STATUS_BY_TYPE[error_type]
        self.message = message
        self.headers = headers or {}
        super().__init__(f"{error_type}: {message}")

    def body(self, request_id: str | None = None) -> dict[str, Any]:
        """The error as JSON values; an errored item of a batch has no request id of its own."""
        error = {"type": self.error_type, "message": self.message}
        return {"type": "error", "error": error, "request_id": request_id}


@dataclass(frozen=True, slots=True)
class Response:
    """What goes over the wire: a status, bytes and headers beside the usual ones."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def invalid(message: str) -> Refused:
    """The refusal of a request that is not as the service wants it."""
    return Refused("invalid_request_error", message)


def canonical(value: Any) -> str:
    """One text for equal JSON values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def request_digest(raw: bytes) -> str:
    """`sha256:…` of a request's body byte for byte; of an item of a batch, of the bytes it would be by itself."""
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def json_bytes(value: Any) -> bytes:
    """JSON values as a body, in the same bytes as the client's."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


@dataclass(slots=True)
class Received:
    """One request as it came: `raw` is its body byte for byte, empty where the server keeps none or read none.

    `number` counts per endpoint from 1, `digest` is that of the body's bytes, `status` what it was answered with, and
    `is_answered` says that all of the answer was handed to the network. Keys in headers are not kept.
    """

    endpoint: EndpointName
    number: int
    path: str
    headers: dict[str, str]
    raw: bytes = b""
    digest: str = ""
    status: int | None = None
    is_answered: bool = False

    def request_id(self) -> str:
        """The id that the service would give the request."""
        return f"req_{self.endpoint}_{self.number:06d}"

    def body(self) -> Any:
        """The body's JSON values."""
        return json.loads(self.raw)
