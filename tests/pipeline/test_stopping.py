"""A run that is asked to end: what is settled is kept, the wiki is whole, and the next run ends in the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import Journal, journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import main
from agent_wiki.pipeline.publish import Publisher
from agent_wiki.pipeline.stopping import StopSignal, deaf_children
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.paid_runs import dated_recordings, digests
from tests.processes import exit_codes, started, started_wiki
from tests.wikis import Script, arc, changed, ingest, record, tree

_MOST_SECONDS = 20


def _run_and_be_stopped(number: int, *words: str) -> None:
    """`wiki WORD…`, to which the signal is sent when the second record is taken."""
    taken = 0
    take = Publisher.take

    def then(self: Publisher, *given: Any, **named: Any) -> bool:
        nonlocal taken
        taken += 1
        if taken == 2:
            os.kill(os.getpid(), number)
        return take(self, *given, **named)

    pytest.MonkeyPatch().setattr(Publisher, "take", then)
    sys.exit(main(list(words)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_after_a_signal_no_other_session_is_begun_and_the_next_run_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    engine, wiki = Script(tmp_path).engine, tmp_path / "wiki"
    for name in "abcd":
        record(tmp_path / "t", name)
    words = ["ingest", str(tmp_path / "t"), "--wiki", str(wiki), "--engine", engine, "--jobs", "1"]
    assert exit_codes(started(_run_and_be_stopped, number, *words)) == [128 + number]
    assert [path.name for path in sorted((wiki / "_sessions").iterdir())] == ["a.json", "b.json"]
    left = tree(wiki)
    assert ingest([], wiki, engine).written == []
    assert changed(tree(wiki), left) == []
    ingest([tmp_path / "t"], wiki, engine)
    ingest([tmp_path / "t"], tmp_path / "whole", engine)
    assert changed(tree(wiki), tree(tmp_path / "whole")) == []


def test_of_a_file_with_many_sessions_the_rest_is_read_by_the_next_run(tmp_path: Path) -> None:
    engine, wiki = Script(tmp_path).engine, tmp_path / "wiki"
    folder = tmp_path / "t"
    folder.mkdir()
    lines = [json.loads(record(folder, name).read_text(encoding="utf-8")) for name in "ab"]
    for path in folder.iterdir():
        path.unlink()
    (folder / "all.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    stop = StopSignal()
    stop.number, stop.reason = signal.SIGTERM, "stopped by SIGTERM"
    report = ingest([folder], wiki, engine, stop=stop)
    assert (report.exit_code, report.sessions, report.left_out) == (143, {}, [])
    assert "STOPPED: stopped by SIGTERM" in report.lines()
    assert ingest([folder], wiki, engine).sessions == {"mined": 2}


def test_after_its_time_a_run_ends_whole(tmp_path: Path) -> None:
    engine, wiki, output = Script(tmp_path).engine, tmp_path / "wiki", tmp_path / "output"
    path = record(tmp_path / "t", "a")
    words = ["ingest", path, "--wiki", wiki, "--engine", engine, "--max-minutes", "0", "--jobs", "1"]
    assert exit_codes(started_wiki(*words, output=output)) == [3]
    assert "STOPPED: --max-minutes 0 is reached; run again to continue" in output.read_text(encoding="utf-8")
    assert not (wiki / "_sessions").exists()
    assert ingest([path], wiki, engine).sessions == {"mined": 1}


@pytest.mark.long
@pytest.mark.parametrize(("number", "ended"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_workers_are_ended_with_what_they_are_at(tmp_path: Path, number: int, ended: int) -> None:
    """The workers wait for a script that nobody writes."""
    script, wiki = tmp_path / "script", tmp_path / "wiki"
    for name in "abc":
        record(tmp_path / "t", name)
    os.mkfifo(script)
    words = ["ingest", str(tmp_path / "t"), "--wiki", str(wiki), "--engine", f"scripted:{script}", "--jobs", "2"]
    run = started(_wiki_within, _MOST_SECONDS, *words)
    script.write_text(json.dumps({"summarize": {"": {"arcs": [arc()]}}}), encoding="utf-8")  # this process reads it
    _wait_for(lambda: len(_children(run.pid or 0)) > 1)
    workers = _children(run.pid or 0)
    os.kill(run.pid or 0, number)
    assert exit_codes(run) == [ended]
    _wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def _wiki_within(seconds: int, *words: str) -> None:
    signal.alarm(seconds)
    sys.exit(main(list(words)))


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


def _wait_for(happens: Any) -> None:
    began = time.monotonic()
    while not happens():
        assert time.monotonic() < began + _MOST_SECONDS
        time.sleep(0.01)


def _ask_and_be_stopped(paths: list[Path], wiki: Path, base_url: str) -> None:
    """The signal comes when the third answer is written down."""
    answers = 0
    append = Journal.append

    def then(self: Journal, record: Any) -> None:
        nonlocal answers
        append(self, record)
        answers += record["kind"] == "answer"
        if answers == 3:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)  # until the main thread has noticed

    pytest.MonkeyPatch().setattr(Journal, "append", then)
    asking = AskingOptions(base_url=base_url, concurrency=2)
    sys.exit(ingest(paths, wiki, "anthropic", asking=asking, stop=StopSignal(is_heard=True)).exit_code)


def test_a_model_is_asked_nothing_more_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    paths, wiki = dated_recordings(tmp_path / "t", 6), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        assert exit_codes(started(_ask_and_be_stopped, paths, wiki, server.base_url)) == [143]
        asked = digests(server)
        assert {each["request"] for each in records(journal_folder(wiki), []) if "usage" in each} == set(asked)
        assert 3 <= len(asked) < 6
        report = ingest(paths, wiki, "anthropic", asking=AskingOptions(base_url=server.base_url))
        assert (report.exit_code, report.stopped) == (0, "")
        assert set(Counter(digests(server)).values()) == {1}


def _be_signalled_twice() -> None:
    stop = StopSignal(is_heard=True)
    reasons: list[str] = []
    with stop.heard(reasons.append):
        os.kill(os.getpid(), signal.SIGINT)
        assert (reasons, stop.number) == (["stopped by SIGINT; run again to continue"], signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_second_signal_ends_the_process_at_once() -> None:
    assert exit_codes(started(_be_signalled_twice)) == [-signal.SIGTERM]


def test_a_process_that_just_begins_is_deaf_to_ctrl_c_and_prints_no_traceback() -> None:
    shown = "import signal; print(*map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ())))"
    with deaf_children():
        worker = subprocess.run([sys.executable, "-S", "-c", shown], capture_output=True, text=True, check=True)
    assert {signal.SIGINT, signal.SIGTERM} <= {*map(int, worker.stdout.split())}
    assert not {signal.SIGINT, signal.SIGTERM} & signal.pthread_sigmask(signal.SIG_BLOCK, ())
