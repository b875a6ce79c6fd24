"""Runs one program for one question: no terminal, an empty folder, a time limit, a bounded output, and no leftovers.

Prompt and output are files of a temporary folder, for a prompt may be longer than arguments may be. The program is the
leader of a process group of its own, which is killed as a whole.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_wiki.errors import Interrupted, RunError, ServiceFailed
from agent_wiki.recall.own_sessions import MINING_VARIABLE
from agent_wiki.trajectory.lazily import dataclass

_MOST_BYTES = 16 * 1024 * 1024
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 2.0
_ALWAYS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SYSTEMROOT",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
)  # fmt: skip
_ALWAYS_PREFIXES = ("LC_", "XDG_", "DBUS_SESSION_")  # the last two: where a login lies


@dataclass(frozen=True, slots=True)
class Launch:
    """What is run: its words, what it reads on standard input, and its environment."""

    words: tuple[str, ...]
    text: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    def last_line(self) -> str:
        """The last words it said, on one line: why it failed, if it did."""
        said = [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]
        return " ".join(said[-1].split())[:300] if said else f"exit code {self.code}, without a word"


class Stop:
    """Whether programs under way are to end. It takes no lock, for a signal handler sets it."""

    reason = ""


def reduced(environment: Mapping[str, str], *names: str) -> dict[str, str]:
    """Of an environment what every program needs, and what begins with one of `names`: its login and address."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _ALWAYS or name.startswith((*_ALWAYS_PREFIXES, *names))
    }
    return {**kept, MINING_VARIABLE: "1"}


def program_on_path(name: str, environment: Mapping[str, str]) -> str:
    """The file of a program, absolute, for it works in another folder. Raises `RunError` when it is not installed."""
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        raise RunError(f"{name}: no such program on PATH; install it, or name another --engine")
    return str(Path(found).absolute())


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder with an empty one in it, `empty`, for a program to work in."""
    with tempfile.TemporaryDirectory(prefix="agent-wiki-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "empty").mkdir()
        yield Path(folder)


def run(call: Launch, folder: Path, limit_seconds: float, stop: Stop) -> Finished:
    """Run a program in `folder/empty` to its end.

    Raises `ServiceFailed` when it takes longer or says more than it may, `Interrupted` when `stop` has a reason, and
    `RunError` when it cannot be started. In each case none of its processes is left.
    """
    (folder / "prompt").write_text(call.text, encoding="utf-8", errors="replace")
    program = Path(call.words[0]).name
    with (folder / "prompt").open("rb") as text, (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        try:
            process = subprocess.Popen(
                call.words,
                stdin=text,
                stdout=out,
                stderr=err,
                cwd=folder / "empty",
                env=dict(call.environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise RunError(f"{program} cannot be started ({error})") from error
        try:
            _wait(process, folder, program, limit_seconds, stop)
        finally:
            _end(process)
    return Finished(process.returncode, _text(folder / "out"), _text(folder / "err"))


def _wait(process: subprocess.Popen[bytes], folder: Path, program: str, limit_seconds: float, stop: Stop) -> None:
    until = time.monotonic() + limit_seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
            return
        if stop.reason:
            raise Interrupted(stop.reason)
        if time.monotonic() > until:
            last = Finished(0, _text(folder / "out"), _text(folder / "err")).last_line()
            raise ServiceFailed(
                f"{program}: no answer in {limit_seconds:g} seconds ({last}); --answer-seconds allows more"
            )
        if max((folder / name).stat().st_size for name in ("out", "err")) > _MOST_BYTES:
            raise ServiceFailed(f"{program}: it said more than {_MOST_BYTES:,} bytes")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started, also where it has ended itself and left others behind."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _text(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.read(_MOST_BYTES + 1).decode("utf-8", "replace")


def text_of_file(path: Path) -> str:
    """What a program wrote into a file; "" where it wrote none, or made it no file of its own."""
    return _text(path) if path.is_file() and not path.is_symlink() else ""
