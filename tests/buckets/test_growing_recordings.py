"""Recordings that come in pieces, grow, or lie twice in a bucket, night after night: each session is one."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.pipeline import bucket_state, inputs, recordings_cache
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.mine import Mined
from agent_wiki.pipeline.report import Failure
from agent_wiki.pipeline.session_stages import SessionReport
from agent_wiki.pipeline.shards import Shard
from agent_wiki.wiki.store import WikiFolder
from tests.buckets.nights import night, pages_but_buckets, session_bytes
from tests.buckets.stores import Bucket
from tests.pipeline.test_beside import trial
from tests.pipeline.test_shard_runs import join, shard
from tests.wikis import Script, changed, chat, ingest, tree

DATA = Path(__file__).parents[1] / "data"


def test_a_verdict_that_comes_later_is_what_the_wiki_says(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.upload(trial(tmp_path / "one"), "runs/")
    night(bucket, tmp_path / "wiki", script)
    bucket.upload(trial(tmp_path / "one", verdict=False), "runs/")
    night(bucket, tmp_path / "wiki", script)
    assert bucket.read == {"runs/run.traj.json": 1, "runs/report.json": 1}
    ingest([tmp_path / "one"], tmp_path / "local", script.engine)
    assert changed(pages_but_buckets(tmp_path / "wiki"), pages_but_buckets(tmp_path / "local")) == []
    night(bucket, tmp_path / "wiki", script)
    assert bucket.asked == {"list": 1}


def test_a_verdict_that_came_since_lets_in_a_recording_that_is_older(
    tmp_path: Path, script: Script, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.upload(trial(tmp_path / "one"), "runs/")
    night(bucket, tmp_path / "wiki", script)
    monkeypatch.setattr(inputs, "_changed", lambda path: 0 if path.name == "run.traj.json" else 1 << 62)
    since = Selection(since="2020-01-01")
    assert night(bucket, tmp_path / "wiki", script, selection=since).exit_code == 0
    assert bucket.read == {}
    bucket.upload(trial(tmp_path / "one", verdict=False), "runs/")
    report = night(bucket, tmp_path / "wiki", script, selection=since)
    assert (report.exit_code, report.failures) == (0, [])
    ingest([tmp_path / "one"], tmp_path / "local", script.engine)
    assert changed(pages_but_buckets(tmp_path / "wiki"), pages_but_buckets(tmp_path / "local")) == []


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
        night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_an_object_that_grows_by_another_session_is_what_the_record_of_its_first_one_names(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    other = _LINES.replace(b"s-1", b"s-2").replace(b'"u', b'"v')
    bucket.put("both.jsonl", _LINES)
    bucket.put("longer.jsonl", b"")
    night(bucket, tmp_path / "wiki", script)
    bucket.put("both.jsonl", _LINES + other)
    assert night(bucket, tmp_path / "wiki", script).sessions == {"mined": 1, "unchanged": 1}
    more = _LINES.splitlines(keepends=True)[-1].replace(b"u3", b"u4").replace(b'"u2"', b'"u3"')
    bucket.put("longer.jsonl", _LINES + more)
    night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_shards_of_a_later_night_know_which_recording_of_a_session_is_the_lesser_one_now(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    more = _LINES.splitlines(keepends=True)[-1].replace(b"u3", b"u4").replace(b'"u2"', b'"u3"')
    wiki = tmp_path / "wiki"
    names = [next(name for name in map("{}.jsonl".format, range(99)) if Shard(at, 2).has(name)) for at in (1, 2)]
    for name, content in zip(names, (_LINES, _LINES + more), strict=True):
        bucket.put(name, content)
        for number in (2, 1):
            shard(bucket.path(), number, 2, tmp_path / name, wiki, script.engine)
        join([tmp_path / name], wiki, script.engine)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(wiki), tree(tmp_path / "at once")) == []
    bucket.count()
    night(bucket, wiki, script)
    assert bucket.asked == {"list": 1}


@pytest.mark.parametrize("name", ["otlp/openai-agents-chat", "otlp/pydantic-ai", "clients/copilot-cli/output/fix"])
def test_what_comes_before_the_line_that_names_its_session_leaves_no_session_of_its_own(
    tmp_path: Path, script: Script, bucket: Bucket, name: str
) -> None:
    lines = (DATA / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    for count in (5, 6, len(lines) - 2, len(lines)):
        bucket.put("spans.jsonl", b"".join(lines[:count]))
        night(bucket, tmp_path / "wiki", script)
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
            night(bucket, tmp_path / "wiki", script)
        bucket.put("run.traj.json", _grown(tmp_path / "t", whole=whole))
        bucket.put("plain.json", _plain(whole=whole))
        night(bucket, tmp_path / "wiki", script)
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
    night(bucket, tmp_path / "wiki", script)
    bucket.put("a.json", _plain(whole=True))
    night(bucket, tmp_path / "wiki", script)
    ingest([bucket.path()], tmp_path / "at once", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "at once")) == []


def test_an_object_with_another_conversation_instead_adds_a_session(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("a.json", _plain(whole=False))
    night(bucket, tmp_path / "wiki", script)
    bucket.put("a.json", _plain(whole=True).replace(b"fix the cart", b"mend the till"))
    night(bucket, tmp_path / "wiki", script)
    assert len(list((tmp_path / "wiki" / "_sessions").iterdir())) == 2


def test_two_objects_with_one_session_are_read_once(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    for key, more in (("a.json", 0), ("copies/a.json", 1), ("z.json", 0)):
        bucket.put(key, session_bytes("a", more=more))
    night(bucket, tmp_path / "wiki", script)
    report = night(bucket, tmp_path / "wiki", script)
    assert (bucket.asked, report.sessions) == ({"list": 1}, {"unchanged": 1, "older": 2})


def test_of_equal_copies_the_same_one_counts_in_whichever_order_they_come(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for order in ("bac", "cba"):
        for folder in order:
            bucket.put(f"{folder}/s.json", session_bytes("x"))
            night(bucket, tmp_path / order, script)
        bucket.store.delete([f"{folder}/s.json" for folder in order])
        states = bucket_state.load(WikiFolder(tmp_path / order))
        assert [states[key]["sessions"][0][2] for key in sorted(states)] == ["older", "older", "mined"]


def test_a_verdict_that_cannot_be_read_is_named(tmp_path: Path, script: Script, bucket: Bucket) -> None:
    bucket.upload(trial(tmp_path / "one", verdict=True), "runs/")
    night(bucket, tmp_path / "wiki", script)
    bucket.put("runs/report.json", b'{"resolved": tr')
    report = night(bucket, tmp_path / "wiki", script)
    said = f"{bucket.url}/runs/run.traj.json: report.json beside it is no JSON: what it says is not known"
    assert (report.exit_code, report.warnings.count(said)) == (0, 1)


def test_a_recording_that_waits_for_what_lies_beside_it_is_named(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    def broken(key: str) -> None:
        if key == "runs/report.json":
            raise OSError("HTTP error: 403 Forbidden")

    bucket.upload(trial(tmp_path / "one", verdict=True), "runs/")
    bucket.breaks = broken
    report = night(bucket, tmp_path / "wiki", script)
    verdict = f"{bucket.url}/runs/report.json: HTTP error: 403 Forbidden"
    waiting = f"{bucket.url}/runs/run.traj.json: it needs {verdict}"
    assert sorted(map(str, report.failures)) == [verdict, waiting]
