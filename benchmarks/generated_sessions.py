"""Recordings of the size and make of real ones, made from a seed, and answers that stand on them.

The tables are quantiles of 121 real sessions of thirteen formats: a quarter are next to empty, the longest has 450,000
characters. Every text is put together from a fixed list of words; nothing is copied from a recording.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from agent_wiki_testing.answers import Asked, echo

_AT = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_CHARACTERS = (32, 146, 303, 1_392, 15_983, 48_198, 84_230, 141_985, 377_748, 451_750)
_TURNS = (1, 1, 2, 6, 16, 42, 65, 80, 147, 363)
_CALLS = (0, 0, 0, 0, 5, 20, 34, 40, 85, 205)
_RESULT = (1, 22, 45, 113, 330, 1_478, 4_781, 8_183, 21_486, 48_970)
_TEXT = (2, 43, 57, 100, 186, 396, 1_082, 1_811, 3_828, 7_428)
_THINKING = (19, 56, 68, 90, 159, 364, 728, 814, 1_342, 1_885)
_ARGUMENTS = (2, 30, 45, 74, 137, 249, 751, 1_235, 3_978, 9_357)
_REQUEST = (1, 10, 20, 48, 128, 568, 2_021, 3_323, 5_896, 18_907)
_THINKING_SHARE = 0.15  # of the agent's turns
_JITTER = 0.1  # of rank, between a session's characters and its turns: they go together, but not wholly
_LEAST_CHARACTERS = 12

WORDS = (
    "file", "test", "error", "build", "path", "value", "index", "return", "function", "line", "module", "result",
    "queue", "worker", "header", "client", "server", "token", "cache", "retry", "timeout", "schema", "branch",
    "commit", "merge", "parser", "buffer", "thread", "socket", "column", "table", "query", "cursor", "migration",
    "import", "export", "config", "default", "option", "flag", "argument", "response", "request", "session",
    "handler", "router", "template", "render", "page", "layout", "widget", "button", "form", "field", "label",
    "order", "invoice", "cart", "price", "account", "user", "role", "permission", "log", "metric",
)  # fmt: skip
_VERBS = ("Fix", "Add", "Rename", "Speed up", "Document", "Test", "Remove", "Replace", "Split", "Port")
_TOOLS = ("Bash", "Read", "Edit", "Grep", "Write")
_LINES = 4_000
_RETRIED_EACH = 4  # one session in four attempts one of a few tasks that others attempt too
_RETRIED_TASKS = 16


@dataclass(slots=True)
class _Call:
    """One tool call and what came back."""

    name: str
    argument: str
    result: str
    text: str = ""
    thinking: str = ""


@dataclass(slots=True)
class _Exchange:
    """What the user said, what the agent called, what it said in the end."""

    request: str
    calls: list[_Call] = field(default_factory=list)
    reply: str = ""


def generate(folder: Path, sessions: int, seed: int = 1) -> int:
    """Write so many recordings, Claude Code and OpenAI messages in turn; returns the characters of their trajectories.

    The same seed and number give the same bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = _Texts(Random(f"{seed} texts"))
    order = list(range(sessions))
    Random(f"{seed} order").shuffle(order)
    characters = 0
    for number, place in enumerate(order):
        rng = Random(f"{seed} {number}")
        exchanges = _session(number, (place + 0.5) / sessions, rng, made)
        session_id = f"{number:08x}-0000-4000-8000-{rng.getrandbits(48):012x}"
        characters += sum(_characters(each) for each in exchanges)
        if number % 2:
            _write(folder / f"{session_id}.json", [json.dumps(_chat(session_id, exchanges))])
        else:
            _write(folder / f"{session_id}.jsonl", _claude_lines(session_id, exchanges))
    return characters


def _write(path: Path, lines: Sequence[str] | Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)


