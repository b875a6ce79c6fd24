"""A request as the model reads it: blocks in order (tools, system, messages), each with its tokens and cache mark.

The rule of counting, the same for `count_tokens` and for `usage`: characters divided by four, rounded up, for each
block; the text of a plain text block, the JSON of any other block, of a tool, and of the schema that structured output
puts before the system prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from agent_wiki_testing.protocol import canonical

Lifetime = Literal["5m", "1h"]
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a prompt. `key` is all that tells it from another; `lifetime` is its cache mark's, None without."""

    key: str
    tokens: int
    lifetime: Lifetime | None = None


def token_count(text: str) -> int:
    """Tokens of a text by the rule above."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def prompt_blocks(body: dict[str, Any], schema: dict[str, Any] | None = None) -> list[Block]:
    """The blocks of a checked request, in the order in which a prefix is matched.

    `schema` is the one of structured output where the endpoint honours it. It stands before the system prompt, so
    that another schema is another prefix: the service says that a changed `output_config.format` invalidates the cache.
    """
    blocks = [_block("tool", tool) for tool in body.get("tools") or ()]
    if schema is not None:
        text = canonical(schema)
        blocks.append(Block(f"format\0{text}", token_count(text)))
    blocks += [_block("system", part) for part in content_blocks(body.get("system") or ())]
    salt = canonical([body.get("thinking"), body.get("tool_choice"), (body.get("output_config") or {}).get("effort")])
    for role, part in _message_parts(body):
        blocks.append(_block(role, part, salt))
        salt = ""
    return _with_automatic_mark(blocks, body)


def content_blocks(content: Any) -> list[dict[str, Any]]:
    """Content as blocks; a bare string is short for one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _message_parts(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for message in body["messages"]:
        for part in content_blocks(message["content"]):
            yield message["role"], part


def _block(place: str, part: dict[str, Any], salt: str = "") -> Block:
    bare = {name: value for name, value in part.items() if name != "cache_control"}
    if bare.keys() == {"type", "text"}:
        return Block(f"{place} {salt}\n{bare['text']}", token_count(bare["text"]), mark_lifetime(part))
    text = canonical(bare)
    return Block(f"{place} {salt}\0{text}", token_count(text), mark_lifetime(part))


def mark_lifetime(part: dict[str, Any]) -> Lifetime | None:
    """The lifetime that a block's cache mark asks for, None without a mark."""
    mark = part.get("cache_control")
    return mark.get("ttl", "5m") if mark else None


def _with_automatic_mark(blocks: list[Block], body: dict[str, Any]) -> list[Block]:
    """A `cache_control` of the whole request marks its last block."""
    lifetime = mark_lifetime(body)
    if lifetime is None or not blocks or blocks[-1].lifetime is not None:
        return blocks
    last = blocks[-1]
    return [*blocks[:-1], Block(last.key, last.tokens, lifetime)]
