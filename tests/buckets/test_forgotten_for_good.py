"""`wiki forget --for-good`: no run, shard or join brings the session back, and nothing of it is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError
from agent_wiki.wiki.config import forgotten_name, parse_config
from tests.buckets.nights import session_bytes
from tests.buckets.stores import Bucket
from tests.pipeline.forgetting import ONE, TWO, forget_sessions
from tests.wikis import Script, changed, ingest, record, rule, tree


@pytest.fixture
def script(tmp_path: Path) -> Script:
    said = Script(tmp_path)
    said.says("session-alder", rules=[rule(ONE), rule(TWO, title="Read logs to the end")])
    said.says("birch", rules=[rule(ONE)])
    return said


def _filled(bucket: Bucket) -> Bucket:
    for name in ("session-alder", "birch"):
        bucket.put(f"p/{name}.json", session_bytes(name))
    return bucket


def _without_bucket_state(wiki: Path) -> dict[str, bytes]:
    return {path: text for path, text in tree(wiki).items() if path not in ("_buckets.jsonl", "_config.yaml")}


def test_the_next_night_over_a_bucket_reads_it_once_and_takes_nothing(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    wiki = tmp_path / "wiki"
    ingest([_filled(bucket).path()], wiki, script.engine)
    forget_sessions(wiki, "session-alder", for_good=True)
    assert parse_config((wiki / "_config.yaml").read_text("utf-8")).forgotten >= {forgotten_name("session-alder")}
    before = _without_bucket_state(wiki)
    report = ingest([bucket.path()], wiki, script.engine)
    assert (report.sessions["forgotten"], report.sessions["mined"], report.exit_code) == (1, 0, 0)
    assert changed(before, _without_bucket_state(wiki)) == []
    kept = [text for path, text in tree(wiki).items() if path != "_buckets.jsonl"]
    assert not any(b"session-alder" in text for text in kept), "its id stands only in the name of its object"
    report = ingest([bucket.path()], wiki, script.engine)
    assert (report.recordings_unchanged, report.written) == (2, []), "it is not read again"
    bucket.put("p/session-alder.json", session_bytes("session-alder", more=2))
    report = ingest([bucket.path()], wiki, script.engine)
    assert report.sessions["forgotten"] == 1, "also where it has grown"
    assert changed(before, _without_bucket_state(wiki)) == []


def test_its_line_taken_out_it_comes_again(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    wiki = tmp_path / "wiki"
    ingest([_filled(bucket).path()], wiki, script.engine)
    whole = tree(wiki)
    forget_sessions(wiki, "session-alder", for_good=True)
    ingest([bucket.path()], wiki, script.engine)
    config = wiki / "_config.yaml"
    lines = config.read_text("utf-8").splitlines(keepends=True)
    config.write_text("".join(line for line in lines if forgotten_name("session-alder") not in line), encoding="utf-8")
    assert ingest([bucket.path()], wiki, script.engine).sessions["mined"] == 1
    assert changed(_without_bucket_state(wiki), {path: whole[path] for path in _without_bucket_state(wiki)}) == []


def test_without_the_option_the_command_says_that_it_comes_back(tmp_path: Path, script: Script) -> None:
    wiki = tmp_path / "wiki"
    ingest([record(tmp_path / "t", "session-alder")], wiki, script.engine)
    (line,) = (each for each in forget_sessions(wiki, "session-alder").lines() if each.startswith("still there"))
    assert "it brings the session back when it is read (not with --for-good)" in line


@pytest.mark.parametrize("first", ["mined", "forgotten"])
def test_no_shard_brings_it_back_whenever_it_was_mined(first: str, tmp_path: Path, script: Script) -> None:
    wiki, traces = tmp_path / "wiki", tmp_path / "t"
    for name in ("session-alder", "birch"):
        record(traces, name)
    words = ["--wiki", str(wiki), "--engine", script.engine]
    assert main(["ingest", str(traces), *words, "--jobs=1"]) == 0
    mining = ["ingest", str(traces), "--engine", script.engine, "--jobs=1", "--shard=1/1", f"--out={tmp_path / 'out'}"]
    if first == "mined":
        assert main([*mining, "--wiki", str(tmp_path / "none")]) == 0
    assert main(["forget", "session-alder", "--for-good", "--wiki", str(wiki)]) == 0
    after = tree(wiki)
    if first == "forgotten":
        assert main([*mining, "--wiki", str(wiki)]) == 0
    assert (tmp_path / "out" / "shard-1-of-1" / "_sessions" / "session-alder.json").exists() == (first == "mined")
    assert main(["join", str(tmp_path / "out"), *words]) == 0
    assert changed(after, tree(wiki)) == []


def test_what_a_merge_brings_back_goes_with_the_next_run(tmp_path: Path, script: Script) -> None:
    wiki = tmp_path / "wiki"
    paths = [record(tmp_path / "t", name) for name in ("session-alder", "birch")]
    ingest(paths, wiki, script.engine)
    theirs = (wiki / "_sessions" / "session-alder.json").read_text("utf-8")
    forget_sessions(wiki, "session-alder", for_good=True)
    after = tree(wiki)
    (wiki / "_sessions" / "session-alder.json").write_text(theirs, encoding="utf-8")
    ingest(paths, wiki, script.engine)
    assert changed(after, tree(wiki)) == []


def test_a_person_may_write_an_id_and_nothing_else_than_a_list(tmp_path: Path, script: Script) -> None:
    wiki, path = tmp_path / "wiki", record(tmp_path / "t", "session-alder")
    ingest([record(tmp_path / "t", "birch")], wiki, script.engine)
    config = wiki / "_config.yaml"
    text = config.read_text("utf-8")
    config.write_text(f"{text}forgotten: [session-alder]\n", encoding="utf-8")
    assert ingest([path], wiki, script.engine).sessions["forgotten"] == 1
    shutil.rmtree(wiki / ".wiki")
    config.write_text(f"{text}forgotten: session-alder\n", encoding="utf-8")
    with pytest.raises(RunError, match="forgotten is not a list"):
        ingest([path], wiki, script.engine)
