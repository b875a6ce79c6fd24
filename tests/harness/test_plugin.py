"""The wiki's folder as a plugin: what is written, what is left alone, and what is taken out again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.harness import former_skills
from agent_wiki.harness.agents import claude_code
from agent_wiki.harness.agents import codex as codex_agent
from agent_wiki.harness.plugin import plugin_files
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.recall.wiki_commands import COMMANDS
from tests.wikis import changed, ingest, record, tree

_FILES = [
    ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json",
    "gemini-extension.json",
]  # fmt: skip


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A wiki of one session."""
    made = tmp_path / "my wiki"
    assert ingest([record(tmp_path, "a")], made, "offline").exit_code == 0
    return made


def test_four_files_are_added_once_and_no_run_minds_them(
    tmp_path: Path, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(wiki)
    assert main(["plugin", "--wiki", str(wiki)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "plugin: 4 files written, 0 unchanged, 0 left alone"
    assert lines[5] == f"Claude Code, for a session: claude --plugin-dir '{wiki}'"
    with_plugin = tree(wiki)
    assert changed(before, with_plugin) == _FILES
    assert main(["plugin", "--wiki", str(wiki)]) == 0
    assert capsys.readouterr().out.startswith("plugin: 0 files written, 4 unchanged")
    assert ingest([tmp_path / "a.json"], wiki, "offline", rewrite=True).exit_code == 0
    assert changed(with_plugin, tree(wiki)) == []
    assert input_files([wiki]) == []
    assert main(["plugin", "--wiki", str(wiki), "--remove"]) == 0
    assert changed(before, tree(wiki)) == []
    assert not (wiki / ".codex-plugin").exists()


@pytest.mark.usefixtures("wiki")
def test_hooks_that_would_run_twice_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["connect", "claude-code", "--wiki", "my wiki"]) == 0
    capsys.readouterr()
    assert main(["plugin", "--wiki", "my wiki", "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note.startswith(f"{tmp_path / '.claude' / 'settings.json'}: has the hooks of `wiki connect` already")
    assert main(["connect", "claude-code", "--remove"]) == 0
    assert main(["plugin", "--wiki", "my wiki"]) == 0
    assert "note:" not in capsys.readouterr().out


def test_what_a_person_edited_is_left_alone_and_reported(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = wiki / "gemini-extension.json"
    own.write_text("{}", encoding="utf-8")
    words = ["plugin", "--wiki", str(wiki), "--json"]
    assert main(words) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["left_alone"], told["written"]) == (["gemini-extension.json"], _FILES[:3])
    assert main([*words, "--remove"]) == 1
    assert json.loads(capsys.readouterr().out)["removed"] == _FILES[:3]
    assert own.read_text(encoding="utf-8") == "{}"
    assert main([*words, "--force", "--dry-run"]) == 0
    assert own.read_text(encoding="utf-8") == "{}"
    assert main([*words, "--force"]) == 0
    assert own.read_bytes() == plugin_files()["gemini-extension.json"]


def test_what_a_former_version_wrote_is_replaced_and_taken_out(
    wiki: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ".codex-plugin/plugin.json"
    monkeypatch.setitem(former_skills._WRITTEN, path, (hashlib.sha256(b"{}").hexdigest()[:16],))
    (wiki / path).parent.mkdir()
    (wiki / path).write_bytes(b"{}")
    words = ["plugin", "--wiki", str(wiki), "--json"]
    assert main([*words, "--remove"]) == 0
    assert json.loads(capsys.readouterr().out)["removed"] == [path]
    (wiki / path).parent.mkdir()
    (wiki / path).write_bytes(b"{}")
    assert main(words) == 0
    assert (wiki / path).read_bytes() == plugin_files()[path]
    assert not any(former_skills.was_shipped(path, content) for path, content in plugin_files().items())


def test_the_plugin_has_the_hooks_that_connect_installs() -> None:
    files = {path: json.loads(content) for path, content in plugin_files().items()}
    claude, codex = files[".claude-plugin/plugin.json"], files[".codex-plugin/plugin.json"]
    for agent, hooks in ((claude_code.AGENT, claude["hooks"]), (codex_agent.AGENT, codex["hooks"]["hooks"])):
        assert agent.hook_file is not None
        seconds = {event: group["hooks"][0]["timeout"] for event, (group,) in hooks.items()}
        assert seconds == {each.event: each.seconds for each in agent.hook_file.hooks}


def test_a_folder_that_is_no_wiki_and_a_link_out_of_one_are_refused(
    tmp_path: Path, wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plugin", "--wiki", str(tmp_path / "none")]) == 2
    assert "no wiki; `wiki init" in capsys.readouterr().err
    (tmp_path / "elsewhere").mkdir()
    (wiki / ".codex-plugin").symlink_to(tmp_path / "elsewhere")
    assert main(["plugin", "--wiki", str(wiki)]) == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (wiki / "gemini-extension.json").exists()


def test_the_manifests_name_no_machine_and_run_only_the_command_wiki() -> None:
    files = {path: json.loads(content) for path, content in plugin_files().items()}
    assert sorted(files) == _FILES
    claude, codex = files[".claude-plugin/plugin.json"], files[".codex-plugin/plugin.json"]
    commands = [
        hook["command"]
        for hooks in (claude["hooks"], codex["hooks"]["hooks"])
        for (group,) in hooks.values()
        for hook in group["hooks"]
    ]
    servers = [files[path]["mcpServers"]["wiki"] for path in _FILES if "mcpServers" in files[path]]
    assert {command.split()[0] for command in commands} | {each["command"] for each in servers} == {"wiki"}
    assert {command.split()[1] for command in commands} | {each["args"][0] for each in servers} <= COMMANDS
    assert all("/" not in command for command in commands)
    assert files[".claude-plugin/marketplace.json"]["plugins"] == [{"name": claude["name"], "source": "./"}]
