"""The network that the programs run in: nothing but the played model is there, and nothing in it outlives a test."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.clients.loopback import loopback

_VARIABLES = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
_ASKS = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)"
_ELSEWHERE = "192.0.2.1"  # an address for documents, which nobody has


def test_a_program_reaches_the_model_and_no_other_address(tmp_path: Path) -> None:
    with loopback(tmp_path / "model") as model:
        if not model.is_isolated:
            pytest.skip("namespaces are not permitted here: programs are led to loopback by their settings alone")
        asks = [sys.executable, "-c", _ASKS]
        assert model.run([*asks, "127.0.0.1", str(model.port)], tmp_path, _VARIABLES, seconds=30).code == 0
        refused = model.run([*asks, _ELSEWHERE, "443"], tmp_path, _VARIABLES, seconds=30)
        assert "Network is unreachable" in refused.stderr


def test_what_a_program_leaves_running_ends_with_the_server(tmp_path: Path) -> None:
    beats = tmp_path / "beats"
    leaves = f"while :; do echo >> {beats}; sleep 0.05; done > /dev/null 2>&1 &"
    with loopback(tmp_path / "model") as model:
        if not model.is_isolated:
            pytest.skip("namespaces are not permitted here: what a program detaches is not found again")
        model.run(["sh", "-c", leaves], tmp_path, _VARIABLES, seconds=30)
        while not beats.exists():
            time.sleep(0.05)
    lived = beats.read_bytes()
    time.sleep(0.3)
    assert beats.read_bytes() == lived


def test_a_program_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with loopback(tmp_path / "model") as model, pytest.raises(AssertionError, match="not done after 1 s"):
        model.run(["sleep", "60"], tmp_path, _VARIABLES, seconds=1)
