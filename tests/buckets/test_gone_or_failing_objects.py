"""Objects of a bucket that fail, change or go, one night after another: what is tried again, set aside and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.pipeline import bucket_state
from agent_wiki.pipeline.inputs import Selection
from tests.buckets.nights import night, session_bytes
from tests.buckets.stores import Bucket
from tests.wikis import Script, changed, ingest, tree


def test_an_object_that_fails_three_nights_is_set_aside_and_let_in_again(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    def broken(key: str) -> None:
        if key == "bad.json":
            raise OSError("HTTP error: operation timed out\n\nDebug source:\nGeneric")

    for name in ("good", "bad"):
        bucket.put(f"{name}.json", session_bytes(name))
    bucket.put("cut.json", b'{"messages": [')
    bucket.breaks = broken
    for _ in range(3):
        report = night(bucket, tmp_path / "wiki", script)
        failures = sorted(map(str, report.failures))
        assert [line.rpartition("/")[2].partition(":")[0] for line in failures] == ["bad.json", "cut.json"]
        assert failures[0] == f"{bucket.url}/bad.json: HTTP error: operation timed out"
    report = night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, len(report.set_aside), bucket.asked) == (0, 2, {"list": 1})
    assert any("--retry-set-aside" in line for line in report.lines())
    bucket.breaks = lambda _key: None
    report = night(bucket, tmp_path / "wiki", script, retry_set_aside=True)
    assert (report.exit_code, report.set_aside, bucket.read) == (1, [], {"bad.json": 1, "cut.json": 1})
    bucket.put("cut.json", session_bytes("cut"))
    report = night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, report.set_aside, bucket.read) == (0, [], {"cut.json": 1})


@pytest.mark.parametrize("count", [4, 30])
def test_a_store_that_gives_nothing_any_more_ends_the_night_and_sets_nothing_aside(
    tmp_path: Path, script: Script, bucket: Bucket, count: int
) -> None:
    def expired(_key: str) -> None:
        if bucket.read.total() > given:
            raise OSError("403 Forbidden: ExpiredToken")

    for number in range(count):
        bucket.put(f"{number:02}.json", session_bytes(f"s{number}"))
    bucket.breaks, given = expired, 3 if count > 10 else 0
    for _ in range(4):
        report = night(bucket, tmp_path / "wiki", script)
        assert (report.exit_code, report.set_aside) == ((3, []) if count > 10 else (1, []))
        assert len(report.failures) == min(count, 10), "the others are not tried"
        assert bool(report.stopped) == (count > 10)
        assert (f"kept:  3 of {count} files read; " in "".join(report.lines())) == (count > 10)
        given = 0
    bucket.breaks = lambda _key: None
    report = night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, report.sessions["mined"] + report.sessions["unchanged"]) == (0, count)
    assert b"failed_runs" not in tree(tmp_path / "wiki")[bucket_state.NAME]


@pytest.mark.parametrize("known", [1, 6])
def test_an_outage_on_a_night_with_one_new_recording_sets_it_not_aside(
    tmp_path: Path, script: Script, bucket: Bucket, known: int
) -> None:
    def refused(_key: str) -> None:
        raise OSError("403 Forbidden: AccessDenied")

    for number in range(known):
        bucket.put(f"{number:02}.json", session_bytes(f"s{number}"))
    night(bucket, tmp_path / "wiki", script)
    bucket.put("new.json", session_bytes("new"))
    bucket.breaks = refused
    for _ in range(4):
        report = night(bucket, tmp_path / "wiki", script)
        assert (report.exit_code, report.set_aside, len(report.failures)) == (1, [], 1)
    bucket.breaks = lambda _key: None
    report = night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, report.sessions["mined"]) == (0, 1)


def test_what_lies_beside_recordings_that_expired_makes_no_night_fail(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("notes.txt", b"no recording")
    assert night(bucket, tmp_path / "other", script).exit_code == 1, "another bucket was meant"
    bucket.put("a.json", session_bytes("a"))
    night(bucket, tmp_path / "wiki", script)
    bucket.store.delete("a.json")
    for _ in range(3):
        report = night(bucket, tmp_path / "wiki", script)
        assert (report.exit_code, report.failures) == (0, [])
    assert any("no recording here" in line and "what was learnt stays" in line for line in report.warnings)


@pytest.mark.parametrize("archived", [4, 25])
def test_objects_that_fail_one_after_another_keep_nothing_behind_them_from_being_read(
    tmp_path: Path, script: Script, bucket: Bucket, archived: int
) -> None:
    def gone_cold(key: str) -> None:
        if int(key[:2]) < archived:
            raise OSError("403 Forbidden: InvalidObjectState")

    for number in range(archived + 2):
        bucket.put(f"{number:02}.json", session_bytes(f"s{number}"))
    bucket.breaks = gone_cold
    for _ in range(3):
        report = night(bucket, tmp_path / "wiki", script)
        assert (report.exit_code, report.stopped, len(report.failures)) == (1, "", archived)
        assert report.sessions["mined"] + report.sessions["unchanged"] == 2
    report = night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, len(report.set_aside)) == (0, archived)


def test_what_goes_or_changes_after_the_listing_is_a_warning(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    def meanwhile(key: str) -> None:
        if key == "a.json":
            bucket.store.delete(key)
        elif key == "b.json":
            bucket.store.put(key, session_bytes("b", more=2))

    for name in ("a", "b", "c"):
        bucket.put(f"{name}.json", session_bytes(name))
    bucket.breaks = meanwhile
    report = night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, report.sessions) == (0, {"mined": 1})
    assert [line.rpartition("/")[2] for line in sorted(report.warnings)] == [
        "a.json: it went after it was listed",
        "b.json: it changed after it was listed; the next run reads it",
    ]
    bucket.breaks = lambda _key: None
    assert night(bucket, tmp_path / "wiki", script).recordings == 2
    assert bucket.read == {"b.json": 1}


def test_what_is_no_longer_in_the_bucket_leaves_the_state_and_not_the_wiki(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"{name}.json", session_bytes(name))
    night(bucket, tmp_path / "wiki", script)
    bucket.store.delete("a.json")
    bucket.put("c.json", session_bytes("c"))
    (gone,) = night(bucket, tmp_path / "wiki", script).warnings
    assert gone == f"1 recording is gone from the bucket, what was learnt stays (wiki forget): {bucket.url}/a.json"
    state = (tmp_path / "wiki" / bucket_state.NAME).read_text(encoding="utf-8")
    assert [json.loads(line)["key"].rpartition("/")[2] for line in state.splitlines()] == ["b.json", "c.json"]
    assert (tmp_path / "wiki" / "_sessions" / "a.json").is_file()


@pytest.mark.parametrize("selection", [Selection(), Selection(since="2999-01-01")])
def test_what_is_gone_is_noticed_on_a_night_without_other_news(
    selection: Selection, tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a.json", "b.json", "c.json"):
        bucket.put(name, session_bytes(name.removesuffix(".json")))
    bucket.put("notes.txt", b"no recording")
    for _ in range(2):
        night(bucket, tmp_path / "wiki", script)
    for name, warnings in (("a.json", 1), ("notes.txt", 0)):
        bucket.store.delete(name)
        assert len(night(bucket, tmp_path / "wiki", script, selection=selection).warnings) == warnings
        assert (bucket.read, _keys_in_state(tmp_path / "wiki", name)) == ({}, [])
    again = night(bucket, tmp_path / "wiki", script, selection=selection)
    assert (again.warnings, again.written, bucket.asked) == ([], [], {"list": 1})


def _keys_in_state(wiki: Path, name: str) -> list[str]:
    return [line for line in (wiki / bucket_state.NAME).read_text(encoding="utf-8").splitlines() if name in line]


def test_a_prefix_that_has_become_empty_is_a_warning_each_night_and_a_mistyped_one_an_error(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"p/{name}.json", session_bytes(name))
    wiki = tmp_path / "wiki"
    ingest([bucket.path("p")], wiki, script.engine)
    before = tree(wiki)
    for name in ("a", "b"):
        bucket.store.delete(f"p/{name}.json")
    for _ in range(3):
        report = ingest([bucket.path("p")], wiki, script.engine)
        assert (report.exit_code, report.written) == (0, [])
        (said,) = report.warnings
        assert said.startswith(f"{bucket.url}/p: nothing lies there any more; 2 objects were read there, what was ")
    assert changed(before, tree(wiki)) == []
    for mistyped in ("q", "p/c", "p/a"):
        with pytest.raises(UsageError, match="no such object, and none below it"):
            ingest([bucket.path(mistyped)], wiki, script.engine)
    bucket.put("p/c.json", session_bytes("c"))
    (gone,) = ingest([bucket.path("p")], wiki, script.engine).warnings
    assert gone.startswith("2 recordings are gone from the bucket")
    assert len(_keys_in_state(wiki, "")) == 1


def test_beside_another_address_one_that_has_become_empty_is_a_warning_too(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("p/a", "q/b"):
        bucket.put(f"{name}.json", session_bytes(name[2:]))
    named = [bucket.path("p"), bucket.path("q")]
    ingest(named, tmp_path / "wiki", script.engine)
    bucket.store.delete("p/a.json")
    bucket.put("q/c.json", session_bytes("c"))
    for mined in (1, 0):
        report = ingest(named, tmp_path / "wiki", script.engine)
        assert (report.exit_code, len(report.warnings), report.sessions["mined"]) == (0, 1, mined)


def test_what_is_gone_from_two_listings_is_said_once_and_of_many_some_are_named(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in "abcde":
        bucket.put(f"p/{name}.json", session_bytes(name))
    named = [bucket.path(), bucket.path("p")]
    ingest(named, tmp_path / "wiki", script.engine)
    for name in "abcd":
        bucket.store.delete(f"p/{name}.json")
    bucket.put("p/f.json", session_bytes("f"))
    (gone,) = ingest(named, tmp_path / "wiki", script.engine).warnings
    assert gone.startswith("4 recordings are gone ")
    assert gone.endswith("/c.json and 1 more")
