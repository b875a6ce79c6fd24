"""Shards over a bucket: what each has read of it is what one run would know."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.buckets.stores import Bucket
from tests.pipeline.test_shard_runs import join, shard, traces
from tests.wikis import Script, changed, ingest, tree


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shards_of_two_nights_joined_are_one_run_each_with_what_it_knows_of_the_bucket(
    tmp_path: Path, script: Script, seed: int
) -> None:
    bucket, rng, whole, wiki = Bucket(), Random(seed), tmp_path / "whole", tmp_path / "wiki"
    recordings = traces(tmp_path / "traces", seed)
    for night in (1, 2):
        bucket.upload(recordings, "p/")
        if night == 2:
            bucket.store.delete("p/runs/one/report.json")
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
