"""Exports of Langfuse that come night after night: what a later file says of an earlier conversation is what counts."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from random import Random

import pytest

from agent_wiki.engine import no_progress
from agent_wiki.pipeline import bucket_state
from agent_wiki.pipeline.export_parts import files_of_exports
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.inputs import Selection, inputs_of
from agent_wiki.pipeline.mine import Assignment, mine_elsewhere
from agent_wiki.pipeline.report import Report
from agent_wiki.readers.kept_objects import KEPT, KeptObjects
from agent_wiki.stages.order import SESSION_STAGES
from tests.buckets.stores import Bucket
from tests.exports import EXPORT, batches, generation, lines, random_export, score
from tests.pipeline.test_shard_runs import join, shard
from tests.readers.lines import recorded_lines
from tests.wikis import Script, changed, ingest, tree

DATA = Path(__file__).parents[1] / "data"
FIRST, EMPTY, SECOND, THIRD = (path for path in EXPORT if path.startswith("observations"))
SCORED = "scores/2026-01-02T10-00-40.jsonl"


def _put(bucket: Bucket, *names: str) -> None:
    for name in names:
        bucket.put(f"p/{name}", EXPORT[name])


def _records(wiki: Path) -> dict[str, dict[str, object]]:
    paths = sorted((wiki / "_sessions").iterdir())
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def _write(folder: Path) -> Path:
    for name, content in EXPORT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_an_export_whose_files_come_in_any_order_gives_the_bytes_of_one_run(
    tmp_path: Path, script: Script, bucket: Bucket, seed: int
) -> None:
    names = Random(seed).sample(list(EXPORT), len(EXPORT))
    for night in (names[:3], names[3:5], names[5:]):
        _put(bucket, *night)
        ingest([bucket.path()], tmp_path / "wiki", script.engine)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []
    bucket.count()
    assert ingest([bucket.path()], tmp_path / "wiki", script.engine).written == []
    assert bucket.asked == {"list": 1}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_conversations_that_are_cut_anywhere_are_those_of_one_run_in_shards_too(
    tmp_path: Path, script: Script, bucket: Bucket, seed: int
) -> None:
    rng, wiki = Random(seed), tmp_path / "wiki"
    export = random_export(rng)
    names = rng.sample(list(export), len(export))
    for night in (names[0::3], names[1::3], names[2::3]):
        for name in night:
            bucket.put(f"p/{name}", export[name])
        if seed % 2:
            ingest([bucket.path()], wiki, script.engine)
        else:
            for number in rng.sample((1, 2, 3), 3):
                shard(bucket.path(), number, 3, tmp_path / "out", wiki, script.engine)
            join([tmp_path / "out"], wiki, script.engine)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(wiki), tree(tmp_path / "at once")) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["openai-agents-chat", "openai-agents-responses", "pydantic-ai", "vercel-ai-7"])
def test_traces_that_a_collector_sent_in_batches_are_those_of_one_file(
    tmp_path: Path, script: Script, bucket: Bucket, name: str, seed: int
) -> None:
    rng, whole = Random(seed), DATA / "otlp" / f"{name}.jsonl"
    sent = batches(recorded_lines(whole), rng)
    names = rng.sample(list(sent), len(sent))
    for night in (names[0::3], names[1::3], names[2::3]):
        for each in night:
            bucket.put(f"p/{each}", sent[each])
        ingest([bucket.path()], tmp_path / "wiki", script.engine)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []
    ingest([whole], tmp_path / "whole", script.engine)
    in_batches, in_one = (_records(tmp_path / wiki) for wiki in ("wiki", "whole"))
    assert {key: _said(each) for key, each in in_batches.items()} == {key: _said(each) for key, each in in_one.items()}


@pytest.mark.parametrize("seed", range(4))
def test_runs_of_langsmith_that_an_export_has_by_days_are_those_of_one_file(
    tmp_path: Path, script: Script, bucket: Bucket, seed: int
) -> None:
    rng, whole = Random(seed), DATA / "langsmith" / "runs.jsonl"
    days: dict[str, list[object]] = {}
    for row in recorded_lines(whole):
        folder = f"export_id=e/tenant_id=t/session_id=s/runs/year=2026/month=01/day={rng.randrange(1, 6):02}"
        days.setdefault(f"{folder}/part-0.jsonl", []).append(row)
    names = rng.sample(list(days), len(days))
    for night in (names[0::2], names[1::2]):
        for name in night:
            bucket.put(f"p/{name}", lines(days[name]))
        ingest([bucket.path()], tmp_path / "wiki", script.engine)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []
    ingest([whole], tmp_path / "whole", script.engine)
    by_days, in_one = (_records(tmp_path / wiki) for wiki in ("wiki", "whole"))
    assert {key: _said(each) for key, each in by_days.items()} == {key: _said(each) for key, each in in_one.items()}


def _said(record: dict[str, object]) -> dict[str, object]:
    """All of a record but which file it is of, and what is counted once a file."""
    return {name: value for name, value in record.items() if name not in ("recording", "hygiene", "stages")}


def test_each_new_file_is_fetched_once_in_a_night_though_it_is_read_twice(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    first, later = random_export(Random(1)), random_export(Random(2))
    for name, content in first.items():
        bucket.put(f"a/{name}", content)
    bucket.count()
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    assert set(bucket.read.values()) == {1}
    for name, content in later.items():
        bucket.put(f"b/{name}", content)
    bucket.count()
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    assert set(bucket.read) == {f"b/{name}" for name in later if later[name]}
    assert set(bucket.read.values()) == {1}
    assert KEPT.contents([bucket.path(f"b/{name}") for name in later]) == ()


def test_a_worker_needs_no_request_for_what_was_fetched_to_look_through(script: Script, bucket: Bucket) -> None:
    _put(bucket, *EXPORT)
    files = inputs_of([bucket.path()], Selection()).files
    exports = files_of_exports(file.path for file in files)
    file = next(each for each in files if each.path.name == FIRST.rpartition("/")[2])
    there = pickle.loads(pickle.dumps(file.path))  # noqa: S301 - as a worker gets it
    assignment = Assignment(
        there, file.name, SESSION_STAGES, script.engine,
        part=exports.part(file.path), contents=exports.contents(file.path),
    )  # fmt: skip
    KEPT.clear()
    bucket.count()
    mined = mine_elsewhere(assignment, {})
    assert (mined.failure, len(mined.records), bucket.asked) == (None, 2, {})
    assert KEPT.contents([file.path]) == ()


def test_what_finds_no_room_is_fetched_again_and_another_version_too(bucket: Bucket) -> None:
    kept = KeptObjects(10)
    for name, content in (("a", b"1234567"), ("b", b"1234"), ("c", b"123"), ("d", b"")):
        bucket.put(name, content)
        kept.fetch(bucket.path(name))
    etag = bucket.path("a").stat().etag
    assert [address[-1] for address, _, _ in kept.contents(map(bucket.path, "abcd"))] == ["a", "c"]
    assert (kept.get(str(bucket.path("a")), etag), kept.get(str(bucket.path("a")), "other")) == (b"1234567", None)


@pytest.mark.parametrize("is_local", [True, False])
def test_a_conversation_in_several_files_is_one_session_with_the_latest_verdict(
    tmp_path: Path, script: Script, bucket: Bucket, is_local: bool
) -> None:
    _put(bucket, *EXPORT)
    named = _write(tmp_path / "export") if is_local else bucket.path("p")
    report = ingest([named], tmp_path / "wiki", script.engine)
    assert (report.failures, report.warnings, [each.kind for each in report.passed_over]) == ([], [], ["empty"])
    found = _records(tmp_path / "wiki")
    said = {name: (each.get("resolved"), each["turns"], each["total_cost_usd"]) for name, each in found.items()}
    assert said == {"s-1": (True, 4, 0.5), "t2": (True, 2, 0.25), "t4": (False, 2, 0.25)}
    assert {name: each["recording"]["file"] for name, each in found.items()} == {  # type: ignore[index]
        "s-1": FIRST.rpartition("/")[2], "t2": FIRST.rpartition("/")[2], "t4": THIRD.rpartition("/")[2]
    }  # fmt: skip


def test_a_later_score_has_only_the_files_read_again_that_it_is_about(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    _put(bucket, *(name for name in EXPORT if not name.startswith("scores/")))
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    bucket.count()
    bucket.put("p/scores/later.jsonl", lines([score("9", "t4", 1), score("8", "t1", 1, name="tone")]))
    assert ingest([bucket.path()], tmp_path / "wiki", script.engine).sessions == {"mined": 1, "unchanged": 2}
    assert set(bucket.read) == {f"p/{THIRD}", "p/scores/later.jsonl"}
    bucket.count()
    bucket.put("p/scores/later.jsonl", lines([score("9", "t4", 0)]))
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    assert _records(tmp_path / "wiki")["t4"]["resolved"] is False
    bucket.store.delete("p/scores/later.jsonl")
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    assert "resolved" not in _records(tmp_path / "wiki")["t4"]


def test_scores_are_found_in_a_packed_file_and_beside_a_folder_that_was_named_alone(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    _put(bucket, THIRD)
    bucket.put("p/scores/later.jsonl.gz", gzip.compress(EXPORT[SCORED]))
    ingest([bucket.path("p/observations_v2")], tmp_path / "wiki", script.engine)
    assert _records(tmp_path / "wiki")["t4"]["resolved"] is False


def test_a_run_over_the_newest_file_alone_reads_a_conversation_whole(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    _put(bucket, FIRST)
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    _put(bucket, SECOND)
    newest = Selection(include=(f"*/{SECOND.rpartition('/')[2]}",))
    ingest([bucket.path()], tmp_path / "wiki", script.engine, selection=newest)
    assert _records(tmp_path / "wiki")["s-1"]["turns"] == 4
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    ingest([bucket.path(f"p/{SECOND}")], tmp_path / "wiki", script.engine)
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_all_files_are_named_that_would_bring_a_forgotten_conversation_back(tmp_path: Path, script: Script) -> None:
    export = _write(tmp_path / "export")
    ingest([export], tmp_path / "wiki", script.engine)
    found = forget(tmp_path / "wiki", ["s-1"], Report("forget", ""), no_progress)
    assert sorted(found.recordings) == sorted(str(export / name) for name in (FIRST, SECOND, THIRD))


def test_a_few_files_a_night_end_in_the_bytes_of_one_run(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    _put(bucket, *EXPORT)
    for _ in EXPORT:
        ingest([bucket.path()], tmp_path / "wiki", script.engine, selection=Selection(most=2))
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_a_file_that_is_damaged_for_a_night_leaves_the_others_as_they_are(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    _put(bucket, FIRST, SCORED)
    bucket.put(f"p/{SECOND}", EXPORT[SECOND][:90])
    bucket.put("p/scores/bad.jsonl", b"no JSON")
    report = ingest([bucket.path()], tmp_path / "wiki", script.engine)
    assert [each.unit.rpartition("/p/")[2] for each in [*report.failures, *report.passed_over]] == [
        SECOND,
        "scores/bad.jsonl",
    ]
    assert _records(tmp_path / "wiki")["t2"]["resolved"] is True
    _put(bucket, SECOND)
    bucket.put("p/scores/bad.jsonl", lines([score("3", "t3", 1, updated="2026-01-04")]))
    assert ingest([bucket.path()], tmp_path / "wiki", script.engine).exit_code == 0
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_what_a_file_held_that_is_gone_stays_in_the_wiki(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    _put(bucket, FIRST, SECOND)
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    bucket.store.delete(f"p/{SECOND}")
    bucket.put("p/scores/later.jsonl", lines([score("9", "t1", 1)]))
    assert ingest([bucket.path()], tmp_path / "wiki", script.engine).exit_code == 0
    assert _records(tmp_path / "wiki")["s-1"]["turns"] == 4


def test_two_exports_of_one_bucket_have_nothing_to_do_with_each_other(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    asked = [{"role": "user", "content": "Is it so?"}]
    bucket.put("one/observations_v2/1.jsonl", lines([generation("a", "t1", asked, "Yes.", 1)]))
    bucket.put("two/scores/1.jsonl", lines([score("1", "t1", 1)]))
    bucket.put("two/observations_v2/1.jsonl", lines([generation("b", "t2", asked, "No.", 1)]))
    ingest([bucket.path()], tmp_path / "wiki", script.engine)
    assert "resolved" not in _records(tmp_path / "wiki")["t1"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shards_of_an_export_are_one_run_also_in_a_second_night(
    tmp_path: Path, script: Script, bucket: Bucket, seed: int
) -> None:
    names, wiki = Random(seed).sample(list(EXPORT), len(EXPORT)), tmp_path / "wiki"
    for night in (names[:4], names[4:]):
        _put(bucket, *night)
        for number in Random(seed).sample((1, 2, 3), 3):
            shard(bucket.path("p"), number, 3, tmp_path / "out", wiki, script.engine)
        assert join([tmp_path / "out"], wiki, script.engine).exit_code == 0
    ingest([bucket.path("p")], tmp_path / "whole", script.engine)
    assert changed(tree(wiki), tree(tmp_path / "whole")) == []
    assert (wiki / bucket_state.NAME).is_file()
