"""What the attributes of an OpenTelemetry span say of a model's call, by the three conventions that libraries follow.

- the GenAI semantic conventions: `gen_ai.operation.name`, `gen_ai.input.messages`, spans `execute_tool`
- OpenInference: `openinference.span.kind`, messages flattened to `llm.input_messages.0.message.content`
- Vercel's `ai`: `ai.operationId`, `ai.prompt.messages`, `ai.toolCall.name`
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from agent_wiki.readers.chat_messages import content_text, parts_of
from agent_wiki.readers.recorded import count, number, objects, text_or_none
from agent_wiki.readers.recorded_prompts import joined_replies, json_or_text, prompt_of
from agent_wiki.readers.spans import Kind, Span, Turns
from agent_wiki.trajectory import Usage
from agent_wiki.trajectory.lazily import regex

Attributes = dict[str, Any]

_GENAI_KINDS: dict[str, Kind] = {
    "chat": "model", "text_completion": "model", "generate_content": "model",
    "invoke_agent": "agent", "create_agent": "other", "execute_tool": "tool",
}  # fmt: skip
_OPENINFERENCE_KINDS: dict[str, Kind] = {"LLM": "model", "AGENT": "agent", "TOOL": "tool"}
_VERCEL_REPLY = regex(r"ai\.(?:generate|stream)(?:Text|Object)\.do(?:Generate|Stream)")
_VERCEL_AGENT = regex(r"ai\.(?:generate|stream)(?:Text|Object)")
_OF_AGENTS = ("gen_ai.", "ai.", "llm.", "openinference.")
SESSIONS = (
    "gen_ai.conversation.id", "session.id", "langfuse.session.id",
    "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.session.id",
)  # fmt: skip
_INDEXED = regex(r"\.(\d{1,6})\.")


def session_of(attributes: Attributes) -> str | None:
    """The conversation that a span names."""
    return next((text for key in SESSIONS if (text := text_or_none(attributes.get(key)))), None)


def is_of_agent(attributes: Attributes) -> bool:
    """Whether a span is about a model, an agent or a tool, in any of the conventions."""
    return any(key.startswith(_OF_AGENTS) for key in attributes)


def span_of(span: Span, attributes: Attributes, turns: Turns) -> Span:
    """The span with what its attributes say. So far `result` is the message of its status."""
    span.session = session_of(attributes)
    failure, span.result = span.result, None
    if text_or_none(attributes.get("ai.operationId")):
        _read_vercel(span, attributes, turns)
    elif text_or_none(attributes.get("gen_ai.operation.name")):
        _read_genai(span, attributes, turns)
    else:
        _read_openinference(span, attributes, turns)
    if span.is_error:
        span.exit_status = text_or_none(attributes.get("error.type")) or "error"
        if span.kind == "tool" and span.result is None:
            span.result = text_or_none(attributes.get("exception.message")) or failure
    return span


def _read_genai(span: Span, attributes: Attributes, turns: Turns) -> None:
    span.kind = _GENAI_KINDS.get(str(attributes["gen_ai.operation.name"]), "other")
    span.name = text_or_none(attributes.get("gen_ai.agent.name"))
    _add_genai_figures(span, attributes)
    if span.kind == "tool":
        span.name = text_or_none(attributes.get("gen_ai.tool.name"))
        span.call_id = text_or_none(attributes.get("gen_ai.tool.call.id"))
        span.arguments = attributes.get("gen_ai.tool.call.arguments")
        span.result = _result(attributes.get("gen_ai.tool.call.result"))
    elif span.kind != "other":
        instructions = json_or_text(attributes.get("gen_ai.system_instructions"))
        system = [{"role": "system", "content": instructions}] if instructions else []
        span.prompt = turns.of([*system, *_genai_messages(attributes.get("gen_ai.input.messages"))])
        span.reply = turns.of(_genai_messages(attributes.get("gen_ai.output.messages")))


def _genai_messages(recorded: Any) -> list[dict[str, Any]]:
    """Messages of `{role, parts}`, as chat messages."""
    found = objects(json_or_text(recorded))
    return [{"role": each.get("role"), "content": each.get("parts", each.get("content"))} for each in found]


def _add_genai_figures(span: Span, attributes: Attributes) -> None:
    span.model = text_or_none(attributes.get("gen_ai.response.model")) or text_or_none(
        attributes.get("gen_ai.request.model")
    )
    span.usage = _usage(
        attributes,
        ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"),
        ("gen_ai.usage.cache_creation.input_tokens", "ai.usage.inputTokenDetails.cacheWriteTokens"),
        ("gen_ai.usage.cache_read.input_tokens", "ai.usage.cachedInputTokens"),
        ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "ai.usage.outputTokens"),
    )
    span.cost_usd = number(attributes.get("operation.cost"))


def _usage(attributes: Attributes, *names: tuple[str, ...]) -> Usage | None:
    """Input, written to the cache, read from it, output. The first includes the two after it, in all conventions."""
    found = [next((each for key in keys if (each := count(attributes.get(key))) is not None), None) for keys in names]
    sent, written, read, received = found
    if sent is not None:
        sent = max(sent - (written or 0) - (read or 0), 0)
    usage = Usage(sent, written, read, received)
    return usage if usage != Usage() else None


def _result(recorded: Any) -> str | None:
    return None if recorded is None else content_text(recorded)


def _read_vercel(span: Span, attributes: Attributes, turns: Turns) -> None:
    operation = str(attributes["ai.operationId"])
    if operation == "ai.toolCall":
        span.kind = "tool"
        span.name = text_or_none(attributes.get("ai.toolCall.name"))
        span.call_id = text_or_none(attributes.get("ai.toolCall.id"))
        span.arguments = attributes.get("ai.toolCall.args")
        span.result = _result(attributes.get("ai.toolCall.result"))
        return
    span.name = text_or_none(attributes.get("ai.telemetry.functionId"))
    if _VERCEL_AGENT.fullmatch(operation):
        span.kind = "agent"
    elif _VERCEL_REPLY.fullmatch(operation):
        span.kind = "model"
        _add_genai_figures(span, attributes)
        span.prompt = turns.of(prompt_of(attributes.get("ai.prompt.messages")))
        text = text_or_none(attributes.get("ai.response.text")) or text_or_none(attributes.get("ai.response.object"))
        calls = objects(json_or_text(attributes.get("ai.response.toolCalls")))
        thinking = text_or_none(attributes.get("ai.response.reasoning"))
        if text or calls or thinking:
            span.reply = turns.of([{"role": "assistant", "content": text, "tool_calls": calls, "thinking": thinking}])


def _read_openinference(span: Span, attributes: Attributes, turns: Turns) -> None:
    span.kind = _OPENINFERENCE_KINDS.get(str(attributes.get("openinference.span.kind")).upper(), "other")
    if span.kind == "model":
        span.name = text_or_none(attributes.get("agent.name"))
        span.model = text_or_none(attributes.get("llm.model_name"))
        span.usage = _usage(
            attributes,
            ("llm.token_count.prompt",),
            ("llm.token_count.prompt_details.cache_write",),
            ("llm.token_count.prompt_details.cache_read",),
            ("llm.token_count.completion",),
        )
        span.cost_usd = number(attributes.get("llm.cost.total"))
        span.prompt = turns.of(_flattened(attributes, "llm.input_messages"))
        span.reply = turns.of(_flattened(attributes, "llm.output_messages"))
    elif span.kind == "agent":
        span.name = text_or_none(attributes.get("agent.name")) or span.name
    elif span.kind == "tool":
        span.name = text_or_none(attributes.get("tool.name")) or span.name
        span.call_id = text_or_none(attributes.get("tool_call.id")) or text_or_none(attributes.get("tool.id"))
        span.arguments = attributes.get("input.value")
        span.result = _result(attributes.get("output.value"))


def _flattened(attributes: Attributes, name: str) -> list[dict[str, Any]]:
    """Messages that are flattened to attributes `<name>.<index>.message.…`; one reply may be recorded as several."""
    return joined_replies([_flat_message(each) for each in _by_index(attributes, name)])


def _by_index(attributes: Attributes, name: str) -> list[Attributes]:
    """The members `<name>.<index>.<rest>`, in order of the index: each as `{rest: value}`."""
    found: dict[int, Attributes] = defaultdict(dict)
    for key, value in attributes.items():
        if key.startswith(name) and (place := _INDEXED.match(key, len(name))):
            found[int(place[1])][key[place.end() :]] = value
    return [found[index] for index in sorted(found)]


def _flat_message(fields: Attributes) -> dict[str, Any]:
    content: list[Any] = [
        {"type": each.get("message_content.type"), "text": each.get("message_content.text")}
        for each in _by_index(fields, "message.contents")
    ]
    text = fields.get("message.content")
    if text is not None and text not in (parts_of(content).text(), ""):
        content.append({"type": "text", "text": _result(text)})
    calls = [
        {
            "id": each.get("tool_call.id"),
            "name": each.get("tool_call.function.name"),
            "arguments": each.get("tool_call.function.arguments"),
        }
        for each in _by_index(fields, "message.tool_calls")
    ]
    if name := text_or_none(fields.get("message.function_call_name")):
        calls.append({"name": name, "arguments": fields.get("message.function_call_arguments_json")})
    return {
        "role": fields.get("message.role"),
        "content": content,
        "tool_calls": calls,
        "tool_call_id": fields.get("message.tool_call_id"),
        "name": fields.get("message.name"),
    }
