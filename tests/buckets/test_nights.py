"""One night after another over a bucket: what is read, what waits, and what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.changes.runs import run_facts
from agent_wiki.engine import no_progress
from agent_wiki.errors import UsageError
from agent_wiki.pipeline import bucket_state, recordings_cache
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.pipeline.report import Report
from agent_wiki.readers.buckets import listed
from agent_wiki.wiki.store import WikiFolder
from tests.buckets.nights import night, pages_but_buckets, session_bytes
from tests.buckets.stores import Bucket
from tests.pipeline.test_beside import trial
from tests.repositories import Repository
from tests.wikis import Script, changed, ingest, record, tree


def test_a_bucket_gives_the_bytes_of_the_folder_it_was_filled_from(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    folder = tmp_path / "traces"
    for name in ("a", "b"):
        record(folder / "team", name)
    trial(folder / "runs" / "one", verdict=True)
    (folder / "notes.md").write_text("# Notes\n", encoding="utf-8")
    (folder / "empty.jsonl").write_bytes(b"")
    bucket.upload(folder)
    report = night(bucket, tmp_path / "wiki", script)
    local = ingest([folder], tmp_path / "local", script.engine)
    assert (report.exit_code, report.sessions, len(report.warnings)) == (0, local.sessions, len(local.warnings))
    assert changed(pages_but_buckets(tmp_path / "wiki"), pages_but_buckets(tmp_path / "local")) == []
    assert bucket.url.encode() not in b"".join(pages_but_buckets(tmp_path / "wiki").values())


def test_objects_whose_keys_have_other_ends_of_lines_are_known_the_next_night(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for number, end in enumerate(("\u2028", "\u2029", "\x85")):
        bucket.put(f"p/a{end}b.json", session_bytes(f"s{number}"))
    night(bucket, tmp_path / "wiki", script)
    assert len(bucket_state.load(WikiFolder(tmp_path / "wiki"))) == 3
    report = night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.recordings_unchanged) == ({"list": 1}, 3)


def test_what_is_known_by_its_address_is_not_searched_for_secrets_again(
    tmp_path: Path, script: Script, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        bucket.put(f"p/{name}.json", session_bytes(name))
    night(bucket, tmp_path / "wiki", script)
    searched: list[str] = []

    def search(text: str) -> tuple[str, dict[str, int]]:
        searched.append(text)
        return text, {}

    monkeypatch.setattr(bucket_state, "redact_text", search)
    assert night(bucket, tmp_path / "wiki", script).recordings_unchanged == 2
    cache = recordings_cache.load(WikiFolder(tmp_path / "wiki"))
    bucket.store.delete("p/b.json")
    assert recordings_cache.has_unlisted(cache, [listed(bucket.path())])
    assert searched == []


def test_a_second_night_lists_and_reads_only_what_is_new_or_changed(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"p/{name}.json", session_bytes(name))
    bucket.put("p/notes.md", b"# Notes\n")
    night(bucket, tmp_path / "wiki", script)
    assert bucket.asked == {"list": 1, "get": 3}
    before = tree(tmp_path / "wiki")
    report = night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.recordings_unchanged, report.written) == ({"list": 1}, 3, [])
    bucket.put("p/a.json", session_bytes("a", more=1))
    bucket.put("p/c.json", session_bytes("c"))
    night(bucket, tmp_path / "wiki", script)
    assert bucket.read == {"p/a.json": 1, "p/c.json": 1}
    assert tree(tmp_path / "wiki") != before


def test_a_run_in_a_fresh_clone_reads_nothing_again(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.put("a.json", session_bytes("a"))
    bucket.put("notes.md", b"# Notes\n")
    night(bucket, tmp_path / "wiki", script)
    for path in (tmp_path / "wiki" / ".wiki").iterdir():
        path.unlink()
    before = tree(tmp_path / "wiki")
    report = night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.written, tree(tmp_path / "wiki")) == ({"list": 1}, [], before)


def test_two_nights_on_branches_that_git_merges_read_nothing_again(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    repository = Repository(tmp_path / "repository")
    bucket.put("a.json", session_bytes("a"))
    bucket.put("d.json", session_bytes("d"))
    night(bucket, repository.wiki, script)
    repository.commit()
    for branch, name in (("one", "b"), ("two", "c")):
        repository.branch(branch)
        bucket.put(f"{name}.json", session_bytes(name))
        night(bucket, repository.wiki, script, selection=Selection(exclude=("b.json",) if branch == "two" else ()))
        repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-edit", "one")
    repository.git("merge", "--quiet", "--no-edit", "two")
    report = night(bucket, repository.wiki, script)
    assert (report.exit_code, bucket.asked) == (0, {"list": 1})
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(repository.wiki), tree(tmp_path / "at once")) == []


def test_an_object_that_two_branches_read_in_different_versions_is_read_again(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("a.json", session_bytes("a"))
    night(bucket, tmp_path / "one", script)
    bucket.put("a.json", session_bytes("a", more=1))
    night(bucket, tmp_path / "two", script)
    ours, theirs = (tmp_path / name / bucket_state.NAME for name in ("one", "two"))
    ours.write_bytes(b"<<<<<<< ours\n" + ours.read_bytes() + b"=======\n" + theirs.read_bytes() + b">>>>>>> theirs\n")
    night(bucket, tmp_path / "one", script)
    assert bucket.read == {"a.json": 1}
    assert changed(tree(tmp_path / "one"), tree(tmp_path / "two")) == []


def test_a_joined_wiki_knows_what_both_have_read(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for name in ("a", "b"):
        bucket.put(f"{name}.json", session_bytes(name))
        night(bucket, tmp_path / name, script, selection=Selection(include=(f"{name}.json",)))
    config = tmp_path / "a" / "_config.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}trust: [b]\n", encoding="utf-8")
    options = Options(tmp_path / "a", engine=script.engine)
    join_wikis([tmp_path / "b"], options, Report("join", "a"), no_progress)
    night(bucket, tmp_path / "a", script)
    assert bucket.asked == {"list": 1}


def test_only_what_is_selected_is_read_and_the_rest_waits(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for name in ("p/a.json", "p/old/b.json", "q/c.json", "q/d.txt"):
        bucket.put(name, session_bytes(name[2:]))
    selection = Selection(include=("*.json",), exclude=("p/old/*",), most=1)
    first = night(bucket, tmp_path / "wiki", script, selection=selection)
    assert first.warnings == ["1 new or changed file waits for the next run (--max-objects 1)"]
    second = night(bucket, tmp_path / "wiki", script, selection=selection)
    assert (bucket.read, second.warnings) == ({"q/c.json": 1}, [])
    night(bucket, tmp_path / "wiki", script, selection=Selection(since="2999-01-01"))
    assert bucket.asked == {"list": 1}
    with pytest.raises(UsageError, match="--since yesterday: not a date"):
        night(bucket, tmp_path / "wiki", script, selection=Selection(since="yesterday"))


def test_nights_of_a_new_wiki_get_past_files_that_are_no_recordings(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in "abcd":
        bucket.put(f"{name}.log", b"no recording")
    bucket.put("z.json", session_bytes("z"))
    read, codes, shown = [], [], []
    for _ in range(3):
        report = night(bucket, tmp_path / "wiki", script, selection=Selection(most=2))
        read.append(sorted(bucket.read))
        codes.append(report.exit_code)
        shown.append(report.lines())
    assert (read, codes) == ([["a.log", "b.log"], ["c.log", "d.log"], ["z.json"]], [0, 0, 0])
    assert shown[0][:3] == [
        "warning: 3 new or changed files wait for the next run (--max-objects 2)",
        "passed over: 2 files that are no recordings: a.log, b.log",
        "read:  0 recordings, 3 files left for a later run; sessions: none",
    ]


def test_once_no_file_waits_a_wiki_of_no_recording_is_a_failure(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for name in "abcde":
        bucket.put(f"{name}.log", b"no recording")
    nights = [night(bucket, tmp_path / "wiki", script, selection=Selection(most=2)) for _ in range(4)]
    assert [each.exit_code for each in nights] == [0, 0, 1, 1]
    assert [each.reason for each in nights[2].failures] == ["no recording here, only .log (5)"]


def test_files_that_wait_count_neither_as_read_nor_as_recordings(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in "abcd":
        bucket.put(f"{name}.json", session_bytes(name))
    bucket.put("z.log", b"no recording")
    nights = [night(bucket, tmp_path / "wiki", script, selection=Selection(most=2)) for _ in range(3)]
    counts = [
        (each.recordings, each.recordings_read, each.recordings_unchanged, each.recordings_waiting) for each in nights
    ]
    assert counts == [(5, 2, 0, 3), (5, 4, 2, 1), (5, 5, 4, 0)]
    assert [line for each in nights for line in each.lines() if line.startswith("read:")] == [
        "read:  2 recordings, 3 files left for a later run; sessions: 2 mined",
        "read:  4 recordings, 2 unchanged and not read, 1 file left for a later run; sessions: 2 mined, 2 unchanged",
        "read:  4 recordings, 4 unchanged and not read; sessions: 4 unchanged",
    ]
    saved = tmp_path / "night.json"
    saved.write_text(json.dumps(nights[1].to_json()), encoding="utf-8")
    facts = run_facts([saved])
    assert facts is not None
    assert (facts.recordings, facts.recordings_unchanged, facts.recordings_left) == (5, 2, 1)


def test_of_a_forgotten_session_no_line_is_left_and_its_object_is_named(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"{name}.json", session_bytes(name))
    night(bucket, tmp_path / "wiki", script)
    forgotten = forget(tmp_path / "wiki", ["a"], Report("forget", "wiki"), no_progress)
    assert forgotten.recordings == [f"{bucket.url}/a.json"]
    assert (forgotten.remaining, b"a.json" in (tmp_path / "wiki" / bucket_state.NAME).read_bytes()) == ([], False)


def test_a_dry_run_reads_and_writes_nothing(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.put("a.json", session_bytes("a"))
    report = night(bucket, tmp_path / "wiki", script, dry_run=True)
    assert (report.sessions, bucket_state.NAME in report.written, (tmp_path / "wiki").exists()) == (
        {"mined": 1},
        True,
        False,
    )


def test_a_bucket_without_a_recording_makes_no_wiki_and_a_night_in_one_that_is_there_remembers_it(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("notes.txt", b"no recording")
    for _ in range(2):
        assert night(bucket, tmp_path / "wiki", script).exit_code == 1
        assert bucket.read == {"notes.txt": 1}
    assert not (tmp_path / "wiki").exists()
    (tmp_path / "wiki" / ".wiki").mkdir(parents=True)  # as the nightly job does
    for read in ({"notes.txt": 1}, {}):
        night(bucket, tmp_path / "wiki", script)
        assert (tmp_path / "wiki" / "index.md").is_file()
        assert bucket.read == read


def test_a_key_that_holds_a_secret_is_not_written_down(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6" * 3
    bucket.put(f"{secret}.json", session_bytes("a"))
    for _ in range(2):
        report = night(bucket, tmp_path / "wiki", script)
        assert bucket.read == {f"{secret}.json": 1}
    assert report.exit_code == 0
    assert secret.encode() not in b"".join(tree(tmp_path / "wiki").values())
