"""`wiki connect`: the pointer goes in once, marked, and comes out again leaving every byte as it was."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from agent_wiki.commands import main
from agent_wiki.commands.harness import words_of
from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.harness import connecting, json_members
from agent_wiki.harness.connecting import AGENTS, BEGIN, END, with_block, with_hooks, without_block, without_hooks
from tests.wikis import tree

_POINTER_OF = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "agents-md": "AGENTS.md"}
_HOOKS_OF = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
_COMMANDS = {"SessionStart": ("wiki hook start --wiki wiki", 10), "Stop": ("wiki hook stop --wiki wiki", 60)}
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


def _commands(settings: dict[str, Any], event: str) -> list[str]:
    return [hook["command"] for entry in settings["hooks"][event] for hook in entry["hooks"]]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_pointer_is_once_where_the_agent_reads_it(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _connected(tmp_path, capsys, agent)
    names = [_POINTER_OF[agent], *([_HOOKS_OF[agent]] if agent in _HOOKS_OF else [])]
    assert found["written"] == names
    assert sorted(tree(tmp_path)) == sorted(names)
    pointer = (tmp_path / _POINTER_OF[agent]).read_text(encoding="utf-8")
    assert pointer.startswith(BEGIN)
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


@pytest.mark.parametrize("agent", AGENTS)
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


@settings(max_examples=1000)
@given(some.binary(max_size=60).filter(lambda content: b"\0" not in content), some.text("abc\n é", max_size=40))
def test_putting_a_block_in_and_taking_it_out_changes_no_file(content: bytes, text: str) -> None:
    connected = with_block(content, text, "f")
    assert with_block(connected, text, "f") == connected
    assert without_block(connected, "f") == content


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
    "settings",
    [
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        '{"a":1}',
        '{"hooks":{}}',
        '{"hooks": {"Stop": []}}\n',
        '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t]\n\t}\n}\n',
        '{\r\n  "model": "opus"\r\n}\r\n',
        '\ufeff{"a": [1, 2, {"b": null}]}',
        '{\n  "a": 1,\n\n  "b": 2\n}',
        '{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]}]}}',
    ],
)
def test_settings_of_any_shape_come_back_byte_for_byte(settings: str) -> None:
    connected = with_hooks(settings, _COMMANDS, "f")
    assert with_hooks(connected, _COMMANDS, "f") == connected
    found = json.loads(connected.removeprefix("\ufeff"))
    assert _commands(found, "Stop")[-1:] == ["wiki hook stop --wiki wiki"]
    assert ("\r\n" in settings) == ("\r\n" in connected)
    if "\r\n" in settings:
        assert "\n" not in connected.replace("\r\n", "")
    assert without_hooks(connected, "f") == settings


_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text('ab"\\{}[],é', max_size=6),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)
_INDENTS = some.sampled_from([None, 2, 4, "\t", 0])


@given(
    some.dictionaries(some.text("xyz", max_size=3), _VALUES, max_size=3),
    some.dictionaries(some.sampled_from(["Stop", "PreToolUse"]), some.lists(_VALUES, max_size=2), max_size=2),
    _INDENTS,
    some.booleans(),
)
def test_hooks_in_and_out_change_no_settings(
    others: dict[str, Any], hooks: dict[str, Any], indent: int | str | None, has_hooks: bool
) -> None:
    settings = {**others, "hooks": hooks, "z": 1} if has_hooks else others
    text = json.dumps(settings, indent=indent)
    connected = with_hooks(text, _COMMANDS, "f")
    found = json.loads(connected)
    assert {name: value for name, value in found.items() if name != "hooks"} == {
        name: value for name, value in settings.items() if name != "hooks"
    }
    assert list(found)[: len(settings)] == list(settings)
    assert with_hooks(connected, _COMMANDS, "f") == connected
    assert without_hooks(connected, "f") == text


@given(some.dictionaries(some.text(max_size=4), _VALUES, max_size=4), _INDENTS, _VALUES)
def test_a_member_goes_in_at_the_end_and_out_without_a_trace(
    value: dict[str, Any], indent: int | str | None, member: Any
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    changed = json_members.with_member(text, (), "new key", member)
    assert json.loads(changed) == {**value, "new key": member}
    assert json_members.without_member(changed, ("new key",)) == text


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ('{\n  "a": 1,\n}\n', "settings.json:3"),
        ("", "settings.json:1"),
        ("[]", "settings.json:1"),
        ('{\n  // note\n  "a": 1\n}', "settings.json:2"),
        ('{\n  "hooks": []\n}', "settings.json:2"),
        ('{\n  "hooks": {\n    "Stop": {}\n  }\n}', "settings.json:3"),
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


def test_a_hook_that_somebody_put_beside_others_is_taken_out_alone() -> None:
    hooks = [{"type": "command", "command": "a"}, {"type": "command", "command": "/opt/bin/wiki hook stop"}]
    text = json.dumps({"hooks": {"Stop": [{"hooks": hooks}]}})
    left = without_hooks(text, "f")
    assert left is not None
    assert json.loads(left) == {"hooks": {"Stop": [{"hooks": hooks[:1]}]}}


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


def test_the_installed_hook_is_a_command_that_the_hook_understands() -> None:
    for command, _ in _COMMANDS.values():
        assert command.split()[:2] == ["wiki", "hook"]
    assert words_of(_COMMANDS["Stop"][0].split()[3:]).wiki == Path("wiki")


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
        connecting.plan("codex", tmp_path, None, is_removal=False)
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").mkdir()
    with pytest.raises(RunError, match="not a regular file"):
        connecting.plan("codex", tmp_path, None, is_removal=False)


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _connected(tmp_path, capsys, "claude-code", "--dry-run")["written"] == ["CLAUDE.md", ".claude/settings.json"]
    assert main(["connect", "claude-code", "--dir", str(tmp_path), "--dry-run"]) == 0
    assert "CLAUDE.md: would be written\n" in capsys.readouterr().out
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("words", [["cursor"], ["codex", "--dir", "nowhere"]])
def test_an_unknown_agent_or_folder_is_a_usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", *words]) == 2
    assert capsys.readouterr().err.startswith("wiki: ")


def test_a_session_start_is_reminded_of_a_wiki_that_has_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert main(["hook", "start", "--wiki", "wiki"]) == 0
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    capsys.readouterr()
    assert main(["hook", "start"]) == 0
    assert capsys.readouterr().out == "", "an empty wiki is not spoken of"
    (tmp_path / "wiki" / "_index.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n', encoding="utf-8")
    assert main(["hook", "start", "--wiki", "wiki"]) == 0
    found = capsys.readouterr().out
    assert "2 pages" in found
    assert '`wiki consult "' in found
    assert "(`../wiki/`)" in found
    assert "MUST" in found


def test_the_hook_of_a_session_start_never_fails(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent_wiki", "hook", "start", "--wiki", str(tmp_path / "none")]
    done = subprocess.run(command, input=b"{", capture_output=True, check=False, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")
