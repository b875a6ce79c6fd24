"""Fixtures every test may use."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from tests.on_request import leaves_out_long_tests, without_long_tests
from tests.processes import forked_workers

ROOT = Path(__file__).resolve().parent.parent
TRACES = Path(os.environ.get("AGENT_WIKI_TRACES", ROOT.parent / "shared" / "traces"))

# by themselves examples fail that take long, as all do on a busy machine
_WITHOUT_A_CLOCK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30)
settings.register_profile("each run tries others", _WITHOUT_A_CLOCK)
settings.register_profile("thorough", _WITHOUT_A_CLOCK, max_examples=1000)  # on request: --hypothesis-profile thorough
settings.load_profile("each run tries others")

_MEMORY = Path("/dev/shm")
_ROOM = 4_000_000_000  # bytes
_HOMES = pytest.StashKey[Iterator[Path]]()


def _is_in_memory() -> bool:
    """Whether temporary files have room in memory, and may be run there."""
    if not os.access(_MEMORY, os.W_OK) or os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(_MEMORY).free >= _ROOM


if _is_in_memory():  # on a disk, half of what the system does for the tests is done for their files
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# What a shell runs in its background is deaf to SIGINT, and so would be each process that a test starts and signals.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # what collecting the tests makes stays: looking for rubbish in it takes a fourth of the time


def pytest_sessionstart(session: pytest.Session) -> None:
    """Each worker collects all tests. It first imports a share of its own, so that no two compile the same modules."""
    worker: dict[str, Any] = getattr(session.config, "workerinput", {})
    if worker and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for path in sorted(ROOT.glob("tests/**/test_*.py"))[int(worker["workerid"][2:]) :: worker["workercount"]]:
            with suppress(Exception, pytest.skip.Exception):  # collecting it reports what is wrong
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long tests are a step of their own in `.ci/run`."""
    if leaves_out_long_tests(config):
        items[:] = without_long_tests(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What was left out is said."""
    if leaves_out_long_tests(config):
        terminalreporter.write_line("without the long tests, which have a run of their own: pytest -m long -n auto")


def pytest_collection_finish() -> None:
    """From here on rubbish is looked for again, but not among the tests, and not anew for every 700 objects."""
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker reports of a test that passed only that: to send and read five more messages takes longer than most
    tests do. Where durations are asked for, or a file of all results, it reports each phase."""
    wants_phases = any(item.config.getoption(each, None) for each in ("durations", "xmlpath"))
    if wants_phases or not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            report.keywords = {} if report.passed else report.keywords  # half of what there is to send
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """No test reads or writes the user's own home. To have two fixtures for it takes a fourth of what most tests do."""
    if _HOMES not in item.config.stash:
        item.config.stash[_HOMES] = _homes(item.config)
    homes = item.config.stash[_HOMES]
    home = next(homes)
    home.mkdir()
    os.environ["HOME"] = str(home)


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """After its last test a process looks for all rubbish: a file in it that was not closed fails that test."""
    if nextitem is None:
        gc.collect()


def _homes(config: pytest.Config) -> Iterator[Path]:
    """Homes that are not there yet."""
    folder = Path(tempfile.mkdtemp(prefix="homes-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of real recordings, which is not part of this repository. Tests skip without it."""
    if not TRACES.is_dir():
        pytest.skip(f"no real recordings: {TRACES.name} is not beside the repository (set AGENT_WIKI_TRACES)")
    return TRACES


@pytest.fixture(scope="session", autouse=True)
def _what_no_test_can_see_takes_no_time() -> Iterator[None]:
    """No power fails in a test, so nothing waits for the disk. Clients share the list of trusted authorities, and try
    again at once, not after half a second.

    Where the environment forbids to keep bytecode, each process that a test starts would compile the whole package.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patched.setattr(os, "fsync", lambda _descriptor: None)
        if transports := sys.modules.get("httpx2._transports.default"):
            patched.setattr(transports, "create_ssl_context", lru_cache(maxsize=4)(transports.create_ssl_context))
        if client := sys.modules.get("anthropic._base_client"):
            patched.setattr(client, "INITIAL_RETRY_DELAY", 0.001)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_request_leaves_this_machine() -> Iterator[None]:
    """No test spends money: the paid engine reaches loopback only, and a process that a test starts knows no other."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("agent_wiki.engines.anthropic_api.service.ALLOW_MODEL_REQUESTS", False)
        patched.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        patched.delenv("ANTHROPIC_API_KEY", raising=False)
        patched.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
        yield


@pytest.fixture
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes begin at once."""
    forked_workers(monkeypatch)


@pytest.fixture
def others_wiki(tmp_path: Path) -> Path:
    """A copy of a wiki that the original tool built, which is not part of this repository."""
    original = TRACES.parent / "wikis" / "wiki-twobatch"
    if not original.is_dir():
        pytest.skip(f"no wiki of the original tool: {original.name} is not beside the repository")
    copy = tmp_path / "others"
    for path in sorted(original.rglob("*")):
        if path.is_file():
            (copy / path.relative_to(original)).parent.mkdir(parents=True, exist_ok=True)
            (copy / path.relative_to(original)).write_bytes(path.read_bytes())
    return copy
