"""`--engine codex`: `codex exec` with the login it has.

It gets a system prompt of ours; every feature that is or brings a tool is switched off, the sandbox is read-only, and
nothing of the user's is loaded but, where there is one, the text of `AGENTS.md` in Codex's own folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_wiki.engines.programs.program import Asked, Said, counts, failure, objects_on_lines
from agent_wiki.engines.programs.running import Finished, Launch, program_on_path, reduced, text_of_file
from agent_wiki.engines.programs.strict_schema import strict_schema

NAME = "codex"

_PROGRAM = "codex"
_LOGIN = ("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_")
_WORDS = (
    "exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check",
    "--sandbox", "read-only", "--color", "never",
)  # fmt: skip
_FEATURES_OFF = (
    "shell_tool", "unified_exec", "code_mode_host", "view_image", "image_generation", "browser_use", "computer_use",
    "in_app_browser", "apps", "plugins", "remote_plugin", "tool_suggest", "skill_search",
    "skill_mcp_dependency_install", "sleep_tool", "goals", "hooks", "memories", "multi_agent",
    "shell_snapshot", "workspace_dependencies", "unbounded_connection_retries",
)  # fmt: skip
_SETTINGS = (
    'web_search="disabled"',
    'approval_policy="never"',
    "project_doc_max_bytes=0",
    "agents.enabled=false",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "include_environment_context=false",
    "include_collaboration_mode_instructions=false",
    'history.persistence="none"',
    "check_for_update_on_startup=false",
)
_TOKENS = {
    "input_tokens": "input_tokens",
    "cached_input_tokens": "cache_read_input_tokens",
    "cache_write_input_tokens": "cache_creation_input_tokens",
    "output_tokens": "output_tokens",
}


class Codex:
    """The program `codex`."""

    name = NAME
    marks = ()

    def call(self, asked: Asked, folder: Path, environment: Mapping[str, str]) -> Launch:
        """One question in exec mode; the answer is its last message."""
        (folder / "schema.json").write_text(
            json.dumps(strict_schema(asked.schema), ensure_ascii=False), encoding="utf-8"
        )
        (folder / "system.md").write_text(asked.system, encoding="utf-8")
        words = [program_on_path(_PROGRAM, environment), *_WORDS]
        for each in (*_SETTINGS, *(f"features.{name}=false" for name in _FEATURES_OFF)):
            words += ["-c", each]
        words += ["-c", f"model_instructions_file={json.dumps(str(folder / 'system.md'))}"]
        words += ["--output-schema", str(folder / "schema.json"), "--output-last-message", str(folder / "answer")]
        words += ["--model", asked.model] if asked.model else []
        return Launch((*words, "-"), asked.text(), reduced(environment, *_LOGIN))

    def login_check(self, environment: Mapping[str, str]) -> Launch | None:
        """Without a login it would try to connect until its time is over. A key in the environment needs no check."""
        if environment.get("CODEX_API_KEY"):
            return None
        words = (program_on_path(_PROGRAM, environment), "login", "status")
        return Launch(words, "", reduced(environment, *_LOGIN))

    def said(self, finished: Finished, folder: Path) -> Said:
        """The file of its last message, and the tokens of its events."""
        events = objects_on_lines(finished.out)
        usage = next((each.get("usage") for each in reversed(events) if each.get("type") == "turn.completed"), None)
        answer = text_of_file(folder / "answer")
        if finished.code or not answer.strip():
            raise failure(_PROGRAM, _reason(events) or finished.last_line())
        return Said(answer, _usage(usage))


def _usage(reported: object) -> dict[str, int]:
    """Tokens as the service names them, which counts what came from the cache apart."""
    usage = counts(reported, _TOKENS)
    if "input_tokens" in usage:
        cached = usage.get("cache_read_input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
        usage["input_tokens"] = max(0, usage["input_tokens"] - cached)
    return usage


def _reason(events: list[dict[str, Any]]) -> str:
    """Why a turn failed, by the last event that says so."""
    for each in reversed(events):
        error = each.get("error")
        if each.get("type") == "turn.failed" and isinstance(error, dict):
            return str(error.get("message") or "")
        if each.get("type") == "error":
            return str(each.get("message") or "")
    return ""
