"""A project whose harness reports its turns to `wiki hook stop`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.harness import hooks
from agent_wiki.harness.hook_log import HookOutcome
from tests.harness.hook_inputs import claude_input
from tests.harness.hook_project import Stop


@pytest.fixture
def no_run_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes any run long, after which hooks pause."""
    monkeypatch.setattr(hooks, "_LONG_RUN_SECONDS", float("inf"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository in which a harness works."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def stop(project: Path) -> Stop:
    """The hook, run in this process on a transcript of the project."""

    def run_hook(transcript: Path, wiki: Path | None = Path("wiki"), **fields: Any) -> HookOutcome:
        return hooks.stop(json.dumps(claude_input(transcript, project, **fields)), wiki, project, {})

    return run_hook
