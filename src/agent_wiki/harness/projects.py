"""The project that a session works in: its root, and its wiki, which subfolders and linked worktrees share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_wiki.trajectory.checkout import checkout_of, folders_of_checkout, folders_of_main_checkout, main_checkout
from agent_wiki.wiki.layout import CONFIG

DEFAULT_WIKI = "wiki"


def project_root(start: Path) -> Path:
    """The root of the checkout that `start` is in, of a linked worktree that of the main checkout; else `start`."""
    root = checkout_of(start)
    return start if root is None else main_checkout(root)


def project_wiki(named: Path | None, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """The wiki of the project: the nearest `wiki` (or `named`) from `cwd` up to the repository's root.

    In a linked worktree the main checkout is searched first, so that its sessions share one wiki; that holds for a wiki
    that is named by its whole path, too, as a plugin names the folder it was loaded from. A named wiki that
    does not exist yet gets a path in the project. Without a name only an existing wiki is returned, else None, so that
    a hook in a user's global settings creates no wiki. A relative name never leads out of the repository: `../wiki`,
    as it is called from a package, is the repository's `wiki` where it is called from its root.
    """
    named = _of_main_checkout(named) if named is not None and named.is_absolute() else named
    found = nearest_wiki(named or Path(DEFAULT_WIKI), _shared_folders(cwd))
    if found is not None or named is None:
        return found
    project = environment.get("CLAUDE_PROJECT_DIR")
    home = Path(project) if project and cwd.is_relative_to(project) else project_root(cwd)
    shared = next(folders_of_main_checkout(home), home)
    base = shared if shared.is_dir() else project_root(home)
    return base / named if _is_inside(base, named) else base.joinpath(*(each for each in named.parts if each != ".."))


def nearest_wiki(relative: Path, folders: Iterator[Path]) -> Path | None:
    """The first of the folders' wikis that exists."""
    found = (each / relative for each in folders if _is_inside(each, relative))
    return next((each for each in found if (each / CONFIG).is_file()), None)


def _is_inside(folder: Path, wiki: Path) -> bool:
    """Whether a wiki that is named from a folder lies in the folder's checkout; of any that has its whole path True."""
    if wiki.is_absolute() or ".." not in wiki.parts:
        return True
    root = checkout_of(folder)
    return root is None or Path(os.path.normpath(folder / wiki)).is_relative_to(root)


def _of_main_checkout(wiki: Path) -> Path:
    """Of a wiki in a linked worktree that of the main checkout, if it has one; any other as it is."""
    root = checkout_of(wiki)
    if root is None:
        return wiki
    shared = main_checkout(root) / wiki.relative_to(root)
    return shared if (shared / CONFIG).is_file() else wiki


def _shared_folders(cwd: Path) -> Iterator[Path]:
    yield from folders_of_main_checkout(cwd)
    yield from folders_of_checkout(cwd)
