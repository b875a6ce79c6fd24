"""`wiki redact` cleans a wiki that was made while a rule was missing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.engine import Progress
from agent_wiki.errors import UnreadablePage
from agent_wiki.pipeline import mine, redact_wiki
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.leaks import leaks
from agent_wiki.pipeline.report import Report
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.redaction import redact
from agent_wiki.redaction.finding import Span, secret_spans
from agent_wiki.wiki.records import parse_record
from agent_wiki.wiki.store import WikiFolder
from tests.planted import vendor_keys
from tests.wikis import Script, arc, changed, record, rule, tree
from tests.wikis import ingest as ingested

KEY = vendor_keys()["github"]
ASKED = f"Please fix the cart in /home/kim/shop. Always run make check with {KEY} before a commit."
GIVEN = "Always run make check with {} before a commit."


def _forget_texts() -> None:
    redact._spans_of_short.cache_clear()
    redact._kind_of_value.cache_clear()


@contextmanager
def _missing_rules() -> Iterator[None]:
    """As an earlier version: it knows no token of GitHub's, and no personal data."""

    def spans(text: str) -> list[Span]:
        return [each for each in secret_spans(text) if each[2] != "github-token"]

    _forget_texts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redact, "secret_spans", spans)
        patch.setattr(mine, "replace_personal", lambda _: None)
        yield
    _forget_texts()


class _Killed(BaseException):
    """What nobody catches."""


def _files(wiki: Path) -> bytes:
    left = [path for path in wiki.rglob("*") if path.is_file() and path.name not in ("recordings.json", "asked.json")]
    return b"".join(path.read_bytes() for path in left)


def _offline(tmp_path: Path, name: str) -> Path:
    paths = [record(tmp_path / "t", each, request=ASKED, more=1) for each in ("a", "b")]
    assert main(["ingest", *map(str, paths), "--wiki", str(tmp_path / name), "--jobs", "1"]) == 0
    return tmp_path / name


def _made_before(tmp_path: Path) -> Path:
    with _missing_rules():
        wiki = _offline(tmp_path, "wiki")
    assert KEY.encode() in (wiki / "_sessions" / "a.json").read_bytes()
    assert leaks(wiki)
    return wiki


def _redact(wiki: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["redact", "--wiki", str(wiki), *words])
    printed = capsys.readouterr()
    assert KEY not in printed.out + printed.err
    return code, printed.out


def test_a_wiki_of_the_embedded_engine_becomes_that_of_a_fresh_ingestion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki, fresh = _made_before(tmp_path), _offline(tmp_path, "fresh")
    before = tree(wiki)
    code, said = _redact(wiki, capsys, "--dry-run")
    assert (code, changed(before, tree(wiki))) == (0, [])
    assert "would be replaced: _sessions/a.json: stages." in said
    code, said = _redact(wiki, capsys)
    assert code == 0, said
    assert changed(tree(wiki), tree(fresh)) == []
    assert not any(each in _files(wiki) for each in (KEY.encode(), b"/home/kim"))
    assert "a secret (github-token)" in said
    assert "personal data" in said
    code, said = _redact(wiki, capsys)
    assert (code, said.splitlines()[-1]) == (0, "0 places replaced in 0 files")
    assert changed(tree(wiki), tree(fresh)) == []


def test_where_there_is_nothing_to_clean_nothing_is_mined_or_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = _offline(tmp_path, "wiki")
    before, known = tree(wiki), (wiki / ".wiki" / "finished.json").read_bytes()
    with monkeypatch.context() as patch:
        patch.delattr("agent_wiki.pipeline.redact_wiki.run")
        assert _redact(wiki, capsys) == (0, "0 places replaced in 0 files\n")
    assert tree(wiki) == before
    assert (wiki / ".wiki" / "finished.json").read_bytes() == known
    assert not (wiki / ".wiki" / "redacting.json").exists()


def test_each_stage_is_shown_once_where_sessions_are_mined_again(tmp_path: Path) -> None:
    shown: list[str] = []
    report = Report("redact", "")
    redact_wiki.redact_wiki(_made_before(tmp_path), report, lambda stage, _done, _of: shown.append(stage))
    assert shown.count("catalog") == shown.count("discover tasks") == 1


