"""A key that an answer, another wiki or a patch brings in reaches no file of the wiki."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import journal_folder
from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import main
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.pipeline.report import Report
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.pipeline.agents import SUMMARY, commands_on
from tests.planted import vendor_keys
from tests.wikis import Script, arc, changed, ingest, record, rule, skill, tree

KEY = vendor_keys()["github"]
MARK = "[REDACTED:github-token]"
NUMBERED = "[REDACTED:github-token:1]"
"""The same in what a session says."""

SCRIPT = f"export T={KEY}\nmake check\n"


def _leaks(folder: Path) -> list[str]:
    """The files that hold the key, the journal's and all others of the machinery among them."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def _answers() -> dict[str, Any]:
    """One answer a stage on a session, each of which says the key, and a script of the session's as engines see it."""
    script = {"file": "check.sh", "text": SCRIPT.replace(KEY, NUMBERED)}
    return {
        "summarize": {"arcs": [arc(narrative=f"The check failed with {KEY}, then passed.")]},
        "extract-guidelines": {"guidelines": [rule(f"Run the check with {KEY} before a change.")]},
        "synthesize-skill": skill("check-the-cart", overview=f"Check with {KEY}.", scripts=[script]),
    }


def test_a_key_in_a_narrative_a_rule_and_a_script_is_redacted_whichever_engine_answers(tmp_path: Path) -> None:
    script, answers = Script(tmp_path), _answers()
    script.says(
        "",
        arcs=answers["summarize"]["arcs"],
        rules=answers["extract-guidelines"]["guidelines"],
        skill=answers["synthesize-skill"],
    )
    report = ingest([record(tmp_path / "t", "a", writes={"check.sh": SCRIPT})], tmp_path / "wiki", script.engine)
    assert report.exit_code == 0, report.lines()
    assert _leaks(tmp_path / "wiki") == []
    text = b"".join(tree(tmp_path / "wiki").values()).decode()
    for said in ("failed with ", "Run the check with ", "Check with "):
        assert said + MARK in text
    assert f"export T={NUMBERED}" in text


def test_a_models_key_is_neither_in_its_journal_nor_sent_back_nor_taken_from_an_older_journal(tmp_path: Path) -> None:
    paths, wiki = [record(tmp_path / "t", "a")], tmp_path / "wiki"
    with MessagesServer(says(_answers())) as server:
        asking = AskingOptions(base_url=server.base_url)
        assert ingest(paths, wiki, "anthropic", asking=asking).exit_code == 0
        assert KEY not in json.dumps(server.bodies())
    assert _leaks(wiki) == []
    assert MARK in "".join(path.read_text(encoding="utf-8") for path in journal_folder(wiki).iterdir())
    older = tmp_path / "older"
    older.mkdir()
    for path in journal_folder(wiki).iterdir():
        text = path.read_text(encoding="utf-8").replace(MARK, KEY)
        (older / path.name).write_text(text, encoding="utf-8")
    for name in ("one", "two"):
        folder = journal_folder(wiki) if name == "one" else older
        assert ingest(paths, tmp_path / name, f"recorded:{folder}").exit_code == 0
        assert _leaks(tmp_path / name) == []
    assert changed(tree(tmp_path / "one"), tree(tmp_path / "two")) == []


def test_a_key_in_an_answer_by_hand_is_reported_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki, path = commands_on(tmp_path, capsys), record(tmp_path, "a")
    assert wiki("apply", "summarize", path, answer=SUMMARY)[0] == 0
    code, values = wiki("apply", "extract-guidelines", path, answer=_answers()["extract-guidelines"])
    assert (code, [(each["kind"], each["place"], each["reason"]) for each in values["warnings"]]) == (
        0,
        [("secret", "guidelines.0.rule", "a secret (github-token) was redacted")],
    )
    assert _leaks(tmp_path / "wiki") == []
    assert MARK in (tmp_path / "wiki" / "_index.jsonl").read_text(encoding="utf-8")


