"""`wiki connect --allow` notes the rules that it adds, so that `--remove` takes out no rule that a person wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.harness.connected import connect
from tests.wikis import tree

_CONSULT, _TOOLS = "Bash(wiki consult:*)", "mcp__wiki__*"
_NOTED = ".claude/agent-wiki-rules.json"


def _settings(folder: Path, *rules: str) -> Path:
    file = folder / ".claude" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"permissions": {"allow": rules}}, indent=2) + "\n", encoding="utf-8")
    return file


def test_a_rule_that_a_person_wrote_in_the_same_words_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _settings(tmp_path, _CONSULT, "Read(~/.zshrc)")
    before = tree(tmp_path)
    connect(tmp_path, capsys, "claude-code", "--allow")
    connect(tmp_path, capsys, "claude-code", "--allow")
    assert json.loads(file.read_text(encoding="utf-8"))["permissions"]["allow"] == [_CONSULT, "Read(~/.zshrc)", _TOOLS]
    found = connect(tmp_path, capsys, "claude-code", "--remove")
    kept = f".claude/settings.json keeps {_CONSULT}: nothing says that `wiki connect` added it"
    assert (tree(tmp_path), found["notes"]) == (before, [kept])


def test_a_person_who_allowed_it_without_connect_keeps_all_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connect(tmp_path, capsys, "claude-code")
    _settings(tmp_path, _CONSULT, _TOOLS)
    before = (tmp_path / ".claude" / "settings.json").read_bytes()
    connect(tmp_path, capsys, "claude-code", "--allow")
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert tree(tmp_path) == {".claude/settings.json": before}


def test_what_was_noted_goes_with_settings_that_are_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connect(tmp_path, capsys, "claude-code", "--allow")
    (tmp_path / ".claude" / "settings.json").unlink()
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("noted", ["[]", "{", '{"rules": 7}'])
def test_what_is_no_note_of_rules_is_refused_and_nothing_is_written(
    noted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connect(tmp_path, capsys, "claude-code", "--allow")
    (tmp_path / _NOTED).write_text(noted, encoding="utf-8")
    before = tree(tmp_path)
    for option in ("--allow", "--remove"):
        assert main(["connect", "claude-code", "--dir", str(tmp_path), option]) == 2
        assert f"wiki: {_NOTED}:1: " in capsys.readouterr().err
    assert tree(tmp_path) == before
