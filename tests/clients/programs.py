"""The agent programs: how each is found, told where the model is, started without a terminal, and where it records.

A program is looked for in the folder that `AGENT_WIKI_CLIENTS` names, then on the path.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clients.loopback import REPOSITORY

FOLDER_VARIABLE = "AGENT_WIKI_CLIENTS"
SECONDS = 120.0
"""What one session may take before it is killed; the longest measured on an idle machine is a tenth of it."""

_KEY = "any-key-for-loopback"


@dataclass(frozen=True)
class Program:
    """An agent program: `name` as `wiki connect` calls it, `memory` the file in which it reads a project's rules."""

    name: str
    binary: str
    memory: str
    recordings: str
    words: Callable[[str], Sequence[str]]
    variables: Callable[[str], Mapping[str, str]]
    settings: Callable[[str, Path], Mapping[str, str]]
    resume: Callable[[str], Sequence[str]]

    def prepare(self, home: Path, project: Path, url: str) -> None:
        """Write the program's own settings into a new home."""
        for name, text in self.settings(url, project).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")


def found(binary: str) -> Path | None:
    """Where a program is; None if it is not installed."""
    folder = os.environ.get(FOLDER_VARIABLE)
    path = shutil.which(binary, path=folder) if folder else shutil.which(binary)
    return Path(path) if path else None


def environment(home: Path, url: str, *programs: Program) -> dict[str, str]:
    """What a program's process knows: its home, the programs, the wiki of this checkout, and where the model is."""
    folders = [home / "bin", *(path.parent for program in programs if (path := found(program.binary)))]
    node = shutil.which("node")
    folders += [Path(node).parent] if node else []
    made = {
        "HOME": str(home),
        "PATH": os.pathsep.join([*map(str, folders), "/usr/local/bin:/usr/bin:/bin"]),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    for program in programs:
        made.update(program.variables(url))
    return made


def install_wiki(home: Path) -> None:
    """A command `wiki` that runs this checkout, first on the path of each program.

    Codex runs commands in a login shell, whose path is what the profile says.
    """
    shim = home / "bin" / "wiki"
    shim.parent.mkdir(parents=True)
    paths = os.pathsep.join([str(REPOSITORY / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    shim.write_text(f'#!/bin/sh\nPYTHONPATH="{paths}" exec "{sys.executable}" -m agent_wiki "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    (home / ".profile").write_text(f'PATH="{shim.parent}:$PATH"\n', encoding="utf-8")


def _claude_words(prompt: str) -> Sequence[str]:
    return ["claude", "-p", "--permission-mode", "bypassPermissions", "--model", "sonnet", prompt]


def _claude_variables(url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # without it a superuser may not leave all permissions to the program
    }


def _claude_settings(_url: str, project: Path) -> Mapping[str, str]:
    """A user who has seen the welcome, uses this key and trusts the project."""
    key = {"approved": [_KEY[-20:]], "rejected": []}
    known = {"projects": {str(project): {"hasTrustDialogAccepted": True}}, "customApiKeyResponses": key}
    return {".claude.json": json.dumps({"hasCompletedOnboarding": True, "theme": "dark", **known})}


CLAUDE_CODE = Program(
    name="claude-code",
    binary="claude",
    memory="CLAUDE.md",
    recordings=".claude/projects/*/*.jsonl",
    words=_claude_words,
    variables=_claude_variables,
    settings=_claude_settings,
    resume=lambda prompt: [*_claude_words(prompt)[:-1], "--continue", prompt],
)

_CODEX_UNGUARDED = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")


def _codex_settings(model: str) -> Callable[[str, Path], Mapping[str, str]]:
    def settings(url: str, project: Path) -> Mapping[str, str]:
        text = (
            f'model = "{model}"\nmodel_provider = "played"\ncheck_for_update_on_startup = false\n'
            f'[model_providers.played]\nname = "Played"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
            f'env_key = "PLAYED_KEY"\n[projects."{project}"]\ntrust_level = "trusted"\n'
        )
        return {".codex/config.toml": text}

    return settings


def _codex(model: str) -> Program:
    return Program(
        name="codex",
        binary="codex",
        memory="AGENTS.md",
        recordings=".codex/sessions/**/rollout-*.jsonl",
        words=lambda prompt: ["codex", "exec", *_CODEX_UNGUARDED, prompt],
        variables=lambda _url: {"PLAYED_KEY": _KEY, "CODEX_API_KEY": _KEY},
        settings=_codex_settings(model),
        resume=lambda prompt: ["codex", "exec", *_CODEX_UNGUARDED, "resume", "--last", prompt],
    )


CODEX = _codex("gpt-6.1-sol")
"""Codex in code mode, in which the models of today call their tools."""
CODEX_PLAIN = _codex("gpt-5-codex")
"""Codex with plain tools."""

_GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
}

GEMINI = Program(
    name="gemini",
    binary="gemini",
    memory="GEMINI.md",
    recordings=".gemini/tmp/*/chats/session-*.json*",
    words=lambda prompt: ["gemini", "--yolo", "-m", "gemini-2.5-pro", "-p", prompt],
    variables=lambda url: {"GEMINI_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": url},
    settings=lambda _url, project: {
        ".gemini/settings.json": json.dumps(_GEMINI_SETTINGS),
        ".gemini/trustedFolders.json": json.dumps({str(project): "TRUST_FOLDER"}),
    },
    resume=lambda prompt: ["gemini", "--yolo", "--resume", "latest", "-p", prompt],
)

_QWEN_SETTINGS = {"security": {"auth": {"selectedType": "openai"}}, "general": {"enableAutoUpdate": False}}

QWEN = Program(
    name="qwen",
    binary="qwen",
    memory="QWEN.md",
    recordings=".qwen/projects/*/chats/*.jsonl",
    words=lambda prompt: ["qwen", "--yolo", prompt],
    variables=lambda url: {"OPENAI_API_KEY": _KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"},
    settings=lambda _url, _project: {".qwen/settings.json": json.dumps(_QWEN_SETTINGS)},
    resume=lambda prompt: ["qwen", "--yolo", "--continue", prompt],
)


def _opencode_settings(url: str, _project: Path) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Played",
        "options": {"baseURL": f"{url}/v1", "apiKey": _KEY},
        "models": {"scripted": {"name": "Scripted"}},
    }
    config = {"provider": {"played": provider}, "model": "played/scripted", "autoupdate": False}
    return {".config/opencode/opencode.json": json.dumps(config)}


OPENCODE = Program(
    name="opencode",
    binary="opencode",
    memory="AGENTS.md",
    recordings=".local/share/opencode/opencode.db",
    words=lambda prompt: ["opencode", "run", "--auto", prompt],
    variables=lambda _url: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    settings=_opencode_settings,
    resume=lambda prompt: ["opencode", "run", "--auto", "--continue", prompt],
)

COPILOT = Program(
    name="copilot",
    binary="copilot",
    memory=".github/copilot-instructions.md",
    recordings=".copilot/session-state/*/events.jsonl",
    words=lambda prompt: ["copilot", "--allow-all", "-p", prompt],
    variables=lambda url: {
        "COPILOT_ALLOW_ALL": "true",  # trusts the folder, without which no hook runs
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": _KEY,
        "COPILOT_MODEL": "scripted",
    },
    settings=lambda _url, _project: {},
    resume=lambda prompt: ["copilot", "--allow-all", "--continue", "-p", prompt],
)
