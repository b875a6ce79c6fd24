"""The Responses API of OpenAI, as Codex asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.played.code_mode import script
from tests.clients.played.tools import concrete
from tests.clients.played.turns import Tool
from tests.clients.played.wire import Answered, Asked, Json, Reply, Role, Said, folder_in, text_of

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")
_REASONING_TOKENS = 5


class ResponsesWire:
    """`POST /v1/responses`."""

    name = "responses"

    def asked(self, body: Json, path: str) -> Asked:
        """Items of one reply are one message; tools also come with the input."""
        del path
        items = (
            body["input"] if isinstance(body.get("input"), list) else [{"role": "user", "content": body.get("input")}]
        )
        conversation: list[Said] = [Said("system", str(body.get("instructions") or ""))]
        for item in items:
            _add(conversation, item)
        offered = [*(body.get("tools") or ()), *(each for item in items for each in _later_tools(item))]
        folder = folder_in("\n".join(each.text for each in conversation))
        schema = ((body.get("text") or {}).get("format") or {}).get("schema")
        return Asked(conversation, list(_tools(offered)), folder, bool(body.get("stream")), schema)

    def answered(self, asked: Asked, reply: Reply) -> Answered:
        """Items of reasoning, message and calls. A program in code mode gets one script for all calls."""
        tokens = reply.tokens
        usage = {
            "input_tokens": tokens.plain + tokens.cached,
            "input_tokens_details": {"cached_tokens": tokens.cached},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": _REASONING_TOKENS},
            "total_tokens": tokens.plain + tokens.cached + tokens.output,
        }
        items = list(_items(asked, reply))
        base: Json = {"id": f"resp_{reply.ident}", "object": "response", "created_at": 0, "model": reply.model}
        whole = {**base, "status": "completed", "output": items, "usage": usage}
        names = [item["name"] for item in items if "name" in item]
        return Answered(whole, list(_events({**base, "status": "in_progress", "output": []}, whole)), names)


def _add(conversation: list[Said], item: Json) -> None:
    kind = item.get("type", "message")
    if kind == "message":
        role: Role = item["role"] if item["role"] in {"user", "assistant"} else "system"
        if role != "assistant" or conversation[-1].role != "assistant":
            conversation.append(Said(role, text_of(item["content"])))
    elif kind in _CALLS:
        if conversation[-1].role != "assistant":
            conversation.append(Said("assistant"))
    elif str(kind).endswith("_output"):
        conversation.append(Said("tool"))


def _later_tools(item: Json) -> list[Any]:
    return list(item.get("tools") or ()) if item.get("type") == "additional_tools" else []


def _tools(offered: list[Any]) -> Iterator[Tool]:
    for each in offered:
        if each.get("type") == "namespace":
            for inner in each.get("tools") or ():
                yield _tool(inner, each.get("name"))
        elif "name" in each:
            yield _tool(each, None)


def _tool(offered: Json, namespace: str | None) -> Tool:
    return Tool(offered["name"], offered.get("parameters") or {}, offered.get("type", "function"), namespace)


def _items(asked: Asked, reply: Reply) -> Iterator[Json]:
    turn = reply.turn
    if turn.thinking:
        summary = [{"type": "summary_text", "text": turn.thinking}]
        yield {"type": "reasoning", "id": f"rs_{reply.ident}", "summary": summary, "encrypted_content": "c2NyaXB0ZWQ="}
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        about = {"role": "assistant", "status": "completed"}
        yield {"type": "message", "id": f"msg_{reply.ident}", **about, "content": content}
    code = next((tool for tool in asked.tools if tool.name == "exec" and tool.kind == "custom"), None)
    if code is not None and turn.calls:
        yield _call(code, f"call_{reply.ident}_0", {"input": script(turn.calls)})
        return
    known = {tool.name: tool for tool in asked.tools}
    for ident, call in reply.calls:
        name, arguments = concrete(call, asked.tools, asked.folder)
        tool = known.get(name, Tool(name))
        given = {"input": arguments["input"]} if tool.kind == "custom" else {"arguments": json.dumps(arguments)}
        yield _call(tool, ident, given)


def _call(tool: Tool, ident: str, given: Json) -> Json:
    kind = "custom_tool_call" if tool.kind == "custom" else "function_call"
    apart = {"namespace": tool.namespace} if tool.namespace else {}
    about = {"call_id": ident, "name": tool.name, "status": "completed", **apart}
    return {"type": kind, "id": f"item_{ident}", **about, **given}


def _events(begun: Json, whole: Json) -> Iterator[tuple[str, Json]]:
    yield "response.created", {"type": "response.created", "response": begun}
    for index, item in enumerate(whole["output"]):
        yield from _item_events(index, item)
    yield "response.completed", {"type": "response.completed", "response": whole}


def _item_events(index: int, item: Json) -> Iterator[tuple[str, Json]]:
    about = {"output_index": index}
    empty: Json = {"reasoning": {"summary": []}, "message": {"content": []}}.get(item["type"], {})
    begun = {**item, **empty, "status": "in_progress"} if item["type"] != "reasoning" else {**item, **empty}
    yield "response.output_item.added", {"type": "response.output_item.added", **about, "item": begun}
    if item["type"] == "message":
        text = {"item_id": item["id"], "content_index": 0, "delta": item["content"][0]["text"]}
        yield "response.output_text.delta", {"type": "response.output_text.delta", **about, **text}
    yield "response.output_item.done", {"type": "response.output_item.done", **about, "item": item}
