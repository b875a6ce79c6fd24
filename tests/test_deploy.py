"""The step of `deploy/github-matrix.yml` that publishes, with its own shell lines: `.ci/deploy` runs the others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.repositories import Repository

_JOB = Path(__file__).parents[1] / "deploy" / "github-matrix.yml"


def _publish(clone: Repository, code: str) -> int:
    """The exit code of the step after a join that ended with `code`, as a runner calls it."""
    steps = yaml.safe_load(_JOB.read_text(encoding="utf-8"))["jobs"]["join"]["steps"]
    script = next(each["run"] for each in steps if each.get("name") == "publish")
    programs = clone.root.parent / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "wiki").write_text("#!/bin/sh\n", encoding="utf-8")
    (programs / "wiki").chmod(0o755)
    nobodys = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**nobodys, "PATH": f"{programs}:{os.environ['PATH']}", "code": code}
    return subprocess.run(["bash", "-e", "-c", script], cwd=clone.root, env=environment, check=False).returncode


@pytest.fixture
def clone(tmp_path: Path) -> Repository:
    """A clone with a wiki that is not committed."""
    clone = Repository(tmp_path / "clone")
    clone.git("init", "--quiet", "--bare", "--initial-branch=main", "../origin")
    clone.git("remote", "add", "origin", "../origin")
    clone.commit()
    clone.git("push", "--quiet", "--set-upstream", "origin", "main")
    clone.wiki.mkdir()
    (clone.wiki / "index.md").write_text("# Wiki\n", encoding="utf-8")
    return clone


def test_the_wiki_is_pushed_and_the_exit_code_is_that_of_the_join(clone: Repository) -> None:
    assert _publish(clone, "1") == 1
    pushed = clone.git("rev-parse", "@{upstream}")
    assert pushed == clone.git("rev-parse", "HEAD")
    assert "wiki/index.md" in clone.git("ls-tree", "-r", "--name-only", "HEAD")
    assert _publish(clone, "") == 0
    assert clone.git("rev-parse", "HEAD") == pushed


def test_a_commit_or_push_that_fails_is_a_failed_job(clone: Repository) -> None:
    hook = clone.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    assert _publish(clone, "") != 0
    hook.unlink()
    clone.git("remote", "set-url", "origin", "nowhere")
    assert _publish(clone, "") != 0
