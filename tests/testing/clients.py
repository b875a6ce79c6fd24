"""The real client, pointed at a test server, and requests that tests send with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
from pydantic import BaseModel, ConfigDict, Field

from agent_wiki_testing import MessagesServer

MODEL = "claude-haiku-5-5"


class Verdict(BaseModel):
    """A small answer schema with what matters in a large one: bounds, a choice, a list, a reference, an optional."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1)
    outcome: str = Field(pattern="^[a-z]+$")
    turns: list[int] = Field(min_length=2)
    note: str | None = None


@contextmanager
def client_of(server: MessagesServer, **options: Any) -> Iterator[anthropic.Anthropic]:
    """A client that is closed again; `options` are the client's own."""
    settings: dict[str, Any] = {"base_url": server.base_url, "api_key": "test-key", "max_retries": 0, **options}
    plain_http = anthropic.DefaultHttpxClient(verify=False)  # loading certificates takes longer than most tests
    with anthropic.Anthropic(http_client=plain_http, **settings) as client:
        yield client


def asking(text: str = "What happened?", **more: Any) -> dict[str, Any]:
    """The words of a request for a message."""
    return {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": text}], **more}


def with_schema(schema: type[BaseModel] = Verdict) -> dict[str, Any]:
    """The words that ask for structured output."""
    return {"output_config": {"format": {"type": "json_schema", "schema": anthropic.transform_schema(schema)}}}


def shared_prefix(prefix: str, question: str, lifetime: str = "5m") -> dict[str, Any]:
    """A request whose first block is marked for the cache and whose second asks."""
    mark = {"type": "ephemeral", "ttl": lifetime}
    blocks = [{"type": "text", "text": prefix, "cache_control": mark}, {"type": "text", "text": question}]
    return {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": blocks}]}


def said(message: anthropic.types.Message) -> str:
    """The text of a message."""
    return "".join(block.text for block in message.content if block.type == "text")
