"""A network of its own with nothing but loopback, the played model in it, and programs that are run there.

On Linux the server is the first process of its own network, process and mount namespaces: no program reaches anything
but this server, and whatever a program leaves running dies with it. Elsewhere programs are pointed at the server by
their settings, and every other address at a proxy that nobody listens on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.played.playing import SCENARIOS
from tests.clients.played.server import REQUESTS, SENT
from tests.clients.played.turns import Turn

REPOSITORY = Path(__file__).parents[2]

_NAMESPACES = ("--net", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child")
_STARTS_WITHIN_SECONDS = 10.0
_IN_FOLDER = 'cd "$1" && shift && exec "$@"'  # a process that enters a mount namespace loses its folder
_NO_PROXY_THERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Finished:
    """A program that has ended by itself. `took_seconds` is what a person would have waited."""

    code: int
    stdout: str
    stderr: str
    took_seconds: float


@dataclass(frozen=True)
class Loopback:
    """The server that plays the model, and the way into its network."""

    folder: Path
    port: int
    entry: Sequence[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_isolated(self) -> bool:
        return bool(self.entry)

    def plays(self, name: str, *turns: Turn) -> None:
        """From now on the model says these turns where a user's message names `[[name]]`."""
        target = self.folder / SCENARIOS / f"{name}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps([turn.to_json() for turn in turns]), encoding="utf-8")

    def requests(self) -> list[str]:
        """What programs asked so far, as JSON texts."""
        return [path.read_text(encoding="utf-8") for path in sorted((self.folder / REQUESTS).iterdir())]

    def sent(self, scenario: str | None = None) -> list[dict[str, Any]]:
        """What the model said so far, without asides; of one scenario, or all."""
        path = self.folder / SENT
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        return [line for line in lines if not line["is_aside"] and scenario in (None, line["scenario"])]

    def run(
        self, words: Sequence[str], cwd: Path, environment: Mapping[str, str], *, seconds: float, stdin: str = ""
    ) -> Finished:
        """Run a program to its end. It and its children are killed after `seconds`: then `AssertionError`."""
        started = time.monotonic()
        process = subprocess.Popen(
            [*self.entry, *([str(cwd)] if self.is_isolated else []), *words],
            cwd=cwd,
            env={**environment, **({} if self.is_isolated else _elsewhere())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            stdout, stderr = process.communicate()
            raise AssertionError(f"{words[0]}: not done after {seconds:.0f} s\n{stdout}\n{stderr}") from None
        return Finished(process.returncode, stdout, stderr, time.monotonic() - started)


@contextmanager
def loopback(folder: Path) -> Iterator[Loopback]:
    """The server in its own network, ended with everything that was started there."""
    folder.mkdir(parents=True)
    isolation = _isolation()
    module = [sys.executable, "-m", "tests.clients.played.server", str(folder)]
    words = [*isolation, *module, *(["--raise-loopback"] if isolation else [])]
    process = subprocess.Popen(
        words, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield Loopback(folder, port, _entry(isolation, process.pid) if isolation else ())
    finally:
        _kill(process)
        process.communicate()


def _isolation() -> list[str]:
    """The command that starts a process in namespaces of its own; empty where the machine does not permit it."""
    for words in (["unshare", *_NAMESPACES], ["unshare", "--map-root-user", *_NAMESPACES]):
        with suppress(OSError):
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
    return []


def _entry(isolation: Sequence[str], unshare: int) -> list[str]:
    """The command that runs another one beside the server, which is the child of `unshare`."""
    (child,) = Path(f"/proc/{unshare}/task/{unshare}/children").read_text(encoding="utf-8").split()
    user = ["--user", "--preserve-credentials"] if "--map-root-user" in isolation else []
    return ["nsenter", f"--target={child}", *user, "--net", "--pid", "--mount", "sh", "-c", _IN_FOLDER, "sh"]


def _elsewhere() -> dict[str, str]:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    proxies = dict.fromkeys((*names, *map(str.lower, names)), _NO_PROXY_THERE)
    return {**proxies, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
