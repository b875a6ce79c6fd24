"""A hook stops a commit at a check that the session had not run."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import hooks
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

STOPPED = "$ bun test\n12 pass\n$ tsc --noEmit\nsrc/cart.ts(4,9): error TS2322: no.\nhusky - pre-commit script failed"


def _session(check: str = "bun run typecheck", printed: str = "$ tsc --noEmit", stopped: str = STOPPED) -> Script:
    script = (
        Script().runs("git commit -m totals", stopped, failed=True).edits("carts[0]", "carts[0] ?? none", "cart.ts")
    )
    return script.runs(check, printed).runs("git commit -m totals", "1 file changed")


def test_the_check_that_a_hook_ran_last_is_to_be_run_first() -> None:
    script = _session()
    (lesson,) = hooks.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.rule.startswith("Run `bun run typecheck` before `git commit` in this repository:")
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


@pytest.mark.parametrize(
    "script",
    [
        _session(check="bun run lint", printed="$ biome check"),  # another check than that which stopped it
        _session(stopped=STOPPED.replace("husky - pre-commit script failed", "")),  # nothing says that it was a hook
        Script().runs("git commit -m totals", STOPPED, failed=True).runs("bun run typecheck", "$ tsc --noEmit"),
    ],
)
def test_another_check_no_hook_or_no_commit_in_the_end_gives_no_rule(script: Script) -> None:
    assert not hooks.lessons(MinedSession.of(script.done()))


def test_a_check_that_the_session_knew_is_no_news() -> None:
    script = Script().runs("bun run typecheck", "$ tsc --noEmit").runs("git commit -m totals", STOPPED, failed=True)
    script.edits("carts[0]", "carts[0] ?? none", "cart.ts").runs("bun run typecheck", "$ tsc --noEmit")
    assert not hooks.lessons(MinedSession.of(script.runs("git commit -m totals", "1 file changed").done()))
