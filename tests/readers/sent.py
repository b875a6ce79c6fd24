"""What the model server sent to a coding agent, to compare a reader's trajectories with.

`tests/data/clients/<client>` has recordings of the real program and `sent.jsonl`, a line for each reply of the server
that played its model. `served` finds the replies of one recording, `differences` names what a reading has otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent_wiki.readers import detect
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.trajectory.calls import paired_calls
from tests.readers.lines import recorded_lines

CLIENTS = Path(__file__).parent.parent / "data" / "clients"

_ISO_TIME = re.compile(r'"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))"')
_EPOCH_MILLISECONDS = re.compile(r"(?<![\w.])1[6-9]\d{11}(?![\w.])")
_SCRIPTED = re.compile(r"tools\.(\w+)\(")
_SECONDS_OF_DELAY = 2.0  # between the server's clock and the recording's


@dataclass(frozen=True)
class Said:
    """One reply of the model: its text, its thinking, and its calls as names and arguments; empty where it has none."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Reply:
    """One reply that the server sent. `ids` are those by which a recording may name it."""

    said: Said
    usage: Usage
    at: float  # seconds since 1970
    scenario: str
    model: str
    ids: frozenset[str]


@lru_cache(maxsize=16)
def sent(client: str) -> tuple[Reply, ...]:
    """Every reply that the server sent to a client, in order."""
    return tuple(_reply(line) for line in recorded_lines(CLIENTS / client / "sent.jsonl"))


def served(client: str, recording: Path) -> list[Reply]:
    """The replies that belong to a recording: those within its times, and of these the ones whose ids it names.

    A reply without ids (Gemini, plain texts of some clients) belongs to the recording by its time alone. What a fork
    copied from another recording is among them.
    """
    text = recording.read_text(encoding="utf-8")
    times = [datetime.fromisoformat(found).timestamp() for found in _ISO_TIME.findall(text)]
    times += [int(found) / 1000 for found in _EPOCH_MILLISECONDS.findall(text)]
    assert times, f"{recording.name} has no times"
    first, last = min(times) - _SECONDS_OF_DELAY, max(times) + _SECONDS_OF_DELAY
    near = (reply for reply in sent(client) if first <= reply.at <= last)
    return [reply for reply in near if not reply.ids or any(f'"{each}"' in text for each in reply.ids)]


def recordings(client: str, *folders: str) -> list[Path]:
    """The recordings in folders of a client, without its README and `sent.jsonl`."""
    found = sorted(path for folder in folders for path in (CLIENTS / client / folder).rglob("*.jsonl"))
    assert found, f"no recordings of {client} in {folders}"
    return found


def read(path: Path) -> list[Trajectory]:
    """The trajectories that the program's own readers find in a recording; none of it may be damaged."""
    recording = Recording(path, path.name)
    trajectories = list(detect.read(recording))
    assert recording.warnings == [], path.name
    return trajectories


def differences(
    trajectories: Iterable[Trajectory], replies: Sequence[Reply], *, defaults: dict[str, dict[str, Any]] | None = None
) -> list[str]:
    """Where trajectories and the replies sent are not the same: replies in order, texts, thinking, calls, tokens.

    `defaults` are the arguments that the client itself adds to a tool's calls, by the tool's name.
    """
    trajectories = list(trajectories)
    found = [said for trajectory in trajectories for said in replies_in(trajectory)]
    wanted = [_with_defaults(reply.said, defaults or {}) for reply in replies]
    lines = [f"{len(found)} replies read, {len(wanted)} sent"] if len(found) != len(wanted) else []
    lines += [f"read {one}, sent {two}" for one, two in zip(found, wanted, strict=False) if one != two]
    tokens_read, tokens_sent = (
        total(each.source.usage for each in trajectories),
        total(reply.usage for reply in replies),
    )
    return lines + ([f"read {tokens_read}, sent {tokens_sent}"] if tokens_read != tokens_sent else [])


def replies_in(trajectory: Trajectory) -> list[Said]:
    """The replies of the model in a trajectory."""
    return [
        Said(
            message.content or "",
            message.thinking or "",
            tuple((call.name, _ordered(json.loads(call.arguments))) for call in message.tool_calls),
        )
        for message in trajectory.messages
        if message.role == "assistant"
    ]


def failed_calls(trajectory: Trajectory) -> list[str]:
    """What each call that failed was asked: its command where it ran one, else its name and arguments."""
    return [call.command() or f"{call.name} {call.raw_arguments}" for call in paired_calls(trajectory) if call.is_error]


