"""The Messages API of Anthropic, as Claude Code asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.played.tools import concrete
from tests.clients.played.turns import Tool
from tests.clients.played.wire import Answered, Asked, Json, Reply, Said, folder_in, text_of


class AnthropicWire:
    """`POST /v1/messages`."""

    name = "anthropic"

    def asked(self, body: Json, path: str) -> Asked:
        """A result and a reminder may share a message; only text that stands alone is the user's."""
        del path
        conversation = [said for message in body.get("messages", ()) for said in _said(message)]
        tools = [
            Tool(each["name"], each.get("input_schema") or {}) for each in body.get("tools") or () if "name" in each
        ]
        system = text_of(body.get("system"))
        folder = folder_in("\n".join([system, *(each.text for each in conversation)]))
        return Asked([Said("system", system), *conversation], tools, folder, bool(body.get("stream")))

    def answered(self, asked: Asked, reply: Reply) -> Answered:
        """Blocks of thinking, text and calls, and the events that spell them out."""
        tokens = reply.tokens
        usage = {
            "input_tokens": tokens.plain,
            "cache_creation_input_tokens": tokens.written,
            "cache_read_input_tokens": tokens.cached,
            "output_tokens": tokens.output,
        }
        blocks = list(_blocks(asked, reply))
        whole: Json = {
            "id": f"msg_{reply.ident}",
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": blocks,
            "stop_reason": "tool_use" if reply.turn.calls else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
        names = [block["name"] for block in blocks if block["type"] == "tool_use"]
        return Answered(whole, list(_events(whole, blocks)), names)


def _said(message: Json) -> Iterator[Said]:
    content = message["content"]
    results = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
    if not results:
        yield Said(message["role"], text_of(content))
        return
    yield Said("tool")
    text = text_of([part for part in content if part.get("type") == "text"])
    if text:
        yield Said("user", text)


def _blocks(asked: Asked, reply: Reply) -> Iterator[Json]:
    if reply.turn.thinking:
        yield {"type": "thinking", "thinking": reply.turn.thinking, "signature": "c2NyaXB0ZWQ="}
    if reply.turn.text:
        yield {"type": "text", "text": reply.turn.text}
    for ident, call in reply.calls:
        name, arguments = concrete(call, asked.tools, asked.folder)
        yield {"type": "tool_use", "id": f"toolu_{ident}", "name": name, "input": arguments}


def _events(whole: Json, blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    usage = whole["usage"]
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    for index, block in enumerate(blocks):
        yield from _block_events(index, block)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[tuple[str, Json]]:
    empty, deltas = _pieces(block)
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def _pieces(block: Json) -> tuple[Json, list[dict[str, Any]]]:
    """A block as it begins, and what is then added to it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        thought = {"type": "thinking_delta", "thinking": block["thinking"]}
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [thought, signed]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
