"""A linked worktree leads to the main checkout of its repository, and nothing else does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_wiki.trajectory.checkout import (
    checkout_of,
    folders_of_checkout,
    folders_of_main_checkout,
    main_checkout,
)


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.invalid"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("worktrees").resolve() / "shop"
    root.mkdir()
    _git(root, "init", "-q", "-b", "main")
    _git(root, "commit", "-q", "--allow-empty", "-m", "Start")
    _git(root, "worktree", "add", "-q", "../fix 7", "-b", "fix")
    return root


def test_a_worktree_that_git_made_belongs_to_its_main_checkout(repository: Path) -> None:
    worktree = repository.parent / "fix 7"
    assert main_checkout(worktree) == repository
    assert main_checkout(repository) == repository
    inner = worktree / "packages" / "cart"
    assert list(folders_of_main_checkout(inner)) == [
        repository / "packages" / "cart",
        repository / "packages",
        repository,
    ]
    assert list(folders_of_main_checkout(repository)) == []


def test_a_git_file_that_its_repository_does_not_know_leads_nowhere(repository: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").write_text(f"gitdir: {repository}/.git/worktrees/fix 7\n", encoding="utf-8")
    assert main_checkout(tmp_path) == tmp_path
    (tmp_path / ".git").write_bytes(b"gitdir: \0\xff\n")
    assert main_checkout(tmp_path) == tmp_path


def test_a_forged_folder_of_worktrees_leads_nowhere(repository: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "commondir").write_text(f"{repository}/.git\n", encoding="utf-8")
    (own / "gitdir").write_text(f"{tmp_path}/.git\n", encoding="utf-8")
    (tmp_path / ".git").write_text("gitdir: own\n", encoding="utf-8")
    assert main_checkout(tmp_path) == tmp_path


def test_a_submodule_and_a_worktree_of_a_bare_repository_are_projects_of_their_own(tmp_path: Path) -> None:
    module = tmp_path / "shop" / "module"
    (tmp_path / "shop" / ".git" / "modules" / "module").mkdir(parents=True)
    module.mkdir()
    (module / ".git").write_text("gitdir: ../.git/modules/module\n", encoding="utf-8")
    assert main_checkout(module) == module
    bare, worktree = tmp_path / "shop.git" / "worktrees" / "fix", tmp_path / "fix"
    bare.mkdir(parents=True)
    worktree.mkdir()
    (bare / "commondir").write_text("../..\n", encoding="utf-8")
    (bare / "gitdir").write_text(f"{worktree}/.git\n", encoding="utf-8")
    (worktree / ".git").write_text(f"gitdir: {bare}\n", encoding="utf-8")
    assert main_checkout(worktree) == worktree


def test_folders_end_at_the_root_of_the_checkout(repository: Path, tmp_path: Path) -> None:
    assert checkout_of(repository / "a" / "b") == repository
    assert list(folders_of_checkout(repository / "a")) == [repository / "a", repository]
    assert list(folders_of_checkout(tmp_path)) == [tmp_path]
