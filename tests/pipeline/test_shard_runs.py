"""Shards that are mined apart and joined give the bytes of one run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from agent_wiki.commands import main
from agent_wiki.engine import no_progress
from agent_wiki.errors import UsageError
from agent_wiki.pipeline import mine, shard_runs
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.pipeline.mine_shard import mine_shard, share_of
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.shards import Shard
from agent_wiki.readers.recording_path import RecordingPath
from tests.pipeline.test_beside import trial
from tests.wikis import Script, changed, ingest, record, rule, skill, tree


@pytest.fixture
def script(tmp_path: Path) -> Script:
    made = Script(tmp_path)
    for name in ("s-0", "s-3", "s-5"):
        made.says(name, rules=[rule(f"Run the check before {name}."), rule("Run the check first.")])
    made.says("s-1", skill=skill("check-first"), rules=[rule("Run the check first.")])
    return made


def traces(folder: Path, seed: int = 0) -> Path:
    """Sessions, parts and copies of some of them, a session's subagent, trials with and without a verdict."""
    rng = Random(seed)
    for number in range(6):
        record(folder / f"team-{rng.randrange(3)}", f"s-{number}")
    record(folder / "parts", "s-0", more=1, name="s-0-2.json")
    record(folder / "old" / "copies", "s-1")
    shutil.copyfile(folder / "old" / "copies" / "s-1.json", folder / "old" / "again.json")
    record(folder / "older" / "copies", "s-1", name="s-1.json")
    for name, verdict in (("one", True), ("two", False), ("three", None)):
        made = trial(folder / "runs" / name, verdict)
        text = (made / "run.traj.json").read_text(encoding="utf-8")
        (made / "run.traj.json").write_text(text.replace("Fix the cart.", f"Fix cart {name}."), encoding="utf-8")
    lines = [
        {"type": "user", "uuid": f"u-{agent}", "sessionId": "c-1", "timestamp": "2026-01-01T10:00:00Z",
         "message": {"role": "user", "content": "Look."}, **({"agentId": agent, "isSidechain": True} if agent else {})}
        for agent in ("", "a1")
    ]  # fmt: skip
    (folder / "c-1" / "subagents").mkdir(parents=True)
    (folder / "c-1.jsonl").write_text(json.dumps(lines[0]) + "\n", encoding="utf-8")
    (folder / "c-1" / "subagents" / "agent-a1.jsonl").write_text(json.dumps(lines[1]) + "\n", encoding="utf-8")
    (folder / "notes.md").write_text("# Notes\n", encoding="utf-8")
    (folder / "empty.jsonl").write_bytes(b"")
    return folder


def shard(recordings: RecordingPath, number: int, count: int, out: RecordingPath, base: Path, engine: str) -> Report:
    """Mine one shard."""
    options = share_of(Options(base, engine=engine), Shard(number, count))
    return mine_shard(out, [recordings], options, Report("ingest", str(base)), no_progress)


def join(others: Iterable[RecordingPath], wiki: Path, engine: str) -> Report:
    """Join wikis, shards and folders of shards."""
    return join_wikis(list(others), Options(wiki, engine=engine), Report("join", str(wiki)), no_progress)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), list(enumerate((1, 2, 3, 5))))
def test_shards_joined_in_any_order_some_twice_are_one_run(
    tmp_path: Path, script: Script, seed: int, count: int
) -> None:
    recordings = traces(tmp_path / "traces", seed)
    out, base, engine = tmp_path / "out", tmp_path / "none", script.engine
    numbers = list(range(1, count + 1))
    Random(seed).shuffle(numbers)
    read = sum(shard(recordings, number, count, out, base, engine).recordings for number in [*numbers, numbers[0]])
    assert not base.exists()
    places = [out / f"shard-{number}-of-{count}" for number in (*numbers, numbers[0])]
    report = join(places, tmp_path / "joined", engine)
    whole = ingest([recordings], tmp_path / "whole", engine)
    assert (report.exit_code, report.warnings) == (0, [])
    assert read >= whole.recordings == 19
    assert changed(tree(tmp_path / "joined"), tree(tmp_path / "whole")) == []


def test_a_share_without_a_recording_is_no_failure_unless_all_are(tmp_path: Path, script: Script) -> None:
    recordings, joined = tmp_path / "traces", tmp_path / "joined"
    recordings.mkdir()
    for number in range(8):
        (recordings / f"{number}.txt").write_text("no recording", encoding="utf-8")
    for number in (1, 2):
        assert shard(recordings, number, 2, tmp_path / "out", joined, script.engine).exit_code == 0
    (failure,) = join([tmp_path / "out"], joined, script.engine).failures
    assert failure.reason == "no recording in any of these shards"
    record(recordings, "s-0")
    for number in (1, 2):
        assert shard(recordings, number, 2, tmp_path / "out", joined, script.engine).exit_code == 0
    assert join([tmp_path / "out"], joined, script.engine).exit_code == 0


