"""A session in a linked worktree, or in a subfolder, is one of the project: its wiki is read, and it is saved there."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from tests.clients.programs import CLAUDE_CODE
from tests.clients.taught import teach
from tests.clients.work import Work, until

_CLAUDE = pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)


def _holds(at_work: Work, elsewhere: Work) -> None:
    elsewhere.session("Add a function slug. [[fix]]")
    assert "an agent wiki of 1 page" in at_work.model.requests()[0]
    assert until(lambda: any((at_work.project / ".evolve" / "trajectories").glob("*.json")))
    assert not (elsewhere.project / ".evolve").exists()


@_CLAUDE
def test_a_session_in_a_worktree_has_the_wiki_of_the_main_checkout(at_work: Work) -> None:
    teach(at_work)
    at_work.ran("connect", "claude-code")
    tree = at_work.project.parent / "tree"
    me = ["-c", "user.name=Dev", "-c", "user.email=dev@example.invalid"]
    for words in (["add", "CLAUDE.md", ".claude"], ["commit", "-qm", "Connect"], ["worktree", "add", str(tree)]):
        subprocess.run(["git", *me, *words], cwd=at_work.project, check=True, capture_output=True)
    _holds(at_work, replace(at_work, project=tree))


@_CLAUDE
def test_a_session_in_a_connected_subfolder_has_the_projects_wiki(at_work: Work) -> None:
    """Claude Code reads the settings of the folder that it is started in, not those above it."""
    teach(at_work)
    subfolder = replace(at_work, project=at_work.project / "src")
    subfolder.ran("connect", "claude-code")
    _holds(at_work, subfolder)
