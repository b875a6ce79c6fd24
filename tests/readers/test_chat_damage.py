"""A document with one odd value in it is read, or refused with a reason; nothing else ever escapes a reader.

Every value of a small document of each format is replaced in turn by every odd value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers import (
    inspect_log,
    mini_swe_agent,
    normalized,
    openai_messages,
    swe_agent,
    tau2_bench,
    tau_bench,
    who_and_when,
)
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import envelope_chunks
from tests.readers import (
    test_inspect_log,
    test_mini_swe_agent,
    test_normalized,
    test_openai_messages,
    test_swe_agent,
    test_tau2_bench,
    test_tau_bench,
    test_who_and_when,
)

ODD: list[Any] = [None, True, -1, 1e400, "", "\ud800", [], [None], {}, {"type": 7}, [[{}]]]
OLDER = {"session_id": "s", "stats": {"input_tokens": 1}, "openai_chat_completion": {"messages": [{"role": "user"}]}}

DOCUMENTS: list[tuple[ModuleType, Any]] = [
    (openai_messages, {"model": "m", "metadata": {"id": 1}, "usage": {}, "messages": test_openai_messages.LOOK}),
    (openai_messages, OLDER | {"openai_chat_completion": {"messages": test_openai_messages.LOOK}}),
    (normalized, test_normalized.ENVELOPE),
    (tau_bench, [test_tau_bench.RESULT]),
    (tau2_bench, test_tau2_bench.DOCUMENT),
    (mini_swe_agent, test_mini_swe_agent.DOCUMENT),
    (swe_agent, {"history": test_swe_agent.NATIVE, "info": {"model_stats": {}}, "replay_config": "{}"}),
    (swe_agent, {"trajectory": test_swe_agent.STEPS}),
    (inspect_log, test_inspect_log.HEADER | {"samples": [test_inspect_log.SAMPLE]}),
    (who_and_when, test_who_and_when.GENERATED),
    (who_and_when, test_who_and_when.HAND_CRAFTED),
]


def damaged(document: Any, odd: Any) -> Iterator[Any]:
    """The document once for each value in it, that value replaced."""
    yield odd
    if isinstance(document, dict):
        for key, value in document.items():
            for other in damaged(value, odd):
                yield document | {key: other}
    elif isinstance(document, list):
        for position, value in enumerate(document):
            for other in damaged(value, odd):
                yield [*document[:position], other, *document[position + 1 :]]


@pytest.mark.long
@pytest.mark.parametrize(("reader", "document"), DOCUMENTS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd))
def test_one_odd_value_is_read_or_refused(tmp_path: Path, reader: ModuleType, document: Any, odd: Any) -> None:
    path = tmp_path / "r.json"
    for changed in damaged(document, odd):
        path.write_text(json.dumps(changed), encoding="utf-8")
        recording = Recording(path, path.name)
        if not reader.claims(recording.sample()):
            continue
        try:
            trajectories = list(reader.read(recording))
        except UnreadableRecording:
            continue
        for trajectory in trajectories:
            "".join(envelope_chunks(trajectory)).encode("utf-8")
            assert trajectory.session_id or reader is normalized  # which gives back what it was given
