"""Which project and which wiki a session belongs to: subfolders and linked worktrees share one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.harness import hooks
from agent_wiki.harness.connecting import agent_named, plan
from agent_wiki.harness.projects import project_root, project_wiki
from tests.harness.hook_inputs import claude_input


def test_a_wiki_is_found_from_a_folder_below_up_to_the_repository(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    assert project_wiki(None, inner, {}) is None, "a wiki above the repository is another's"
    assert project_wiki(Path("docs/wiki"), inner, {}) == project / "docs" / "wiki"
    assert project_wiki(Path("wiki"), inner, {"CLAUDE_PROJECT_DIR": str(project / "a")}) == project / "a" / "wiki"
    assert main(["init", "--wiki", str(project / "wiki")]) == 0
    assert project_wiki(None, inner, {}) == project / "wiki"
    assert project_wiki(tmp_path / "wiki", inner, {}) == tmp_path / "wiki"


def test_a_wiki_that_is_named_from_a_package_never_leads_out_of_the_repository(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "package").mkdir()
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    assert project_wiki(Path("../wiki"), project, {}) == project / "wiki"
    assert project_wiki(Path("../wiki"), project, {"CLAUDE_PROJECT_DIR": str(project)}) == project / "wiki"
    assert main(["init", "--wiki", str(project / "wiki")]) == 0
    found = project_wiki(Path("../wiki"), project / "package", {})
    assert found is not None
    assert found.resolve() == (project / "wiki").resolve()


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A linked worktree of `shop`, as git writes it."""
    worktree, own = tmp_path / "fix", tmp_path / "shop" / ".git" / "worktrees" / "fix"
    own.mkdir(parents=True)
    (worktree / "cart").mkdir(parents=True)
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    (own / "gitdir").write_text(f"{worktree}/.git\n", encoding="utf-8")
    (worktree / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")
    return worktree


def test_a_worktree_shares_the_wiki_of_its_main_checkout(tmp_path: Path, worktree: Path) -> None:
    shop = tmp_path / "shop"
    assert project_root(worktree / "cart") == shop
    assert project_wiki(None, worktree, {}) is None
    assert project_wiki(Path("wiki"), worktree / "cart", {}) == shop / "wiki"
    claude = {"CLAUDE_PROJECT_DIR": str(worktree / "cart")}
    assert project_wiki(Path("wiki"), worktree / "cart", claude) == shop / "wiki", "cart is only in the worktree"
    assert main(["init", "--wiki", str(worktree / "wiki")]) == 0
    assert project_wiki(None, worktree / "cart", {}) == worktree / "wiki", "the only one"
    assert project_wiki(worktree / "wiki", worktree / "cart", {}) == worktree / "wiki"
    assert main(["init", "--wiki", str(shop / "wiki")]) == 0
    assert project_wiki(None, worktree / "cart", {}) == shop / "wiki"
    assert project_wiki(worktree / "wiki", worktree / "cart", {}) == shop / "wiki", "as a plugin names it"
    (shop / "cart").mkdir()
    assert main(["init", "--wiki", str(shop / "cart" / "wiki")]) == 0
    assert project_wiki(None, worktree / "cart", {}) == shop / "cart" / "wiki"


def test_an_agent_connected_in_a_worktree_is_pointed_at_the_wiki_as_in_the_main_checkout(
    tmp_path: Path, worktree: Path
) -> None:
    (tmp_path / "shop" / "cart").mkdir()
    assert main(["init", "--wiki", str(tmp_path / "shop" / "wiki")]) == 0
    for folder, place in ((worktree, "wiki"), (worktree / "cart", "../wiki")):
        planned = plan(agent_named("codex"), folder, None)
        assert f'wiki hook stop --wiki {place}"' in (planned.changes[1].after or b"").decode()
    planned = plan(agent_named("codex"), worktree, worktree / "wiki")
    assert 'wiki hook stop --wiki wiki"' in (planned.changes[1].after or b"").decode()


def test_consult_in_a_worktree_asks_the_shared_wiki_and_other_commands_the_one_here(
    tmp_path: Path, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_wiki.commands.unchanged import shared_wiki_folder, wiki_folder

    monkeypatch.chdir(worktree / "cart")
    assert (wiki_folder(None), shared_wiki_folder(None)) == (Path("wiki"), Path("wiki"))
    assert main(["init", "--wiki", str(tmp_path / "shop" / "wiki")]) == 0
    assert (wiki_folder(None), shared_wiki_folder(None)) == (tmp_path / "shop" / "wiki",) * 2
    assert main(["init", "--wiki", str(worktree / "wiki")]) == 0
    assert (wiki_folder(None), shared_wiki_folder(None)) == (worktree / "wiki", tmp_path / "shop" / "wiki")
    assert shared_wiki_folder(Path("wiki")) == Path("wiki")


def test_a_session_in_a_worktree_is_saved_and_mined_in_the_main_checkout(tmp_path: Path, worktree: Path) -> None:
    transcript = Path(__file__).parents[2] / "wiki-example" / "traces" / "claude-truncate.jsonl"
    payload = json.dumps(claude_input(transcript, worktree / "cart"))
    outcome = hooks.stop(payload, Path("wiki"), worktree, {})
    assert (outcome.problems, len(outcome.mined)) == ([], 1)
    assert sorted(path.name for path in (tmp_path / "shop").iterdir()) == [".evolve", ".git", "wiki"]
    assert sorted(path.name for path in worktree.iterdir()) == [".git", "cart"]
