"""An export of Langfuse in several files: conversations that go on in a later one, and scores given later still."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_REQUEST = {"role": "user", "content": "Fix the cart."}
_LOOK = {"role": "assistant", "content": "I look."}
_MORE = {"role": "user", "content": "And the till."}


def generation(row_id: str, trace: str, prompt: list[Any], reply: Any, second: int, **rest: Any) -> dict[str, Any]:
    """A row of an export: a model's reply."""
    always = {"id": row_id, "trace_id": trace, "project_id": "p", "parent_observation_id": "", "type": "GENERATION"}
    start, end = f"2026-01-01 10:00:{second:02}.000000", f"2026-01-01 10:00:{second + 1:02}.000000"
    said = {"input": json.dumps(prompt), "output": json.dumps(reply), "session_id": None, "total_cost": 0.25}
    return {**always, "start_time": start, "end_time": end, **said, **rest}


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
