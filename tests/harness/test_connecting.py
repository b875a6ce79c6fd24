"""`wiki connect`: the pointer goes in once, marked, and comes out again leaving every byte as it was."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.harness import words_of
from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.harness.agents import AGENTS
from agent_wiki.harness.connecting import agent_named, plan
from agent_wiki.harness.pointer_block import BEGIN, END
from tests.wikis import tree

_FILES_OF = {
    "claude-code": ["CLAUDE.md", ".claude/settings.json"],
    "codex": ["AGENTS.md", ".codex/hooks.json"],
    "gemini": ["GEMINI.md", ".gemini/settings.json"],
    "qwen": ["QWEN.md", ".qwen/settings.json"],
    "opencode": ["AGENTS.md", ".opencode/plugins/agent-wiki.js"],
    "copilot": [".github/copilot-instructions.md", ".github/hooks/agent-wiki.json"],
    "cursor": [".cursor/rules/agent-wiki.mdc", ".cursor/hooks.json"],
    "agents-md": ["AGENTS.md"],
}
_NAMES = [agent.name for agent in AGENTS]
_SETTINGS = """\
{
    "permissions": {
        "allow": ["Bash(npm run test:*)", "Read(~/.zshrc)"],
        "deny": []
    },
    "hooks": {
        "Stop": [ {"hooks": [ {"type": "command", "command": "say d\\u00f6ne", "timeout": 5} ]} ],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": "wiki hook stopwatch"}]
            }
        ]
    },
    "model": "opus"
}
"""


def _connected(folder: Path, capsys: pytest.CaptureFixture[str], agent: str, *options: str) -> dict[str, Any]:
    exit_code = main(["connect", agent, "--dir", str(folder), "--json", *options])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == exit_code
    return found


def _printed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["connect", *words, "--dir", str(folder)]) == 0
    return capsys.readouterr().out


def _commands(settings: dict[str, Any], event: str) -> list[str]:
    return [hook["command"] for entry in settings["hooks"][event] for hook in entry["hooks"]]


@pytest.mark.parametrize("agent", _NAMES)
def test_a_pointer_is_once_where_the_agent_reads_it(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _connected(tmp_path, capsys, agent)
    names = _FILES_OF[agent]
    assert found["written"] == names
    assert sorted(tree(tmp_path)) == sorted(names)
    pointer = (tmp_path / names[0]).read_text(encoding="utf-8")
    assert pointer.removeprefix(agent_named(agent).new_pointer).startswith(BEGIN)
    assert pointer.endswith(f"{END}\n")
    before = tree(tmp_path)
    again = _connected(tmp_path, capsys, agent)
    assert (again["written"], again["unchanged"]) == ([], names)
    assert tree(tmp_path) == before


def test_the_wording_is_an_imperative_with_the_command_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _connected(tmp_path, capsys, "agents-md")
    pointer = (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    assert "You MUST" in pointer
    assert 'wiki consult "' in pointer
    assert "wiki/AGENTS.md" in pointer


@pytest.mark.parametrize("agent", _NAMES)
def test_what_connect_made_is_gone_after_remove(agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("x", encoding="utf-8")
    _connected(tmp_path, capsys, agent)
    found = _connected(tmp_path, capsys, agent, "--remove")
    assert found["removed"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md"]
    assert _connected(tmp_path, capsys, agent, "--remove")["removed"] == []


@pytest.mark.parametrize(
    "content",
    [
        b"# Rules\n\nUse tabs.\n",
        b"# Rules\n\nno final newline",
        b"# Rules\r\n\r\nwindows\r\n",
        b"# Rules\r\nno final newline",
        b"",
        b"\n",
        b"\n\n\n",
        b"\xef\xbb\xbf# with a byte order mark\n",
        b"latin-1: \xe9\n",
        b"a `<!-- agent-wiki:begin -->` in a line\n",
        b"ends in a return\r",
        b"mixed\r\nends\n",
        b"mixed\nends\r\n",
    ],
)
def test_remove_gives_back_a_file_byte_for_byte(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_bytes(content)
    file.chmod(0o640)
    _connected(tmp_path, capsys, "claude-code")
    connected = file.read_bytes()
    assert connected.startswith(content)
    assert BEGIN.encode() in connected[len(content) :]
    if content.startswith(b"# Rules\r\n"):
        assert b"\n" not in connected[len(content) :].replace(b"\r\n", b"")
    _connected(tmp_path, capsys, "claude-code", "--remove")
    assert file.read_bytes() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_was_written_behind_the_block_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("before\n", encoding="utf-8")
    _connected(tmp_path, capsys, "codex")
    file.write_text(file.read_text(encoding="utf-8") + "\nbehind\n", encoding="utf-8")
    _connected(tmp_path, capsys, "codex", "--remove")
    assert file.read_text(encoding="utf-8") == "before\n\nbehind\n"


def test_an_older_block_is_brought_up_to_date_in_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text(f"before\n\n{BEGIN}\nolder words\n{END}\nbehind\n", encoding="utf-8")
    found = _connected(tmp_path, capsys, "agents-md")
    assert found["written"] == ["AGENTS.md"]
    text = file.read_text(encoding="utf-8")
    assert (text.startswith(f"before\n\n{BEGIN}\n"), text.endswith(f"{END}\nbehind\n")) == (True, True)
    assert "older words" not in text


@pytest.mark.parametrize(
    ("text", "line"),
    [(f"a\n{BEGIN}\nb\n", 2), (f"{END}\n{BEGIN}\n", 1), (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", 1)],
)
def test_markers_that_do_not_fit_are_refused_with_their_line(
    text: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "AGENTS.md").write_text(text, encoding="utf-8")
    for options in ([], ["--remove"]):
        assert main(["connect", "codex", "--dir", str(tmp_path), *options]) == 2
        assert f"AGENTS.md:{line}: " in capsys.readouterr().err
    assert tree(tmp_path) == {"AGENTS.md": text.encode()}


def test_hooks_join_the_settings_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(_SETTINGS, encoding="utf-8")
    _connected(tmp_path, capsys, "claude-code")
    before, after = json.loads(_SETTINGS), json.loads(file.read_text(encoding="utf-8"))
    assert list(after) == list(before)
    assert _commands(after, "Stop") == ["say döne", "wiki hook stop --wiki wiki"]
    assert _commands(after, "SessionStart") == ["wiki hook start --wiki wiki"]
    assert after["hooks"]["PreToolUse"] == before["hooks"]["PreToolUse"]
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [line for line in _SETTINGS.splitlines() if line.rstrip(",") not in {each.rstrip(",") for each in lines}]
    assert len(kept) == 1, "only the line that a hook was put into is another one"
    _connected(tmp_path, capsys, "claude-code", "--remove")
    assert file.read_text(encoding="utf-8") == _SETTINGS


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
    _connected(tmp_path, capsys, "claude-code")
    found = _connected(tmp_path, capsys, "claude-code", "--wiki", str(tmp_path / "docs" / "our wiki"))
    assert found["written"] == ["CLAUDE.md", ".claude/settings.json"]
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert _commands(settings, "Stop") == ["wiki hook stop --wiki 'docs/our wiki'"]
    assert "wiki consult --wiki 'docs/our wiki' \"" in (tmp_path / "CLAUDE.md").read_text(encoding="utf-8")
    _connected(tmp_path, capsys, "claude-code", "--remove")
    assert tree(tmp_path) == {}


def test_a_wiki_in_the_project_is_named_by_its_way_from_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    package = tmp_path / "project" / "package"
    package.mkdir()
    assert main(["init", "--wiki", str(tmp_path / "project" / "wiki")]) == 0
    capsys.readouterr()
    _connected(package, capsys, "codex")
    settings = json.loads((package / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    assert _commands(settings, "Stop") == ["wiki hook stop --wiki ../wiki"]
    _connected(package, capsys, "codex", "--wiki", str(tmp_path / "elsewhere"))
    settings = json.loads((package / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    assert _commands(settings, "Stop") == [f"wiki hook stop --wiki {tmp_path / 'elsewhere'}"]


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


def test_claude_md_of_the_settings_folder_is_taken_where_it_is_the_only_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("mine\n", encoding="utf-8")
    assert _connected(tmp_path, capsys, "claude-code")["written"] == [".claude/CLAUDE.md", ".claude/settings.json"]
    _connected(tmp_path, capsys, "claude-code", "--remove")
    assert tree(tmp_path) == {".claude/CLAUDE.md": b"mine\n"}


def test_the_notes_for_codex_say_what_a_person_must_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "AGENTS.override.md").write_text("x", encoding="utf-8")
    notes = "\n".join(_connected(tmp_path, capsys, "codex")["notes"])
    assert "/hooks" in notes
    assert 'notify = ["wiki", "hook", "stop", "--wiki", "wiki"]' in notes
    assert "AGENTS.override.md" in notes


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude", ".claude/settings.json"])
def test_a_link_that_leads_out_of_the_folder_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs", encoding="utf-8")
    (project / name).parent.mkdir(parents=True)
    (project / name).symlink_to(outside if name == ".claude" else outside / "file")
    assert main(["connect", "claude-code", "--dir", str(project)]) == 2
    assert "a link that leads out" in capsys.readouterr().err
    assert tree(outside) == {"file": b"theirs"}
    assert [path.name for path in project.iterdir()] == [name.partition("/")[0]]


def test_a_link_inside_the_folder_is_written_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "AGENTS.md").write_text("shared\n", encoding="utf-8")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    _connected(tmp_path, capsys, "claude-code")
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert BEGIN in (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    _connected(tmp_path, capsys, "claude-code", "--remove")
    assert (tmp_path / "AGENTS.md").read_text(encoding="utf-8") == "shared\n"


def test_links_in_a_circle_and_folders_in_the_place_of_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").symlink_to("AGENTS.md")
    with pytest.raises((UnsafePath, RunError)):
        plan(agent_named("codex"), tmp_path, None)
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").mkdir()
    with pytest.raises(RunError, match="not a regular file"):
        plan(agent_named("codex"), tmp_path, None)


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _connected(tmp_path, capsys, "claude-code", "--dry-run")["written"] == ["CLAUDE.md", ".claude/settings.json"]
    assert main(["connect", "claude-code", "--dir", str(tmp_path), "--dry-run"]) == 0
    assert "CLAUDE.md: would be written\n" in capsys.readouterr().out
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["emacs"],
        ["codex", "--dir", "nowhere"],
        [],
        ["codex", "--all"],
        ["--all"],
        ["--list", "--all"],
        ["codex", "--list"],
    ],
)
def test_an_unknown_agent_or_folder_is_a_usage_error(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["connect", *words]) == 2
    assert capsys.readouterr().err.startswith("wiki: ")


def test_a_permission_is_installed_only_where_it_is_asked_for_and_gone_after_remove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(_SETTINGS, encoding="utf-8")
    _connected(tmp_path, capsys, "claude-code")
    assert json.loads(file.read_text(encoding="utf-8"))["permissions"] == json.loads(_SETTINGS)["permissions"]
    found = _connected(tmp_path, capsys, "claude-code", "--allow")
    assert found["written"] == [".claude/settings.json"]
    assert any("trust" in note for note in found["notes"])
    allowed = json.loads(file.read_text(encoding="utf-8"))["permissions"]["allow"]
    assert allowed == ["Bash(npm run test:*)", "Read(~/.zshrc)", "Bash(wiki consult:*)", "mcp__wiki__*"]
    assert _connected(tmp_path, capsys, "claude-code")["written"] == [], "they stay without being asked for again"
    _connected(tmp_path, capsys, "claude-code", "--remove")
    assert file.read_text(encoding="utf-8") == _SETTINGS
    notes = _connected(tmp_path, capsys, "codex", "--allow")["notes"]
    assert any(note.startswith("--allow: Codex") for note in notes)


@pytest.mark.parametrize("agent", _NAMES)
def test_what_its_owner_wrote_stays_byte_for_byte(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = agent_named(agent).hook_file
    pointer, *others = _FILES_OF[agent]
    (tmp_path / pointer).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / pointer).write_bytes(b"---\nmine: true\n---\nRules\r\n")
    if form is not None:
        (tmp_path / form.name).parent.mkdir(parents=True, exist_ok=True)
        own = {event.event: [form.entry(event, "say done")] for event in form.hooks[:2]}
        text = json.dumps({"hooks": {**own, "other": []}, "theme": "d\u00f6ne"}, indent=3)
        (tmp_path / form.name).write_text(text, encoding="utf-8")
    before = tree(tmp_path)
    assert _connected(tmp_path, capsys, agent, "--allow")["written"] == [pointer, *others]
    assert _connected(tmp_path, capsys, agent)["written"] == []
    _connected(tmp_path, capsys, agent, "--remove")
    assert tree(tmp_path) == before


def test_a_pointer_that_several_agents_read_stays_until_the_last_one_is_disconnected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _connected(tmp_path, capsys, "codex")
    _connected(tmp_path, capsys, "opencode")
    found = _connected(tmp_path, capsys, "codex", "--remove")
    assert (found["removed"], found["notes"]) == (
        [".codex/hooks.json"],
        ["AGENTS.md keeps its pointer: opencode is connected and reads it"],
    )
    _connected(tmp_path, capsys, "opencode", "--remove")
    assert tree(tmp_path) == {}


def test_a_pointer_is_taken_out_where_it_was_put_though_the_agent_reads_another_file_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "CLAUDE.md").write_text("mine\n", encoding="utf-8")
    _connected(tmp_path, capsys, "opencode")
    (tmp_path / "AGENTS.md").write_text("new\n", encoding="utf-8")
    assert _connected(tmp_path, capsys, "opencode", "--remove")["written"] == ["CLAUDE.md"]
    assert tree(tmp_path) == {"CLAUDE.md": b"mine\n", "AGENTS.md": b"new\n"}


def test_a_file_in_the_place_of_the_plugin_is_its_owners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".opencode" / "plugins" / "agent-wiki.js"
    file.parent.mkdir(parents=True)
    file.write_text("export const Mine = async () => ({})\n", encoding="utf-8")
    assert main(["connect", "opencode", "--dir", str(tmp_path)]) == 2
    assert ".opencode/plugins/agent-wiki.js: not made by" in capsys.readouterr().err
    assert _connected(tmp_path, capsys, "opencode", "--remove")["removed"] == []
    assert [*tree(tmp_path)] == [".opencode/plugins/agent-wiki.js"]


def test_the_plugin_of_opencode_runs_the_hook_with_the_wiki_as_one_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _connected(tmp_path, capsys, "opencode", "--wiki", str(tmp_path / "our 'wiki' </script>"))
    text = (tmp_path / ".opencode" / "plugins" / "agent-wiki.js").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("const COMMAND = "))
    found = json.loads(line.removeprefix("const COMMAND = "))
    assert found == ["wiki", "hook", "stop", "--wiki", "our 'wiki' </script>"]


@pytest.mark.parametrize(
    ("agent", "file", "content", "pointer"),
    [
        ("opencode", "CLAUDE.md", "mine\n", "CLAUDE.md"),
        ("gemini", ".gemini/settings.json", '{"context": {"fileName": ["AGENTS.md", "X.md"]}}', "AGENTS.md"),
        ("gemini", ".gemini/settings.json", '{"context": {"fileName": ["X.md", "GEMINI.md"]}}', "GEMINI.md"),
        ("gemini", ".gemini/settings.json", '{"context": {"fileName": "../X.md"}}', "GEMINI.md"),
        ("gemini", ".gemini/settings.json", '{"context": {"fileName": "Makefile"}}', "GEMINI.md"),
        ("gemini", ".gemini/settings.json", '{"context": 7}', "GEMINI.md"),
        (
            "gemini",
            ".gemini/settings.json",
            r'{"context": {"fileName": ["A\u0000.md", "\ud800.md", "A\nB.md"]}}',
            "GEMINI.md",
        ),
    ],
)
def test_the_pointer_is_in_the_file_that_the_project_lets_the_agent_read(
    agent: str, file: str, content: str, pointer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(content, encoding="utf-8")
    assert pointer in _connected(tmp_path, capsys, agent)["written"]
    _connected(tmp_path, capsys, agent, "--remove")
    assert tree(tmp_path) == {file: content.encode()}


def test_all_connects_the_agents_that_the_project_shows_signs_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "GEMINI.md").write_text("mine\n", encoding="utf-8")
    (tmp_path / ".cursor").mkdir()
    found = json.loads(_printed(tmp_path, capsys, "--all", "--json", "--dry-run"))
    assert found["signs"] == {"gemini": "GEMINI.md", "cursor": ".cursor"}
    assert found["written"] == [*_FILES_OF["gemini"], *_FILES_OF["cursor"]]
    assert tree(tmp_path) == {"GEMINI.md": b"mine\n"}
    assert "cursor: because of .cursor\n" in _printed(tmp_path, capsys, "--all")
    _printed(tmp_path, capsys, "--all", "--remove")
    assert tree(tmp_path) == {"GEMINI.md": b"mine\n"}


def test_all_agents_at_once_share_files_and_leave_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for agent in _NAMES:
        _connected(tmp_path, capsys, agent)
    everything = tree(tmp_path)
    _printed(tmp_path, capsys, "--all")
    assert tree(tmp_path) == everything
    _printed(tmp_path, capsys, "--all", "--remove")
    assert tree(tmp_path) == {}


def test_the_list_says_what_is_supported_and_what_is_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _connected(tmp_path, capsys, "claude-code")
    _connected(tmp_path, capsys, "opencode")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "hooks.json").write_text("{,", encoding="utf-8")
    found = {each["agent"]: each for each in json.loads(_printed(tmp_path, capsys, "--list", "--json"))}
    assert list(found) == _NAMES
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
    lines = _printed(tmp_path, capsys, "--list")
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
    lines = _printed(tmp_path, capsys, "--list")
    assert "in part        .claude/settings.json, without SessionStart, SubagentStop, SessionEnd\n" in lines
    _connected(tmp_path, capsys, "claude-code")
    assert "in part" not in _printed(tmp_path, capsys, "--list")
