"""The package's Agent Skills: valid, true to the commands, and installed without harm to what is there."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some
from typer.core import TyperGroup

from agent_wiki.commands import main
from agent_wiki.commands.app import command_for
from agent_wiki.errors import UnsafePath
from agent_wiki.harness import former_skills
from agent_wiki.harness.skills_folder import State, plan, shipped_skills, states, write
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.stages.order import ASKING_STAGES
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.templates import shipped_folder
from tests.wikis import tree

REPOSITORY = Path(__file__).parents[2]
SKILLS = ("wiki-catalog", "wiki-consult", "wiki-ingest")
_FOLDER = REPOSITORY / "skills" / "wiki-ingest" / "references"
REFERENCES = tuple(f"wiki-ingest/references/{path.name}" for path in sorted(_FOLDER.iterdir()))
TEXTS = (
    *(f"skills/{name}/SKILL.md" for name in SKILLS),
    *(f"skills/{each}" for each in REFERENCES),
    "docs/engines.md",
)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SHELL_BLOCK = re.compile(r"^ *```(sh|console)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_TYPED = re.compile(r"^ *\$ ((?:.*\\\n)*.*)", re.MULTILINE)
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(wiki [^`]+)`")
_LONGEST_NAME, _LONGEST_DESCRIPTION, _MOST_LINES = 64, 260, 500


def _text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def _installed(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    exit_code = main(["skills", "install", "--to", str(folder), "--json", *options])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == exit_code
    return found


def _wiki_calls(text: str) -> Iterator[tuple[str, ...]]:
    """The words behind `wiki` of each such command line in a document's shell blocks, or behind `$` in its consoles."""
    for kind, block in _SHELL_BLOCK.findall(text):
        typed = block if kind == "sh" else "\n".join(_TYPED.findall(block))
        yield from (simple.words[1:] for simple in simple_commands(typed) if simple.program == "wiki")


