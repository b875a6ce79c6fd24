"""Nights over a bucket, as the shipped workflow runs them, with all that can happen to them."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.pipeline import bucket_state
from agent_wiki.readers.buckets import path_of
from agent_wiki_testing import MessagesServer
from agent_wiki_testing.answers import Asked
from tests.engines.answering import says
from tests.paid_runs import digests
from tests.planted import vendor_keys
from tests.rehearsal.stage import BRANCH, BUCKET, Stage, bucket_on_loopback, git, kill_all_below, wait_for
from tests.wikis import changed, ingest, tree

_CUT = b'{"messages": ['
_HELD, _FAILED, _NOTHING_DONE = 75, 1, 2


class Model:
    """What answers on loopback. `then` is called before the answer to the request with that number."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.then: Callable[[], None] = lambda: None
        self.killed = Counter[str]()
        self._says = says({})

    def __call__(self, asked: Asked) -> Any:
        if asked.number == self.at:
            self.then()
        return self._says(asked)


def first_night(stage: Stage) -> None:
    """All is new: a branch, a pull request. Without the variable nothing happens; without news nothing changes."""
    assert stage.job(WIKI_BUCKET="").steps == ()
    for name in ("a", "b", "c"):
        stage.put(name)
    stage.put("empty", b"")
    assert stage.night() == 0
    assert stage.calls() == ["create"]
    assert stage.lock()["is_free"]
    head = stage.head()
    assert stage.night() == 0
    assert (stage.calls(), stage.head()) == ([], head)


def killed_night(stage: Stage, server: MessagesServer, model: Model) -> None:
    """New, changed and poisoned objects; the machine is gone in the middle. The next night pays for nothing twice."""
    for name in ("d", "e", "f"):
        stage.put(name)
    stage.put("a", more=1)
    stage.put("poisoned", _CUT)
    head, runner = stage.head(), stage.runner()
    model.at = len(server.bodies()) + 3

    def then() -> None:
        assert runner.process is not None
        kill_all_below(runner.process.pid)

    model.then = then
    assert runner.run(stage.job()) == -signal.SIGKILL
    assert stage.head() == head
    assert stage.night() == _HELD
    assert (stage.calls(), stage.head()) == ([], head)
    stage.let_lock_run_out()
    assert stage.night() == _FAILED  # for the poisoned object
    assert (stage.calls(), stage.head() != head, stage.lock()["is_free"]) == (["edit"], True, True)
    assert "poisoned.json" in stage.pulls()[0]["body"]


def stopped_night(stage: Stage, server: MessagesServer, model: Model) -> None:
    """The job is cancelled: what is settled is pushed, and nobody is bothered. The next night goes on."""
    for name in ("g", "h", "i"):
        stage.put(name)
    stage.store.delete("traces/b.json")
    head, runner = stage.head(), stage.runner()
    model.at = len(server.bodies()) + 2

    def then() -> None:
        assert runner.process is not None
        runner.process.send_signal(signal.SIGINT)

    model.then = then
    assert runner.run(stage.job()) == 128 + signal.SIGINT
    assert (stage.calls(), stage.head() != head, stage.lock()["is_free"]) == ([], True, True)
    assert stage.night() == _FAILED
    assert stage.calls() == ["edit"]


def two_nights_at_once(stage: Stage) -> None:
    """Without the lock: the second one's push is refused, and it takes in what the first one did."""
    stage.put("j")
    late = stage.runner(MEANWHILE=str(stage.folder / "meanwhile"))
    job = stage.job()
    unlocked = replace(job, steps=tuple(replace(each, script=_without_lock(each.script)) for each in job.steps))
    codes: list[int] = []
    running = Thread(target=lambda: codes.append(late.run(unlocked)))
    running.start()
    wait_for(stage.folder / "meanwhile.asked")
    stage.put("k")
    assert stage.night() in (0, _FAILED)
    (stage.folder / "meanwhile.done").touch()
    running.join()
    assert codes[0] in (0, _FAILED)
    assert set(stage.calls()) == {"edit"}


def _without_lock(script: str) -> str:
    return script.partition(" -- ")[2] or script


