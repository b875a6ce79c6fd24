"""The Chat Completions API of OpenAI, as Qwen Code, OpenCode and Copilot CLI ask it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clients.played.tools import concrete
from tests.clients.played.turns import Tool
from tests.clients.played.wire import Answered, Asked, Json, Reply, Said, folder_in, text_of


class ChatWire:
    """`POST /v1/chat/completions`."""

    name = "chat"

    def asked(self, body: Json, path: str) -> Asked:
        """The developer's messages are the system's."""
        del path
        conversation = [
            Said("system" if each["role"] == "developer" else each["role"], text_of(each.get("content")))
            for each in body.get("messages", ())
        ]
        functions = [each["function"] for each in body.get("tools") or ()]
        tools = [Tool(each["name"], each.get("parameters") or {}) for each in functions]
        folder = folder_in("\n".join(each.text for each in conversation))
        return Asked(conversation, tools, folder, bool(body.get("stream")))

    def answered(self, asked: Asked, reply: Reply) -> Answered:
        """One message, or three chunks of it and one with the usage."""
        tokens = reply.tokens
        usage = {
            "prompt_tokens": tokens.plain + tokens.cached,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.plain + tokens.cached + tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
        }
        calls = list(_calls(asked, reply))
        base: Json = {"id": f"chatcmpl-{reply.ident}", "created": 0, "model": reply.model}
        message = {"role": "assistant", "content": reply.turn.text or None, **({"tool_calls": calls} if calls else {})}
        ending = "tool_calls" if calls else "stop"
        choices = [{"index": 0, "message": message, "finish_reason": ending}]
        whole = {**base, "object": "chat.completion", "choices": choices, "usage": usage}
        names = [call["function"]["name"] for call in calls]
        return Answered(whole, list(_events(base, reply.turn.text, calls, ending, usage)), names)


def _calls(asked: Asked, reply: Reply) -> Iterator[Json]:
    for index, (ident, call) in enumerate(reply.calls):
        name, arguments = concrete(call, asked.tools, asked.folder)
        function = {"name": name, "arguments": json.dumps(arguments)}
        yield {"index": index, "id": ident, "type": "function", "function": function}


def _events(base: Json, text: str, calls: list[Json], ending: str, usage: Json) -> Iterator[tuple[None, Json | str]]:
    deltas: list[tuple[Json, str | None]] = [({"role": "assistant", "content": text}, None)]
    deltas += [({"tool_calls": calls}, None)] if calls else []
    deltas.append(({}, ending))
    for delta, finished in deltas:
        choices = [{"index": 0, "delta": delta, "finish_reason": finished}]
        yield None, {**base, "object": "chat.completion.chunk", "choices": choices}
    yield None, {**base, "object": "chat.completion.chunk", "choices": [], "usage": usage}
    yield None, "[DONE]"
