"""A failed command and the similar one that worked."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import recoveries
from tests.engines.scripted_session import Script


def _lessons(script: Script) -> list[Lesson]:
    found = recoveries.lessons(MinedSession.of(script.done()))
    return [each for each in found if (each.guideline.rule_id or "").startswith("retries/")]


def _rules(script: Script) -> list[str]:
    return [each.guideline.rule for each in _lessons(script)]


def test_an_added_flag_is_the_rule() -> None:
    script = Script().runs(
        "npm install", "npm ERR! code ERESOLVE unable to resolve, try --legacy-peer-deps", failed=True
    )
    (rule,) = _rules(script.runs("npm install --legacy-peer-deps", "added 3 packages"))
    assert rule.startswith("Add `--legacy-peer-deps` to `npm install`: `npm install` alone stops with `npm ERR! code")


def test_a_flag_that_the_failure_does_not_name_is_no_remedy() -> None:
    script = Script().runs("npm install", "npm ERR! code ERESOLVE unable to resolve dependency tree", failed=True)
    assert not _rules(script.runs("npm install --legacy-peer-deps", "added 3 packages"))


def test_a_flag_that_only_shows_more_or_runs_less_gives_no_lesson() -> None:
    script = Script().runs("pytest tests/a.py", "Error: fixture not found", failed=True)
    assert not _rules(script.runs("pytest tests/a.py -v -k cart", "1 passed"))


def test_an_edit_in_between_is_the_remedy_not_the_flag() -> None:
    script = Script().runs("cargo test", "assertion failed: AssertionError in cart", failed=True).edits("a", "b")
    assert not _rules(script.runs("cargo test --all-features", "ok"))


def test_a_flag_that_overrides_a_safeguard_is_never_recommended() -> None:
    script = Script().runs("git push origin main", "error: failed to push some refs", failed=True)
    assert not _rules(script.runs("git push origin main --force", "ok"))
    script = Script().runs("git commit -m x", "error: pre-commit hook failed", failed=True)
    assert not _rules(script.runs("git commit -m x --no-verify", "ok"))


def test_a_failure_without_words_gives_no_lesson() -> None:
    assert not _rules(Script().runs("make all", "", failed=True).runs("make all --always-make", "ok"))


def test_a_flag_that_leaves_out_what_fails_is_no_remedy() -> None:
    script = Script().runs("cargo test", "error: test failed, to rerun pass --lib", failed=True)
    assert not _rules(script.runs("cargo test -- --skip cart", "ok"))


def test_a_variable_that_only_shows_more_is_no_remedy() -> None:
    script = Script().runs("git stash pop", "error: could not restore untracked files", failed=True)
    assert not _rules(script.runs("GIT_TRACE=1 git stash pop", "ok"))


def test_other_code_in_a_here_document_is_no_retry() -> None:
    error = "SyntaxError: Cannot use import statement outside a module"
    script = Script().runs("node - <<'E'\nrequire('a')\nE", error, failed=True)
    assert not _rules(script.runs("node --input-type=module - <<'E'\nimport 'a'\nE", "ok"))


def _threads(said: str) -> Script:
    script = Script().runs("cargo test --test cart", "test result: FAILED. 2 passed; 1 failed", failed=True)
    return script.runs("cargo test --test cart -- --test-threads=1", "test result: ok. 3 passed", says=said)


def test_a_variable_that_the_failure_asks_for_says_no_more_than_the_failure() -> None:
    script = Script().runs("cargo test", "error: SHOP_URL must be set to run these", failed=True)
    assert not _rules(script.runs("SHOP_URL=https://example.com cargo test", "1 passed"))


def test_a_flag_that_only_a_warning_names_that_removes_things_or_had_failed_is_no_remedy() -> None:
    warned = 'level=warning msg="found orphans, use --all-of-it"\nError: backend is unhealthy'
    assert not _rules(Script().runs("stack up", warned, failed=True).runs("stack up --all-of-it", "ok"))
    removing = "Error: found orphans, use --remove-orphans"
    assert not _rules(Script().runs("stack up", removing, failed=True).runs("stack up --remove-orphans", "ok"))
    named = "Error: stopped, use --all-of-it"
    assert _rules(Script().runs("stack up", named, failed=True).runs("stack up --all-of-it", "ok"))
    tried = Script().runs("stack up", named, failed=True).runs("stack up --all-of-it", "Error: stopped", failed=True)
    assert not _rules(tried.runs("stack prepare", "ok").runs("stack up --all-of-it", "ok"))


def test_a_flag_that_hides_a_failure_or_a_reason_about_the_code_at_hand_is_no_rule() -> None:
    for flag, said in (
        ("-W ignore", "The tests need it, for a warning is only raised once. Let me add -W."),
        ("--shared", "`test_cart_total` needs the shared cart. Let me add --shared."),
    ):
        script = Script().runs("pytest shop", "stopped", failed=True)
        assert not _rules(script.runs(f"pytest {flag} shop", "4 passed", says=said))


def test_a_flag_without_which_the_same_passes_elsewhere_is_no_remedy() -> None:
    def installed() -> Script:
        refused = "npm ERR! code ERESOLVE unable to resolve, try --legacy-peer-deps"
        script = Script().runs("npm install lamp", refused, failed=True)
        return script.runs("npm install lamp --legacy-peer-deps", "added 3 packages")

    assert _rules(installed())
    assert not _rules(installed().runs("npm install", "up to date"))
