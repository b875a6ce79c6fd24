"""An export of Langfuse in several files: conversations that go on in a later one, and scores given later still."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any

_REQUEST = {"role": "user", "content": "Fix the cart."}
_LOOK = {"role": "assistant", "content": "I look."}
_MORE = {"role": "user", "content": "And the till."}


def generation(row_id: str, trace: str, prompt: list[Any], reply: Any, second: int, **rest: Any) -> dict[str, Any]:
    """A row of an export: a model's reply."""
    always = {"id": row_id, "trace_id": trace, "project_id": "p", "parent_observation_id": "", "type": "GENERATION"}
    start, end = _moment(second), _moment(second + 1)
    said = {"input": json.dumps(prompt), "output": json.dumps(reply), "session_id": None, "total_cost": 0.25}
    return {**always, "start_time": start, "end_time": end, **said, **rest}


def _moment(second: int) -> str:
    return f"2026-01-01 {10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000000"


def score(score_id: str, trace: str, value: Any, updated: str = "2026-01-02", **rest: Any) -> dict[str, Any]:
    """A row of an export: a verdict on a trace."""
    about = {"trace_id": trace, "session_id": None, "observation_id": None}
    said = {"name": "success", "value": value, "data_type": "BOOLEAN", "updated_at": f"{updated} 00:00:00.000000"}
    return {"id": score_id, "project_id": "p", **about, **said, **rest}


def lines(rows: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


_THIRD = generation("c", "t3", [_REQUEST, _LOOK, _MORE], {"role": "assistant", "content": "Both add up."}, 30,
                    session_id="s-1")  # fmt: skip

EXPORT = {
    "observations_v2/2026-01-01T10-00-10.jsonl": lines([
        generation("a", "t1", [_REQUEST], _LOOK, 1, session_id="s-1"),
        generation("x", "t2", [{"role": "user", "content": "What is a cart?"}], "A list.", 3),
    ]),
    "observations_v2/2026-01-01T10-00-20.jsonl": b"",
    "observations_v2/2026-01-01T10-00-40.jsonl": lines([_THIRD]),
    "observations_v2/2026-01-01T10-00-50.jsonl": lines([_THIRD, generation("y", "t4", [_REQUEST], "No.", 45)]),
    "scores/2026-01-01T10-00-40.jsonl": lines([score("1", "t1", 0.5, name="tone"), score("2", "t9", 1)]),
    "scores/2026-01-02T10-00-40.jsonl": lines([score("3", "t3", 0), score("4", "t4", 0), score("5", "t2", 1)]),
    "scores/2026-01-03T10-00-40.jsonl": lines([score("3", "t3", 1, updated="2026-01-03")]),
    "manifests/2026-01-01T10-00-40.json": b'{"exportSource": "OBSERVATIONS_V2", "window": {}, "files": []}',
}  # fmt: skip
"""File → its bytes. Session `s-1` is in three of them, and one observation in two; nobody knows the trace `t9`."""


def random_export(rng: Random) -> dict[str, bytes]:
    """Conversations of one or several traces, some of them inside an agent's span, cut into files anywhere."""
    rows: list[tuple[int, str, dict[str, Any]]] = []
    for number in range(10):
        second, session = rng.randrange(3000), rng.choice([None, f"s{number}"])
        history: list[Any] = [{"role": "user", "content": f"Fix item {number}."}]
        for trace in (f"t{number}-{turn}" for turn in range(rng.choice([1, 2, 3]) if session else 1)):
            second, history = _random_trace(rng, rows, trace, session, second, history)
    width, files = rng.choice([600, 2000, 5000]), dict[str, list[Any]]()
    for second, folder, row in sorted(rows, key=lambda each: each[0]):
        for place in {second // width, (second + rng.choice([0, 0, 0, width])) // width}:
            files.setdefault(f"{folder}/{place:04}.jsonl", []).append(row)
    return {name: lines(held) for name, held in files.items()}


def _random_trace(
    rng: Random, rows: list[Any], trace: str, session: str | None, second: int, history: list[Any]
) -> tuple[int, list[Any]]:
    agent = f"{trace}-agent" if rng.random() < 0.6 else ""
    start, inside = second, {"parent_observation_id": agent}
    for step in range(rng.randrange(1, 5)):
        second += rng.randrange(2, 600)
        call = {"id": f"c-{trace}-{step}", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
        reply = {"role": "assistant", "content": f"Step {step} of {trace}.", "tool_calls": [call]}
        named = session if rng.random() < 0.8 else None
        row = generation(f"g-{trace}-{step}", trace, history, reply, second, session_id=named, **inside)
        result = {"role": "tool", "tool_call_id": call["id"], "content": f"{step} checks failed"}
        ran = {"type": "TOOL", "name": "Bash", "output": json.dumps(result), "session_id": session, **inside}
        tool = generation(f"x-{trace}-{step}", trace, [], "", second + 1, **ran)
        rows += [(second, "observations_v2", row), (second + 1, "observations_v2", tool)]
        history = [*history, reply, *([result] if rng.random() < 0.7 else [])]
    if agent:
        around = generation(agent, trace, [], "", start, type="AGENT", name="coder", input=None, output=None)
        rows.append((start, "observations_v2", around))
    for _ in range(rng.choice([0, 1, 2])):
        given = second + rng.randrange(9000)
        verdict = score(f"v-{trace}", trace, rng.choice([0, 1]), name=rng.choice(["success", "tone"]))
        rows.append((given, "scores", {**verdict, "updated_at": _moment(given)}))
    return second, [*history, {"role": "user", "content": "And more."}]


def batches(requests: Iterable[Any], rng: Random) -> dict[str, bytes]:
    """The spans of OTLP export requests, in their order, in batches as a collector puts them into a bucket."""
    spans = [
        (resource, scope, span)
        for request in requests
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    found: dict[str, bytes] = {}
    while spans:
        size, minute = rng.randrange(1, 4), len(found) // 2
        batch, spans = spans[:size], spans[size:]
        sent = [{**resource, "scopeSpans": [{**scope, "spans": [span]}]} for resource, scope, span in batch]
        name = f"traces_{rng.randrange(16**9):09x}.json"
        folder = f"year=2026/month=01/day=02/hour=03/minute={minute:02}"
        found[f"{folder}/{name}"] = json.dumps({"resourceSpans": sent}).encode()
    return found