def total(usages: Iterable[Usage | None]) -> dict[str, int]:
    """Tokens by kind; a kind that nothing recorded, or that is nothing, is absent."""
    sums = {each.name: 0 for each in fields(Usage)}
    for usage in usages:
        for name in sums:
            sums[name] += (getattr(usage, name) or 0) if usage else 0
    return {name: tokens for name, tokens in sums.items() if tokens}


def _with_defaults(said: Said, defaults: dict[str, dict[str, Any]]) -> Said:
    calls = ((name, _ordered(defaults.get(name, {}) | json.loads(arguments))) for name, arguments in said.calls)
    return replace(said, calls=tuple(calls))


def _reply(line: dict[str, Any]) -> Reply:
    said, ids = {"anthropic": _anthropic, "responses": _responses, "chat": _chat, "gemini": _gemini}[line["api"]](line)
    usage = _usage(line["usage"])
    return Reply(said, usage, line["at"], line["scenario"] or "", line["model"], frozenset(ids))


def _anthropic(line: dict[str, Any]) -> tuple[Said, list[str]]:
    blocks = line["blocks"]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    said = Said(
        _joined(block["text"] for block in blocks if block["type"] == "text"),
        _joined(block["thinking"] for block in blocks if block["type"] == "thinking"),
        tuple((call["name"], _ordered(call["input"])) for call in calls),
    )
    return said, [line["id"], *(call["id"] for call in calls)]


def _responses(line: dict[str, Any]) -> tuple[Said, list[str]]:
    blocks = line["blocks"]
    summaries = [part["text"] for block in blocks if block["type"] == "reasoning" for part in block["summary"]]
    texts = [part["text"] for block in blocks if block["type"] == "message" for part in block["content"]]
    calls = [call for block in blocks for call in _calls_of(block)]
    ids = [block[key] for block in blocks for key in ("id", "call_id") if key in block]
    return Said(_joined(texts), _joined(summaries), tuple(calls)), ids


def _calls_of(block: dict[str, Any]) -> list[tuple[str, str]]:
    """A function's call; and of a script in Codex's code mode the calls with JSON that the server wrote into it.

    A script with any other arguments is one call of `exec`.
    """
    if block["type"] == "function_call":
        return [(block["name"], _ordered(json.loads(block["arguments"])))]
    if block["type"] != "custom_tool_call":
        return []
    script = block["input"]
    decoder = json.JSONDecoder()
    try:
        found = [(match[1], decoder.raw_decode(script, match.end())[0]) for match in _SCRIPTED.finditer(script)]
    except json.JSONDecodeError:
        return [(block["name"], _ordered({"input": script}))]
    return [(name, _ordered({"input": given} if isinstance(given, str) else given)) for name, given in found]


def _chat(line: dict[str, Any]) -> tuple[Said, list[str]]:
    text, calls = line["blocks"]
    asked = tuple((call["function"]["name"], _ordered(json.loads(call["function"]["arguments"]))) for call in calls)
    return Said(text or "", "", asked), [call["id"] for call in calls]


def _gemini(line: dict[str, Any]) -> tuple[Said, list[str]]:
    parts = line["blocks"]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    said = Said(
        _joined(part["text"] for part in parts if "text" in part and not part.get("thought")),
        _joined(part["text"] for part in parts if part.get("thought")),
        tuple((call["name"], _ordered(call["args"])) for call in calls),
    )
    return said, [call["id"] for call in calls if "id" in call]


def _usage(recorded: dict[str, Any]) -> Usage:
    """Tokens in the kinds of `Usage`: what was read from a cache is no input, and thinking is output."""
    if "cache_read_input_tokens" in recorded:
        return Usage(*(recorded[each.name] for each in fields(Usage)))
    if "promptTokenCount" in recorded:
        cached = recorded["cachedContentTokenCount"]
        output = recorded["candidatesTokenCount"] + recorded["thoughtsTokenCount"]
        return Usage(recorded["promptTokenCount"] - cached, None, cached, output)
    kind = "input" if "input_tokens" in recorded else "prompt"
    cached = recorded[f"{kind}_tokens_details"]["cached_tokens"]
    output = recorded["output_tokens" if kind == "input" else "completion_tokens"]
    return Usage(recorded[f"{kind}_tokens"] - cached, None, cached, output)


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)


def _ordered(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)
