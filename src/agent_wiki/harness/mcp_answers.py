"""Answers to what a client sends in vain: a line that is no request, and arguments that a tool does not take.

The protocol's library drops the one, after which a client waits for ever, and answers the other with a page of
pydantic's. Imported only where it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from agent_wiki.wiki.text import plain_line

_MOST_NAMED = 3
_OF_ANSWERS = frozenset({"result", "error"})
_MOST_NAME = 40


class AnsweredLines:
    """The messages that a client sent. An item that is an exception is answered on `answers` and left out."""

    def __init__(self, messages: Any, answers: Any) -> None:
        self._messages, self._answers = messages, answers

    @property
    def last_context(self) -> Any:
        """The context of the last message's sender, which the library goes by."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> SessionMessage:
        """The next message."""
        while isinstance(item := await self._messages.receive(), Exception):
            if (error := _error(item)) is not None:
                await self._answers.send(SessionMessage(error))
        message: SessionMessage = item
        return message

    async def aclose(self) -> None:
        """Close the stream."""
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        from anyio import EndOfStream

        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def _error(raised: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message of the protocol; None for an empty line, which asks nothing."""
    errors = raised.errors(include_url=False) if isinstance(raised, ValidationError) else []
    if errors and errors[0]["type"] == "json_invalid":
        if not str(errors[0]["input"]).strip():
            return None
        return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="Parse error: not JSON"))
    whole = next((each["input"] for each in errors if each["type"] == "missing" and len(each["loc"]) == 2), None)
    says = ErrorData(code=INVALID_REQUEST, message="Invalid request: not a request of JSON-RPC 2.0")
    return JSONRPCError(jsonrpc="2.0", id=_id_of(whole), error=says)


def _id_of(request: Any) -> int | str | None:
    """The id of what was to be a request. The id of an answer is this server's own."""
    found = request.get("id") if isinstance(request, Mapping) and _OF_ANSWERS.isdisjoint(request) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def arguments_line(error: ValidationError) -> str:
    """What is wrong with the arguments of a call, in one line without the values, which the caller knows."""
    wrong = [
        f"{plain_line('.'.join(map(str, each['loc'])), _MOST_NAME)}: {plain_line(each['msg'], 200)}"
        for each in error.errors(include_url=False)
    ]
    more = [f"and {len(wrong) - _MOST_NAMED} more"] if len(wrong) > _MOST_NAMED else []
    return "; ".join([*wrong[:_MOST_NAMED], *more])
