"""`--engine claude-code`: Claude Code without a terminal, with the login it has.

It gets a system prompt of ours and no tools but the one by which it gives the answer. Nothing of the user's is loaded:
no settings, hooks, skills, plugins, MCP servers or memory. Paths in the prompt are not read
(`CLAUDE_CODE_DISABLE_ATTACHMENTS`): without that, `@/some/file` in a recording would be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_wiki.engines.programs.program import Asked, Said, counts, failure, objects_on_lines
from agent_wiki.engines.programs.running import Finished, Launch, program_on_path, reduced
from agent_wiki.errors import NoAnswer

NAME = "claude-code"

_PROGRAM = "claude"
_LOGIN = (
    "ANTHROPIC_", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_",
    "AWS_", "GOOGLE_", "GCLOUD_", "CLOUD_ML_REGION", "VERTEX_REGION_", "AZURE_",
)  # fmt: skip
_SETTINGS = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",  # as `--engine anthropic` asks; it would count against the answer's length
    "CLAUDE_CODE_MAX_RETRIES": "2",  # the engine tries again itself, and sees why
    "DISABLE_AUTOUPDATER": "1",
}
_WORDS = (
    "-p", "--output-format", "json", "--tools", "", "--no-session-persistence", "--strict-mcp-config", "--safe-mode",
    "--restricted", "--disable-slash-commands", "--permission-mode", "dontAsk", "--permission-prompts", "none",
)  # fmt: skip
_TOKENS = {
    "input_tokens": "input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
    "cache_read_input_tokens": "cache_read_input_tokens",
    "output_tokens": "output_tokens",
}
_LIFETIMES = {
    "ephemeral_5m_input_tokens": "ephemeral_5m_input_tokens",
    "ephemeral_1h_input_tokens": "ephemeral_1h_input_tokens",
}


class ClaudeCode:
    """The program `claude`."""

    name = NAME
    marks = ()

    def call(self, asked: Asked, folder: Path, environment: Mapping[str, str]) -> Launch:  # noqa: ARG002 - no files
        """One question in print mode; the answer is the input of its tool for structured output."""
        own = reduced(environment, *_LOGIN) | _SETTINGS
        if asked.most_tokens:
            own["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(asked.most_tokens)
        words = [program_on_path(_PROGRAM, environment), *_WORDS, "--system-prompt", asked.system]
        words += ["--json-schema", json.dumps(asked.schema, ensure_ascii=False)]
        words += ["--model", asked.model] if asked.model else []
        words += [] if asked.most_usd is None else ["--max-budget-usd", f"{asked.most_usd:.4f}"]
        return Launch(tuple(words), asked.text(), own)

    def login_check(self, environment: Mapping[str, str]) -> None:
        """Without a login it says so at once."""

    def said(self, finished: Finished, folder: Path) -> Said:  # noqa: ARG002 - its output is all there is
        """The one result that it prints."""
        result = _result(finished.out)
        if result is None:
            raise failure(_PROGRAM, finished.last_line())
        if result.get("is_error") or result.get("subtype") != "success":
            raise _failure(result, finished)
        structured = result.get("structured_output")
        answer = result.get("result") if structured is None else json.dumps(structured, ensure_ascii=False)
        usage = result.get("usage")
        lifetimes = usage.get("cache_creation") if isinstance(usage, Mapping) else None
        cost = result.get("total_cost_usd")
        stop = result.get("stop_reason")
        return Said(
            str(answer or ""),
            counts(usage, _TOKENS) | {name: count for name, count in counts(lifetimes, _LIFETIMES).items() if count},
            float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
            _model(result.get("modelUsage")),
            stop if stop in ("refusal", "max_tokens", "model_context_window_exceeded") else "end_turn",
        )


def _result(out: str) -> dict[str, Any] | None:
    """The last result of the output; None where there is none."""
    return next((each for each in reversed(objects_on_lines(out)) if each.get("type") == "result"), None)


def _model(used: object) -> str:
    """Of the models that were asked the one that wrote most."""
    if not isinstance(used, Mapping) or not used:
        return ""
    return str(max(used, key=lambda name: counts(used[name], {"outputTokens": "output"}).get("output", 0)))


def _failure(result: Mapping[str, Any], finished: Finished) -> Exception:
    kind = str(result.get("subtype") or "error")
    if kind == "error_max_budget_usd":
        return NoAnswer(f"{_PROGRAM}: the answer would have cost more than its worst case allows")
    if kind == "error_max_structured_output_retries":
        return NoAnswer(f"{_PROGRAM}: no attempt of the model fits the schema")
    errors = result.get("errors")
    listed = " ".join(map(str, errors)) if isinstance(errors, list) else ""
    status = result.get("api_error_status")
    said = str(result.get("result") or "") or listed or (finished.last_line() if finished.err else kind)
    return failure(_PROGRAM, f"{said} ({status})" if status else said)
