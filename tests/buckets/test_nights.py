"""One night after another over a bucket: what is read, what is kept of it, and what becomes of what fails."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.engine import no_progress
from agent_wiki.errors import UsageError
from agent_wiki.pipeline import bucket_state, recordings_cache
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.pipeline.mine import Mined
from agent_wiki.pipeline.session_stages import SessionReport
from agent_wiki.report import Failure, Report
from agent_wiki.wiki.store import WikiFolder
from tests.buckets.stores import Bucket
from tests.pipeline.test_beside import trial
from tests.repositories import Repository
from tests.wikis import Script, changed, chat, ingest, record, tree

DATA = Path(__file__).parents[1] / "data"


def _session(name: str, **happened: Any) -> bytes:
    return json.dumps(chat(name, **happened)).encode()


def _night(bucket: Bucket, wiki: Path, script: Script, **options: Any) -> Report:
    bucket.count()
    return ingest([bucket.path()], wiki, script.engine, **options)


def _pages(wiki: Path) -> dict[str, bytes]:
    """All of a wiki but what it knows of buckets."""
    return {path: content for path, content in tree(wiki).items() if path != bucket_state.NAME}


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
    report = _night(bucket, tmp_path / "wiki", script)
    local = ingest([folder], tmp_path / "local", script.engine)
    assert (report.exit_code, report.sessions, len(report.warnings)) == (0, local.sessions, len(local.warnings))
    assert changed(_pages(tmp_path / "wiki"), _pages(tmp_path / "local")) == []
    assert bucket.url.encode() not in b"".join(_pages(tmp_path / "wiki").values())


def test_a_second_night_lists_and_reads_only_what_is_new_or_changed(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"p/{name}.json", _session(name))
    bucket.put("p/notes.md", b"# Notes\n")
    _night(bucket, tmp_path / "wiki", script)
    assert bucket.asked == {"list": 1, "get": 3}
    before = tree(tmp_path / "wiki")
    report = _night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.recordings_unchanged, report.written) == ({"list": 1}, 3, [])
    bucket.put("p/a.json", _session("a", more=1))
    bucket.put("p/c.json", _session("c"))
    _night(bucket, tmp_path / "wiki", script)
    assert bucket.read == {"p/a.json": 1, "p/c.json": 1}
    assert tree(tmp_path / "wiki") != before


def test_a_run_in_a_fresh_clone_reads_nothing_again(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.put("a.json", _session("a"))
    bucket.put("notes.md", b"# Notes\n")
    _night(bucket, tmp_path / "wiki", script)
    for path in (tmp_path / "wiki" / ".wiki").iterdir():
        path.unlink()
    before = tree(tmp_path / "wiki")
    report = _night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.written, tree(tmp_path / "wiki")) == ({"list": 1}, [], before)


def test_a_verdict_that_comes_later_is_what_the_wiki_says(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.upload(trial(tmp_path / "one"), "runs/")
    _night(bucket, tmp_path / "wiki", script)
    bucket.upload(trial(tmp_path / "one", verdict=False), "runs/")
    _night(bucket, tmp_path / "wiki", script)
    assert bucket.read == {"runs/run.traj.json": 1, "runs/report.json": 1}
    ingest([tmp_path / "one"], tmp_path / "local", script.engine)
    assert changed(_pages(tmp_path / "wiki"), _pages(tmp_path / "local")) == []
    _night(bucket, tmp_path / "wiki", script)
    assert bucket.asked == {"list": 1}


_LINES = b"".join(
    json.dumps({"type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s-1",
                "timestamp": f"2026-01-01T10:00:0{at}Z", "message": {"role": kind, "content": text}}).encode() + b"\n"
    for at, (kind, text) in enumerate((("user", "Fix the cart."), ("assistant", "I look."), ("user", "And the till."),
                                       ("assistant", "Both add up now.")))
)  # fmt: skip


@pytest.mark.parametrize("order", list(permutations(("first", "more", "verdict"))))
def test_a_recording_in_pieces_and_its_verdict_give_the_bytes_of_one_run_in_any_order(
    tmp_path: Path, script: Script, bucket: Bucket, order: tuple[str, ...]
) -> None:
    document = (trial(tmp_path / "one", verdict=True) / "run.traj.json").read_bytes()
    verdict = (tmp_path / "one" / "report.json").read_bytes()
    half = _LINES[: len(_LINES) // 2 + 9]  # which ends within a line
    lines, documents = iter([half, _LINES]), iter([document[: len(document) // 2], document])
    for piece in order:
        if piece == "verdict":
            bucket.put("one/report.json", verdict)
        else:
            bucket.put("two/s-1.jsonl", next(lines))
            bucket.put("one/run.traj.json", next(documents))
        _night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_an_object_that_grows_by_another_session_is_what_the_record_of_its_first_one_names(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    other = _LINES.replace(b"s-1", b"s-2").replace(b'"u', b'"v')
    bucket.put("both.jsonl", _LINES)
    bucket.put("longer.jsonl", b"")
    _night(bucket, tmp_path / "wiki", script)
    bucket.put("both.jsonl", _LINES + other)
    assert _night(bucket, tmp_path / "wiki", script).sessions == {"mined": 1, "unchanged": 1}
    more = _LINES.splitlines(keepends=True)[-1].replace(b"u3", b"u4").replace(b'"u2"', b'"u3"')
    bucket.put("longer.jsonl", _LINES + more)
    _night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


@pytest.mark.parametrize("name", ["otlp/openai-agents-chat", "otlp/pydantic-ai", "clients/copilot-cli/output/fix"])
def test_what_comes_before_the_line_that_names_its_session_leaves_no_session_of_its_own(
    tmp_path: Path, script: Script, bucket: Bucket, name: str
) -> None:
    lines = (DATA / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    for count in (5, 6, len(lines) - 2, len(lines)):
        bucket.put("spans.jsonl", b"".join(lines[:count]))
        _night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def _grown(folder: Path, *, whole: bool) -> bytes:
    """A recording whose session has no id but what it says."""
    document = json.loads((trial(folder) / "run.traj.json").read_text(encoding="utf-8"))
    if whole:
        document["messages"].append({"role": "assistant", "content": "Done."})
    return json.dumps(document).encode()


def _plain(*, whole: bool) -> bytes:
    messages: list[Any] = chat("any")["messages"]
    return json.dumps({"messages": messages if whole else messages[:3]}).encode()


@pytest.mark.parametrize("cut", [False, True])
def test_a_session_known_by_its_content_is_one_session_when_its_recording_grows(
    tmp_path: Path, script: Script, bucket: Bucket, cut: bool
) -> None:
    for whole in (False, True):
        if whole and cut:
            bucket.put("run.traj.json", _grown(tmp_path / "t", whole=True)[:-9])
            _night(bucket, tmp_path / "wiki", script)
        bucket.put("run.traj.json", _grown(tmp_path / "t", whole=whole))
        bucket.put("plain.json", _plain(whole=whole))
        _night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []
    assert len(list((tmp_path / "wiki" / "_sessions").iterdir())) == 2


@pytest.mark.parametrize("status", ["waiting", "failed"])
def test_which_sessions_an_object_held_is_known_until_its_new_version_has_an_answer(
    bucket: Bucket, status: str
) -> None:
    path = bucket.path("a.json")
    cache: recordings_cache.Cache = {
        str(path): {"size": 1, "changed": "one", "terms": [], "sessions": [["former", "d", "mined"]]}
    }
    failures = [Failure("answer", "new", "it does not fit")] if status == "failed" else []
    mined = Mined("a.json", (2, "two"), sessions=[SessionReport("new", status, failures=failures)])
    for _ in range(2):
        recordings_cache.note(cache, path, mined, terms=[])
        assert recordings_cache.former_ids(cache, path) == ("former",)


def test_a_copy_of_the_shorter_recording_keeps_its_session(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for key in ("a.json", "copy/a.json"):
        bucket.put(key, _plain(whole=False))
    _night(bucket, tmp_path / "wiki", script)
    bucket.put("a.json", _plain(whole=True))
    _night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_an_object_with_another_conversation_instead_adds_a_session(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("a.json", _plain(whole=False))
    _night(bucket, tmp_path / "wiki", script)
    bucket.put("a.json", _plain(whole=True).replace(b"fix the cart", b"mend the till"))
    _night(bucket, tmp_path / "wiki", script)
    assert len(list((tmp_path / "wiki" / "_sessions").iterdir())) == 2


def test_an_object_that_fails_three_nights_is_set_aside_and_let_in_again(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    def broken(key: str) -> None:
        if key == "bad.json":
            raise OSError("HTTP error: operation timed out\n\nDebug source:\nGeneric")

    for name in ("good", "bad"):
        bucket.put(f"{name}.json", _session(name))
    bucket.put("cut.json", b'{"messages": [')
    bucket.breaks = broken
    for _ in range(3):
        report = _night(bucket, tmp_path / "wiki", script)
        failures = sorted(map(str, report.failures))
        assert [line.rpartition("/")[2].partition(":")[0] for line in failures] == ["bad.json", "cut.json"]
        assert failures[0] == f"{bucket.url}/bad.json: HTTP error: operation timed out"
    report = _night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, len(report.set_aside), bucket.asked) == (0, 2, {"list": 1})
    assert any("--retry-set-aside" in line for line in report.lines())
    bucket.breaks = lambda _key: None
    report = _night(bucket, tmp_path / "wiki", script, retry_set_aside=True)
    assert (report.exit_code, report.set_aside, bucket.read) == (1, [], {"bad.json": 1, "cut.json": 1})
    bucket.put("cut.json", _session("cut"))
    report = _night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, report.set_aside, bucket.read) == (0, [], {"cut.json": 1})


def test_what_goes_or_changes_after_the_listing_is_a_warning(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    def meanwhile(key: str) -> None:
        if key == "a.json":
            bucket.store.delete(key)
        elif key == "b.json":
            bucket.store.put(key, _session("b", more=2))

    for name in ("a", "b", "c"):
        bucket.put(f"{name}.json", _session(name))
    bucket.breaks = meanwhile
    report = _night(bucket, tmp_path / "wiki", script)
    assert (report.exit_code, report.sessions) == (0, {"mined": 1})
    assert [line.rpartition("/")[2] for line in sorted(report.warnings)] == [
        "a.json: it went after it was listed",
        "b.json: it changed after it was listed; the next run reads it",
    ]
    bucket.breaks = lambda _key: None
    assert _night(bucket, tmp_path / "wiki", script).recordings == 2
    assert bucket.read == {"b.json": 1}


def test_what_is_no_longer_in_the_bucket_leaves_the_state_and_not_the_wiki(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"{name}.json", _session(name))
    _night(bucket, tmp_path / "wiki", script)
    bucket.store.delete("a.json")
    bucket.put("c.json", _session("c"))
    (gone,) = _night(bucket, tmp_path / "wiki", script).warnings
    assert gone == f"1 recording is gone from the bucket, what was learnt stays (wiki forget): {bucket.url}/a.json"
    state = (tmp_path / "wiki" / bucket_state.NAME).read_text(encoding="utf-8")
    assert [json.loads(line)["key"].rpartition("/")[2] for line in state.splitlines()] == ["b.json", "c.json"]
    assert (tmp_path / "wiki" / "_sessions" / "a.json").is_file()


def test_what_is_gone_from_two_listings_is_said_once_and_of_many_some_are_named(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in "abcde":
        bucket.put(f"p/{name}.json", _session(name))
    named = [bucket.path(), bucket.path("p")]
    ingest(named, tmp_path / "wiki", script.engine)
    for name in "abcd":
        bucket.store.delete(f"p/{name}.json")
    bucket.put("p/f.json", _session("f"))
    (gone,) = ingest(named, tmp_path / "wiki", script.engine).warnings
    assert gone.startswith("4 recordings are gone ")
    assert gone.endswith("/c.json and 1 more")


def test_two_nights_on_branches_that_git_merges_read_nothing_again(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    repository = Repository(tmp_path / "repository")
    bucket.put("a.json", _session("a"))
    bucket.put("d.json", _session("d"))
    _night(bucket, repository.wiki, script)
    repository.commit()
    for branch, name in (("one", "b"), ("two", "c")):
        repository.branch(branch)
        bucket.put(f"{name}.json", _session(name))
        _night(bucket, repository.wiki, script, selection=Selection(exclude=("b.json",) if branch == "two" else ()))
        repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-edit", "one")
    repository.git("merge", "--quiet", "--no-edit", "two")
    report = _night(bucket, repository.wiki, script)
    assert (report.exit_code, bucket.asked) == (0, {"list": 1})
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(repository.wiki), tree(tmp_path / "at once")) == []


def test_an_object_that_two_branches_read_in_different_versions_is_read_again(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("a.json", _session("a"))
    _night(bucket, tmp_path / "one", script)
    bucket.put("a.json", _session("a", more=1))
    _night(bucket, tmp_path / "two", script)
    ours, theirs = (tmp_path / name / bucket_state.NAME for name in ("one", "two"))
    ours.write_bytes(b"<<<<<<< ours\n" + ours.read_bytes() + b"=======\n" + theirs.read_bytes() + b">>>>>>> theirs\n")
    _night(bucket, tmp_path / "one", script)
    assert bucket.read == {"a.json": 1}
    assert changed(tree(tmp_path / "one"), tree(tmp_path / "two")) == []


def test_a_joined_wiki_knows_what_both_have_read(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for name in ("a", "b"):
        bucket.put(f"{name}.json", _session(name))
        _night(bucket, tmp_path / name, script, selection=Selection(include=(f"{name}.json",)))
    config = tmp_path / "a" / "_config.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}trust: [b]\n", encoding="utf-8")
    options = Options(tmp_path / "a", engine=script.engine)
    join_wikis([tmp_path / "b"], options, Report("join", "a"), no_progress)
    _night(bucket, tmp_path / "a", script)
    assert bucket.asked == {"list": 1}


def test_only_what_is_selected_is_read_and_the_rest_waits(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for name in ("p/a.json", "p/old/b.json", "q/c.json", "q/d.txt"):
        bucket.put(name, _session(name[2:]))
    selection = Selection(include=("*.json",), exclude=("p/old/*",), most=1)
    first = _night(bucket, tmp_path / "wiki", script, selection=selection)
    assert first.warnings == ["1 new or changed recordings wait for the next run (--max-objects 1)"]
    second = _night(bucket, tmp_path / "wiki", script, selection=selection)
    assert (bucket.read, second.warnings) == ({"q/c.json": 1}, [])
    _night(bucket, tmp_path / "wiki", script, selection=Selection(since="2999-01-01"))
    assert bucket.asked == {"list": 1}
    with pytest.raises(UsageError, match="--since yesterday: not a date"):
        _night(bucket, tmp_path / "wiki", script, selection=Selection(since="yesterday"))


def test_two_objects_with_one_session_are_read_once(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for key, more in (("a.json", 0), ("copies/a.json", 1), ("z.json", 0)):
        bucket.put(key, _session("a", more=more))
    _night(bucket, tmp_path / "wiki", script)
    report = _night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.sessions) == ({"list": 1}, {"unchanged": 1, "older": 2})


def test_of_equal_copies_the_same_one_counts_in_whichever_order_they_come(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for order in ("bac", "cba"):
        for folder in order:
            bucket.put(f"{folder}/s.json", _session("x"))
            _night(bucket, tmp_path / order, script)
        bucket.store.delete([f"{folder}/s.json" for folder in order])
        states = bucket_state.load(WikiFolder(tmp_path / order))
        assert [states[key]["sessions"][0][2] for key in sorted(states)] == ["older", "older", "mined"]


def test_of_a_forgotten_session_no_line_is_left_and_its_object_is_named(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for name in ("a", "b"):
        bucket.put(f"{name}.json", _session(name))
    _night(bucket, tmp_path / "wiki", script)
    forgotten = forget(tmp_path / "wiki", ["a"], Report("forget", "wiki"), no_progress)
    assert forgotten.recordings == [f"{bucket.url}/a.json"]
    assert (forgotten.remaining, b"a.json" in (tmp_path / "wiki" / bucket_state.NAME).read_bytes()) == ([], False)


def test_a_dry_run_reads_and_writes_nothing(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.put("a.json", _session("a"))
    report = _night(bucket, tmp_path / "wiki", script, dry_run=True)
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
        assert _night(bucket, tmp_path / "wiki", script).exit_code == 1
        assert bucket.read == {"notes.txt": 1}
    assert not (tmp_path / "wiki").exists()
    (tmp_path / "wiki" / ".wiki").mkdir(parents=True)  # as the nightly job does
    for read in ({"notes.txt": 1}, {}):
        _night(bucket, tmp_path / "wiki", script)
        assert (tmp_path / "wiki" / "index.md").is_file()
        assert bucket.read == read


def test_a_key_that_holds_a_secret_is_not_written_down(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6" * 3
    bucket.put(f"{secret}.json", _session("a"))
    for _ in range(2):
        report = _night(bucket, tmp_path / "wiki", script)
        assert bucket.read == {f"{secret}.json": 1}
    assert report.exit_code == 0
    assert secret.encode() not in b"".join(tree(tmp_path / "wiki").values())
