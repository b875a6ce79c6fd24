"""What a run keeps of its own does not lie among the recordings that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.asking.options import AskingOptions
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.inputs import FoundFiles, Selection
from agent_wiki.pipeline.own_places import refuse_among_recordings
from tests.buckets.nights import night, session_bytes
from tests.buckets.stores import Bucket
from tests.wikis import Script, ingest, record, tree


@pytest.mark.parametrize(
    ("recordings", "place", "is_below"),
    [
        ("s3://b/traces", "s3://b/traces/state", True),
        ("s3://b/traces", "s3://b/traces", True),
        ("s3://b/traces", "s3://b/traces-state", False),
        ("s3://b/traces", "s3://c/traces/state", False),
        ("s3://b/", "s3://b/state", True),
        ("s3://b/traces/a.json", "s3://b/traces", False),
        ("traces", "../traces/packs", True),
        ("traces", "../packs", False),
        ("traces", "s3://b/traces", False),
        ("file:///srv/traces", "/srv/traces/packs", True),
        ("/srv/traces", "file:///srv/traces/packs", True),
    ],
)
def test_what_lies_below_recordings_is_refused(
    recordings: str, place: str, is_below: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = FoundFiles([], named=("elsewhere", recordings))
    for wiki in (Path("wiki"), tmp_path / "wiki"):
        if not is_below:
            refuse_among_recordings("sidecar", place, wiki, inputs, Selection())
            continue
        with pytest.raises(UsageError, match=f"^sidecar {place} lies below {recordings}, and would be read as "):
            refuse_among_recordings("sidecar", place, wiki, inputs, Selection())


@pytest.mark.parametrize(
    ("patterns", "is_left_out"), [(("state/*",), True), (("*/journal/*",), True), (("*.json",), False)]
)
def test_a_place_that_is_excluded_is_not_among_the_recordings(patterns: tuple[str, ...], is_left_out: bool) -> None:
    inputs, selection = FoundFiles([], named=("s3://b/",)), Selection(exclude=patterns)
    if is_left_out:
        refuse_among_recordings("--journal-store", "s3://b/state/journal", Path("wiki"), inputs, selection)
    else:
        with pytest.raises(UsageError, match=r"or leave it out by --exclude$"):
            refuse_among_recordings("--journal-store", "s3://b/state/journal", Path("wiki"), inputs, selection)


@pytest.mark.parametrize(
    ("patterns", "is_left_out"),
    [
        (("traces/*",), True),
        (("*/traces/*",), False),
        (("traces/*.json", "a?c/*"), True),
        (("traces/*", "sta*"), False),
        (("state/*.jsonl",), False),
        (("state/journal",), True),
        (("*/state/*",), False),
        (("state/[a-z]*/x.json",), False),
        (("*.json",), False),
    ],
)
def test_a_place_that_no_included_file_can_lie_in_is_not_among_the_recordings(
    patterns: tuple[str, ...], is_left_out: bool
) -> None:
    inputs, selection = FoundFiles([], named=("s3://b/",)), Selection(include=patterns)
    if is_left_out:
        refuse_among_recordings("--journal-store", "s3://b/state/journal", Path("wiki"), inputs, selection)
    else:
        with pytest.raises(UsageError, match="lies below s3://b/"):
            refuse_among_recordings("--journal-store", "s3://b/state/journal", Path("wiki"), inputs, selection)


@pytest.mark.parametrize("summaries", ["sidecar:../traces/packs", "elsewhere"])
def test_a_run_that_is_refused_leaves_no_wiki_behind(summaries: str, tmp_path: Path) -> None:
    record(tmp_path / "traces", "a")
    before = tree(tmp_path)
    with pytest.raises(RunError):
        ingest([tmp_path / "traces"], tmp_path / "wiki", "offline", summaries=summaries)
    assert tree(tmp_path) == before
    assert not (tmp_path / "wiki").exists()


def test_a_run_with_its_journal_among_the_recordings_does_nothing(tmp_path: Path) -> None:
    bucket, script = Bucket(), Script(tmp_path)
    bucket.put("a.json", session_bytes("a"))
    with pytest.raises(UsageError, match=r"^--journal-store memory://.* lies below memory://"):
        night(bucket, tmp_path / "wiki", script, asking=AskingOptions(journal_store=f"{bucket.url}/journal"))
    assert not (tmp_path / "wiki").exists()


def test_a_run_with_its_packs_among_the_recordings_writes_nothing(tmp_path: Path) -> None:
    script, wiki, packs = Script(tmp_path), tmp_path / "wiki", tmp_path / "traces" / "packs"
    record(tmp_path / "traces", "a")
    with pytest.raises(UsageError, match=r"^sidecar \.\./traces/packs lies below "):
        ingest([tmp_path / "traces"], wiki, script.engine, summaries="sidecar:../traces/packs")
    assert not packs.exists()
    ingest([tmp_path / "traces" / "a.json"], wiki, script.engine, summaries="sidecar:../traces/packs")
    before, kept = tree(wiki), tree(packs)
    record(tmp_path / "traces", "b")
    with pytest.raises(UsageError, match=r"^sidecar \.\./traces/packs lies below "):
        ingest([tmp_path / "traces"], wiki, script.engine)
    assert (tree(wiki), tree(packs)) == (before, kept)
