"""The one writer: whole files or none, inside the folder, nothing in a dry run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError, UnsafePath
from agent_wiki.wiki.files import scan
from agent_wiki.wiki.replacing import durable
from agent_wiki.wiki.store import WikiFolder
from tests.wikis import record, tree


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "a/../../x", "", ".", "a/", "a//b", "a/./b", "a\\..\\b", "a\0b", "..", "a/.."]
)
def test_no_path_leaves_the_folder(tmp_path: Path, path: str) -> None:
    folder = WikiFolder(tmp_path / "wiki")
    for act in (folder.read_text, folder.remove, lambda path: folder.write_text(path, "x")):
        with pytest.raises(UnsafePath):
            act(path)
    assert [each.name for each in tmp_path.rglob("*") if each.name not in ("wiki", ".wiki")] == []


def test_a_file_that_holds_these_bytes_is_not_written(tmp_path: Path) -> None:
    folder = WikiFolder(tmp_path)
    assert folder.write_text("a/b.md", "x\r\n")
    changed = (tmp_path / "a" / "b.md").stat().st_mtime_ns
    assert not folder.write_text("a/b.md", "x\r\n")
    assert (tmp_path / "a" / "b.md").stat().st_mtime_ns == changed
    assert folder.read_text("a/b.md") == "x\r\n"
    assert folder.written == ["a/b.md"]


def test_a_new_file_is_known_by_the_signature_that_the_next_run_finds(tmp_path: Path) -> None:
    folder = WikiFolder(tmp_path)
    assert folder.files() == {}
    folder.write_text("a/b.md", "x")
    assert folder.files() == scan(str(tmp_path)) != {}


def test_what_came_after_the_folder_was_looked_at_is_replaced_and_a_link_never_followed(tmp_path: Path) -> None:
    folder, outside = WikiFolder(tmp_path / "wiki"), tmp_path / "outside"
    (tmp_path / "wiki" / "a").mkdir(parents=True)
    outside.write_text("mine", encoding="utf-8")
    (tmp_path / "wiki" / "a" / "before.md").symlink_to(outside)
    assert folder.files().keys() == {"a/before.md/"}
    with pytest.raises(UnsafePath):
        folder.write_text("a/before.md", "x")
    (tmp_path / "wiki" / "a" / "after.md").symlink_to(outside)
    (tmp_path / "wiki" / "a" / "other.md").write_text("theirs", encoding="utf-8")
    assert folder.write_text("a/after.md", "x")
    assert folder.write_text("a/other.md", "y")
    assert [(tmp_path / "wiki" / "a" / name).read_text() for name in ("after.md", "other.md")] == ["x", "y"]
    assert outside.read_text(encoding="utf-8") == "mine"
    assert {path: folder.files()[path] for path in ("a/after.md", "a/other.md")}.items() <= scan(
        str(tmp_path / "wiki")
    ).items()


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = WikiFolder(tmp_path)
    folder.write_text("a.md", "old")

    def full(_path: str, _target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(RunError, match="No space left on device"):
        folder.write_text("a.md", "new")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.md"]


def test_a_new_file_that_cannot_be_written_whole_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    room = [2]

    def nearly_full(descriptor: int, content: bytes) -> int:
        if not room:
            raise OSError(28, "No space left on device")
        return write(descriptor, content[: room.pop()])

    monkeypatch.setattr(os, "write", nearly_full)
    with pytest.raises(RunError, match="No space left on device"):
        WikiFolder(tmp_path).write_text("a.md", "new")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("lacking", ["open", "link"])
def test_where_no_file_can_be_made_without_a_name_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    real = getattr(os, lacking)
    refused: list[object] = []

    def only_with_a_name(path: str, *words: int, **named: int) -> int:
        if lacking == "link" or path == str(tmp_path):
            refused.append(path)
            raise OSError(95, "Operation not supported")
        made: int = real(path, *words, **named)
        return made

    monkeypatch.setattr(os, lacking, only_with_a_name)
    folder = WikiFolder(tmp_path)
    assert folder.write_text("a.md", "new")
    assert folder.read_text("a.md") == "new"
    assert len(refused) == 1
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.md"]


def test_a_dry_run_reports_and_touches_nothing(tmp_path: Path) -> None:
    WikiFolder(tmp_path / "real").write_text("a.md", "x")
    folder = WikiFolder(tmp_path / "real", is_dry_run=True)
    with folder.locked():
        assert folder.write_text("b.md", "x")
        folder.remove("a.md")
        folder.append_audit([{"action": "x"}])
        folder.write_machinery("x.json", 1)
        folder.make_executable("a.md")
    assert (folder.written, folder.removed) == (["b.md"], ["a.md"])
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == [".wiki", "a.md"]
    assert list((tmp_path / "real" / ".wiki").iterdir()) == []


def test_a_removed_file_takes_its_empty_folder_but_no_section(tmp_path: Path) -> None:
    folder = WikiFolder(tmp_path)
    folder.write_text("skills/x/scripts/a.sh", "x")
    folder.write_text("skills/x/SKILL.md", "x")
    folder.remove("skills/x/scripts/a.sh")
    folder.remove("skills/x/SKILL.md")
    folder.remove("skills/x/SKILL.md")
    assert [path.name for path in (tmp_path / "skills").iterdir()] == []
    folder.write_text("skills/x/SKILL.md", "again")
    assert folder.read_text("skills/x/SKILL.md") == "again"


def test_machinery_that_is_damaged_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    folder = WikiFolder(tmp_path)
    folder.write_machinery("x.json", {"a": 1})
    assert folder.read_machinery("x.json") == {"a": 1}
    for damage in (b"{", b"\xff", b"[" * 100_000):
        (tmp_path / ".wiki" / "x.json").write_bytes(damage)
        assert folder.read_machinery("x.json") is None
    assert folder.read_machinery("none.json") is None


def test_what_is_not_utf_8_is_an_error_where_it_could_be_written_back(tmp_path: Path) -> None:
    (tmp_path / "_config.yaml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(RunError, match=r"_config\.yaml: not UTF-8"):
        WikiFolder(tmp_path).read_text("_config.yaml")


def test_the_machinery_is_ignored_by_git(tmp_path: Path) -> None:
    with WikiFolder(tmp_path / "wiki").locked():
        assert (tmp_path / "wiki" / ".wiki" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def _noted(done: list[str], name: str, real: Callable[..., object]) -> Callable[..., object]:
    def call(*words: Any, **named: Any) -> object:
        done.append(name)
        return real(*words, **named)

    return call


def test_what_is_durable_is_on_the_disk_before_it_has_its_name_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for name in ("fsync", "link", "replace"):
        monkeypatch.setattr(os, name, _noted(done, name, getattr(os, name)))
    folder = WikiFolder(tmp_path / "wiki")
    folder.write_text("a.md", "new")
    assert "fsync" not in done
    done.clear()
    with durable(is_wanted=True):
        folder.write_text("b.md", "new")
        folder.write_text("b.md", "other")
        folder.write_cache("c.json", [])
    assert done == ["fsync", "link", "fsync", "fsync", "replace", "fsync",
                    "fsync", "link", "fsync", "replace", "fsync"]  # fmt: skip


def test_a_command_is_durable_when_it_is_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    words = ["ingest", str(record(tmp_path, "a")), "--jobs", "1", "--wiki"]
    assert main([*words, str(tmp_path / "plain")]) == 0
    assert synced == []
    assert main([*words, str(tmp_path / "durable"), "--durable"]) == 0
    assert len(synced) >= 2 * len(tree(tmp_path / "durable"))
