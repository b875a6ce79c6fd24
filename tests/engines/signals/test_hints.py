"""Hints that were followed, and manuals that ended a loop."""

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


def test_a_manual_that_ended_two_refusals_is_a_rule() -> None:
    script = Script().runs("shopctl status --kind web", "Error: unknown flag: --kind", failed=True)
    script.runs("shopctl status -x", "Error: unknown shorthand flag: 'x' in -x", failed=True)
    script.runs("shopctl status --help", "Usage: …").runs("shopctl status --type web", "ok")
    assert _rules(script) == ["Read `shopctl --help`, and that of the subcommand, before the first call of `shopctl`."]


def test_one_refusal_is_no_loop() -> None:
    script = Script().runs("shopctl status --kind web", "Error: unknown flag: --kind", failed=True)
    assert not _rules(script.runs("shopctl status --help", "Usage: …").runs("shopctl status --type web", "ok"))
