"""Whatever a body holds, it is answered or refused: a bug of the test server would look like one of the service."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki_testing import LOCAL, Endpoint, Fault
from agent_wiki_testing.answers import echo
from agent_wiki_testing.endpoint import Clock
from agent_wiki_testing.faults import ANSWER_KINDS, Faults, Occasion
from agent_wiki_testing.protocol import Refused
from agent_wiki_testing.service import Messages, Setting

BODY: dict[str, Any] = {
    "model": "m",
    "max_tokens": 10,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "tools": [{"name": "t", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}],
    "tool_choice": {"type": "tool", "name": "t"},
    "output_config": {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/X"}]}, "b": {"enum": ["c"]}},
                "required": ["a", "b"],
                "additionalProperties": False,
                "$defs": {"X": {"type": "array", "items": {"type": "integer"}, "minItems": 1}},
            },
        }
    },
    "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "image", "source": {}}]}],
}
ODD: tuple[Any, ...] = (
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    [],
    {},
    [None],
    ["x"],
    {"type": "text"},
    {"a": None},
    "\ud800",
    "drop it",
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from _paths(inner, (*path, step))


def _changed(path: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    body = copy.deepcopy(BODY)
    place: Any = body
    for step in path[:-1]:
        place = place[step]
    if odd == "drop it":
        del place[path[-1]]
    else:
        place[path[-1]] = odd
    return body


ENDPOINTS = (Endpoint(forced_tools="honoured"), Endpoint(forced_tools="ignored"), LOCAL, Endpoint(structured="refused"))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    path=st.sampled_from(sorted(_paths(BODY), key=str)),
    odd=st.sampled_from(ODD),
    endpoint=st.sampled_from(ENDPOINTS),
    kind=st.sampled_from(ANSWER_KINDS),
)
def test_a_body_with_anything_in_it_is_answered_or_refused(
    path: tuple[Any, ...], odd: Any, endpoint: Endpoint, kind: Any
) -> None:
    faults = Faults([Fault(kind=kind, probability=0.5)])
    messages = Messages(Setting(endpoint, echo, faults, Clock(), lambda seconds: seconds))
    status = 200
    try:
        messages.create(_changed(path, odd), Occasion("messages", 1, 1, "sha256:00"))
    except Refused as refused:
        status = refused.status
    assert (status, len(messages.ledger.billed)) in {(200, 1), (400, 0)}


def test_the_body_itself_is_taken() -> None:
    messages = Messages(Setting(ENDPOINTS[0], echo, Faults(), Clock(), lambda seconds: seconds))
    assert messages.create(BODY, Occasion("messages", 1, 1, "sha256:00"))["stop_reason"] == "end_turn"
