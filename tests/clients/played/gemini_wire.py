"""The Gemini API, as Gemini CLI asks it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.clients.played.tools import concrete
from tests.clients.played.turns import Tool
from tests.clients.played.wire import Answered, Asked, Json, Reply, Said, folder_in, text_of

_THOUGHT_TOKENS = 5


class GeminiWire:
    """`POST /v1beta/models/NAME:generateContent` and `:streamGenerateContent`."""

    name = "gemini"

    def asked(self, body: Json, path: str) -> Asked:
        """Results come as messages of the user."""
        conversation = [Said("system", text_of((body.get("systemInstruction") or {}).get("parts")))]
        conversation += [_said(each) for each in body.get("contents", ())]
        functions = [each for tool in body.get("tools") or () for each in tool.get("functionDeclarations", ())]
        tools = [
            Tool(each["name"], each.get("parametersJsonSchema") or each.get("parameters") or {}) for each in functions
        ]
        config = body.get("generationConfig") or {}
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
        folder = folder_in("\n".join(each.text for each in conversation))
        return Asked(conversation, tools, folder, "stream" in path, schema)

    def answered(self, asked: Asked, reply: Reply) -> Answered:
        """Parts of thought, text and calls, in one piece also where it is streamed."""
        tokens = reply.tokens
        prompt = tokens.plain + tokens.cached
        usage = {
            "promptTokenCount": prompt,
            "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output - _THOUGHT_TOKENS,
            "thoughtsTokenCount": _THOUGHT_TOKENS,
            "totalTokenCount": prompt + tokens.output,
        }
        parts = list(_parts(asked, reply))
        content = {"role": "model", "parts": parts}
        candidates = [{"index": 0, "content": content, "finishReason": "STOP"}]
        whole: Json = {"candidates": candidates, "usageMetadata": usage, "modelVersion": reply.model}
        names = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        return Answered({**whole, "responseId": reply.ident}, [(None, {**whole, "responseId": reply.ident})], names)


def _said(message: Json) -> Said:
    parts = message.get("parts") or []
    if message.get("role") == "model":
        return Said("assistant", text_of(parts))
    if any("functionResponse" in part for part in parts):
        return Said("tool")
    return Said("user", text_of(parts))


def _parts(asked: Asked, reply: Reply) -> Iterator[Json]:
    turn = reply.turn
    if turn.thinking:
        yield {"text": f"**Looking**\n\n{turn.thinking}", "thought": True}
    if turn.text:
        yield {"text": turn.text}
    for _, call in reply.calls:
        name, arguments = concrete(call, asked.tools, asked.folder)
        yield {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2NyaXB0ZWQ="}
