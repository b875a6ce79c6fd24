"""Claude Code's message blocks as text, and their usage: shared by both of its recorded forms."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal

from agent_wiki.readers.claude_user_text import INTERRUPT
from agent_wiki.readers.recorded import count, mapping, objects
from agent_wiki.trajectory import Usage
from agent_wiki.trajectory.lazily import regex

ResultMark = Literal["rejected", "denied", "cancelled", "interrupt"]

_REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "The agent proposed a plan that was rejected by the user",
    "User rejected",
    "User declined to answer questions",
    INTERRUPT,
)
_CANCELLED = ("Sibling tool call errored", "Cancelled", "Tool call cancelled")
# Tools of the program that return nothing but its own words: an error that reads like a refusal is one.
OWN_WORDS = frozenset(
    {"Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion", "TodoWrite"}
)
# Since this version "Exit code" stands before what a command that failed printed: in each of 1,300 failures at hand.
_NAMES_EXIT_CODE = (2, 0, 30)
_MAX_NESTING = 4
_READS_TASKS = frozenset({"TaskOutput", "BashOutput"})
_TASK_STATUS = regex(
    r"\s*(?:<retrieval_status>\w+</retrieval_status>\s*)?(?:<task_\w{2,12}>[^<]{0,400}</task_\w{2,12}>\s*)*"
    r"<status>(\w+)</status>"
)
_COUNTERS = tuple(each.name for each in fields(Usage))


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """A message's content as blocks. A plain string is one text block; anything else is no block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects(content)


def content_text(content: Any, nesting: int = 0) -> str:
    """A tool result's content as one text, each block on its own line."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return block_text(content, nesting)
    if not isinstance(content, list):
        return ""
    return "\n".join(block_text(block, nesting) if isinstance(block, dict) else str(block) for block in content)


def block_text(block: dict[str, Any], nesting: int = 0) -> str:
    """A block as text. Anything but text is replaced by its type and its size in characters."""
    kind = string_or_empty(block.get("type"))
    if kind == "text":
        return string_or_empty(block.get("text"))
    if kind == "tool_reference":
        return f"[tool_reference: {string_or_empty(block.get('tool_name'))}]"
    if "url" in block:
        return f"{string_or_empty(block.get('title'))} {string_or_empty(block['url'])}".strip()
    if "content" in block and nesting < _MAX_NESTING:
        return content_text(block["content"], nesting + 1)
    return _attachment_text(kind or "block", block)


def _attachment_text(kind: str, block: dict[str, Any]) -> str:
    source = mapping(block.get("source") or block.get("resource") or block)
    data = string_or_empty(source.get("data") or source.get("blob"))
    if source.get("type") == "text" or isinstance(source.get("text"), str):
        return string_or_empty(source.get("text")) or data
    media_type = string_or_empty(source.get("media_type") or source.get("mimeType") or source.get("uri"))
    described = ", ".join(part for part in (media_type, f"{len(data)} characters" if data else "") if part)
    return f"[{kind}: {described}]" if described else f"[{kind}]"


def shows_refusal(record: dict[str, Any]) -> bool:
    """Whether a line of a transcript says, beside its text, that the user refused the call."""
    outcome = string_or_empty(record.get("toolUseResult"))  # what a tool itself raised has "Error: " before it
    return bool(
        string_or_empty(record.get("toolDenialKind")).startswith("user")
        or outcome.startswith(("User rejected tool use", *_REJECTED))
        or record.get("userFeedback")
    )


def own_words(record: dict[str, Any]) -> frozenset[str]:
    """The tools whose errors are in the program's own words, if they read like a refusal: by the line's version."""
    parts = string_or_empty(record.get("version")).split(".")[:3]
    numbers = tuple(int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 6)
    is_raised = string_or_empty(record.get("toolUseResult")).startswith("Error: ")
    return OWN_WORDS | {"Bash"} if is_raised and len(numbers) > 2 and numbers >= _NAMES_EXIT_CODE else OWN_WORDS


def result_mark(content: str, tool: str, *, is_refusal: bool, own: frozenset[str] = OWN_WORDS) -> ResultMark | None:
    """Why a result flagged as an error is not a failure of the tool: the user stopped it, or a sibling call failed.

    What a command or a server returns may imitate a refusal. It is the user's only where the recording shows it
    beside the text (`is_refusal`), or where the tool is one of `own`: it returns nothing but the program's own words.
    """
    start = content[:200].lstrip().removeprefix("<tool_use_error>")
    if start.startswith(_REJECTED):
        return "rejected" if is_refusal or tool in own else "denied"
    if start.startswith(_CANCELLED):
        return "cancelled"
    return "interrupt" if content[-80:].rstrip().endswith(f"{INTERRUPT} for tool use]") else None


def ended_badly(content: str, tool: str) -> bool:
    """Whether what reads the output of a command in the background says that it failed: the call itself has not."""
    match = _TASK_STATUS.match(content) if tool in _READS_TASKS else None
    return match is not None and match[1] == "failed"


def claude_usage(recorded: dict[str, Any]) -> Usage:
    """The four token counters of a recorded usage; None for a counter that is not a number."""
    return Usage(*(count(recorded.get(name)) for name in _COUNTERS))


def is_compaction_copy(agent_id: str) -> bool:
    """Whether a subagent is what compacted a session: its turns are those of the session, with a summary at the end."""
    return agent_id.startswith("acompact-")


def largest_usage(one: Usage, other: Usage) -> Usage:
    """The larger figure of each counter: a usage recorded early in a reply counts only the tokens so far."""
    return Usage(*(_larger(getattr(one, name), getattr(other, name)) for name in _COUNTERS))


def _larger(one: int | None, other: int | None) -> int | None:
    return other if one is None or (other is not None and other > one) else one


def string_or_empty(value: Any) -> str:
    """The value if it is a string, else the empty string: any field of a recording may have any type."""
    return value if isinstance(value, str) else ""