def _command(words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command that words behind `wiki` name, and the words behind its name."""
    command: Any = command_for(())
    rest = list(words)
    while isinstance(command, TyperGroup):
        assert rest, f"wiki {command.name}: no command"
        assert rest[0] in command.commands, f"{rest[0]}: no such command"
        command = command.commands[rest.pop(0)]
    return command, rest


def _parse(words: Sequence[str]) -> None:
    """Parse a command line as the real command does, without running it. Raises for what cannot be typed."""
    command, rest = _command(words)
    command.make_context(command.name, rest)


@pytest.mark.parametrize("name", SKILLS)
def test_a_shipped_skill_is_a_valid_agent_skill(name: str) -> None:
    text = _text(f"skills/{name}/SKILL.md")
    fields = yaml.safe_load(text.split("---\n")[1])
    assert set(fields) == {"name", "description"}, "other fields are not known to every agent"
    assert fields["name"] == name
    assert _NAME.fullmatch(name)
    assert len(name) <= _LONGEST_NAME
    assert len(fields["description"]) <= _LONGEST_DESCRIPTION
    assert "Use " in fields["description"], "it says when to use it"
    assert parse_page(text, name).fields == fields, "read alike by the wiki's own reader"
    assert len(text.splitlines()) <= _MOST_LINES


def test_the_shipped_skills_are_these_and_each_folder_has_one() -> None:
    assert sorted(shipped_skills()) == sorted([*(f"{name}/SKILL.md" for name in SKILLS), *REFERENCES])


def test_each_reference_is_of_a_stage_that_asks_and_is_linked_from_its_skill() -> None:
    assert {Path(each).stem for each in REFERENCES} <= set(ASKING_STAGES)
    linked = re.findall(r"\]\((references/[^)]+)\)", _text("skills/wiki-ingest/SKILL.md"))
    assert sorted(f"wiki-ingest/{each}" for each in linked) == sorted(REFERENCES)


def test_the_wheel_and_the_source_archive_contain_the_skills() -> None:
    targets = tomllib.loads(_text("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["force-include"]["skills"] == "agent_wiki/skills"
    assert "/skills" in targets["sdist"]["include"]
    assert shipped_folder("skills").is_dir()


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_line_of_a_skill_can_be_typed(name: str) -> None:
    calls = list(_wiki_calls(_text(name)))
    is_quiet = name.endswith("wiki-consult/SKILL.md") or "/references/" in name
    assert calls or is_quiet, "a skill shows the commands it speaks of"
    for words in calls:
        _parse(words)


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_and_option_named_in_the_prose_of_a_skill_exists(name: str) -> None:
    for written in _INLINE.findall(_FENCED.sub("", _text(name))):
        if written == "wiki --version":
            continue
        command, rest = _command(written.split()[1:])
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in rest if word.startswith("--")} <= options, written


def test_the_check_of_command_lines_can_fail() -> None:
    good, bad = _wiki_calls(
        "```sh\necho a | wiki catalog --wiki w > out\n```\n```console\n$ wiki catalog --nonesuch\nno\n```"
    )
    _parse(good)
    with pytest.raises(Exception, match="--nonesuch"):
        _parse(bad)
    with pytest.raises(AssertionError, match="nonesuch: no such command"):
        _parse(["skills", "nonesuch"])


def test_all_skills_arrive_byte_for_byte_and_a_second_time_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    first = _installed(folder, capsys)
    before = tree(folder)
    assert before == shipped_skills()
    assert sorted(first["written"]) == sorted(before)
    times = {path: (folder / path).stat().st_mtime_ns for path in before}
    second = _installed(folder, capsys)
    assert (second["written"], second["left_alone"], second["exit_code"]) == ([], [], 0)
    assert second["unchanged"] == first["written"]
    assert {path: (folder / path).stat().st_mtime_ns for path in before} == times


def test_a_changed_file_is_left_alone_and_reported_until_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "wiki-ingest" / "SKILL.md"
    own.parent.mkdir()
    own.write_text("my own words\n", encoding="utf-8")
    found = _installed(tmp_path, capsys)
    assert (found["left_alone"], found["exit_code"]) == (["wiki-ingest/SKILL.md"], 1)
    assert own.read_text(encoding="utf-8") == "my own words\n"
    assert (tmp_path / "wiki-consult" / "SKILL.md").is_file(), "the others are written all the same"
    assert main(["skills", "install", "--to", str(tmp_path)]) == 1
    assert f"  {own}" in capsys.readouterr().out.splitlines()
    forced = _installed(tmp_path, capsys, "--force")
    assert (forced["written"], forced["exit_code"]) == (["wiki-ingest/SKILL.md"], 0)
    assert tree(tmp_path) == shipped_skills()


def _former(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A folder with what a former version is made to have shipped: one skill that is gone, and one that is not."""
    files = {"wiki-summarize/SKILL.md": b"how to summarize\n", "wiki-ingest/SKILL.md": b"how to ingest\n"}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()[:16]
        monkeypatch.setitem(former_skills._SHIPPED, path, (digest,))
    return files


def test_skills_of_a_former_version_are_replaced_and_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _former(tmp_path, monkeypatch)
    assert _installed(tmp_path, capsys, "--dry-run")["removed"] == ["wiki-summarize/SKILL.md"]
    assert tree(tmp_path) == files
    found = _installed(tmp_path, capsys)
    assert (found["removed"], found["superseded"], found["left_alone"]) == (["wiki-summarize/SKILL.md"], [], [])
    assert (found["exit_code"], tree(tmp_path)) == (0, shipped_skills())
    assert not (tmp_path / "wiki-summarize").exists()


@pytest.mark.parametrize("options", [[], ["--force"]])
def test_a_skill_that_is_no_longer_shipped_stays_and_is_reported_where_a_person_edited_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    _former(tmp_path, monkeypatch)
    own = tmp_path / "wiki-summarize" / "SKILL.md"
    own.write_text("how I summarize\n", encoding="utf-8")
    beside = tmp_path / "wiki-extract-guidelines" / "notes.md"
    beside.parent.mkdir()
    beside.write_text("mine\n", encoding="utf-8")
    assert main(["skills", "install", "--to", str(tmp_path), *options]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == [
        "left alone because you edited them (wiki-ingest has what it says; remove them by hand):",
        f"  {own}",
    ]
    assert (own.read_text(encoding="utf-8"), beside.read_text(encoding="utf-8")) == ("how I summarize\n", "mine\n")


def test_every_skill_that_was_ever_shipped_is_known() -> None:
    stages = ("summarize", "extract-guidelines", "synthesize-skill", "consolidate-clusters", "discover-tasks")
    gone = {f"wiki-{name}/SKILL.md" for name in (*stages, "ingest", "consult", "catalog")}
    assert gone <= former_skills.FORMER_PATHS
    assert not any(former_skills.was_shipped(path, content) for path, content in shipped_skills().items())


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_dry_run_reports_the_same_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], force: list[str]
) -> None:
    own = tmp_path / "wiki-ingest" / "SKILL.md"
    own.parent.mkdir()
    own.write_text("my own words\n", encoding="utf-8")
    before = tree(tmp_path)
    dry = _installed(tmp_path, capsys, "--dry-run", *force)
    assert tree(tmp_path) == before
    done = _installed(tmp_path, capsys, *force)
    assert {**dry, "is_dry_run": False} == done


