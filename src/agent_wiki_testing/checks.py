"""What the service refuses before it reads a prompt: missing headers, bodies that are not as they should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_wiki_testing.endpoint import Endpoint
from agent_wiki_testing.protocol import Refused, invalid
from agent_wiki_testing.schemas import check_native_schema, check_schema
from agent_wiki_testing.tokens import content_blocks, mark_lifetime

MOST_MARKS = 4
MOST_BODY_BYTES = 32 * 1024 * 1024
MOST_BATCH_BYTES = 256 * 1024 * 1024
_FIELDS = frozenset(
    {"model", "messages", "max_tokens", "cache_control", "container", "diagnostics", "inference_geo", "metadata",
     "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools"}
)  # fmt: skip
_COUNTED_FIELDS = _FIELDS - {
    "max_tokens", "container", "diagnostics", "inference_geo", "metadata", "service_tier", "stop_sequences", "stream"
}  # fmt: skip
_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
_ROLES = ("user", "assistant", "system")


def check_headers(headers: Mapping[str, str], endpoint: Endpoint, *, has_body: bool) -> None:
    """Refuse a request without a key, a version or, where it has a body, JSON. `headers` by lower-case name."""
    given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ").strip()
    if not given:
        raise Refused("authentication_error", "x-api-key header is required")
    if endpoint.key is not None and given != endpoint.key:
        raise Refused("authentication_error", "invalid x-api-key")
    if not headers.get("anthropic-version"):
        raise invalid("anthropic-version: header is required")
    if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise invalid("content-type: must be application/json")


def check_message_request(body: Any, endpoint: Endpoint) -> None:
    """Refuse the body of a request for a message that the service would refuse."""
    _check_common(body, endpoint, _FIELDS)
    if "max_tokens" not in body:
        raise invalid("max_tokens: Field required")
    most = body["max_tokens"]
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise invalid("max_tokens: Input should be a valid integer, at least 0")
    if body.get("stream"):
        raise invalid("stream: this test server does not stream")
    if body["messages"][-1]["role"] == "assistant" and not endpoint.takes_prefill:
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if forced_tool(body) is not None and endpoint.forced_tools == "refused":
        raise invalid("tool_choice: this model does not support forced tool use")


def check_count_request(body: Any, endpoint: Endpoint) -> None:
    """Refuse the body of a request to count tokens that the service would refuse."""
    _check_common(body, endpoint, _COUNTED_FIELDS)


def _check_common(body: Any, endpoint: Endpoint, known: frozenset[str]) -> None:
    if not isinstance(body, dict):
        raise invalid("request: Input should be an object")
    for name in body:
        if name in _SAMPLING and not endpoint.takes_sampling:
            raise invalid(f"{name}: this model does not support {name}")
        if name not in known | _SAMPLING:
            raise invalid(f"{name}: Extra inputs are not permitted")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise invalid("model: Field required")
    _check_messages(body.get("messages"))
    _check_system(body.get("system"))
    _check_tools(body)
    _check_marks(body)
    _check_format(body, endpoint)


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise invalid("messages: at least one message is required")
    for position, message in enumerate(messages):
        place = f"messages.{position}"
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise invalid(f"{place}.role: Input should be 'user' or 'assistant'")
        if set(message) - {"role", "content"}:
            raise invalid(f"{place}.{sorted(set(message) - {'role', 'content'})[0]}: Extra inputs are not permitted")
        _check_content(message.get("content"), f"{place}.content")
    if messages[0]["role"] != "user":
        raise invalid('messages: first message must use the "user" role')


def _check_system(system: Any) -> None:
    if system is None or system == "":
        return
    _check_content(system, "system")
    if any(part["type"] != "text" for part in content_blocks(system)):
        raise invalid("system: only text blocks are allowed")


def _check_content(content: Any, place: str) -> None:
    if not isinstance(content, (str, list)) or not content:
        raise invalid(f"{place}: must not be empty")
    for position, part in enumerate(content_blocks(content)):
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise invalid(f"{place}.{position}.type: Field required")
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise invalid(f"{place}.{position}.text: Field required")
        if part["type"] == "text" and not part["text"].strip():
            raise invalid(f"{place}.{position}: text content blocks must contain non-whitespace text")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) and tool.get("name") for tool in tools):
        raise invalid("tools: each tool needs a name")
    for position, tool in enumerate(tools):  # this test server has no server tools, which have no schema
        check_schema(tool.get("input_schema"), f"tools.{position}.input_schema")
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise invalid("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'")
    if choice["type"] == "tool" and choice.get("name") not in [tool["name"] for tool in tools]:
        raise invalid(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")
    if choice["type"] == "any" and not tools:
        raise invalid("tool_choice: tools are required")


def _check_marks(body: dict[str, Any]) -> None:
    parts = [*(body.get("tools") or ()), *content_blocks(body.get("system") or ())]
    parts += [part for message in body["messages"] for part in content_blocks(message["content"])]
    marked = [part for part in (*parts, body) if part.get("cache_control")]
    for part in marked:
        mark = part["cache_control"]
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            raise invalid("cache_control: Input should be {'type': 'ephemeral'} with ttl '5m' or '1h'")
    if len(marked) > MOST_MARKS:
        raise invalid(f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {len(marked)}.")
    lifetimes = [mark_lifetime(part) for part in marked]
    if lifetimes != sorted(lifetimes, key=str):  # "1h" before "5m", as it has to be
        raise invalid("cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' one")


def _check_format(body: dict[str, Any], endpoint: Endpoint) -> None:
    config = body.get("output_config")
    if config is not None and not isinstance(config, dict):
        raise invalid("output_config: Input should be an object")
    wanted = (config or {}).get("format")
    if wanted is None or endpoint.structured == "ignored":
        return
    if endpoint.structured == "refused":
        raise invalid("output_config.format: this model does not support structured outputs")
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
        raise invalid("output_config.format.type: Input should be 'json_schema'")
    check_native_schema(wanted.get("schema"))


def native_schema(body: dict[str, Any], endpoint: Endpoint) -> dict[str, Any] | None:
    """The schema of structured output, None where none is asked for or the endpoint does not honour it."""
    wanted = (body.get("output_config") or {}).get("format")
    return wanted["schema"] if wanted and endpoint.structured == "native" else None


def forced_tool(body: dict[str, Any]) -> dict[str, Any] | None:
    """The tool that a request says must be called, None where it is up to the model."""
    choice = body.get("tool_choice") or {}
    tools = body.get("tools") or []
    if choice.get("type") == "any":
        return dict(tools[0])
    named = [tool for tool in tools if choice.get("type") == "tool" and tool["name"] == choice["name"]]
    return dict(named[0]) if named else None
