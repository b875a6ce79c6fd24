"""`wiki connect` in an agent's settings: hooks, permissions and plugins join what is there; the list says which are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.harness import words_of
from agent_wiki.harness.agents import AGENTS
from agent_wiki.harness.connecting import plan
from tests.harness.connected import NAMES, SETTINGS, commands_of, connect, printed
from tests.wikis import tree


def test_hooks_join_the_settings_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS, encoding="utf-8")
    connect(tmp_path, capsys, "claude-code")
    before, after = json.loads(SETTINGS), json.loads(file.read_text(encoding="utf-8"))
    assert list(after) == list(before)
    assert commands_of(after, "Stop") == ["say döne", "wiki hook stop --wiki wiki"]
    assert commands_of(after, "SessionStart") == ["wiki hook start --wiki wiki"]
    assert after["hooks"]["PreToolUse"] == before["hooks"]["PreToolUse"]
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [line for line in SETTINGS.splitlines() if line.rstrip(",") not in {each.rstrip(",") for each in lines}]
    assert len(kept) == 1, "only the line that a hook was put into is another one"
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert file.read_text(encoding="utf-8") == SETTINGS


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ('{\n  "a": 1,\n}\n', "settings.json:3"),
        ("", "settings.json:1"),
        ("[]", "settings.json:1"),
        ('{\n  // note\n  "a": 1\n}', "settings.json:2"),
        ('{\n  "hooks": []\n}', "settings.json:2"),
        ('{\n  "hooks": {\n    "Stop": {}\n  }\n}', "settings.json:3"),
        ('{"a": ' + "1" * 5000 + "}", "settings.json"),
    ],
)
def test_settings_that_cannot_be_edited_are_refused_and_nothing_is_written(
    settings: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(settings, encoding="utf-8")
    for options in ([], ["--remove"]):
        assert main(["connect", "claude-code", "--dir", str(tmp_path), *options]) == 2
        error = capsys.readouterr().err
        assert f"{place}: " in error
        assert error.count("\n") == 1
    assert tree(tmp_path) == {".claude/settings.json": settings.encode()}


def test_hooks_of_another_wiki_are_brought_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connect(tmp_path, capsys, "claude-code")
    found = connect(tmp_path, capsys, "claude-code", "--wiki", str(tmp_path / "docs" / "our wiki"))
    assert found["written"] == ["CLAUDE.md", ".claude/settings.json"]
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert commands_of(settings, "Stop") == ["wiki hook stop --wiki 'docs/our wiki'"]
    assert "wiki consult --wiki 'docs/our wiki' \"" in (tmp_path / "CLAUDE.md").read_text(encoding="utf-8")
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert tree(tmp_path) == {}


def test_a_wiki_in_the_project_is_named_by_its_way_from_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    package = tmp_path / "project" / "package"
    package.mkdir()
    assert main(["init", "--wiki", str(tmp_path / "project" / "wiki")]) == 0
    capsys.readouterr()
    connect(package, capsys, "codex")
    settings = json.loads((package / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    assert commands_of(settings, "Stop") == ["wiki hook stop --wiki ../wiki"]
    connect(package, capsys, "codex", "--wiki", str(tmp_path / "elsewhere"))
    settings = json.loads((package / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    assert commands_of(settings, "Stop") == [f"wiki hook stop --wiki {tmp_path / 'elsewhere'}"]


def test_the_installed_hook_is_a_command_that_the_hook_understands(tmp_path: Path) -> None:
    for agent in AGENTS:
        planned = plan(agent, tmp_path, None)
        if agent.hook_file is None:
            continue
        settings = json.loads(planned.changes[1].after or b"")
        for hook in agent.hook_file.hooks:
            entry = settings["hooks"][hook.event][0]
            found = entry if agent.hook_file.is_flat else entry["hooks"][0]
            words = found[agent.hook_file.command_key].split()
            assert words[:3] == ["wiki", "hook", hook.subcommand]
            assert words_of(words[3:]).wiki == Path("wiki")


def test_the_notes_for_codex_say_what_a_person_must_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "AGENTS.override.md").write_text("x", encoding="utf-8")
    notes = "\n".join(connect(tmp_path, capsys, "codex")["notes"])
    assert "/hooks" in notes
    assert 'notify = ["wiki", "hook", "stop", "--wiki", "wiki"]' in notes
    assert "AGENTS.override.md" in notes


def test_a_permission_is_installed_only_where_it_is_asked_for_and_gone_after_remove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS, encoding="utf-8")
    connect(tmp_path, capsys, "claude-code")
    assert json.loads(file.read_text(encoding="utf-8"))["permissions"] == json.loads(SETTINGS)["permissions"]
    found = connect(tmp_path, capsys, "claude-code", "--allow")
    assert found["written"] == [".claude/agent-wiki-rules.json", ".claude/settings.json"]
    assert any("trust" in note for note in found["notes"])
    allowed = json.loads(file.read_text(encoding="utf-8"))["permissions"]["allow"]
    assert allowed == ["Bash(npm run test:*)", "Read(~/.zshrc)", "Bash(wiki consult:*)", "mcp__wiki__*"]
    assert connect(tmp_path, capsys, "claude-code")["written"] == [], "they stay without being asked for again"
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert file.read_text(encoding="utf-8") == SETTINGS
    notes = connect(tmp_path, capsys, "codex", "--allow")["notes"]
    assert any(note.startswith("--allow: Codex") for note in notes)


def test_a_file_in_the_place_of_the_plugin_is_its_owners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".opencode" / "plugins" / "agent-wiki.js"
    file.parent.mkdir(parents=True)
    file.write_text("export const Mine = async () => ({})\n", encoding="utf-8")
    assert main(["connect", "opencode", "--dir", str(tmp_path)]) == 2
    assert ".opencode/plugins/agent-wiki.js: not made by" in capsys.readouterr().err
    assert connect(tmp_path, capsys, "opencode", "--remove")["removed"] == []
    assert [*tree(tmp_path)] == [".opencode/plugins/agent-wiki.js"]


def test_the_plugin_of_opencode_runs_the_hook_with_the_wiki_as_one_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connect(tmp_path, capsys, "opencode", "--wiki", str(tmp_path / "our 'wiki' </script>"))
    text = (tmp_path / ".opencode" / "plugins" / "agent-wiki.js").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("const COMMAND = "))
    found = json.loads(line.removeprefix("const COMMAND = "))
    assert found == ["wiki", "hook", "stop", "--wiki", "our 'wiki' </script>"]


def test_the_list_says_what_is_supported_and_what_is_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connect(tmp_path, capsys, "claude-code")
    connect(tmp_path, capsys, "opencode")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "hooks.json").write_text("{,", encoding="utf-8")
    found = {each["agent"]: each for each in json.loads(printed(tmp_path, capsys, "--list", "--json"))}
    assert list(found) == NAMES
    assert found["claude-code"]["installed"] == {
        "pointer": True,
        "hooks": ["SessionStart", "Stop", "SubagentStop", "SessionEnd"],
        "own_file": False,
        "permissions": [],
    }
    assert found["claude-code"]["permissions"] == ["Bash(wiki consult:*)", "mcp__wiki__*"]
    assert found["opencode"]["installed"]["own_file"]
    assert found["codex"]["problem"].startswith(".codex/hooks.json:1: not JSON")
    assert found["gemini"]["installed"] == {"pointer": False, "hooks": [], "own_file": False, "permissions": []}
    lines = printed(tmp_path, capsys, "--list")
    assert (
        "  hooks        installed      .claude/settings.json: SessionStart, Stop, SubagentStop, SessionEnd\n" in lines
    )
    assert "  permissions  not installed  .claude/settings.json: Bash(wiki consult:*), mcp__wiki__*\n" in lines


def test_hooks_of_an_older_version_are_listed_as_installed_in_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    older = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "wiki hook stop --wiki wiki"}]}]}}
    file.write_text(json.dumps(older), encoding="utf-8")
    lines = printed(tmp_path, capsys, "--list")
    assert "in part        .claude/settings.json, without SessionStart, SubagentStop, SessionEnd\n" in lines
    connect(tmp_path, capsys, "claude-code")
    assert "in part" not in printed(tmp_path, capsys, "--list")
