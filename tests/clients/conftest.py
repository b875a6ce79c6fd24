"""Tests with the real agent programs, run on request only: `pytest -m clients tests/clients`.

A program that is not installed is skipped with the reason. Every test has a limit of time, and what a program leaves
running ends with its test.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.clients.loopback import Loopback, loopback
from tests.clients.programs import FOLDER_VARIABLE, Program, found
from tests.clients.scenarios import play_all
from tests.clients.work import Work, work
from tests.on_request import mark_on_request

_HERE = Path(__file__).parent
_MOST_SECONDS = 600
_ON_REQUEST = "real agent programs are run on request: pytest -m clients tests/clients"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_on_request(config, items, _HERE, "clients", _ON_REQUEST)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """The versions of the programs, which belong to every figure that is measured with them."""
    if "clients" not in str(config.option.markexpr):
        return []
    binaries = ("claude", "codex", "gemini", "qwen", "opencode", "copilot", "mcp-inspector")
    return [f"{binary}: {_version(path) if (path := found(binary)) else 'not installed'}" for binary in binaries]


def _version(path: Path) -> str:
    if path.name.startswith("mcp-inspector"):
        return "installed"  # it has no such option
    done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False)
    return (done.stdout.split("\n") or [""])[0]


@pytest.fixture(autouse=True)
def _has_a_limit() -> Iterator[None]:
    """No test takes longer, whatever it waits for."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"not done after {_MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Loopback]:
    """The played model, which knows the scenarios that several tests hold."""
    with loopback(tmp_path / "model") as running:
        play_all(running)
        yield running


@pytest.fixture
def at_work(request: pytest.FixtureRequest, model: Loopback, tmp_path: Path) -> Work:
    """A project and a home for the program that is the test's parameter."""
    program: Program = request.param
    need(program.binary)
    return work(program, model, tmp_path)


def need(binary: str) -> None:
    """Skip the test where the program is not installed."""
    if found(binary) is None:
        pytest.skip(f"{binary} is neither in ${FOLDER_VARIABLE} nor on the path; tests/clients/install.sh installs it")
