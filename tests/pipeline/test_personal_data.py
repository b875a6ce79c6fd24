"""Personal data of recordings reaches no file of a wiki, unless its owner keeps it; quotes stay verifiable."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.pipeline.agents import SUMMARY, commands_on
from tests.wikis import Script, record, rule, tree
from tests.wikis import ingest as ingested

ASKED = "Please fix /home/kim-lee/shop for kim@corp.io."
SHOWN = "Please fix /home/user/shop for someone@example.com."


def _made(tmp_path: Path, quote: str, **options: str) -> Path:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.", evidence=[{"turn": 1, "quote": quote}])])
    wiki = tmp_path / "wiki"
    report = ingested([record(tmp_path / "t", "a", request=ASKED)], wiki, script.engine, **options)
    assert report.exit_code == 0, report.lines()
    return wiki


def _why(wiki: Path, capsys: pytest.CaptureFixture[str]) -> str:
    page = next((wiki / "guidelines").glob("run-*.md"))
    capsys.readouterr()
    assert main(["why", page.name.rpartition("__")[2].removesuffix(".md"), "--wiki", str(wiki)]) == 0
    return capsys.readouterr().out


def _all(wiki: Path) -> bytes:
    return b"".join(path.read_bytes() for path in wiki.rglob("*") if path.is_file() and path.name != "recordings.json")


def test_pages_records_and_machinery_have_stand_ins_and_the_quote_is_found_in_the_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = _made(tmp_path, SHOWN)
    assert SHOWN.encode() in _all(wiki)
    assert not any(name in _all(wiki) for name in (b"kim-lee", b"kim@corp.io"))
    assert "verified" in _why(wiki, capsys)


def test_with_pii_keep_all_stays_as_recorded_also_in_later_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = _made(tmp_path, ASKED, pii="keep")
    assert ASKED.encode() in b"".join(tree(wiki).values())
    assert "pii: keep" in (wiki / "_config.yaml").read_text(encoding="utf-8")
    assert "verified" in _why(wiki, capsys)


def test_a_quote_from_before_there_were_stand_ins_is_still_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = _made(tmp_path, SHOWN)
    path = wiki / "_sessions" / "a.json"
    path.write_text(path.read_text(encoding="utf-8").replace(SHOWN, ASKED), encoding="utf-8")
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert ASKED.encode() in b"".join(tree(wiki).values())
    assert "verified" in _why(wiki, capsys)


def test_a_switch_mines_unchanged_recordings_again_and_a_word_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = f"{ASKED} Always run make check in /home/kim-lee/shop before a commit."
    path, wiki = record(tmp_path / "t", "a", request=request), tmp_path / "wiki"
    words = ["ingest", str(path), "--wiki", str(wiki)]
    assert main(words) == 0
    record_file = wiki / "_sessions" / "a.json"
    assert b"/home/user/shop" in record_file.read_bytes()
    for pii, is_kept in (("keep", True), ("replace", False)):
        assert main([*words, "--pii", pii]) == 0
        assert (b"kim-lee" in record_file.read_bytes()) is is_kept
    assert main([*words, "--pii", "kept"]) == 2
    assert "pii: write replace, or keep" in capsys.readouterr().err


def test_an_answer_by_hand_that_quotes_the_recording_itself_gets_stand_ins_and_is_verbatim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki, path = commands_on(tmp_path, capsys), record(tmp_path, "a", request=ASKED)
    assert wiki("apply", "summarize", path, answer=SUMMARY)[0] == 0
    said = rule("Run the check before a change.", evidence=[{"turn": 1, "quote": ASKED}])
    code, values = wiki("apply", "extract-guidelines", path, answer={"guidelines": [said]})
    assert (code, [(each["place"], each["reason"]) for each in values["warnings"]]) == (
        0,
        [("guidelines.0.evidence.0.quote", "personal data was replaced")],
    )
    assert SHOWN.encode() in _all(tmp_path / "wiki")
    assert b"kim@corp.io" not in _all(tmp_path / "wiki")
