"""`--engine gemini`: Gemini CLI without a terminal, with the login it has.

It runs with a home of its own, in which there is nothing of the user's but links to the login: so no settings, hooks,
extensions, MCP servers, skills or memory are loaded, and no chat is kept. A policy denies every tool, so the model is
shown none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_wiki.engines.answer_text import InvalidAnswer, object_in
from agent_wiki.engines.programs.program import Asked, Said, counts, failure
from agent_wiki.engines.programs.running import Finished, Launch, program_on_path, reduced

NAME = "gemini"

_PROGRAM = "gemini"
_LOGIN = ("GEMINI_API_KEY", "GOOGLE_", "CODE_ASSIST_ENDPOINT", "CLOUD_SHELL")
_FILES = ("oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "installation_id", ".env")
_SELECTED = re.compile(r'"selectedType"\s*:\s*"([a-z-]{1,40})"')
_MOST_SETTINGS = 1_000_000
_DENY_ALL = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
_NO_FILE = "no-such-file-of-agent-wiki.md"
_WORDS = ("--output-format", "json", "--skip-trust", "--extensions", "none", "--approval-mode", "default")
_SETTINGS: dict[str, Any] = {
    "admin": {"extensions": {"enabled": False}, "mcp": {"enabled": False}, "skills": {"enabled": False}},
    "advanced": {"ignoreLocalEnv": True},
    "context": {"fileName": [_NO_FILE], "includeDirectoryTree": False},
    "experimental": {"enableAgents": False},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "maxAttempts": 3,
        "plan": {"enabled": False},
    },
    "hooksConfig": {"enabled": False},
    "ide": {"enabled": False},
    "mcp": {"allowed": []},
    "privacy": {"usageStatisticsEnabled": False},
    "skills": {"enabled": False},
    "tools": {"core": []},
}
_TOKENS = {"input": "input_tokens", "cached": "cache_read_input_tokens"}
_OUTPUT = {"candidates": "candidates", "thoughts": "thoughts"}


class Gemini:
    """The program `gemini`."""

    name = NAME
    marks = ()

    def call(self, asked: Asked, folder: Path, environment: Mapping[str, str]) -> Launch:
        """One question in headless mode; the schema stands behind the question, for it takes none."""
        home = folder / "home"
        _furnish(home / ".gemini", _own_folder(environment))
        (folder / "policy.toml").write_text(_DENY_ALL, encoding="utf-8")
        (folder / "system.md").write_text(asked.system, encoding="utf-8")
        words = [program_on_path(_PROGRAM, environment), *_WORDS, "--admin-policy", str(folder / "policy.toml")]
        words += ["--model", asked.model] if asked.model else []
        own = {"GEMINI_CLI_HOME": str(home), "GEMINI_SYSTEM_MD": str(folder / "system.md"), "NO_COLOR": "1"}
        schema = json.dumps(asked.schema, ensure_ascii=False)
        form = f"Answer with one JSON object and nothing else. Its JSON schema:\n\n```json\n{schema}\n```\n"
        return Launch(tuple(words), f"{asked.text()}\n{form}", reduced(environment, *_LOGIN) | own)

    def login_check(self, environment: Mapping[str, str]) -> None:
        """Without a login it says so at once."""

    def said(self, finished: Finished, folder: Path) -> Said:  # noqa: ARG002 - its output is all there is
        """The one object that it prints."""
        result = _result(finished.out) or _result(finished.err)
        error = result.get("error")
        answer = result.get("response")
        if finished.code or error or not isinstance(answer, str) or not answer.strip():
            said = str(error.get("message") or "") if isinstance(error, dict) else ""
            raise failure(_PROGRAM, said or finished.last_line())
        return Said(answer, *_usage(result.get("stats")))


def _own_folder(environment: Mapping[str, str]) -> Path:
    """Where the user's own files of this program are."""
    return Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME") or "~").expanduser() / ".gemini"


def _furnish(folder: Path, user: Path) -> None:
    """Make the folder of a home that is logged in as the user is, and holds nothing else of theirs."""
    folder.mkdir(parents=True)
    for name in _FILES:
        if (user / name).is_file():
            (folder / name).symlink_to(user / name)
    settings = dict(_SETTINGS)
    with suppress(OSError):
        with (user / "settings.json").open(encoding="utf-8", errors="replace") as stream:
            selected = _SELECTED.search(stream.read(_MOST_SETTINGS))
        if selected:
            settings["security"] = {"auth": {"selectedType": selected[1]}}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def _result(text: str) -> dict[str, Any]:
    try:
        return object_in(text)
    except InvalidAnswer:
        return {}


def _usage(stats: object) -> tuple[dict[str, int], None, str]:
    """Tokens of all models that were asked, the router among them; the model that wrote most is the one named."""
    models = stats.get("models") if isinstance(stats, dict) else None
    usage: dict[str, int] = {}
    longest = ("", -1)
    for name, each in models.items() if isinstance(models, dict) else ():
        tokens = each.get("tokens") if isinstance(each, dict) else None
        found = counts(tokens, _TOKENS)
        written = counts(tokens, _OUTPUT)
        if "candidates" in written:
            found["output_tokens"] = sum(written.values())
        for kind, count in found.items():
            usage[kind] = usage.get(kind, 0) + count
        longest = max(longest, (str(name), found.get("output_tokens", 0)), key=lambda pair: pair[1])
    return usage, None, longest[0]
