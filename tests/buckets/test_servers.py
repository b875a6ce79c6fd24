"""Nights over S3 as servers speak it: a real one, a simulated one, and one that fails."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from datetime import timedelta
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RecordingChanged, RunError
from agent_wiki.pipeline.bucket_lock import BucketLock
from agent_wiki.readers import buckets, folder_walk
from agent_wiki.readers.buckets import BucketPath, path_of
from agent_wiki.readers.recording_path import ObjectStatus
from tests.buckets.servers import (
    FaultyServer,
    azurite_server,
    moto_server,
    put,
    seaweedfs,
    seaweedfs_server,
    set_environment,
)
from tests.pipeline.test_shard_runs import join, shard
from tests.wikis import Script, chat, ingest, tree

pytestmark = pytest.mark.long

pytest.importorskip("obstore", reason="obstore is not installed (the extra `bucket`)")


def _session(name: str, more: int = 0) -> bytes:
    return json.dumps(chat(name, more=more)).encode()


def _requests(counters: str) -> dict[str, int]:
    """What SeaweedFS counted, by kind of request, when it counts no more: it does so after it has answered."""
    before, found = None, _counted(counters)
    while found != before:
        time.sleep(0.3)
        before, found = found, _counted(counters)
    return found


def _counted(counters: str) -> dict[str, int]:
    with urllib.request.urlopen(counters, timeout=10) as answer:
        text = answer.read().decode()
    found = re.findall(r's3_request_total\{.*type="(\w+)"\} (\d+)', text)
    return {kind: sum(int(count) for each, count in found if each == kind) for kind, _count in found}


def test_nights_over_seaweedfs(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    with seaweedfs_server(tmp_path, "real", seaweedfs()) as (endpoint, counters):
        set_environment(monkeypatch, endpoint)
        store = buckets.store_of("s3://real")
        for key, name in (("p/a b%20#[1].json", "a"), ("p/deep/b.json", "b")):
            store.put(key, _session(name))
        bucket = path_of("s3://real/p")
        assert ingest([bucket], tmp_path / "wiki", script.engine).sessions == {"mined": 2}
        before, asked = tree(tmp_path / "wiki"), _requests(counters)
        report = ingest([bucket], tmp_path / "wiki", script.engine)
        after = _requests(counters)
        assert (report.recordings_unchanged, tree(tmp_path / "wiki")) == (2, before)
        assert {kind: after[kind] - asked[kind] for kind in after} == {"PUT": 0, "GET": 0, "LIST": 1}
        store.put("p/deep/b.json", _session("b", more=1))
        assert ingest([bucket], tmp_path / "wiki", script.engine).sessions == {"unchanged": 1, "mined": 1}
        listing = buckets.listed(BucketPath("s3://real", "p"))
        store.put("p/deep/b.json", _session("b", more=2))
        buckets._block.cache_clear()
        with pytest.raises(RecordingChanged, match="it changed after it was listed"):
            listing.paths()[1].read_bytes()
        ingest([bucket], tmp_path / "wiki", script.engine)
        out = path_of("s3://real/out")
        for number in (2, 1):
            shard(bucket, number, 2, out, tmp_path / "none", script.engine)
        assert join([out], tmp_path / "joined", script.engine).failures == []
        assert tree(tmp_path / "joined") == tree(tmp_path / "wiki")
        with pytest.raises(RunError, match=r"s3://real/p: the store has something there and gives no object"):
            BucketLock(BucketPath("s3://real", "p"), "run 1", 60).take()


def test_nights_over_moto_with_a_key_that_no_listing_can_give(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    with moto_server(tmp_path, "simulated") as endpoint:
        set_environment(monkeypatch, endpoint)
        put(endpoint, "simulated", "p/a.json", _session("a"))
        put(endpoint, "simulated", "p/sub/b.json", _session("b"))
        put(endpoint, "simulated", "p/bad//c.json", _session("c"))
        for status in ("mined", "unchanged"):
            report = ingest([path_of("s3://simulated/p")], tmp_path / "wiki", script.engine)
            assert (report.exit_code, report.sessions) == (0, {status: 2})
            assert [line.partition(": ")[0] for line in report.warnings] == ["s3://simulated/p/bad//"]


def test_a_key_that_ends_in_a_slash_is_a_failure_and_no_object_that_went(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    with moto_server(tmp_path, "slash") as endpoint:
        set_environment(monkeypatch, endpoint)
        put(endpoint, "slash", "p/a.json", _session("a"))
        put(endpoint, "slash", "p/b.json/", _session("b"))
        report = ingest([path_of("s3://slash/p")], tmp_path / "wiki", script.engine)
        assert (report.sessions, report.warnings) == ({"mined": 1}, [])
        assert [str(each) for each in report.failures] == [
            "s3://slash/p/b.json: its key ends in /, which the client cannot ask for"
        ]


@pytest.mark.parametrize("has_boto3", [True, False])
def test_a_key_with_an_empty_segment_right_below_the_prefix_costs_itself_alone(
    has_boto3: bool, tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = f"simulated-{has_boto3}".lower()  # a client is kept for each
    wanted = ["e3/0", "e3/a.json", "e3/s/d.json"]
    early = ["e3/(b).json", "e3/-home-me/c.json"]  # names that sort before `/` come in one answer with the key
    with moto_server(tmp_path, box) as endpoint:
        set_environment(monkeypatch, endpoint)
        if not has_boto3:
            monkeypatch.setattr(folder_walk, "find_spec", lambda _name: None)
        for number, key in enumerate([*wanted, *early, "e3//x.json", "e3/./y.json", "e3/s/"]):
            put(endpoint, box, key, b"" if key.endswith("/") else _session(str(number)))
        listing = buckets.listed(BucketPath(f"s3://{box}", "e3"))
        assert [path.key for path in listing.paths()] == sorted([*wanted, *(early if has_boto3 else [])])
        report = ingest([path_of(f"s3://{box}/e3")], tmp_path / "wiki", script.engine)
        assert (report.exit_code, report.sessions["mined"]) == (0, len(wanted) + len(early if has_boto3 else []))
        named = {line.partition(": ")[0] for line in report.warnings}
        expected = {f"s3://{box}/e3//", f"s3://{box}/e3/./"} if has_boto3 else {f"s3://{box}/e3/"}
        assert named == expected
        assert all("an empty segment" in line for line in report.warnings)
        assert has_boto3 or all("pip install boto3" in line for line in report.warnings)


def test_a_second_key_that_is_no_path_is_a_failure_where_nobody_knows_what_it_costs(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_walk, "find_spec", lambda _name: None)
    with moto_server(tmp_path, "twice") as endpoint:
        set_environment(monkeypatch, endpoint)
        for number, key in enumerate(["e3/d/a.json", "e3//x.json", "e3/b//y.json"]):
            put(endpoint, "twice", key, _session(str(number)))
        report = ingest([path_of("s3://twice/e3")], tmp_path / "wiki", script.engine)
        assert report.exit_code == 1
        assert "s3://twice/e3/: not listed to its end: " in str(report.failures[0])
        assert "pip install boto3" in str(report.failures[0])


def test_where_no_key_can_be_read_the_report_says_why_and_the_job_is_not_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with moto_server(tmp_path, "refused") as endpoint:
        set_environment(monkeypatch, endpoint)
        put(endpoint, "refused", "e3//x.json", _session("x"))
        words = ["ingest", "s3://refused/e3", "--wiki", str(tmp_path / "wiki"), "--fail-on", "failed=20%,check"]
        assert main([*words, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["failures"] == []
        assert [line.partition(": ")[0] for line in report["warnings"]] == ["s3://refused/e3//"]


def test_nights_over_azurite(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    with azurite_server(tmp_path, "simulated") as settings:
        for name, value in settings.items():
            monkeypatch.setenv(f"AZURE_STORAGE_{name}", value)
        store = buckets.store_of("az://simulated")
        store.put("p/a b%20#.json", _session("a"))
        for status in ("mined", "unchanged"):
            report = ingest([path_of("az://simulated/p")], tmp_path / "wiki", script.engine)
            assert (report.exit_code, report.sessions) == (0, {status: 1})
        (listed,) = buckets.listed(BucketPath("az://simulated", "p")).paths()
        store.put("p/a b%20#.json", _session("a", more=1))
        buckets._block.cache_clear()
        with pytest.raises(RecordingChanged, match="it changed after it was listed"):
            listed.read_bytes()


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is asked five times, without a pause."""
    pause = {"init_backoff": timedelta(milliseconds=5), "max_backoff": timedelta(milliseconds=10), "base": 2}
    monkeypatch.setattr(buckets, "_retries", lambda: {"max_retries": 4, "backoff": pause})