def test_shards_that_are_joined_one_by_one_are_one_run_once_all_are_there(tmp_path: Path, script: Script) -> None:
    recordings = traces(tmp_path / "traces")
    for number in (1, 2, 3):
        shard(recordings, number, 3, tmp_path / "out", tmp_path / "wiki", script.engine)
    missing = []
    for number in (2, 3, 1):
        report = join([tmp_path / "out" / f"shard-{number}-of-3"], tmp_path / "wiki", script.engine)
        missing.append([failure.unit for failure in report.failures])
    assert missing == [["shard 1/3", "shard 3/3"], ["shard 1/3", "shard 2/3"], ["shard 2/3", "shard 3/3"]]
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "whole")) == []


def test_a_second_night_reads_what_is_new_and_joins_to_the_wiki_of_one_run(tmp_path: Path, script: Script) -> None:
    recordings, wiki = traces(tmp_path / "traces"), tmp_path / "wiki"
    ingest([recordings], wiki, script.engine)
    record(recordings / "team-1", "s-9")
    record(recordings / "parts", "s-0", more=2, name="s-0-2.json")
    shutil.copyfile(recordings / "runs" / "one" / "report.json", recordings / "runs" / "three" / "report.json")
    before = tree(wiki)
    unchanged = 0
    for number in (1, 2):
        report = shard(recordings, number, 2, tmp_path / "out", wiki, script.engine)
        unchanged += report.recordings_unchanged
    assert (unchanged, tree(wiki)) == (17, before)
    assert len(list((tmp_path / "out").glob("shard-*/_sessions/*.json"))) == 3
    assert join([tmp_path / "out"], wiki, script.engine).exit_code == 0
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(wiki), tree(tmp_path / "whole")) == []
    assert ingest([recordings], wiki, script.engine).recordings_unchanged == 21


def test_a_shard_that_was_killed_is_missing_until_it_has_run_again(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings, out = traces(tmp_path / "traces"), tmp_path / "out"
    for number in (1, 2):
        shard(recordings, number, 2, out, tmp_path / "none", script.engine)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shard_runs.ShardRun, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            shard(recordings, 2, 2, out, tmp_path / "none", script.engine)
    not_ended = f"{out / 'shard-2-of-2'}: this shard has not ended; run it, then join again"
    report = join([out], tmp_path / "joined", script.engine)
    assert [str(each) for each in report.failures] == [not_ended]
    report = join([out / "shard-2-of-2"], tmp_path / "joined", script.engine)
    assert [str(each) for each in report.failures] == [not_ended, "shard 1/2: is missing; run it, then join it"]
    shard(recordings, 2, 2, out, tmp_path / "none", script.engine)
    assert join([out], tmp_path / "joined", script.engine).exit_code == 0
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "joined"), tree(tmp_path / "whole")) == []


def test_a_shard_that_continues_asks_nothing_twice_and_drops_what_is_gone(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings, out = traces(tmp_path / "traces"), tmp_path / "out"
    shard(recordings, 1, 1, out, tmp_path / "none", script.engine)
    gone = next(recordings.glob("team-*/s-3.json"))
    gone.unlink()
    monkeypatch.setattr(mine, "mined_record", lambda *_: None)
    report = shard(recordings, 1, 1, out, tmp_path / "none", script.engine)
    assert (report.exit_code, report.sessions["mined"]) == (0, 0)
    monkeypatch.undo()
    assert join([out], tmp_path / "joined", script.engine).exit_code == 0
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "joined"), tree(tmp_path / "whole")) == []


def test_a_shard_that_lost_a_record_on_its_way_is_not_joined(tmp_path: Path, script: Script) -> None:
    shard(traces(tmp_path / "traces"), 1, 1, tmp_path / "out", tmp_path / "none", script.engine)
    next((tmp_path / "out" / "shard-1-of-1" / "_sessions").iterdir()).unlink()
    report = join([tmp_path / "out"], tmp_path / "joined", script.engine)
    assert (report.exit_code, report.sessions["joined"]) == (1, 0)
    assert "not those that it ended with" in report.failures[0].reason


