"""Who reads and mines the recordings: this process, threads that share an engine, processes, or tasks of a Ray cluster.

Results come as they are ready. Neither their order nor who made them changes what a run writes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_wiki.engine import Engine
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.collector import cycle_search_paused
from agent_wiki.pipeline.mine import Assignment, Known, Mined, mine, mine_in_worker, set_worker_context
from agent_wiki.pipeline.stopping import NEVER, StopSignal, deaf_children, end_workers
from agent_wiki.readers.buckets import BucketPath
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.two_processes import may_be_copied

if TYPE_CHECKING:
    from concurrent.futures import Future

_IN_FLIGHT_PER_WORKER = 4
_LOOK_SECONDS = 0.2  # how often a run that waits for results looks whether it was asked to stop


@dataclass(frozen=True, slots=True)
class RayOptions:
    """A Ray cluster: its address, and the options of each task by Ray's names for them.

    Without an address it is the cluster of the environment (`RAY_ADDRESS`), else one is started on this machine.
    """

    address: str = ""
    task: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workers:
    """How many processes of this machine work at most, or which cluster does, as long as no `stop` comes."""

    jobs: int = 1
    ray: RayOptions | None = None
    stop: StopSignal = NEVER


def results(assignments: Sequence[Assignment], known: Known, workers: Workers) -> Iterator[Mined]:
    """Mine all recordings. Once a result says that nothing more may be asked, or a stop comes, no other is begun.

    Raises `UsageError` for a cluster that cannot do this work, and `RunError` where a worker was killed for good.
    """
    if not assignments:
        return
    ordered = sorted(assignments, key=lambda each: -_size(each.path))  # the longest first
    engine = assignments[0].engine
    if workers.ray is not None:
        yield from _on_ray(ordered, known, workers.ray, workers)
    elif not isinstance(engine, str) and _threads(engine, ordered) > 1:
        yield from _in_threads(ordered, known, engine, workers.stop)
    elif isinstance(engine, str) and (processes := _processes(ordered, workers.jobs)) > 1:
        yield from _in_processes(ordered, known, processes, workers.stop)
    else:
        yield from _here(assignments, known, workers.stop)


def _here(assignments: Iterable[Assignment], known: Known, stop: StopSignal) -> Iterator[Mined]:
    for assignment in assignments:
        mined = mine(assignment, known, stop)
        yield mined
        if mined.stopped or stop.reason:
            return


def _threads(engine: Engine, assignments: Sequence[Assignment]) -> int:
    """As many as wait for a shared engine's answers, with some more that read meanwhile."""
    return min(engine.concurrency + engine.concurrency // 2, len(assignments))


def _in_threads(ordered: Sequence[Assignment], known: Known, engine: Engine, stop: StopSignal) -> Iterator[Mined]:
    from concurrent.futures import ThreadPoolExecutor

    most = _threads(engine, ordered)
    with cycle_search_paused():
        engine.prepare()
    with ThreadPoolExecutor(most) as threads:
        yield from _pooled(lambda each: threads.submit(mine, each, known, stop), _short_and_long(ordered), most, stop)


def _processes(assignments: Sequence[Assignment], jobs: int) -> int:
    return 1 if any(_is_in_memory(each.path) for each in assignments) else min(jobs, len(assignments))


def _in_processes(ordered: Sequence[Assignment], known: Known, workers: int, stop: StopSignal) -> Iterator[Mined]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A copy of this process need not import anything. It must not share a connection to a bucket.
    is_local = all(isinstance(each.path, Path) for each in ordered)
    context = get_context("fork" if is_local and may_be_copied() else "spawn")
    given = (known, os.getpid())
    with ProcessPoolExecutor(workers, context, initializer=set_worker_context, initargs=given) as pool:
        most = workers * _IN_FLIGHT_PER_WORKER

        def submit(assignment: Assignment) -> Future[Mined]:
            with deaf_children():
                return pool.submit(mine_in_worker, assignment)

        yield from _pooled(submit, ordered, most, stop, then=end_workers)


def _on_ray(ordered: Sequence[Assignment], known: Known, options: RayOptions, workers: Workers) -> Iterator[Mined]:
    if any(_is_in_memory(each.path) for each in ordered):
        raise UsageError("--executor ray: no worker can read what lies in the memory of this process")
    from agent_wiki.pipeline.on_ray import mined_on_ray

    yield from mined_on_ray(ordered, known, options, workers)


def _is_in_memory(path: RecordingPath) -> bool:
    return isinstance(path, BucketPath) and path.is_in_memory


def _short_and_long(ordered: Sequence[Assignment]) -> Iterator[Assignment]:
    """By turns the shortest and the longest that is left: questions are under way while a long file is read."""
    waiting = deque(ordered)
    while waiting:
        yield waiting.pop()
        if waiting:
            yield waiting.popleft()


def _pooled(
    submit: Callable[[Assignment], Future[Mined]],
    assignments: Iterable[Assignment],
    most: int,
    stop: StopSignal,
    then: Callable[[], None] | None = None,
) -> Iterator[Mined]:
    """Results as they are ready, at most `most` assignments under way.

    At a `stop` those under way are waited for; or `then` ends them, where nothing was paid for them.
    """
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    waiting = iter(assignments)
    running: set[Future[Mined]] = set()
    while True:
        if stop.reason:
            waiting = iter(())
            if then is not None:
                then()
                return
        running.update(submit(assignment) for assignment in islice(waiting, most - len(running)))
        if not running:
            return
        finished, running = wait(running, _LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            try:
                mined = future.result()
            except BrokenExecutor as error:
                if stop.reason:
                    return  # the signal came to a worker that had just begun
                message = "a worker was killed (out of memory?); run again, with --jobs 1 if it happens again"
                raise RunError(message) from error
            if mined.stopped:
                waiting = iter(())
            yield mined


def _size(path: RecordingPath) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone since it was listed: reading it will say so


def default_jobs() -> int:
    """One worker a processor, at most eight."""
    return max(1, min(8, os.cpu_count() or 1))