class _Texts:
    """Texts of any length, cut from a list of made-up lines."""

    def __init__(self, rng: Random) -> None:
        lines = [f"{' ' * rng.choice((0, 0, 4, 8))}{' '.join(rng.choices(WORDS, k=9))}\n" for _ in range(_LINES)]
        self._text = "".join(lines)
        ends = accumulate(map(len, lines), initial=0)
        self._starts = [start for start, line in zip(ends, lines, strict=False) if line[0] != " "]

    def cut(self, characters: int, rng: Random) -> str:
        """A stretch of so many characters from where a line begins, again from the front where the list ends."""
        start = rng.choice(self._starts)
        whole = self._text[start : start + characters]
        while len(whole) < characters:
            whole += self._text[: characters - len(whole)]
        return whole


def _at(table: Sequence[int], rank: float) -> int:
    """The value at a rank between 0 and 1, straight between the quantiles that are known."""
    upper = min(bisect_right(_AT, rank), len(_AT) - 1)
    share = (rank - _AT[upper - 1]) / (_AT[upper] - _AT[upper - 1])
    return round(table[upper - 1] + share * (table[upper] - table[upper - 1]))


def _session(number: int, rank: float, rng: Random, made: _Texts) -> list[_Exchange]:
    """One session of the length at `rank`; all its parts are drawn and then stretched to that length together."""
    characters = max(_at(_CHARACTERS, rank), 4 * _LEAST_CHARACTERS)
    beside = rank + rng.uniform(-_JITTER, _JITTER) * 4 * rank * (1 - rank)
    calls = _at(_CALLS, beside)
    shape = [0] * max(1, (_at(_TURNS, beside) - 2 * calls) // 2)
    for _ in range(calls):
        shape[rng.randrange(len(shape))] += 1
    weights = [(_at(_REQUEST, rng.random()), _at(_TEXT, rng.random())) for _ in shape]
    parts = [_weights_of_call(rng) for _ in range(calls)]
    stretch = characters / (sum(map(sum, weights)) + sum(map(sum, parts)))

    def text(weight: int) -> str:
        return made.cut(max(_LEAST_CHARACTERS, round(weight * stretch)), rng) if weight else ""

    waiting = iter(parts)
    exchanges = []
    for (request, reply), count in zip(weights, shape, strict=True):
        exchange = _Exchange(text(request), reply=text(reply))
        for _ in range(count):
            argument, result, said, thought = (text(weight) for weight in next(waiting))
            exchange.calls.append(_Call(rng.choice(_TOOLS), argument, result, said, thought))
        exchanges.append(exchange)
    exchanges[0].request = f"{_task(number, rng)}\n{exchanges[0].request}"
    return exchanges


def _weights_of_call(rng: Random) -> tuple[int, int, int, int]:
    """Argument, result, text before, thinking; three calls in five go without a word before them."""
    said = _at(_TEXT, rng.random()) if rng.random() < 0.4 else 0
    thought = _at(_THINKING, rng.random()) if rng.random() < _THINKING_SHARE else 0
    return _at(_ARGUMENTS, rng.random()), _at(_RESULT, rng.random()), said, thought


def _task(number: int, rng: Random) -> str:
    """The first line of a session's request; some sessions have it in common with others."""
    if number % _RETRIED_EACH == 0:
        rng = Random(f"task {number // _RETRIED_EACH % _RETRIED_TASKS}")
    what = rng.sample(WORDS, 5)
    return f"{rng.choice(_VERBS)} the {what[0]} {what[1]} of the {what[2]} in {what[3]}_{what[4]}.py"


def _characters(exchange: _Exchange) -> int:
    spoken = len(exchange.request) + len(exchange.reply)
    return spoken + sum(
        len(json.dumps(_arguments(call))) + len(call.result) + len(call.text) + len(call.thinking)
        for call in exchange.calls
    )


def _arguments(call: _Call) -> dict[str, str]:
    return {"command": call.argument} if call.name == "Bash" else {"file_path": "/src/a.py", "text": call.argument}


def _chat(session_id: str, exchanges: Sequence[_Exchange]) -> dict[str, Any]:
    """An envelope of OpenAI messages."""
    messages: list[dict[str, Any]] = []
    for exchange in exchanges:
        messages.append({"role": "user", "content": exchange.request})
        for call in exchange.calls:
            call_id = f"call_{len(messages)}"
            function = {"name": call.name, "arguments": json.dumps(_arguments(call))}
            reply = {"role": "assistant", "content": call.text or None, "reasoning_content": call.thinking or None}
            messages.append({**reply, "tool_calls": [{"id": call_id, "type": "function", "function": function}]})
            messages.append({"role": "tool", "tool_call_id": call_id, "content": call.result})
        messages.append({"role": "assistant", "content": exchange.reply})
    return {"model": "m-1", "timestamp": "2026-01-01T10:00:00Z", "session_id": session_id, "messages": messages}


def _claude_lines(session_id: str, exchanges: Sequence[_Exchange]) -> Iterator[str]:
    """Lines of a Claude Code session, with what that harness records beside the turns: results again, files, hooks."""
    parent: str | None = None
    count = 0
    for exchange in exchanges:
        for kind, message, beside in _claude_messages(exchange):
            count += 1
            uuid = f"{session_id[:8]}-{count:04x}"
            place = {"sessionId": session_id, "cwd": "/src", "version": "2.1.7", "gitBranch": "main", "uuid": uuid}
            when = f"2026-01-01T{10 + count // 3600:02d}:{count // 60 % 60:02d}:{count % 60:02d}.000Z"
            message = {**message, "id": f"msg_{uuid}"} if kind == "assistant" else message
            yield json.dumps(
                {"parentUuid": parent, "isSidechain": False, **place, "type": kind, "message": message}
                | {"timestamp": when, **beside}
            )
            parent = uuid
            if kind == "assistant":
                hook = {"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": "PostToolUse:Bash"}
                yield json.dumps({"type": "progress", **place, "uuid": f"{uuid}-p", "data": hook, "timestamp": when})


def _claude_messages(exchange: _Exchange) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    usage = {"input_tokens": 4, "cache_read_input_tokens": 20_000, "output_tokens": 120}
    reply = {"role": "assistant", "model": "m-1", "usage": usage}
    yield "user", {"role": "user", "content": exchange.request}, {}
    for position, call in enumerate(exchange.calls):
        call_id = f"toolu_{hashlib.sha256(f'{position} {call.argument}'.encode()).hexdigest()[:20]}"
        blocks: list[dict[str, Any]] = []
        if call.thinking:
            blocks.append({"type": "thinking", "thinking": call.thinking, "signature": "c2lnbmF0dXJl"})
        if call.text:
            blocks.append({"type": "text", "text": call.text})
        blocks.append({"type": "tool_use", "id": call_id, "name": call.name, "input": _arguments(call)})
        yield "assistant", {**reply, "content": blocks}, {}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": call.result}
        beside = {"stdout": call.result, "stderr": "", "originalFile": call.result}
        yield "user", {"role": "user", "content": [result]}, {"toolUseResult": beside}
    yield "assistant", {**reply, "content": [{"type": "text", "text": exchange.reply}]}, {}


def answer(asked: Asked) -> Any:
    """What a model would say of a generated session: cheap to make, and every quote is where it is cited.

    All sessions succeed, so that all three questions are asked of each. Seven in ten have one or two guidelines, one in
    ten has a skill.
    """
    properties = (asked.schema or {}).get("properties", {})
    if asked.stage not in ON_TRAJECTORY:
        return _of_many(asked, properties)
    shown = _shown(asked.blocks[0])
    wanted = [name for name, _ in ON_TRAJECTORY.values() if f"# `{name}`" in asked.question]  # all in one request
    wanted = wanted or [ON_TRAJECTORY[asked.stage][0]]
    found = {
        name: (told_of(shown) if shown is not None else _merged(asked.question))
        for name, told_of in ON_TRAJECTORY.values()
        if name in wanted
    }
    return {each: found.get(each) for each in properties} if wanted[0] in properties else found[wanted[0]]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a prompt shows of a session: a quote of its first and of its last labelled turn, and a number of its own."""

    first: dict[str, Any]
    last: dict[str, Any]
    number: int


def _shown(prefix: str) -> _Shown | None:
    """None where no turn is shown, but the answers to the segments of a long session."""
    first, last = prefix.find("\n[T") + 1, prefix.rfind("\n[T") + 1
    if not first:
        return None
    digest = hashlib.sha256(prefix.encode("utf-8", "replace")).digest()
    return _Shown(_quote(prefix, first), _quote(prefix, last), int.from_bytes(digest[:4], "big"))


def _quote(prefix: str, start: int) -> dict[str, Any]:
    """The turn of the label at `start`, and the first words behind it."""
    line = prefix[start : start + 300].partition("\n")[0]
    label, _, text = line.partition(": ")
    return {"turn": int(label[2:].partition("]")[0]), "quote": text[:80]}


def _merged(question: str) -> dict[str, Any]:
    """One answer of those to segments, each a line of JSON: the first, but for how the session ended."""
    parts: list[dict[str, Any]] = [json.loads(line) for line in question.splitlines() if line.startswith("{")]
    if "arcs" not in parts[0]:
        return parts[0]
    end = parts[-1]["arcs"][-1]
    ended = {name: end[name] for name in ("last_turn", "outcome", "outcome_turn", "outcome_quote")}
    return {"arcs": [parts[0]["arcs"][0] | ended]}


def _summary(shown: _Shown) -> dict[str, Any]:
    first, last = shown.first["turn"], shown.last["turn"]
    return {
        "arcs": [
            {
                "slug": "",
                "first_turn": first,
                "last_turn": last,
                "goal": shown.first["quote"],
                "outcome": "success",
                "outcome_turn": last,
                "outcome_quote": shown.last["quote"],
                "narrative": "The agent looked, changed a file, ran the checks, and they passed in the end. " * 12,
                "key_turns": [
                    {"turn": turn, "text": f"`a.py` shows what step {turn} of {last} needs."}
                    for turn in sorted({first, (2 * first + last) // 3, (first + last) // 2, last})
                ],
                "dead_ends": [],
                "recalled": [],
            }
        ]
    }


def _guidelines(shown: _Shown) -> dict[str, Any]:
    count = 0 if shown.number % 10 < 3 else 1 + shown.number % 2
    return {"guidelines": [_guideline(shown, position) for position in range(count)]}


def _guideline(shown: _Shown, position: int) -> dict[str, Any]:
    rng = Random(f"rule {(shown.number + position) % 400}")
    (first, second, third), places = rng.sample(WORDS, 3), rng.sample(WORDS, 3)
    return {
        "type": "guideline",
        "title": f"Check the {first} before {second}",
        "rule": f"Run `check-{first} --{second}` before a change of the {third} in {' and '.join(places)}.",
        "rationale": f"The {third} failed until `check-{first}` had named what was missing.",
        "trigger": f"A change of the {third} stops with `{second} not set`.",
        "tags": [first, third],
        "evidence": [shown.first, shown.last],
    }


def _skill(shown: _Shown) -> dict[str, Any]:
    if shown.number % 10:
        return {"skill": None, "reason": "It was a single change in one file."}
    rng = Random(f"skill {shown.number % 100}")
    name = "-".join(rng.sample(WORDS, 3))
    skill = {
        "name": name,
        "description": f"Checks and changes a {name}. Use it before the change.",
        "trigger": f"a {name} to change",
        "overview": "The check passes after the change.",
        "when_to_use": "Where the check exists.",
        "steps": [{"text": f"Step {step}", "command": f"check <place> --step {step}"} for step in range(1, 5)],
        "parameters": [{"name": "place", "description": "the folder"}],
        "scripts": [],
        "tags": [name.partition("-")[0], "checks"],
        "evidence": [shown.first, shown.last],
    }
    return {"skill": skill, "reason": ""}


ON_TRAJECTORY: dict[str, tuple[str, Callable[[_Shown], dict[str, Any]]]] = {
    "summarize": ("SummaryAnswer", _summary),
    "extract-guidelines": ("GuidelinesAnswer", _guidelines),
    "synthesize-skill": ("SkillsAnswer", _skill),
}
"""The stages that ask about one trajectory: the name of the answer's type, and what is answered."""


def _of_many(asked: Asked, properties: dict[str, Any]) -> Any:
    """Answers to what is asked of pages: no clusters, no subtasks, and a task's page with a finding."""
    if "findings" in properties:
        finding = "All of the sessions that succeeded ran the checks, with a median of 12 calls."
        return {"title": "Change one file", "intro": "A change.", "findings": [finding], "tags": ["change"]}
    return echo(asked)
