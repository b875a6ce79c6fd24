"""Wikis that were built apart are joined to the bytes of one that was built from all recordings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pipeline import publish
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.shard_manifest import Manifest, digest_of_records
from agent_wiki.pipeline.shards import Shard
from agent_wiki.wiki.layout import kind_of
from agent_wiki.wiki.records import SessionRecord, content_digest, record_text
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates
from tests.wikis import Script, ingest, record, rule

FOREIGN = "---\ntype: guideline\nid: '000000000001'\n---\n\n# Ask Mia\n\nAsk Mia first.\n"
SKILL = "skill:sum-csv-column"
TRACES = Path(__file__).resolve().parents[2] / "wiki-example" / "traces"


def _quiet(_what: str, _done: int, _of: int) -> None:
    return None


def _ingest(paths: list[Path], wiki: Path) -> None:
    assert run(paths, Options(wiki), Report("ingest", "wiki"), _quiet).exit_code == 0


def _tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".wiki" not in path.parts and path.name != "_audit.log"
    }


@pytest.fixture
def joined(tmp_path: Path) -> Path:
    """A wiki whose owner trusts the parts."""
    wiki = tmp_path / "joined"
    wiki.mkdir()
    trust(wiki, "a", "b", "c")
    return wiki


def trust(wiki: Path, *names: str) -> None:
    config = wiki / "_config.yaml"
    text = (
        config.read_text(encoding="utf-8") if config.exists() else Templates(wiki / "templates").render("config.yaml")
    )
    config.write_text(f"{text}trust: [{', '.join(names)}]\n", encoding="utf-8")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], dict[str, bytes]]:
    """Three wikis of a third of the example's recordings each, one recording in two of them; and the whole's tree."""
    place = tmp_path_factory.mktemp("parts")
    files = sorted(path for path in TRACES.iterdir() if path.is_file())
    wikis = [place / name for name in ("a", "b", "c")]
    for number, wiki in enumerate(wikis):
        _ingest([*files[number::3], files[0]], wiki)
    (place / "whole").mkdir()
    trust(place / "whole", "a", "b", "c")
    _ingest(files, place / "whole")
    return wikis, _tree(place / "whole")


@pytest.mark.long
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0)])
def test_wikis_joined_in_any_order_are_the_wiki_of_all(
    parts: tuple[list[Path], dict[str, bytes]], order: tuple[int, ...], joined: Path
) -> None:
    wikis, whole = parts
    for number in order:
        report = join_wikis([wikis[number]], Options(joined), Report("join", "wiki"), _quiet)
        assert report.exit_code == 0
    assert _tree(joined) == whole


def test_joining_twice_changes_nothing(parts: tuple[list[Path], dict[str, bytes]], joined: Path) -> None:
    wikis, whole = parts
    join_wikis(wikis, Options(joined), Report("join", "wiki"), _quiet)
    again = join_wikis(wikis, Options(joined), Report("join", "wiki"), _quiet)
    assert again.written == []
    assert _tree(joined) == whole


def test_the_other_wiki_is_left_alone(parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path) -> None:
    wikis, _ = parts
    before = _tree(wikis[0])
    join_wikis([wikis[0]], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    assert _tree(wikis[0]) == before


def test_of_the_other_wiki_no_page_is_read_that_a_record_accounts_for(
    parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(parts[0][0], tmp_path / "other", ignore=shutil.ignore_patterns(".wiki"))
    (tmp_path / "other" / "guidelines" / "ask-mia__000000000001.md").write_text(FOREIGN, encoding="utf-8")
    read: list[str] = []
    read_text = WikiFolder.read_text

    def noted(folder: WikiFolder, path: str, *more: Any, **options: Any) -> str | None:
        read.extend([path] if folder.root == tmp_path / "other" else [])
        return read_text(folder, path, *more, **options)

    monkeypatch.setattr(WikiFolder, "read_text", noted)
    join_wikis([tmp_path / "other"], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)
    pages = [path for path in read if kind_of(path) in ("summary", "guideline")]
    assert pages == ["guidelines/ask-mia__000000000001.md"]
    assert "Ask Mia first." in (tmp_path / "joined" / pages[0]).read_text(encoding="utf-8")


def test_a_record_that_is_new_here_is_copied_as_it_is(
    parts: tuple[list[Path], dict[str, bytes]], joined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []

    def noted(record: object) -> str:
        written.append(record)
        return record_text(record)

    monkeypatch.setattr(publish, "record_text", noted)
    join_wikis(parts[0][:1], Options(joined), Report("join", "wiki"), _quiet)
    assert not [each for each in written if isinstance(each, SessionRecord)]
    theirs = {path: text for path, text in _tree(parts[0][0]).items() if path.startswith("_sessions/")}
    assert theirs
    assert {path: text for path, text in _tree(joined).items() if path in theirs} == theirs


@pytest.mark.parametrize("name", ["b", "shard-1-of-1"])
def test_what_a_record_says_twice_is_not_copied_unseen(name: str, joined: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6" * 3
    other, script = tmp_path / name, Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    ingest([record(tmp_path, "a")], other, script.engine)
    (path,) = (other / "_sessions").iterdir()
    kept = path.read_text(encoding="utf-8")
    path.write_text(kept.replace("{", f'{{\n "session_id": "{secret}",', 1), encoding="utf-8")
    if name != "b":
        digest = digest_of_records({f"_sessions/{path.name}": content_digest(path.read_bytes())})
        manifest = Manifest(Shard(1, 1), "", digest, [], {}, [], [], "")
        (other / "shard.json").write_text(manifest.to_text(), encoding="utf-8")
    report = join_wikis([other], Options(joined), Report("join", "wiki"), _quiet)
    assert report.sessions["joined"] == 1
    assert (joined / "_sessions" / path.name).read_text(encoding="utf-8") == kept


def test_a_folder_that_is_no_wiki_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no wiki"):
        join_wikis([tmp_path], Options(tmp_path / "joined"), Report("join", "wiki"), _quiet)


def test_a_wiki_is_not_joined_into_itself(
    parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = shutil.copytree(parts[0][0], tmp_path / "wiki")
    (tmp_path / "same").symlink_to(wiki)
    before = _tree(wiki)
    for other in (wiki, tmp_path / "same"):
        assert main(["join", str(other), "--wiki", str(wiki)]) == 2
        assert capsys.readouterr().err == (
            f"wiki: {wiki}: this is the wiki that others are joined into; name another one\n"
        )
    assert _tree(wiki) == before


def _rows(wiki: Path) -> dict[str, dict[str, Any]]:
    lines = (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines) if row["kind"] in ("guideline", "skill")}


def _trusts(wiki: Path) -> set[str]:
    records = [json.loads(path.read_text(encoding="utf-8")) for path in (wiki / "_sessions").glob("*.json")]
    return {str(record.get("joined_from")) for record in records}


def test_what_a_wiki_says_of_itself_is_strangers_word_until_its_recordings_are_read_here_or_it_is_trusted(
    parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path
) -> None:
    wikis, _ = parts
    theirs, here = _rows(wikis[0]), tmp_path / "here"
    assert {row["trust"] for row in theirs.values()} >= {"user", "assistant"}
    report = join_wikis([wikis[0]], Options(here), Report("join", "wiki"), _quiet)
    assert any("`trust: [a]` is in _config.yaml" in each for each in report.warnings)
    assert _rows(here) == {}  # strangers alone say all of it, so that it is held back
    assert main(["release", SKILL, "--why", "I read it", "--wiki", str(here)]) == 0
    assert {name: row["trust"] for name, row in _rows(here).items()} == {SKILL: "external"}
    assert _trusts(here) == {"a"}
    again = tmp_path / "again"
    shutil.copytree(here, again)
    files = sorted(path for path in TRACES.iterdir() if path.is_file())
    _ingest([*files[0::3]], here)
    assert (_trusts(here), _rows(here)) == ({"None"}, theirs)
    trust(again, "a")
    assert main(["catalog", "--wiki", str(again)]) == 0
    assert _rows(again) == theirs


def test_what_was_read_here_is_never_replaced_by_what_another_wiki_says_of_the_session(
    parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path
) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    for name in (here, other):
        shutil.copytree(parts[0][0], name)
    for path in (other / "_sessions").glob("*.json"):
        text = path.read_text(encoding="utf-8")
        record = json.loads(text) | {"turns": 9_999}
        path.write_text(json.dumps(record), encoding="utf-8")
    before = _tree(here)
    join_wikis([other], Options(here), Report("join", "wiki"), _quiet)
    assert _tree(here) == before


def test_a_wiki_that_calls_itself_a_shard_is_none(parts: tuple[list[Path], dict[str, bytes]], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(parts[0][0], other)
    tree = _tree(other)
    records = {path: content_digest(text) for path, text in tree.items() if path.startswith("_sessions/")}
    manifest = Manifest(Shard(1, 1), "x", digest_of_records(records), [], {}, [], [], "")
    (other / "shard.json").write_text(manifest.to_text(), encoding="utf-8")
    join_wikis([other], Options(tmp_path / "here"), Report("join", "wiki"), _quiet)
    assert _trusts(tmp_path / "here") == {"other"}


@pytest.mark.parametrize("is_trusted", [False, True])
def test_scripts_of_another_wiki_can_be_run_only_where_it_is_trusted(
    parts: tuple[list[Path], dict[str, bytes]], joined: Path, *, is_trusted: bool
) -> None:
    other = joined.parent / ("a" if is_trusted else "other")
    shutil.copytree(parts[0][0], other)
    for path in (other / "_sessions").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        for skill in record["stages"].get("synthesize-skill", {}).get("answer") or ():
            for script in skill["scripts"]:
                script["text"] = "#!/usr/bin/env python3\n" + script["text"]
        path.write_text(json.dumps(record), encoding="utf-8")
    join_wikis([other], Options(joined), Report("join", "wiki"), _quiet)
    if not is_trusted:
        assert main(["release", SKILL, "--why", "I read it", "--wiki", str(joined)]) == 0
    (installed,) = (joined / "skills").glob("*/scripts/*")
    assert bool(installed.stat().st_mode & 0o111) is is_trusted


def _spoiled(record: dict[str, Any]) -> None:
    """What no session can have done: turns that it does not have, effects before causes, a rule that did not run."""
    stages = record["stages"]
    lessons = stages["extract-guidelines"]["answer"]
    lessons[0]["evidence"] = [{"quote": "make check", "trust": "user", "turn": 99}]
    lessons[1] |= {"cause": "checked", "event": 4, "remedy": 2, "confirmation": 3}
    lessons[1]["evidence"].append({"quote": "Never ask.", "trust": "user", "turn": 0})
    lessons[2]["rule_id"] = "user/correction"
    stages["summarize"]["answer"][0] |= {"outcome_turn": 99, "outcome_quote": "Perfect.", "dead_ends": [_DEAD_END]}


_DEAD_END = {"turn": 77, "text": "It went round in circles."}


def test_what_a_joined_record_says_against_itself_is_left_out_and_counted(tmp_path: Path) -> None:
    script, other, here = Script(tmp_path), tmp_path / "a", tmp_path / "here"
    texts = ("Run the check first.", "Ask for the currency.", "Read the log of the check.")
    script.says("s", rules=[rule(each, title=f"Lesson {number} of it") for number, each in enumerate(texts)])
    ingest([record(tmp_path / "t", "s")], other, script.engine)
    here.mkdir()
    trust(here, "a")
    honest = join_wikis([other], Options(here), Report("join", "wiki"), _quiet)
    assert (honest.dropped_claims, len(_rows(here))) == ([], 3)
    path = other / "_sessions/s.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    _spoiled(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    (here / "_sessions/s.json").unlink()
    report = join_wikis([other], Options(here), Report("join", "wiki"), _quiet)
    assert sorted(each.reason for each in report.dropped_claims) == [
        "dead ends of turns that the session does not have",
        "it cites turn 0",
        "it cites turn 99",
        "its outcome rests on a turn that the session does not have",
        "no valid evidence",
        "the rule user/correction did not find it",
        "the turns that it names do not agree with each other or with its session",
    ]
    kept = json.loads((here / "_sessions/s.json").read_text(encoding="utf-8"))["stages"]
    assert [each.get("cause") for each in kept["extract-guidelines"]["answer"]] == ["asserted", "asserted"]
    assert not any("rule_id" in each for each in kept["extract-guidelines"]["answer"])
    assert "dead_ends" not in kept["summarize"]["answer"][0]
    assert len(_rows(here)) == 2
    before = _tree(here)
    join_wikis([other], Options(here), Report("join", "wiki"), _quiet)
    assert _tree(here) == before
