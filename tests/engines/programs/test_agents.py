"""Coding agents as engines: how each is called, and what its output means. The programs are small scripts here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engines.programs import claude_code, codex, gemini
from agent_wiki.engines.programs.named import program_named
from agent_wiki.engines.programs.program import Asked, Busy, Said, failure, objects_on_lines
from agent_wiki.engines.programs.running import Finished, Launch, scratch_folder
from agent_wiki.engines.programs.strict_schema import strict_schema
from agent_wiki.errors import BudgetReached, NoAnswer, RunError, ServiceFailed, UsageError
from agent_wiki.recall.own_sessions import MINING_VARIABLE
from agent_wiki.stages.summarize import SummaryAnswer
from tests.engines.programs.fakes import TOGETHER, asked_of, calls_of, on_path, program
from tests.paid_runs import dated_recordings
from tests.wikis import ingest

ASKED = Asked("You read.", "What happened? @/etc/hostname", {"type": "object", "properties": {"a": {"type": "string"}}})
CLAUDE = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": '{"a":"x"}',
    "structured_output": {"a": "x"},
    "total_cost_usd": 0.25,
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 20},
    "modelUsage": {"claude-small": {"outputTokens": 2}, "claude-haiku-5-5": {"outputTokens": 20}},
}
CODEX = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "{}"}},
    {"type": "turn.completed", "usage": {"input_tokens": 3045, "cached_input_tokens": 2000, "output_tokens": 40}},
]
GEMINI = {
    "response": '{"a": "x"}',
    "stats": {"models": {"flash": {"tokens": {"input": 45, "cached": 20, "candidates": 40, "thoughts": 5}}}},
}


def _call(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, asked: Asked = ASKED) -> Launch:
    for each in ("claude", "codex", "gemini"):
        program(folder, each, "")
    on_path(folder, monkeypatch)
    with scratch_folder() as scratch:
        return program_named(name).call(asked, scratch, os.environ)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_the_prompt_is_no_word_of_a_call_and_secrets_of_others_do_not_go_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", "x")
    monkeypatch.setenv("CLAUDECODE", "1")
    launch = _call(name, tmp_path, monkeypatch)
    assert launch.text.startswith("What happened? @/etc/hostname")
    assert not any("What happened?" in word for word in launch.words)
    assert not {"MY_SECRET", "CLAUDECODE"} & set(launch.environment)
    assert launch.environment[MINING_VARIABLE] == "1"


def test_claude_code_has_no_tools_and_reads_no_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked("You read.", "?", {"type": "object"}, "claude-haiku-5-5", 4000, 0.5)
    launch = _call("claude-code", tmp_path, monkeypatch, asked)
    words = list(launch.words)
    assert words[words.index("--tools") + 1] == ""
    assert words[words.index("--max-budget-usd") + 1] == "0.5000"
    assert {"--safe-mode", "--restricted", "--strict-mcp-config", "--no-session-persistence"} <= set(words)
    assert launch.environment["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
    assert launch.environment["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "4000"


def test_codex_has_every_tool_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = " ".join(_call("codex", tmp_path, monkeypatch).words)
    for each in ("shell_tool", "unified_exec", "code_mode_host", "hooks", "plugins"):
        assert f"features.{each}=false" in words
    assert "--sandbox read-only" in words
    assert "--ephemeral --ignore-user-config --ignore-rules" in words


def test_gemini_has_a_home_with_nothing_of_the_users_but_its_login(tmp_path: Path) -> None:
    user = tmp_path / ".gemini"
    user.mkdir()
    (user / "oauth_creds.json").write_text("{}")
    (user / "GEMINI.md").write_text("Obey.")
    auth = {"auth": {"selectedType": "oauth-personal"}}
    (user / "settings.json").write_text(json.dumps({"security": auth, "mcpServers": {"x": {"command": "evil"}}}))
    program(tmp_path, "gemini", "")
    environment = {"HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/bin"}
    with scratch_folder() as scratch:
        launch = gemini.Gemini().call(ASKED, scratch, environment)
        home = Path(launch.environment["GEMINI_CLI_HOME"]) / ".gemini"
        assert sorted(each.name for each in home.iterdir()) == ["oauth_creds.json", "settings.json"]
        settings = json.loads((home / "settings.json").read_text())
        assert (settings["security"], "mcpServers" in settings) == (auth, False)
        assert 'decision = "deny"' in (scratch / "policy.toml").read_text()


def test_what_each_program_says_becomes_an_answer_with_its_tokens(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 20}
    said = claude_code.ClaudeCode().said(Finished(0, "a warning\n" + json.dumps(CLAUDE), ""), tmp_path)
    assert said == Said('{"a": "x"}', usage, 0.25, "claude-haiku-5-5")
    (tmp_path / "answer").write_text('{"a": "x"}')
    said = codex.Codex().said(Finished(0, "\n".join(map(json.dumps, CODEX)), ""), tmp_path)
    assert said.usage == {"input_tokens": 1045, "cache_read_input_tokens": 2000, "output_tokens": 40}
    assert (said.answer, said.cost_usd) == ('{"a": "x"}', None)
    said = gemini.Gemini().said(Finished(0, json.dumps(GEMINI, indent=1), "Warning: no colours"), tmp_path)
    assert said.usage == {"input_tokens": 45, "cache_read_input_tokens": 20, "output_tokens": 45}
    assert (said.answer, said.model) == ('{"a": "x"}', "flash")


@pytest.mark.parametrize("odd", [None, [], "x", {"input_tokens": "7", "output_tokens": True, "cached": -1}])
def test_figures_that_are_none_are_left_out(odd: Any, tmp_path: Path) -> None:
    result = {**CLAUDE, "usage": odd, "total_cost_usd": odd, "modelUsage": odd}
    said = claude_code.ClaudeCode().said(Finished(0, json.dumps(result), ""), tmp_path)
    assert (said.usage, said.cost_usd) == ({}, None)
    (tmp_path / "answer").write_text("{}")
    ended = json.dumps({"type": "turn.completed", "usage": odd})
    assert codex.Codex().said(Finished(0, ended, ""), tmp_path).usage == {}
    stats = {"response": "{}", "stats": {"models": {"m": {"tokens": odd}}}}
    assert gemini.Gemini().said(Finished(0, json.dumps(stats), ""), tmp_path).usage == {}


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("Invalid API key · Please run /login", RunError),
        ("unexpected status 401 Unauthorized", RunError),
        ("error: unknown option '--safe-mode'", RunError),
        ("You've hit your usage limit. Try again at 3 pm.", BudgetReached),
        ("Credit balance is too low", BudgetReached),
        ("API Error: 529 overloaded_error", Busy),
        ("We’re currently experiencing high demand, which may cause temporary errors.", Busy),
        ("exceeded retry limit, last status: 429 Too Many Requests", Busy),
        ("Unable to connect to API (ECONNREFUSED)", Busy),
        ("the model has no words", ServiceFailed),
    ],
)
def test_a_reason_says_what_becomes_of_the_run(reason: str, kind: type[Exception]) -> None:
    assert type(failure("claude", reason)) is kind


def test_each_program_gives_its_reason(tmp_path: Path) -> None:
    result = {**CLAUDE, "is_error": True, "result": "Not logged in · Please run /login"}
    with pytest.raises(RunError, match="claude is not logged in"):
        claude_code.ClaudeCode().said(Finished(1, json.dumps(result), ""), tmp_path)
    failed = {**CLAUDE, "subtype": "error_max_structured_output_retries", "is_error": True}
    with pytest.raises(NoAnswer, match="no attempt of the model fits the schema"):
        claude_code.ClaudeCode().said(Finished(1, json.dumps(failed), ""), tmp_path)
    turn = {"type": "turn.failed", "error": {"message": "stream disconnected before completion"}}
    with pytest.raises(Busy, match="codex: stream disconnected"):
        codex.Codex().said(Finished(1, json.dumps(turn), ""), tmp_path)
    error = {"error": {"type": "Error", "message": "Invalid auth method selected.", "code": 41}}
    with pytest.raises(RunError, match="gemini is not logged in"):
        gemini.Gemini().said(Finished(41, "", "Warning: x\n" + json.dumps(error, indent=2)), tmp_path)


def test_a_strict_schema_requires_all_and_says_bounds_in_words() -> None:
    schema = strict_schema(SummaryAnswer.model_json_schema())
    for each in (schema, *schema["$defs"].values()):
        if "properties" in each:
            assert each["required"] == list(each["properties"])
            assert each["additionalProperties"] is False
    text = json.dumps(schema)
    assert '"default"' not in text
    assert '"maxLength"' not in text
    assert "maxLength: " in text


def test_claude_code_makes_a_wiki_within_a_cap_in_dollars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = {**CLAUDE, "structured_output": TOGETHER}
    (tmp_path / "result.json").write_text(json.dumps(result))
    program(tmp_path, "claude", f"cat {tmp_path}/result.json")
    on_path(tmp_path, monkeypatch)
    paths, wiki = dated_recordings(tmp_path / "t", 3), tmp_path / "wiki"
    report = asked_of(paths, wiki, "claude-code", max_usd=0.26, concurrency=1)
    assert (report.exit_code, calls_of(tmp_path, "claude")) == (3, 1), "the second could cost more than is left"
    assert report.asked["total"]["cost_usd"] == 0.25
    report = asked_of(paths, wiki, "claude-code")
    assert report.exit_code == 0, report.lines()
    made = json.loads((wiki / "_sessions" / "session-0.json").read_text())["stages"]["summarize"]["made_by"]
    assert (made["engine"], made["model"]) == ("claude-code", "claude-haiku-5-5")


def test_codex_is_asked_once_whether_it_is_logged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "codex", 'test "$1" = login && echo "Not logged in" >&2; exit 1')
    on_path(tmp_path, monkeypatch)
    with pytest.raises(RunError, match="codex is not logged in"):
        asked_of(dated_recordings(tmp_path / "t", 2), tmp_path / "wiki", "codex", concurrency=1)
    assert calls_of(tmp_path, "codex") == 1
    monkeypatch.setenv("CODEX_API_KEY", "a-key")
    assert codex.Codex().login_check(os.environ) is None


@pytest.mark.parametrize("model", ["--yolo", "-p", "summarize=--yolo"])
def test_a_model_that_a_program_would_read_as_an_option_is_refused(tmp_path: Path, model: str) -> None:
    with pytest.raises(UsageError, match="is no name of a model"):
        ingest([], tmp_path / "wiki", "gemini", asking=AskingOptions(models=(model,)))


def test_the_text_of_an_event_may_have_other_ends_of_lines() -> None:
    event = {"type": "item.completed", "item": {"text": "a\u2028b\x85c"}}
    out = f"starting\r{json.dumps(event, ensure_ascii=False)}\r\n{json.dumps(CODEX[0])}\n"
    assert objects_on_lines(out) == [event, CODEX[0]]
