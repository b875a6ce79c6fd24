"""`wiki connect`: the pointer goes in once, marked, and comes out again leaving every byte as it was."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.harness.connecting import agent_named, plan
from agent_wiki.harness.pointer_block import BEGIN, END
from agent_wiki.harness.project_files import carry_out
from tests.harness.connected import FILES_OF, NAMES, connect, printed
from tests.wikis import tree


@pytest.mark.parametrize("agent", NAMES)
def test_a_pointer_is_once_where_the_agent_reads_it(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = connect(tmp_path, capsys, agent)
    names = FILES_OF[agent]
    assert found["written"] == names
    assert sorted(tree(tmp_path)) == sorted(names)
    pointer = (tmp_path / names[0]).read_text(encoding="utf-8")
    assert pointer.removeprefix(agent_named(agent).new_pointer).startswith(BEGIN)
    assert pointer.endswith(f"{END}\n")
    before = tree(tmp_path)
    again = connect(tmp_path, capsys, agent)
    assert (again["written"], again["unchanged"]) == ([], names)
    assert tree(tmp_path) == before


def test_the_wording_is_an_imperative_with_the_command_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connect(tmp_path, capsys, "agents-md")
    pointer = (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    assert "You MUST" in pointer
    assert 'wiki consult "' in pointer
    assert "wiki/AGENTS.md" in pointer


@pytest.mark.parametrize("agent", NAMES)
def test_what_connect_made_is_gone_after_remove(agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("x", encoding="utf-8")
    connect(tmp_path, capsys, agent)
    found = connect(tmp_path, capsys, agent, "--remove")
    assert found["removed"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md"]
    assert connect(tmp_path, capsys, agent, "--remove")["removed"] == []


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
    connect(tmp_path, capsys, "claude-code")
    connected = file.read_bytes()
    assert connected.startswith(content)
    assert BEGIN.encode() in connected[len(content) :]
    if content.startswith(b"# Rules\r\n"):
        assert b"\n" not in connected[len(content) :].replace(b"\r\n", b"")
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert file.read_bytes() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_was_written_behind_the_block_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("before\n", encoding="utf-8")
    connect(tmp_path, capsys, "codex")
    file.write_text(file.read_text(encoding="utf-8") + "\nbehind\n", encoding="utf-8")
    connect(tmp_path, capsys, "codex", "--remove")
    assert file.read_text(encoding="utf-8") == "before\n\nbehind\n"


def test_an_older_block_is_brought_up_to_date_in_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text(f"before\n\n{BEGIN}\nolder words\n{END}\nbehind\n", encoding="utf-8")
    found = connect(tmp_path, capsys, "agents-md")
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


def test_claude_md_of_the_settings_folder_is_taken_where_it_is_the_only_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("mine\n", encoding="utf-8")
    assert connect(tmp_path, capsys, "claude-code")["written"] == [".claude/CLAUDE.md", ".claude/settings.json"]
    connect(tmp_path, capsys, "claude-code", "--remove")
    assert tree(tmp_path) == {".claude/CLAUDE.md": b"mine\n"}


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
    connect(tmp_path, capsys, "claude-code")
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert BEGIN in (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    connect(tmp_path, capsys, "claude-code", "--remove")
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
    assert connect(tmp_path, capsys, "claude-code", "--dry-run")["written"] == ["CLAUDE.md", ".claude/settings.json"]
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


def test_an_agent_and_all_agents_at_once_are_refused_for_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["connect", "codex", "--all", "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "wiki: connect: either codex or --all, not both\n"


@pytest.mark.parametrize("agent", NAMES)
def test_what_its_owner_wrote_stays_byte_for_byte(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = agent_named(agent).hook_file
    pointer, *others = FILES_OF[agent]
    (tmp_path / pointer).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / pointer).write_bytes(b"---\nmine: true\n---\nRules\r\n")
    if form is not None:
        (tmp_path / form.name).parent.mkdir(parents=True, exist_ok=True)
        own = {event.event: [form.entry(event, "say done")] for event in form.hooks[:2]}
        text = json.dumps({"hooks": {**own, "other": []}, "theme": "d\u00f6ne"}, indent=3)
        (tmp_path / form.name).write_text(text, encoding="utf-8")
    before = tree(tmp_path)
    noted = [form.added_file for form in [agent_named(agent).permissions] if form is not None]
    assert connect(tmp_path, capsys, agent, "--allow")["written"] == [pointer, *noted, *others]
    assert connect(tmp_path, capsys, agent)["written"] == []
    connect(tmp_path, capsys, agent, "--remove")
    assert tree(tmp_path) == before


def test_a_pointer_that_several_agents_read_stays_until_the_last_one_is_disconnected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connect(tmp_path, capsys, "codex")
    connect(tmp_path, capsys, "opencode")
    found = connect(tmp_path, capsys, "codex", "--remove")
    assert (found["removed"], found["notes"]) == (
        [".codex/hooks.json"],
        ["AGENTS.md keeps its pointer: opencode is connected and reads it"],
    )
    connect(tmp_path, capsys, "opencode", "--remove")
    assert tree(tmp_path) == {}


def test_a_file_that_two_agents_read_by_two_names_keeps_its_pointer_for_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "AGENTS.md").write_text("Our rules.\n", encoding="utf-8")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    connect(tmp_path, capsys, "codex")
    connect(tmp_path, capsys, "claude-code")
    pointed = (tmp_path / "AGENTS.md").read_bytes()
    found = connect(tmp_path, capsys, "claude-code", "--remove")
    assert found["notes"] == ["CLAUDE.md keeps its pointer: codex is connected and reads it"]
    assert (tmp_path / "AGENTS.md").read_bytes() == pointed
    connect(tmp_path, capsys, "codex", "--remove")
    assert (tmp_path / "AGENTS.md").read_text(encoding="utf-8") == "Our rules.\n"


def test_a_file_that_cannot_be_written_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Our rules.\n", encoding="utf-8")
    planned = plan(agent_named("codex"), tmp_path, None)
    (tmp_path / ".codex").write_text("a file in the place of the folder", encoding="utf-8")
    with pytest.raises(RunError, match="nothing was changed"):
        carry_out(planned.changes)
    assert tree(tmp_path) == {"AGENTS.md": b"Our rules.\n", ".codex": b"a file in the place of the folder"}


def test_an_agent_is_not_pointed_at_a_folder_that_is_no_wiki(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "Home.md").write_text("Our own wiki.\n", encoding="utf-8")
    assert main(["connect", "codex", "--dir", str(tmp_path)]) == 2
    assert "holds other things and is no wiki" in capsys.readouterr().err
    assert list(tree(tmp_path)) == ["wiki/Home.md"]


def test_a_pointer_is_taken_out_where_it_was_put_though_the_agent_reads_another_file_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "CLAUDE.md").write_text("mine\n", encoding="utf-8")
    connect(tmp_path, capsys, "opencode")
    (tmp_path / "AGENTS.md").write_text("new\n", encoding="utf-8")
    assert connect(tmp_path, capsys, "opencode", "--remove")["written"] == ["CLAUDE.md"]
    assert tree(tmp_path) == {"CLAUDE.md": b"mine\n", "AGENTS.md": b"new\n"}


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
    assert pointer in connect(tmp_path, capsys, agent)["written"]
    connect(tmp_path, capsys, agent, "--remove")
    assert tree(tmp_path) == {file: content.encode()}


def test_all_connects_the_agents_that_the_project_shows_signs_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "GEMINI.md").write_text("mine\n", encoding="utf-8")
    (tmp_path / ".cursor").mkdir()
    found = json.loads(printed(tmp_path, capsys, "--all", "--json", "--dry-run"))
    assert found["signs"] == {"gemini": "GEMINI.md", "cursor": ".cursor"}
    assert found["written"] == [*FILES_OF["gemini"], *FILES_OF["cursor"]]
    assert tree(tmp_path) == {"GEMINI.md": b"mine\n"}
    assert "cursor: because of .cursor\n" in printed(tmp_path, capsys, "--all")
    printed(tmp_path, capsys, "--all", "--remove")
    assert tree(tmp_path) == {"GEMINI.md": b"mine\n"}


def test_all_agents_at_once_share_files_and_leave_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for agent in NAMES:
        connect(tmp_path, capsys, agent)
    everything = tree(tmp_path)
    printed(tmp_path, capsys, "--all")
    assert tree(tmp_path) == everything
    printed(tmp_path, capsys, "--all", "--remove")
    assert tree(tmp_path) == {}


def test_a_removal_names_no_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "claude-code", "--remove", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"nothing of `wiki connect` is in {tmp_path}\n"
    assert connect(tmp_path, capsys, "claude-code", "--remove")["unchanged"] == []
