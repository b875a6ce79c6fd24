"""The repository that a session worked in, by its bare name: from the recorded remote, the task, or the folder.

Neither the owner nor the path is kept: a wiki does not say whose machine a session ran on.
"""

from __future__ import annotations

import re
from pathlib import Path

from agent_wiki.trajectory import Source
from agent_wiki.trajectory.checkout import checkout_of, shared_git_folder

_INSTANCE = re.compile(r"[\w.-]+__([A-Za-z][\w.-]*?)-\d+$")
_WORKTREES = ("worktrees", ".worktrees")
# Folders that say where a session ran, not what it worked on.
_NO_NAMES = frozenset(
    {"", "app", "code", "data", "desktop", "documents", "downloads", "home", "log", "logs", "mnt", "output",
     "private", "project", "projects", "repo", "repos", "repository", "root", "src", "testbed", "tmp", "users", "var",
     "work", "workspace", "workspaces"}
)  # fmt: skip
# Folders that hold repositories, or are a part of one: two of a name are not the same repository.
_PLACES = frozenset(
    {"api", "backend", "bin", "build", "client", "coding", "dev", "develop", "developer", "development", "dist", "docs",
     "frontend", "git", "gitee", "github", "gitlab", "lib", "scripts", "server", "source", "sources", "temp", "test",
     "tests", "web"}
)  # fmt: skip
_REMOTE = re.compile(r"^\s*url\s*=\s*(\S+)\s*$", re.MULTILINE)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}")


def repository_of(source: Source) -> str | None:
    """The name in lower case; None where nothing recorded says it."""
    if source.remote:
        return remote_name(source.remote)
    instance = _INSTANCE.fullmatch(source.task_id or "")
    return _name(instance[1]) if instance else _folder_name(source.cwd or "")


def repository_here(folder: Path) -> str | None:
    """The name of the repository that a folder is in: by its first remote, else by its own folder; None for none."""
    root = checkout_of(folder)
    if root is None:
        return None
    shared = shared_git_folder(root)
    try:
        remote = _REMOTE.search((shared / "config").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        remote = None
    return remote_name(remote[1]) if remote else _folder_name(str(shared.parent if shared.name == ".git" else root))


def remote_name(remote: str) -> str | None:
    """The last part of a remote's address."""
    return _name(re.split(r"[/:]", remote.rstrip("/").removesuffix(".git"))[-1])


def _folder_name(folder: str) -> str | None:
    """The last part of a path that names a project; of a worktree, the part before the folder of worktrees."""
    parts = [part for part in re.split(r"[/\\]", folder) if part]
    at = next((position for position, part in enumerate(parts) if part in _WORKTREES), len(parts))
    rest = parts[1:] if parts and parts[0].endswith(":") else parts  # without a drive of Windows
    if len(rest) < 3 and rest[:1] in (["home"], ["Users"]):
        return None  # somebody's home
    return _name(parts[at - 1]) if at and parts[at - 1].lower() not in _PLACES else None


def _name(text: str) -> str | None:
    name = text.lower()
    return name if name not in _NO_NAMES and _NAME.fullmatch(name) else None