@pytest.mark.usefixtures("_impatient")
def test_what_fails_for_a_moment_is_read_and_what_fails_on_is_one_line(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultyServer({f"{name}.json": _session(name) for name in ("busy", "cut", "down")}) as server:
        set_environment(monkeypatch, server.endpoint)
        server.faults = {"busy.json": ["503"] * 2, "cut.json": ["cut"], "down.json": ["503"] * 9}
        report = ingest([path_of("s3://faulty")], tmp_path / "wiki", script.engine)
        assert (report.exit_code, report.sessions) == (1, {"mined": 2})
        (failure,) = report.failures
        assert (failure.kind, failure.unit) == ("service", "s3://faulty/down.json")
        assert "503" in str(failure)
        assert "\n" not in str(failure)
        fewest = {"busy.json": 3, "cut.json": 2, "down.json": 3}  # a connection that breaks costs one more
        assert all(server.asked[name] >= count for name, count in fewest.items())
        asked = server.asked["down.json"]
        server.faults = {}
        assert ingest([path_of("s3://faulty")], tmp_path / "wiki", script.engine).exit_code == 0
        assert server.asked["down.json"] > asked


@pytest.mark.usefixtures("_impatient")
def test_a_body_that_does_not_come_is_one_line(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer({"slow.json": _session("slow")}) as server:
        set_environment(monkeypatch, server.endpoint)
        monkeypatch.setattr(buckets, "_TIMEOUT_SECONDS", 0.1)
        server.faults = {"slow.json": ["slow"] * 9}
        bucket = BucketPath("s3://slow", "slow.json", ObjectStatus(len(_session("slow")), 0, "e"))
        (failure,) = ingest([bucket], tmp_path / "wiki", script.engine).failures
        assert (failure.kind, failure.unit) == ("service", "s3://slow/slow.json")
        assert "\n" not in str(failure)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("page", ["<html><body><p>Log in</p></body></html>", "<html><br></html>", "Log in"])
@pytest.mark.parametrize("prefix", ["/", "/p"])
def test_a_page_in_place_of_a_listing_is_no_bucket_that_is_empty_now(
    page: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FaultyServer({"p/a.json": _session("a")}) as server:
        set_environment(monkeypatch, server.endpoint)
        bucket = f"s3://portal-{server.server.server_port}{prefix}"  # a client is kept for each
        words = ["ingest", bucket, "--wiki", str(tmp_path / "wiki"), "--jobs", "1"]
        assert main(words) == 0
        before = tree(tmp_path / "wiki")
        capsys.readouterr()
        server.page = page.encode()
        assert main(words) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"wiki: {bucket}: cannot be listed: ")
        assert said.count("\n") == 1
        assert tree(tmp_path / "wiki") == before


@pytest.mark.usefixtures("_impatient")
def test_a_store_that_cannot_be_listed_ends_the_run_with_one_line(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_environment(monkeypatch, "http://127.0.0.1:9")
    with pytest.raises(RunError, match=r"^s3://nowhere/p: cannot be listed: [^\n]*$"):
        ingest([path_of("s3://nowhere/p")], tmp_path / "wiki", script.engine)
