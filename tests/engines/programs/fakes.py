"""Small scripts that stand for programs, and what they say in a model's place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.options import AskingOptions
from agent_wiki.pipeline.report import Report
from tests.engines.answering import STAGE_ANSWERS, STAGE_OF
from tests.wikis import ingest

TOGETHER = {name: STAGE_ANSWERS[stage] for name, stage in STAGE_OF.items()}
"""An answer to all questions on a trajectory."""


def program(folder: Path, name: str, script: str) -> Path:
    """A program of that name in `folder/bin`: a script of the shell. `NAME.words` has the words of its last call."""
    file = folder / "bin" / name
    file.parent.mkdir(exist_ok=True)
    noted = f'echo call >> {folder}/{name}.calls; printf "%s\\n" "$*" > {folder}/{name}.words'
    file.write_text(f"#!/bin/sh\n{noted}\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def calls_of(folder: Path, name: str) -> int:
    """How often a program was run."""
    file = folder / f"{name}.calls"
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0


def saying(folder: Path, answer: Any = TOGETHER, name: str = "fake-model") -> str:
    """`command:` and a program that reads its prompt into `folder/prompt` and prints this answer."""
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    return f"command:{program(folder, name, f'cat > {folder}/prompt; cat {folder}/answer.json')} -m m-1"


def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put `folder/bin` first on the path."""
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")


def asked_of(paths: list[Path], wiki: Path, engine: str, **options: Any) -> Report:
    """A run with that engine."""
    return ingest(paths, wiki, engine, asking=AskingOptions(**options))
