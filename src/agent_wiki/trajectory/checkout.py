"""The checkout of a repository that a folder is in, and the main checkout that a linked worktree belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_GIT = ".git"


def checkout_of(folder: Path) -> Path | None:
    """The nearest folder with a `.git`, from `folder` upwards; None outside of every repository."""
    return next((each for each in (folder, *folder.parents) if (each / _GIT).exists()), None)


def shared_git_folder(root: Path) -> Path:
    """The `.git` of a checkout; of a linked worktree, whose own is a file, that of its repository."""
    git = root / _GIT
    try:
        own = _git_folder_of(git)
        return (own / (own / "commondir").read_text(encoding="utf-8", errors="replace").strip()).resolve()
    except (OSError, ValueError):
        return git


def main_checkout(root: Path) -> Path:
    """The main checkout of the repository whose checkout is `root`: another folder if `root` is a linked worktree.

    A `.git` file that the repository does not know of, as anybody could write one, leads nowhere; nor does the
    worktree of a repository without a main checkout.
    """
    shared = shared_git_folder(root)
    if shared.name != _GIT or shared == root / _GIT:
        return root
    try:
        own = _git_folder_of(root / _GIT)
        known = own / (own / "gitdir").read_text(encoding="utf-8", errors="replace").strip()
        is_known = known.resolve() == (root / _GIT).resolve() and own.resolve().is_relative_to(shared)
    except (OSError, ValueError):
        return root
    return shared.parent if is_known else root


def folders_of_checkout(folder: Path) -> Iterator[Path]:
    """`folder` and the folders above it up to the root of its checkout; `folder` alone outside of a repository."""
    root = checkout_of(folder) or folder
    for each in (folder, *folder.parents):
        yield each
        if each == root:
            return


def folders_of_main_checkout(folder: Path) -> Iterator[Path]:
    """The same for the main checkout's folder of the same path; nothing if `folder` is in no linked worktree."""
    root = checkout_of(folder)
    main = main_checkout(root) if root is not None else None
    if root is None or main is None or main == root:
        return
    yield from folders_of_checkout(main / folder.relative_to(root))


def _git_folder_of(git: Path) -> Path:
    """The folder that a `.git` file names. Raises `OSError` for a folder or no file."""
    return git.parent / git.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