@pytest.mark.parametrize("link", ["wiki-ingest", "wiki-ingest/SKILL.md"])
@pytest.mark.parametrize("options", [[], ["--force"], ["--dry-run"]])
def test_nothing_is_written_through_a_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str, options: list[str]
) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "skills"
    outside.mkdir()
    (outside / "SKILL.md").write_text("not yours\n", encoding="utf-8")
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside if link == "wiki-ingest" else outside / "SKILL.md")
    assert main(["skills", "install", "--to", str(folder), *options]) == 2
    assert "a link in this folder could lead out of it" in capsys.readouterr().err
    assert tree(outside) == {"SKILL.md": b"not yours\n"}
    assert not (folder / "wiki-consult").exists(), "it is looked at whole before anything is written"


def test_a_link_that_leads_nowhere_is_refused_as_well(tmp_path: Path) -> None:
    (tmp_path / "wiki-ingest").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UnsafePath):
        states(tmp_path, shipped_skills())


def test_the_folder_itself_may_be_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert _installed(tmp_path / "linked", capsys)["exit_code"] == 0
    assert tree(tmp_path / "real") == shipped_skills()


def test_what_is_no_plain_file_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder" / "wiki-ingest" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "wiki-ingest").write_text("", encoding="utf-8")
    for folder in ("folder", "file"):
        assert main(["skills", "install", "--to", str(tmp_path / folder)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert str(tmp_path / folder / "wiki-ingest" / "SKILL.md") in line
        assert not (tmp_path / folder / "wiki-consult").exists()


def test_a_link_put_where_a_file_is_prepared_is_replaced_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getpid", lambda: 7)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".SKILL.md.7.tmp").symlink_to(tmp_path / "victim")
    write(tmp_path, {"a/SKILL.md": b"text"}, ["a/SKILL.md"])
    assert not (tmp_path / "victim").exists()
    assert [each.name for each in (tmp_path / "a").iterdir()] == ["SKILL.md"]


def test_no_folder_named_is_wrong_use() -> None:
    assert main(["skills", "install"]) == 2


@given(
    some.dictionaries(some.text("abc/", min_size=1), some.sampled_from(("missing", "same", "former", "other"))),
    some.booleans(),
)
def test_each_file_is_written_or_unchanged_or_left_alone(found: dict[str, State], is_forced: bool) -> None:
    planned = plan(found, is_forced=is_forced)
    assert sorted([*planned.to_write, *planned.unchanged, *planned.left_alone]) == sorted(found)
    assert {found[path] for path in planned.unchanged} <= {"same"}
    assert {found[path] for path in planned.left_alone} <= {"other"}
    assert not (is_forced and planned.left_alone)
