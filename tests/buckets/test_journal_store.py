"""The journal in a bucket: a machine that dies loses nothing that was paid for."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import Journal, journal_folder, records
from agent_wiki.asking.journal_store import JournalStore
from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import no_progress
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.report import Report
from agent_wiki.readers import buckets
from agent_wiki.readers.stored_objects import created, keys_below
from agent_wiki_testing import MessagesServer
from tests.buckets.stores import Bucket
from tests.engines.answering import says
from tests.paid_runs import dated_recordings, digests
from tests.processes import die_before, exit_codes, started
from tests.wikis import changed, ingest, tree


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, store: str, **asking: Any) -> Report:
    options = AskingOptions(base_url=server.base_url, journal_store=store, **asking)
    return ingest(paths, wiki, "anthropic", asking=options)


def _ask_and_die(at: int, paths: list[Path], wiki: Path, base_url: str, store: str) -> None:
    die_before(at, "agent_wiki.engines.anthropic_api.service.Service.ask")
    asking = AskingOptions(base_url=base_url, journal_store=store, concurrency=1)
    ingest(paths, wiki, "anthropic", asking=asking)


def test_what_a_machine_that_died_had_asked_no_other_asks_again(tmp_path: Path) -> None:
    paths, store = dated_recordings(tmp_path / "t", 3), f"file://{tmp_path}/store"
    with MessagesServer(says({})) as server:
        ended = exit_codes(started(_ask_and_die, 2, paths, tmp_path / "died", server.base_url, store))
        assert (ended, len(digests(server))) == ([-signal.SIGKILL], 2)
        report = _ask(paths, tmp_path / "clone", server, store)
        assert report.exit_code == 0
        assert (report.asked["total"]["replayed"], set(digests(server).values())) == (2, {1})
        assert _ask(paths, tmp_path / "later", server, store).asked["total"]["calls"] == 0
    assert changed(tree(tmp_path / "clone"), tree(tmp_path / "later")) == []


def test_batches_under_way_are_collected_on_another_machine(tmp_path: Path) -> None:
    paths, store = dated_recordings(tmp_path / "t", 3), Bucket().url + "/journal"
    with MessagesServer(says({})) as server:
        assert _ask(paths, tmp_path / "first", server, store, is_batched=True).batches
        report = _ask(paths, tmp_path / "second", server, store, is_batched=True)
        assert (report.exit_code, report.sessions) == (0, {"mined": 3})
        assert len(server.bodies("batch-create")) == 1


def test_what_was_spent_on_the_same_day_counts(tmp_path: Path) -> None:
    paths, store = dated_recordings(tmp_path / "t", 2), Bucket().url + "/journal"
    with MessagesServer(says({})) as server:
        spent = _ask(paths[:1], tmp_path / "first", server, store).asked["total"]["cost_usd"]
        report = _ask(paths, tmp_path / "second", server, store, max_usd=spent)
        assert (report.exit_code, report.sessions) == (3, {"mined": 1, "waiting": 1})
        assert len(server.bodies()) == 1


def _records(wiki: Path) -> list[dict[str, Any]]:
    return list(records(journal_folder(wiki), []))


def test_other_records_are_gathered_when_a_run_ends_and_copied_once(tmp_path: Path) -> None:
    store = Bucket().url + "/journal"
    others = [{"kind": "left", "contents": [f"c{at} d"], "about": ["s"]} for at in range(3)]
    answers: list[dict[str, Any]] = [{"kind": "answer", "request": f"sha256:{at:064}"} for at in range(3)]
    first = Journal(tmp_path / "first", JournalStore(store))
    for other, answer in zip(others, answers, strict=True):
        first.append(other)
        first.append(answer)
        first.append({**answer, "request": f"sha256:{9:064}", "of": answer["request"]})
    path = buckets.path_of(store)
    assert isinstance(path, buckets.BucketPath)
    runs = [key for key in keys_below(path) if "/runs/" in key]
    assert (len(runs), len(list(keys_below(path)))) == (3, 6)
    killed = Journal(tmp_path / "killed", JournalStore(store))
    assert all(killed.is_left(f"c{at}", "d") for at in range(3))
    first.close()
    (whole,) = (key for key in keys_below(path) if "/runs/" in key)
    assert whole.endswith(f"/runs/{first.run}.jsonl")
    later = Journal(tmp_path / "later", JournalStore(store))
    assert all(later.is_left(f"c{at}", "d") for at in range(3))
    assert (later.answer(answers[0]["request"]), later.answer(f"sha256:{9:064}")) == (answers[0], None)
    assert later.answer(answers[0]["request"]) == answers[0]
    later.refresh()
    assert later.answer(answers[0]["request"]) == answers[0]
    later.close()
    kinds = Counter(each["kind"] for each in records(tmp_path / "later", []))
    assert kinds == {"left": 3, "run": 1, "answer": 1}


def test_a_damaged_answer_in_the_store_is_none(tmp_path: Path) -> None:
    bucket = Bucket()
    store = JournalStore(f"{bucket.url}/journal")
    store.put({"kind": "answer", "request": f"sha256:{1:064}"}, "run")
    (key,) = keys_below(bucket.path("journal"))
    bucket.put(key, b'{"kind": "answer", "requ')
    assert created(bucket.path(f"{key}.txt"), b"") is not None  # nobody's
    assert Journal(tmp_path, JournalStore(f"{bucket.url}/journal")).answer(f"sha256:{1:064}") is None


def test_a_forgotten_session_is_taken_out_of_the_store(tmp_path: Path) -> None:
    bucket = Bucket()
    paths, store = dated_recordings(tmp_path / "t", 2), bucket.url + "/journal"
    bucket.put("journal/notes.txt", b"session-0")
    with MessagesServer(says({})) as server:
        _ask(paths, tmp_path / "wiki", server, store)
    others = JournalStore(store)
    for name in ("session-0", "session-1"):
        others.put({"kind": "left", "contents": [name], "about": [name]}, "run")
    others.put({"kind": "batch-ended", "batch": "b-1"}, "run")
    would = forget(tmp_path / "wiki", ["session-0"], Report("forget", "", is_dry_run=True), no_progress, store)
    forgotten = forget(tmp_path / "wiki", ["session-0"], Report("forget", ""), no_progress, store)
    in_bucket = {path: count for path, count in forgotten.cut.items() if path.startswith(store)}
    assert in_bucket == {path: count for path, count in would.cut.items() if path.startswith(store)}
    assert sorted(in_bucket.values()) == [1] * len(in_bucket)
    left = b"".join(bytes(bucket.store.get(path.key).bytes()) for path in others.objects())
    assert (b'"session-0"' in left, b'"session-1"' in left, b"b-1" in left) == (False, True, True)
    assert bytes(bucket.store.get("journal/notes.txt").bytes()) == b"session-0"


def test_a_store_that_cannot_be_used_ends_the_run_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(_root: str) -> Any:
        raise OSError("HTTP error: operation timed out")

    paths = dated_recordings(tmp_path / "t", 1)
    with MessagesServer(says({})) as server:
        with pytest.raises(UsageError, match="name a place in a bucket"):
            _ask(paths, tmp_path / "wiki", server, "somewhere")
        with pytest.raises(UsageError, match="leave out --no-journal"):
            _ask(paths, tmp_path / "wiki", server, "memory://b/journal", is_journaled=False)
        monkeypatch.setattr("agent_wiki.readers.stored_objects.store_of", down)
        with pytest.raises(RunError, match=r"^memory://b/journal: HTTP error: operation timed out$"):
            _ask(paths, tmp_path / "wiki", server, "memory://b/journal")
        assert server.bodies() == []