def test_a_name_that_cannot_go_without_its_key_rejects_the_answer(tmp_path: Path) -> None:
    name = vendor_keys()["mailgun"]
    script = Script(tmp_path)
    script.says("", skill=skill(name))
    report = ingest([record(tmp_path / "t", "a")], tmp_path / "wiki", script.engine)
    assert [f"{each.stage}: {each.place}: {each.reason}" for each in report.failures] == [
        "synthesize-skill: skill.name: a secret (mailgun-key)"
    ]
    assert not any(name.encode() in content for content in tree(tmp_path / "wiki").values())


def _other_wiki(tmp_path: Path) -> Path:
    """A wiki of an earlier version: its record, a page of another tool and that page's script hold a key."""
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check with KEY before a change.")])
    other = tmp_path / "other"
    ingest([record(tmp_path / "t", "a")], other, script.engine)
    path = other / "_sessions" / "a.json"
    path.write_text(path.read_text(encoding="utf-8").replace("KEY", KEY), encoding="utf-8")
    page = other / "skills" / "theirs" / "SKILL.md"
    (page.parent / "scripts").mkdir(parents=True)
    page.write_text(f"---\nname: theirs\ndescription: Uses {KEY}.\n---\n\n# Theirs\n\n{KEY}\n", encoding="utf-8")
    (page.parent / "scripts" / "run.sh").write_text(f"T={KEY} make\n", encoding="utf-8")
    return other


def test_what_another_wiki_brings_in_is_redacted_and_reported_by_kind_file_and_place(tmp_path: Path) -> None:
    other, here = _other_wiki(tmp_path), tmp_path / "wiki"
    report = join_wikis([other], Options(here), Report("join", "wiki"), lambda _what, _done, _of: None)
    assert report.exit_code == 0, report.lines()
    assert _leaks(here) == []
    assert (here / "skills" / "theirs" / "scripts" / "run.sh").read_text(encoding="utf-8") == f"T={MARK} make\n"
    said = [each.replace(str(other), "other") for each in report.warnings if "a secret" in each]
    assert said == [
        "other/_sessions/a.json: stages.extract-guidelines.answer.0.rule: a secret (github-token) was redacted",
        "other/skills/theirs/SKILL.md: description: a secret (github-token) was redacted",
        "other/skills/theirs/SKILL.md: a secret (github-token) was redacted",
        "skills/theirs/scripts/run.sh: a secret (github-token) was redacted",
    ]
    assert KEY not in json.dumps(report.to_json())


def test_joining_a_wiki_with_a_key_twice_changes_nothing(tmp_path: Path) -> None:
    other, here = _other_wiki(tmp_path), tmp_path / "wiki"
    for written in (True, False):
        report = join_wikis([other], Options(here), Report("join", "wiki"), lambda _what, _done, _of: None)
        assert bool(report.written) is written


def test_a_key_in_a_patch_of_the_configuration_is_redacted_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = tmp_path / "patch.json"
    patch.write_text(json.dumps({"clusters": {"b": {"title": "B", "takeaway": f"Use {KEY}."}}}), encoding="utf-8")
    wiki = tmp_path / "wiki"
    assert main(["init", "--wiki", str(wiki)]) == 0
    assert main(["config", "patch", str(patch), "--wiki", str(wiki)]) == 0
    printed = capsys.readouterr()
    assert "_config.yaml: clusters.b.takeaway: a secret (github-token) was redacted" in printed.out
    assert KEY not in printed.out + printed.err
    assert _leaks(wiki) == []
    assert MARK in (wiki / "_config.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["apply", "summarize", "a.json", "--answer"], ["config", "patch"]])
def test_what_is_nested_too_deeply_is_refused_in_one_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, "a")
    monkeypatch.chdir(tmp_path)
    deep = '{"token": ' * 700 + "1" + "}" * 700
    (tmp_path / "deep.json").write_text(f'{{"clusters": {deep}}}', encoding="utf-8")
    assert main([*words, "deep.json"]) in (1, 2)
    assert "nested too deeply" in capsys.readouterr().err.splitlines()[-1]
