"""The gate: a finished wiki is searched once more before it leaves the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError
from agent_wiki.pipeline.leaks import leaks, refuse_leaks
from tests.planted import given_secrets, vendor_keys
from tests.wikis import Script, ingest, record, rule

KEY = vendor_keys()["github"]
PASSWORD_LINE, PASSWORD = given_secrets()[0]


def _wiki(tmp_path: Path) -> Path:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    wiki = tmp_path / "wiki"
    ingest([record(tmp_path / "t", "a")], wiki, script.engine)
    return wiki


def _with_secrets(wiki: Path) -> None:
    """What a person, another tool and a merge left in it; none of it was an answer or a recording."""
    page = next((wiki / "guidelines").glob("run-*.md"))
    page.write_text(page.read_text(encoding="utf-8") + f"\nUse {KEY}.\n", encoding="utf-8")
    path = wiki / "_sessions" / "a.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**fields, "goal": f"x {PASSWORD_LINE}"}), encoding="utf-8")
    (wiki / "templates").mkdir()
    (wiki / "templates" / f"for {KEY}.md").write_text("harmless\n", encoding="utf-8")
    (wiki / ".wiki" / "mine.txt").write_text(f"{KEY}\n", encoding="utf-8")


def test_a_wiki_as_it_was_made_has_no_leaks_and_what_was_put_in_later_is_named_by_file_line_and_kind(
    tmp_path: Path,
) -> None:
    wiki = _wiki(tmp_path)
    assert leaks(wiki) == []
    refuse_leaks(wiki, "nothing is pushed")
    _with_secrets(wiki)
    page = next((wiki / "guidelines").glob("run-*.md"))
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [(each.file, each.kind, each.line) for each in leaks(wiki)] == [
        ("_sessions/a.json", "password", 1),
        (f"guidelines/{page.name}", "github-token", len(lines)),
        ("templates/for [REDACTED:github-token].md", "github-token", None),
    ]


def test_the_refusal_names_files_and_kinds_and_no_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki = _wiki(tmp_path)
    _with_secrets(wiki)
    with pytest.raises(RunError) as refused:
        refuse_leaks(wiki, "nothing is pushed")
    assert "_sessions/a.json (password), guidelines/run-" in str(refused.value)
    assert "nothing is pushed" in str(refused.value)
    assert main(["secrets", "--wiki", str(wiki), "--json"]) == 1
    printed = capsys.readouterr().out + str(refused.value)
    assert not any(secret in printed for secret in (KEY, PASSWORD))


def test_the_command_searches_recordings_or_a_wiki(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki = _wiki(tmp_path)
    assert main(["secrets", "--wiki", str(wiki)]) == 0
    assert capsys.readouterr().out.startswith("0 secrets in 0 of ")
    assert main(["secrets"]) == 2
    assert main(["secrets", str(wiki), "--wiki", str(wiki)]) == 2
    assert "name recordings, or a finished wiki" in capsys.readouterr().err


@pytest.mark.parametrize("wiki", ["wiki-example/wiki", "wiki-example/answered/wiki"])
def test_the_examples_may_leave(wiki: str) -> None:
    assert leaks(Path(__file__).parents[2] / wiki) == []
