"""A well-known error and its remedy."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.remedies import Remedy, remedies
from agent_wiki.engines.offline.signals import known_remedies
from tests.engines.scripted_session import Script

WORKTREE = "fatal: 'main' is already used by worktree at '/home/kim/shop'"


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in known_remedies.lessons(MinedSession.of(script.done()))]


def test_an_error_met_and_then_remedied_is_a_lesson() -> None:
    script = Script().runs("git checkout main", WORKTREE, failed=True).runs("git checkout -b fix origin/main")
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.title == "Branch off the remote in worktrees"
    assert [each.quote for each in lesson.guideline.evidence] == [
        WORKTREE,
        "git checkout main",
        "git checkout -b fix origin/main",
    ]
    assert "/home" not in lesson.guideline.rule + lesson.guideline.rationale


def test_an_error_without_its_remedy_gives_no_lesson() -> None:
    assert not _titles(Script().runs("git checkout main", WORKTREE, failed=True).runs("git status"))


def test_a_remedy_that_failed_too_gives_no_lesson() -> None:
    script = Script().runs("git checkout main", WORKTREE, failed=True)
    assert not _titles(script.runs("git checkout -b fix origin/main", "fatal: no such ref", failed=True))


def test_an_error_text_that_was_only_read_gives_no_lesson() -> None:
    assert not _titles(Script().runs("cat notes.md", WORKTREE).runs("git checkout -b fix origin/main"))


def test_a_remedy_may_be_an_edit() -> None:
    script = Script().runs("python check.py", "Error: mapping values are not allowed here", failed=True)
    assert _titles(script.edits("title: a: b", 'title: "a: b"')) == ["Quote YAML values with colons"]


def test_an_error_reported_in_a_success_counts_where_the_entry_says_so() -> None:
    script = (
        Script().runs("git merge main", "Already up to date.").runs("git merge origin/main", "CONFLICT", failed=True)
    )
    assert _titles(script) == ["Fetch and merge the remote branch"]


def test_a_regression_test_seen_red_is_no_failure_of_the_remedy() -> None:
    script = Script().runs("git stash && go test ./cart", "No local changes to save\nok", failed=True)
    script.runs("git show HEAD~1:cart.go > cart.go && go test ./cart", "--- FAIL: TestCart")
    assert _titles(script) == ["Restore committed code with git show"]


def test_an_error_the_user_came_back_with_is_a_lesson_once_remedied() -> None:
    script = Script().edits("a", "title: a: b", "a.yaml").says("Done.").user("mapping values are not allowed here")
    assert not _titles(script)
    assert _titles(script.edits("title: a: b", 'title: "a: b"', "a.yaml")) == ["Quote YAML values with colons"]


@pytest.mark.parametrize("remedy", remedies(), ids=lambda remedy: remedy.wording.title)
def test_every_entry_is_worded_as_a_rule(remedy: Remedy) -> None:
    wording = remedy.wording
    assert 3 <= len(wording.title.split()) <= 7
    assert 2 <= len(wording.tags) <= 5
    assert not wording.rule.lower().startswith(("don't", "do not", "never", "avoid"))


def test_the_tables_patterns_are_cheap_on_hostile_text() -> None:
    for text in ("a.b " * 250_000, "'" * 1_000_000, "sed: 1: " * 100_000, "go-build" * 100_000, "x/y: " * 200_000):
        for remedy in remedies():
            remedy.error.search(text[:40_000])
            for pattern in (remedy.command, remedy.edit, remedy.failed):
                if pattern:
                    pattern.search(text[:40_000])
