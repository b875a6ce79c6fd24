"""Processes of their own that start at once: each is forked from one that has ingested one session.

A fresh interpreter that asks the loopback server spends two seconds on imports. What a fork has of this process is its
environment and its working folder, nothing else.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from multiprocessing import forkserver, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

_LONGEST = 120  # seconds: no process that a test starts takes so long, on a busy machine either
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["pytest", "tests.imported"])


def started(work: Callable[..., object], *words: object) -> BaseProcess:
    """Run a function of a test module in a process of its own. `words` are its arguments and can be pickled.

    What it prints is lost. Its exit code is 0, that of `sys.exit`, or 1 when it raises.
    """
    process = _CONTEXT.Process(target=_work, args=(dict(os.environ), os.devnull, work, *words))
    process.start()
    return process


def started_wiki(*words: object, stdin: str = "", output: Path | None = None) -> BaseProcess:
    """Run `wiki WORD…`. What it prints, and a traceback, is in `output` when it has ended."""
    told = str(output or os.devnull)
    process = _CONTEXT.Process(target=_work, args=(dict(os.environ), told, _wiki, stdin, *map(str, words)))
    process.start()
    return process


def forked_workers(patched: pytest.MonkeyPatch) -> None:
    """Let workers of runs in this process be forked likewise, where a test is not about how they start.

    What they work with is pickled for them all the same. They do not have the environment of this process.
    """
    forkserver.ensure_running()  # a run would start it with its own signals blocked, for all tests after it
    contexts = dict.fromkeys(("spawn", "fork"), _CONTEXT)
    patched.setattr(multiprocessing, "get_context", contexts.__getitem__)


def exit_codes(*processes: BaseProcess) -> list[int | None]:
    """Wait for all of them. A process that was killed has the negative number of the signal; so has one that hangs."""
    for process in processes:
        process.join(_LONGEST)
        if process.exitcode is None:
            process.kill()
            process.join()
    return [process.exitcode for process in processes]


def die_before(at: int, *places: str) -> None:
    """Kill this process before the n-th call (from 0) of any of these functions, which are named with their module."""
    lived = count()

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **named: Any) -> Any:
            if next(lived) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*words, **named)

        return call

    for place in places:
        pytest.MonkeyPatch().setattr(place, counted(resolve_name(place)))


def _work(environment: dict[str, str], output: str, work: Callable[..., object], *words: object) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with Path(output).open("ab") as stream:
        for descriptor in (1, 2):
            os.dup2(stream.fileno(), descriptor)
    work(*words)


def _wiki(stdin: str, *words: str) -> None:
    from agent_wiki.commands import main

    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    sys.exit(main(list(words)))
