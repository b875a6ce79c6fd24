"""Shards over a bucket: what each has read of it is what one run would know."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline import mine_shard as mining
from agent_wiki.pipeline.shard_runs import ShardRun
from agent_wiki.readers.buckets import path_of
from tests.buckets.stores import Bucket
from tests.pipeline.test_shard_runs import join, shard, traces
from tests.wikis import Script, changed, ingest, tree


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_shards_of_two_nights_joined_are_one_run_each_with_what_it_knows_of_the_bucket(
    tmp_path: Path, script: Script, seed: int
) -> None:
    bucket, rng, whole, wiki = Bucket(), Random(seed), tmp_path / "whole", tmp_path / "wiki"
    recordings = traces(tmp_path / "traces", seed)
    for night in (1, 2):
        bucket.upload(recordings, "p/")
        if night == 2:
            bucket.store.delete("p/runs/one/report.json")
            bucket.put("p/runs/two/run.traj.json", _grown(recordings / "runs" / "two" / "run.traj.json"))
            bucket.store.delete("p/parts/s-0-2.json")
            bucket.put("p/new/s-0.json", bucket.store.get("p/old/again.json").bytes().to_bytes())
        ingest([bucket.path("p")], whole, script.engine)
        numbers = [1, 2, 3, rng.choice((1, 2, 3))]
        rng.shuffle(numbers)
        for number in numbers:
            shard(bucket.path("p"), number, 3, tmp_path / "out", wiki, script.engine)
        assert join([tmp_path / "out"], wiki, script.engine).exit_code == 0
        assert changed(tree(wiki), tree(whole)) == []
    bucket.count()
    assert ingest([bucket.path("p")], wiki, script.engine).written == []


def test_a_key_may_have_any_character_in_it(tmp_path: Path, script: Script) -> None:
    bucket, recordings = Bucket(), traces(tmp_path / "traces")
    bucket.upload(recordings, "p/")
    bucket.put("p/what? #1.json", bucket.store.get("p/old/again.json").bytes().to_bytes())
    whole, wiki = tmp_path / "whole", tmp_path / "wiki"
    ingest([bucket.path("p")], whole, script.engine)
    for number in (1, 2):
        shard(bucket.path("p"), number, 2, tmp_path / "out", wiki, script.engine)
    assert join([tmp_path / "out"], wiki, script.engine).exit_code == 0
    assert changed(tree(wiki), tree(whole)) == []


def _grown(recording: Path) -> bytes:
    """The same session with another turn. Its format gives it no id, so it gets another by its content."""
    document = json.loads(recording.read_text(encoding="utf-8"))
    document["messages"].append({"role": "assistant", "content": "It adds up now."})
    return json.dumps(document).encode()


@pytest.mark.long
@pytest.mark.parametrize("place", ["memory", "file", "archives"])
def test_shards_in_a_bucket_joined_in_any_order_are_one_run(tmp_path: Path, script: Script, place: str) -> None:
    recordings = traces(tmp_path / "traces")
    out = path_of(f"file://{tmp_path}/out") if place == "file" else Bucket().path("nightly/out")
    for number in (3, 1, 2, 3):
        shard(recordings, number, 3, out, tmp_path / "none", script.engine)
    named = [out]
    if place == "archives":
        for number in (2, 3, 1):
            name = f"shard-{number}-of-3.tar.gz"
            (tmp_path / name).write_bytes((out / name).read_bytes())
        named = [tmp_path / "shard-3-of-3.tar.gz", tmp_path, path_of(f"{out}/shard-1-of-3.tar.gz")]
    assert join(named, tmp_path / "wiki", script.engine).failures == []
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "whole")) == []


def test_the_same_shard_is_the_same_object_and_says_nothing_of_the_machine(tmp_path: Path, script: Script) -> None:
    recordings, contents = traces(tmp_path / "traces"), []
    for _ in range(2):
        out = Bucket().path()
        shard(recordings, 1, 2, out, tmp_path / "none", script.engine)
        contents.append((out / "shard-1-of-2.tar.gz").read_bytes())
    assert contents[0] == contents[1]
    assert str(tmp_path).encode() not in gzip.decompress(contents[0])


def test_a_shard_that_is_killed_or_was_copied_in_part_is_no_shard_in_a_bucket(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings, bucket = traces(tmp_path / "traces"), Bucket()
    for number in (1, 2, 3):
        shard(recordings, number, 4, bucket.path("out"), tmp_path / "none", script.engine)
    cut = bucket.path("out/shard-2-of-4.tar.gz").read_bytes()[:-40]
    bucket.put("out/shard-2-of-4.tar.gz", cut)
    with monkeypatch.context() as patched:
        patched.setattr(ShardRun, "finish", _killed)
        with pytest.raises(KeyboardInterrupt):
            shard(recordings, 3, 4, bucket.path("out"), tmp_path / "none", script.engine)
    bucket.put("out/notes/shard-4-of-4.tar.gz", b"elsewhere")
    report = join([bucket.path("out/*")], tmp_path / "wiki", script.engine)
    units = [(each.unit.rpartition("/")[2], each.reason.partition(":")[0]) for each in report.failures]
    assert units == [
        ("shard-2-of-4.tar.gz", "this archive cannot be read"),
        ("shard-3-of-4.tar.gz", "this shard has not ended; run it, then join again"),
        ("4", "is missing; run it, then join it"),
    ]
    for number in (2, 3, 4):
        shard(recordings, number, 4, bucket.path("out"), tmp_path / "none", script.engine)
    assert join([bucket.path("out")], tmp_path / "wiki", script.engine).failures == []
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "whole")) == []


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_shard_that_cannot_be_written_at_its_end_is_kept_on_the_disk(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Any, content: bytes | Path) -> None:
        if content:
            raise RunError(f"{path}: access denied")

    monkeypatch.setattr(mining, "uploaded", refused)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    recordings = traces(tmp_path / "traces")
    with pytest.raises(RunError, match="access denied; the shard is ") as caught:
        shard(recordings, 1, 1, Bucket().path(), tmp_path / "none", script.engine)
    archive = Path(str(caught.value).partition("the shard is ")[2].partition(":")[0])
    assert join([archive], tmp_path / "wiki", script.engine).exit_code == 0
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "whole")) == []


def test_an_archive_with_anything_else_in_it_is_refused(tmp_path: Path, script: Script) -> None:
    (tmp_path / "passwd").write_text("x", encoding="utf-8")
    with tarfile.open(tmp_path / "shard-1-of-1.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "passwd", "../passwd")
    report = join([tmp_path], tmp_path / "wiki", script.engine)
    assert [each.reason for each in report.failures] == ["no archive of a shard: it has '../passwd'"]


def test_a_place_in_a_bucket_without_shards_is_refused(tmp_path: Path, script: Script) -> None:
    with pytest.raises(UsageError, match="no shard, and none below it"):
        join([Bucket().path("out")], tmp_path / "wiki", script.engine)
