"""Real git repositories with a wiki in them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Repository:
    """A repository of its own, without anybody's configuration, with a wiki in it."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.exists():
            self.root.mkdir()
            self.git("init", "--quiet", "--initial-branch=main")

    def copied(self, root: Path) -> Repository:
        """The same in another folder."""
        return Repository(shutil.copytree(self.root, root, symlinks=True))

    @property
    def wiki(self) -> Path:
        return self.root / "wiki"

    def git(self, *arguments: str, fails: bool | None = False) -> str:
        """Run git; with `fails` it has to stop, with None it may."""
        me = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        nobodys = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *me, *arguments], cwd=self.root, env=nobodys, capture_output=True, text=True, check=False
        )
        assert fails in (None, bool(done.returncode)), done.stdout + done.stderr
        return done.stdout

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=More sessions", "--allow-empty")

    def branch(self, name: str) -> None:
        """Begin a branch at `main`, as in a clone of one's own: what git ignores is not there."""
        self.git("checkout", "--quiet", "-b", name, "main")
        shutil.rmtree(self.wiki / ".wiki", ignore_errors=True)
