"""The repository that a session worked in, by its bare name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.trajectory import Source
from agent_wiki.trajectory.repository import repository_here, repository_of


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Source("t", remote="https://github.com/acme/Shop.git", cwd="/home/kim/x"), "shop"),
        (Source("t", remote="git@github.com:acme/shop"), "shop"),
        (Source("t", task_id="django__django-13670", cwd="/testbed"), "django"),
        (Source("t", cwd="/home/kim/clones/shop"), "shop"),
        (Source("t", cwd="/home/kim/shop/.worktrees/2"), "shop"),
        (Source("t", cwd=r"C:\Users\kim\shop"), "shop"),
        (Source("t", cwd="/home/kim"), None),
        (Source("t", cwd="/Users/kim"), None),
        (Source("t", cwd=r"C:\Users\kim"), None),
        (Source("t", cwd="/Users/kim/Desktop"), None),
        (Source("t", cwd="/testbed"), None),
        (Source("t", cwd="/tmp"), None),
        (Source("t", cwd="/home/kim/shop/backend"), None),
        (Source("t", cwd="/home/kim/.local/bin"), None),
        (Source("t", cwd=r"D:\git"), None),
        (Source("t", remote="https://github.com/acme/server", cwd="/home/kim/server"), "server"),
        (Source("t", cwd="/logs"), None),
        (Source("t", cwd="/a/<b>"), None),
        (Source("t"), None),
    ],
)
def test_a_repository_is_known_by_its_remote_its_task_or_its_folder(source: Source, name: str | None) -> None:
    assert repository_of(source) == name


def test_the_repository_here_is_that_of_the_nearest_folder_with_git(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    assert repository_here(inner) == "shop"
    (tmp_path / "shop" / ".git" / "config").write_text('[remote "origin"]\n\turl = https://x.org/acme/Cart.git\n')
    assert repository_here(inner) == "cart"


def test_a_linked_worktree_is_in_the_repository_that_it_belongs_to(tmp_path: Path) -> None:
    worktree, git = tmp_path / "fix-7", tmp_path / "Shop" / ".git"
    (git / "worktrees" / "fix-7").mkdir(parents=True)
    (git / "worktrees" / "fix-7" / "commondir").write_text("../..\n", encoding="utf-8")
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {git}/worktrees/fix-7\n", encoding="utf-8")
    assert repository_here(worktree) == "shop"
    (git / "config").write_text('[remote "origin"]\n\turl = https://host/acme/store.git\n', encoding="utf-8")
    assert repository_here(worktree) == "store"


def test_a_folder_without_git_is_in_no_repository(tmp_path: Path) -> None:
    assert repository_here(tmp_path) is None