def test_what_failed_in_a_shard_is_reported_once_where_it_is_joined(tmp_path: Path, script: Script) -> None:
    recordings = traces(tmp_path / "traces")
    (recordings / "cut.json").write_text('{"messages": [', encoding="utf-8")
    for number in (1, 2):
        shard(recordings, number, 2, tmp_path / "out", tmp_path / "none", script.engine)
    shutil.copytree(tmp_path / "out", tmp_path / "copy")
    report = join([tmp_path / "out", tmp_path / "copy"], tmp_path / "joined", script.engine)
    whole = ingest([recordings], tmp_path / "whole", script.engine)
    assert report.failures == whole.failures
    assert (report.exit_code, len(report.failures)) == (1, 1)
    assert changed(tree(tmp_path / "joined"), tree(tmp_path / "whole")) == []


def test_shards_of_other_listings_are_joined_with_a_warning(tmp_path: Path, script: Script) -> None:
    recordings = traces(tmp_path / "traces")
    shard(recordings, 1, 2, tmp_path / "out", tmp_path / "none", script.engine)
    record(recordings, "late")
    shard(recordings, 2, 2, tmp_path / "out", tmp_path / "none", script.engine)
    report = join([tmp_path / "out"], tmp_path / "joined", script.engine)
    assert report.exit_code == 0
    assert ["the 2 shards did not list the same recordings" in line for line in report.warnings] == [True]


def test_a_shard_takes_the_owners_settings_from_the_wiki(tmp_path: Path, script: Script) -> None:
    wiki, recordings = tmp_path / "wiki", traces(tmp_path / "traces")
    ingest([recordings], wiki, script.engine)
    (wiki / "prompts").mkdir()
    (wiki / "prompts" / "summarize.md").write_text("Own words.", encoding="utf-8")
    shard(recordings, 1, 1, tmp_path / "out", wiki, script.engine)
    place = tmp_path / "out" / "shard-1-of-1"
    for name in ("_config.yaml", "prompts/summarize.md"):
        assert (place / name).read_bytes() == (wiki / name).read_bytes()
    (wiki / "prompts" / "summarize.md").unlink()
    shard(recordings, 1, 1, tmp_path / "out", wiki, script.engine)
    assert list((place / "prompts").iterdir()) == []


def test_without_out_a_shard_is_mined_into_the_wiki_itself(tmp_path: Path, script: Script) -> None:
    recordings = traces(tmp_path / "traces")
    for number in (2, 1):
        selection = Selection(shard=Shard(number, 2))
        ingest([recordings], tmp_path / "wiki", script.engine, selection=selection)
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "whole")) == []


def test_the_commands_as_a_job_of_ci_types_them(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recordings, out, wiki = traces(tmp_path / "traces"), str(tmp_path / "out"), ["--wiki", str(tmp_path / "wiki")]
    ingested = ["ingest", str(recordings), *wiki, "--engine", script.engine, "--jobs", "1"]
    monkeypatch.setenv("CI_NODE_TOTAL", "2")
    for number in ("2", "1"):
        monkeypatch.setenv("CI_NODE_INDEX", number)
        assert main([*ingested, "--shard", "auto", "--out", out]) == 0
    assert main(["join", out, *wiki, "--engine", script.engine]) == 0
    ingest([recordings], tmp_path / "whole", script.engine)
    assert changed(tree(tmp_path / "wiki"), tree(tmp_path / "whole")) == []
    capsys.readouterr()
    for words, said in (
        (["--shard", "3/2"], "wiki: --shard 3/2: there is no shard 3/2; of n shards they are 1/n to n/n\n"),
        (["--out", out], "wiki: --out needs --shard\n"),
        (
            ["--shard", "1/2", "--out", f"{recordings}/out"],
            f"wiki: --out {recordings}/out: it lies below {recordings},",
        ),
        (["--shard", "1/2", "--out", out, "--max-new-pages", "3"], "wiki: --max-new-pages is for the whole wiki, "),
    ):
        assert main([*ingested, *words]) == 2
        assert capsys.readouterr().err.startswith(said)


def test_a_dry_run_of_a_shard_writes_nothing(tmp_path: Path, script: Script) -> None:
    recordings = traces(tmp_path / "traces")
    options = share_of(Options(tmp_path / "wiki", engine=script.engine, dry_run=True), Shard(1, 2))
    report = mine_shard(tmp_path / "out", [recordings], options, Report("ingest", "wiki"), no_progress)
    assert (report.recordings > 0, (tmp_path / "wiki").exists(), (tmp_path / "out").exists()) == (True, False, False)


def test_a_folder_without_shards_is_refused(tmp_path: Path, script: Script) -> None:
    with pytest.raises(UsageError, match=r"no wiki .* no shard, and none below it"):
        join([tmp_path], tmp_path / "joined", script.engine)
