"""Models served by Amazon Bedrock and Google Vertex AI, through the client's own classes, to a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import main
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.report import Report
from tests.engines.answering import STAGE_ANSWERS, STAGE_OF
from tests.paid_runs import dated_recordings
from tests.wikis import ingest

HAIKU = "eu.anthropic.claude-haiku-5-5-v1:0"
_USAGE = {"input_tokens": 1000, "output_tokens": 100}


class _Server(ThreadingHTTPServer):
    paths: list[str]
    logins: list[str]
    status = 200


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_words: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.paths.append(self.path)
        self.server.logins.append(self.headers.get("authorization") or "")
        assert "model" not in body
        answer = {name: STAGE_ANSWERS[stage] for name, stage in STAGE_OF.items()}
        text = [{"type": "text", "text": json.dumps(answer)}]
        message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": text}
        if self.server.status != 200:
            message = {"message": "not you"}
        content = json.dumps({**message, "stop_reason": "end_turn", "stop_sequence": None, "usage": _USAGE}).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def _cloud(status: int = 200) -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.paths, server.logins, server.status = [], [], status
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def _ask(server: _Server, folder: Path, provider: str, model: str, **options: Any) -> Report:
    url = f"http://127.0.0.1:{server.server_address[1]}"
    asking = AskingOptions(provider=provider, base_url=url, models=(model,), **options)
    return ingest(dated_recordings(folder / "t", 1), folder / "wiki", "anthropic", asking=asking)


@pytest.fixture(autouse=True)
def _no_cloud_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-token")


@pytest.fixture
def _is_in_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anthropic.AnthropicVertex._ensure_access_token", lambda _client: "a-token")


def test_bedrock_answers_without_a_price(tmp_path: Path) -> None:
    with _cloud() as server:
        report = _ask(server, tmp_path, "bedrock", HAIKU, region="eu-west-1")
    assert report.exit_code == 0, report.lines()
    assert set(server.paths) == {f"/model/{HAIKU}/invoke"}
    assert set(server.logins) == {"Bearer a-token"}
    total = report.asked["total"]
    assert (total["unpriced"], total["output_tokens"]) == (total["calls"], 100 * total["calls"])


@pytest.mark.usefixtures("_is_in_vertex")
def test_vertex_answers_at_the_price_that_its_owner_gives(tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    prices = {"input": 1, "output": 5, "cache_write_5m": 1, "cache_write_1h": 1, "cache_read": 0}
    (tmp_path / "wiki" / "models.yaml").write_text(json.dumps({"prices": {"claude-haiku-5-5": prices}}))
    with _cloud() as server:
        report = _ask(server, tmp_path, "vertex", "claude-haiku-5-5", region="europe-west1", project="shop")
    assert report.exit_code == 0, report.lines()
    assert set(server.paths) == {
        "/projects/shop/locations/europe-west1/publishers/anthropic/models/claude-haiku-5-5:rawPredict"
    }
    assert report.asked["total"]["cost_usd"] == pytest.approx(0.0015 * len(server.paths))


@pytest.mark.usefixtures("_is_in_vertex")
def test_prices_of_anthropic_are_not_taken_for_those_of_others(tmp_path: Path) -> None:
    with _cloud() as server, pytest.raises(UsageError, match="--max-usd needs a price for claude-haiku-5-5"):
        _ask(server, tmp_path, "vertex", "claude-haiku-5-5", region="r", project="p", max_usd=1.0)


def test_a_login_that_is_refused_ends_the_run(tmp_path: Path) -> None:
    with _cloud(403) as server, pytest.raises(RunError, match=r"Amazon Bedrock \(eu-west-1\) does not accept the key"):
        _ask(server, tmp_path, "bedrock", HAIKU, region="eu-west-1")


def test_a_login_that_is_not_there_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_login(_client: object) -> str:
        raise RuntimeError("Could not resolve API token from the environment")

    monkeypatch.setattr("anthropic.AnthropicVertex._ensure_access_token", no_login)
    with _cloud() as server, pytest.raises(RunError, match=r"Vertex AI \(r\): no login \(Could not resolve API token"):
        _ask(server, tmp_path, "vertex", "claude-haiku-5-5", region="r", project="p")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--provider", "azure"], "--provider azure: one of anthropic, bedrock, vertex"),
        (["--provider", "bedrock"], "claude-haiku-5-5 is no model id there, such as anthropic.claude-haiku-5-5"),
        (["--provider", "vertex", "--batch"], "Vertex AI takes no batches"),
        (["--region", "eu"], "--region is for --provider bedrock or vertex"),
        (["--provider", "bedrock", "--project", "p"], "--project is for --provider vertex"),
        (["--provider", "vertex"], "give --region, or set CLOUD_ML_REGION"),
        (["--provider", "bedrock", "--model", HAIKU], "give --region, or set AWS_REGION"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = dated_recordings(tmp_path / "t", 1)
    assert main(["ingest", str(path), "--wiki", str(tmp_path / "w"), "--engine", "anthropic", *words]) == 2
    assert reason in capsys.readouterr().err


def test_an_estimate_asks_no_cloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = dated_recordings(tmp_path / "t", 1)
    words = ["ingest", str(path), "--wiki", str(tmp_path / "w"), "--engine", "anthropic", "--provider", "bedrock"]
    assert main([*words, "--model", HAIKU, "--region", "eu-west-1", "--estimate"]) == 0
    assert f"no price for {HAIKU}" in capsys.readouterr().out
