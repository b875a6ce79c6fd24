"""Hints that were followed."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import hints
from tests.engines.scripted_session import Script


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in hints.lessons(MinedSession.of(script.done()))]


ERROR = "error: config is not trusted\nhint: run `mise trust` first"


def test_a_command_that_the_tool_names_is_a_rule_once_it_helped() -> None:
    script = Script().runs("mise run lint", ERROR, failed=True).runs("mise trust", "trusted")
    assert _rules(script.runs("mise run lint", "0 issues")) == [
        "Run `mise trust` when `mise run lint` stops with `error: config is not trusted`."
    ]


def test_a_hint_that_nobody_followed_is_junk() -> None:
    script = Script().runs("mise run lint", ERROR, failed=True).runs("cat mise.toml", "x")
    assert not _rules(script.runs("mise run lint", "0 issues"))


def test_a_hint_that_did_not_help_is_junk() -> None:
    script = Script().runs("mise run lint", ERROR, failed=True).runs("mise trust", "trusted")
    assert not _rules(script.runs("mise run lint", ERROR, failed=True))


def test_what_takes_back_what_was_begun_is_no_remedy() -> None:
    refused = "! [rejected] main -> main (non-fast-forward)\nhint: use 'git rebase' before pushing again"
    script = Script().runs("git push", refused, failed=True).runs("git rebase --abort", "ok").runs("git push", "ok")
    assert not hints.lessons(MinedSession.of(script.done()))


def test_what_git_itself_advises_needs_no_page() -> None:
    refused = " ! [rejected]  work -> work (fetch first)\nhint: use 'git pull' before pushing again."
    script = Script().runs("git push", refused, failed=True).runs("git pull --rebase origin work", "Rebased")
    assert not _rules(script.runs("git push", "work -> work"))