@pytest.mark.parametrize("writes", [3, 9])
def test_killed_in_the_middle_it_ends_in_the_same_bytes_when_it_is_run_again(
    writes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki, fresh = _made_before(tmp_path), _offline(tmp_path, "fresh")
    write, left = WikiFolder._replace, [writes]

    def killed(self: WikiFolder, target: str, content: bytes, *, is_new: bool = False) -> os.stat_result:
        left[0] -= 1
        if left[0] < 0:
            raise _Killed
        return write(self, target, content, is_new=is_new)

    with monkeypatch.context() as patch:
        patch.setattr(WikiFolder, "_replace", killed)
        with pytest.raises(_Killed):
            main(["redact", "--wiki", str(wiki)])
    assert _redact(wiki, capsys)[0] == 0
    assert changed(tree(wiki), tree(fresh)) == []


def test_killed_before_it_mines_again_it_does_so_when_it_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki, fresh = _made_before(tmp_path), _offline(tmp_path, "fresh")

    def killed(*_: object) -> Report:
        raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(redact_wiki, "run", killed)
        with pytest.raises(_Killed):
            main(["redact", "--wiki", str(wiki)])
    calls: list[Options] = []

    def noted(paths: Iterable[RecordingPath], options: Options, report: Report, progress: Progress) -> Report:
        calls.append(options)
        return run(paths, options, report, progress)

    monkeypatch.setattr(redact_wiki, "run", noted)
    assert _redact(wiki, capsys) == (0, "0 places replaced in 0 files\n")
    assert len(calls) == 1
    assert changed(tree(wiki), tree(fresh)) == []


def _scripted(tmp_path: Path, name: str, key: str) -> Path:
    (tmp_path / name).mkdir()
    script = Script(tmp_path / name)
    cited = [{"turn": 1, "quote": GIVEN.format(key)}]
    script.says("", rules=[rule(GIVEN.format(key), title="Run the check", evidence=cited)])
    paths = [record(tmp_path / "t", each, request=GIVEN.format(KEY)) for each in ("a", "b")]
    report = ingested(paths, tmp_path / name / "wiki", script.engine)
    assert report.exit_code == 0, report.lines()
    return tmp_path / name / "wiki"


def test_what_a_model_said_is_kept_without_the_secret_with_the_number_that_the_recording_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with _missing_rules():
        wiki = _scripted(tmp_path, "before", KEY)
    fresh = _scripted(tmp_path, "after", "[REDACTED:github-token:1]")
    page = wiki / "skills" / "theirs" / "SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"---\nname: theirs\ndescription: Uses {KEY}.\n---\n\n# Theirs\n\n{KEY}\n", encoding="utf-8")
    journal = wiki / ".wiki" / "journal" / "1.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    answer = {"kind": "answer", "about": ["a"], "request": "r", "prompt": "p", "answer": json.dumps({"rule": KEY})}
    journal.write_text(f"{json.dumps(answer)}\n", encoding="utf-8")
    kept = wiki / ".wiki" / "tool-results" / "1.txt"
    kept.parent.mkdir()
    kept.write_text(f"{KEY}\n", encoding="utf-8")
    config = wiki / "_config.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}# {KEY}\n", encoding="utf-8")
    code, said = _redact(wiki, capsys, "--json")
    assert code == 0, said
    assert KEY.encode() not in _files(wiki)
    values = json.loads(said)
    assert {each["file"] for each in values["replaced"]} >= {
        "_config.yaml", "_sessions/a.json", "_sessions/b.json", ".wiki/journal/1.jsonl", ".wiki/tool-results/1.txt",
        "skills/theirs/SKILL.md",
    }  # fmt: skip
    assert (values["remaining"], values["unverified"]) == ([], [])
    ours = {path: text for path, text in tree(wiki).items() if path.startswith(("guidelines/", "summaries/"))}
    theirs = {path: text for path, text in tree(fresh).items() if path.startswith(("guidelines/", "summaries/"))}
    assert changed(ours, theirs) == []
    assert json.loads(json.loads(journal.read_text(encoding="utf-8"))["answer"]) == {
        "rule": "[REDACTED:github-token:1]"
    }


def test_quotes_of_outcome_and_acceptance_are_held_against_the_recording_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, said = Script(tmp_path), "The cart of a adds up now."
    made = arc(outcome_turn=4, outcome_quote=said, accepted_turn=1, accepted_quote="Please fix the cart")
    script.says("a", arcs=[made], rules=[rule(GIVEN.format(KEY))])
    path = record(tmp_path / "t", "a")
    with _missing_rules():
        report = ingested([path], tmp_path / "wiki", script.engine)
    assert report.exit_code == 0, report.lines()
    path.write_text(path.read_text(encoding="utf-8").replace(said, "It is done."), encoding="utf-8")
    _, printed = _redact(tmp_path / "wiki", capsys, "--json")
    assert json.loads(printed)["unverified"] == ["_sessions/a.json: turn 4 (outcome)"]


def test_what_is_known_of_a_bucket_keeps_the_names_by_which_its_objects_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket, wiki = tmp_path / "b", tmp_path / "wiki"
    record(bucket / "-Users-kim-shop", "a", request=ASKED.replace(KEY, "care"))
    words = ["ingest", bucket.as_uri(), "--wiki", str(wiki)]
    assert main(words) == 0
    before = (wiki / "_buckets.jsonl").read_bytes()
    assert b"-Users-kim-shop" in before
    for _ in range(2):
        code, said = _redact(wiki, capsys)
        assert (code, said) == (0, "0 places replaced in 0 files\n")
        assert (wiki / "_buckets.jsonl").read_bytes() == before
        assert main(words) == 0
        assert "gone from the bucket" not in "".join(capsys.readouterr())


def test_a_secret_in_what_is_known_of_a_bucket_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki = _offline(tmp_path, "wiki")
    line = {"key": f"s3://box/{KEY}/-Users-kim-shop/a.json", "size": 1, "changed": "1", "sessions": []}
    (wiki / "_buckets.jsonl").write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    code, said = _redact(wiki, capsys)
    assert (code, "replaced: _buckets.jsonl: 1: a secret (github-token)" in said) == (0, True), said
    left = (wiki / "_buckets.jsonl").read_text(encoding="utf-8")
    assert (KEY in left, "-Users-kim-shop" in left) == (False, True)


def test_what_could_not_be_replaced_is_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = _made_before(tmp_path)

    def refused(text: bytes, path: str, *given: Any) -> Any:
        if path.endswith("a.json"):
            raise UnreadablePage(path, "no record")
        return parse_record(text, path, *given)

    monkeypatch.setattr(redact_wiki, "parse_record", refused)
    code, said = _redact(wiki, capsys, "--dry-run", "--json")
    values = json.loads(said)
    assert (code, [each["unit"] for each in values["failures"]]) == (1, ["_sessions/a.json"])
    files = {each["file"] for each in values["replaced"]}
    assert ("_sessions/a.json" in files, "_sessions/b.json" in files) == (False, True)
