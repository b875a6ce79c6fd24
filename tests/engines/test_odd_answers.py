"""Answers that are no message, or whose tokens nobody can count, as a proxy or a server of one's own may send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.ledger import cost_report
from agent_wiki.errors import AnswerRejected, BudgetReached, ServiceFailed
from agent_wiki.spending import total_of
from agent_wiki.stages.summarize import SummarizeQuestion
from agent_wiki.trajectory import Message, Source, Trajectory
from tests.engines.answering import engine_at
from tests.wikis import arc, worked_session

SESSION = worked_session()
OTHER = Trajectory("other", Source("test"), [Message("user", "Mend the shop."), Message("assistant", "Done.")])


@contextmanager
def _server(content: bytes) -> Iterator[str]:
    """The address of a server that answers each request with these bytes and status 200."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_words: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _message(usage: object) -> bytes:
    text = [{"type": "text", "text": json.dumps({"arcs": [arc()]})}]
    message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": text}
    return json.dumps({**message, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}).encode()


@pytest.mark.parametrize("content", [b"<html>", b'{"id": "\xff"}', b"[1]", b'{"content": null}', b'{"content": [3]}'])
def test_an_answer_that_is_no_message_fails_that_question_alone(content: bytes, tmp_path: Path) -> None:
    with (
        _server(content) as url,
        engine_at(url, tmp_path) as engine,
        pytest.raises(ServiceFailed, match="no message"),
    ):
        engine.answer(SummarizeQuestion(SESSION))


def test_an_answer_without_content_is_counted_where_its_tokens_are(tmp_path: Path) -> None:
    message = json.loads(_message({"input_tokens": 70, "output_tokens": 5})) | {"content": None}
    with (
        _server(json.dumps(message).encode()) as url,
        engine_at(url, tmp_path) as engine,
        pytest.raises(AnswerRejected, match="does not fit"),
    ):
        engine.answer(SummarizeQuestion(SESSION))
    total = total_of(cost_report(tmp_path).runs.values())
    assert total.calls >= 1
    assert total.tokens["output_tokens"] == 5 * total.calls


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"input_tokens": -9, "output_tokens": 5}, {"input_tokens": "many", "output_tokens": 5},
     {"input_tokens": 7, "output_tokens": -5}, {"input_tokens": True, "output_tokens": 5}],
)  # fmt: skip
def test_an_answer_whose_tokens_nobody_can_count_has_no_price_and_costs_its_worst_case(
    usage: object, tmp_path: Path
) -> None:
    with _server(_message(usage)) as url, engine_at(url, tmp_path, max_usd=0.008) as engine:
        engine.answer(SummarizeQuestion(SESSION))
        with pytest.raises(BudgetReached, match=r"\$0\.00[4-7]\d spent"):
            engine.answer(SummarizeQuestion(OTHER))
        (record,) = [each for each in records(journal_folder(tmp_path), []) if each["kind"] == "answer"]
    assert "cost_usd" not in record
    assert all(count >= 0 for count in record["usage"].values())