def a_forge_that_is_down(stage: Stage) -> None:
    """What was read is pushed, the job is red, and the next night says in the pull request what it holds."""
    head = stage.head()
    stage.put("m")
    with stage.forge_down():
        assert stage.night() == _NOTHING_DONE
    assert (stage.calls(), stage.head() != head) == ([], True)
    assert stage.head() not in stage.pulls()[0]["body"]
    assert stage.night() in (0, _FAILED)
    assert stage.calls() == ["edit"]
    assert stage.head() in stage.pulls()[0]["body"]
    assert stage.night() in (0, _FAILED)
    assert stage.calls() == []


def after_the_merge(stage: Stage) -> None:
    """The branch starts from the base, and the next news are another pull request; a conflict is not left to people."""
    stage.merge()
    head = stage.head()
    stage.night()
    assert (stage.calls(), stage.head()) == ([], head)
    stage.put("l")
    stage.put("a", more=2)
    stage.night()
    assert stage.calls() == ["create"]
    stage.change_on_base("wiki/_sessions/a.json", '"m-1"', '"m-2"')
    stage.remove_on_base("wiki/summaries/a.md")
    stage.night()
    assert stage.calls() == ["edit"]
    assert git(stage.remote, "merge-base", "--is-ancestor", "main", BRANCH) == ""
    assert [pull["state"] for pull in stage.pulls()] == ["merged", "open"]


def after_a_squash_merge(stage: Stage) -> None:
    """What a person then changes on the base is neither undone nor mingled with what the branch had."""
    stage.merge(is_squash=True)
    stage.change_on_base("wiki/summaries/l.md", "Outcome: ", "Result: ")
    stage.put("news")
    stage.night()
    assert stage.calls() == ["create"]
    edited = git(stage.remote, "show", f"{BRANCH}:wiki/summaries/l.md")
    assert "Result: " in edited
    assert "Outcome: " not in edited
    assert edited == git(stage.remote, "show", "main:wiki/summaries/l.md")
    assert git(stage.remote, "diff", "--name-only", f"main...{BRANCH}", "--", ":!wiki") == ""


def a_key_on_the_base(stage: Stage) -> None:
    """A person's edit holds a key: the night ends with exit code 2, and nothing that holds it is pushed."""
    key = vendor_keys()["github"]
    stage.change_on_base("wiki/_config.yaml", "schema_version: 1", f"schema_version: 1 # {key}")
    head = stage.head()
    assert stage.night() == _NOTHING_DONE
    assert (stage.calls(), stage.head()) == ([], head)


def the_same_bytes(stage: Stage) -> None:
    """One run over all that ever was in the bucket gives the wiki of these nights."""
    stage.put("b")
    wiki, clone = stage.folder / "at once", stage.folder / "last"
    with MessagesServer(says({})) as server:
        ingest([path_of(f"s3://{BUCKET}/traces")], wiki, "anthropic", asking=AskingOptions(base_url=server.base_url))
    git(stage.folder, "clone", "--quiet", "--branch", BRANCH, str(stage.remote), str(clone))
    differing = changed(tree(wiki), tree(clone / "wiki"))
    kept = [bucket_state.NAME, "summaries/l.md"]  # which has no line of what is gone; which a person edited
    assert differing == kept, differing


def rehearse(folder: Path) -> None:
    """The whole of it."""
    model = Model()
    with bucket_on_loopback(folder), MessagesServer(model) as server:
        stage = Stage(folder, server.base_url)
        nights: dict[str, Callable[[], None]] = {
            "a first night, and one without news": lambda: first_night(stage),
            "a machine that dies, and the next night": lambda: killed_night(stage, server, model),
            "a job that is cancelled, and the next night": lambda: stopped_night(stage, server, model),
            "two nights at once": lambda: two_nights_at_once(stage),
            "a forge that is down": lambda: a_forge_that_is_down(stage),
            "nights after the merge": lambda: after_the_merge(stage),
            "a night after a squash merge": lambda: after_a_squash_merge(stage),
            "a night after a key was committed": lambda: a_key_on_the_base(stage),
        }
        for name, night in nights.items():
            began = time.monotonic()
            night()
            sys.stderr.write(f"rehearsal: {name}: as expected ({time.monotonic() - began:.1f} s)\n")
        twice = {digest: count for digest, count in digests(server).items() if count > 1}
        assert len(twice) <= 1, twice  # the request that the killed machine had under way
        the_same_bytes(stage)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in its background is deaf to it
    with tempfile.TemporaryDirectory() as _folder:
        rehearse(Path(_folder))
