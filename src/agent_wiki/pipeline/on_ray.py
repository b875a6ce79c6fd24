"""Recordings as tasks of a Ray cluster (the extra `ray`), a running one or one that is started here for the run.

A task reads and mines one recording; its result comes back to this process, which alone writes the wiki. Ray begins a
task again when its worker or its machine is lost. A task that fails for good is one failure of the report.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

from agent_wiki import __version__
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.mine import Assignment, Known, Mined, mine_elsewhere
from agent_wiki.pipeline.report import Failure
from agent_wiki.pipeline.stopping import STOP_SIGNALS

if TYPE_CHECKING:
    from agent_wiki.pipeline.workers import RayOptions, Workers

_IN_FLIGHT_PER_WORKER = 2
_HERE = "local"  # Ray's name for a cluster of this process
_DEFAULTS = {"num_cpus": 1}
_PATIENCE_SECONDS = 30
_LOOK_SECONDS = 0.2  # how often it is looked whether the run was asked to stop
_GROWTH_SECONDS = 600  # in which a cluster that grows by itself has a first machine
_NOT_THERE = os.strerror(errno.ENOENT)
_SHARED = "a local path needs a folder that all machines of the cluster share, an address of a bucket does not"


def mined_on_ray(ordered: Sequence[Assignment], known: Known, options: RayOptions, workers: Workers) -> Iterator[Mined]:
    """Results as they are ready, twice as many tasks under way as the cluster has places for.

    A cluster that is started here has as many processors as there are jobs. Raises `UsageError` where Ray is not
    installed or refuses an option, and `RunError` for a cluster that cannot be reached or cannot run this package.
    """
    with _cluster(options.address or os.environ.get("RAY_ADDRESS") or _HERE, workers.jobs) as ray:
        task = _task(ray, options)
        held = ray.put(dict(known))
        waiting = iter(ordered)
        running: dict[Any, Assignment] = {}
        last = time.monotonic()
        while not workers.stop.reason:  # tasks that are under way end with the connection
            places = _places(ray, options)
            for assignment in islice(waiting, max(0, _IN_FLIGHT_PER_WORKER * max(1, places) - len(running))):
                there = replace(assignment, path=assignment.path.absolute())
                running[task.remote(there, [held], __version__)] = assignment
            if not running:
                return
            ready, _ = ray.wait(list(running), timeout=_LOOK_SECONDS)
            for finished in ready:
                yield _result(ray, finished, running.pop(finished))
            if ready or places:
                last = time.monotonic()
            elif time.monotonic() - last > _GROWTH_SECONDS:
                raise RunError(f"no machine of the Ray cluster has room for a task; it has {ray.cluster_resources()}")


def require_ray() -> None:
    """Raise `UsageError` where Ray is not installed."""
    if find_spec("ray") is None:
        raise UsageError("--executor ray needs the extra `ray`: pip install 'agent-wiki[ray]'")


@contextmanager
def _cluster(address: str, jobs: int) -> Iterator[Any]:
    """Ray, connected to a cluster; one that this program is connected to already is used and left as it is."""
    require_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no word to anybody outside
    import ray

    if ray.is_initialized():
        yield ray
        return
    _reach(address)
    with _signals_kept():
        _connect(ray, address, jobs)
    try:
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str, jobs: int) -> None:
    here = {"num_cpus": jobs, "include_dashboard": False} if address == _HERE else {}
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", **here)
    except (OSError, RuntimeError, ValueError) as error:
        hint = "" if address == _HERE else "; one with tokens needs RAY_AUTH_MODE=token"
        raise RunError(f"no Ray cluster at {address}: {_first_line(error)}{hint}") from error


@contextmanager
def _signals_kept() -> Iterator[None]:
    """What a signal does stays as it was: Ray would end the process at the first SIGTERM."""
    handlers = {each: signal.getsignal(each) for each in STOP_SIGNALS}
    yield
    if threading.current_thread() is threading.main_thread():
        for each, handler in handlers.items():
            signal.signal(each, handler)


def _reach(address: str) -> None:
    """Raise `RunError` where nobody listens at HOST:PORT: Ray itself would try for many minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not port.isdecimal():
        return  # "auto" and "local" are found on this machine
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise RunError(f"no Ray cluster at {address}: {_first_line(error)}") from error


def _task(ray: Any, options: RayOptions) -> Any:
    try:
        return ray.remote(**{**_DEFAULTS, **options.task})(_mined_there)
    except (TypeError, ValueError) as error:
        raise UsageError(f"--ray-option: {_first_line(error)}") from error


def _places(ray: Any, options: RayOptions) -> int:
    """How many tasks the cluster, which may grow and shrink, has resources for at a time."""
    wanted = {**_DEFAULTS, **options.task}
    named = {"CPU": wanted["num_cpus"], "GPU": wanted.get("num_gpus"), "memory": wanted.get("memory")}
    needs = {name: need for name, need in {**named, **(wanted.get("resources") or {})}.items() if need}
    there = ray.cluster_resources()
    return int(min((there.get(name, 0) / need for name, need in needs.items()), default=there.get("CPU", 1)))


def _result(ray: Any, finished: Any, assignment: Assignment) -> Mined:
    """What a task returned; of one that failed for good a failure, so that the next run tries it again."""
    try:
        mined: Mined = ray.get(finished)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, RunError):
            raise RunError(str(error.cause)) from error
        raise RunError(f"a worker of the cluster cannot run agent-wiki: {_first_line(error.cause)}") from error
    except ray.exceptions.RuntimeEnvSetupError as error:
        raise RunError(f"--ray-option runtime_env: {_first_line(error)}") from error
    except ray.exceptions.RayError as error:
        reason = f"its worker was lost each time Ray tried it ({type(error).__name__}: {_first_line(error)})"
        return Mined(assignment.name, failure=Failure("recording", assignment.name, reason))
    if mined.failure and mined.failure.reason == _NOT_THERE and assignment.path.is_file():
        mined.failure = replace(mined.failure, reason=f"{_NOT_THERE} on a worker: {_SHARED}")
    return mined


def _first_line(error: object) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _mined_there(assignment: Assignment, held: list[Any], version: str) -> Mined:
    """Mine in a worker of the cluster. `held` refers to what the wiki holds, which a worker fetches once."""
    if version != __version__:
        raise RunError(f"agent-wiki is {version} here and {__version__} on a worker of the cluster")
    return mine_elsewhere(assignment, _fetched(held[0]))


@lru_cache(maxsize=1)
def _fetched(held: Any) -> Known:
    import ray

    known: Known = ray.get(held)
    return known
