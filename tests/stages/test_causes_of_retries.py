"""How sure the cause in a lesson is where a call was tried again: what differed, what else ran, what failed later."""

from __future__ import annotations

import json

import pytest

from agent_wiki.stages.turnings import Grade
from tests.engines.scripted_session import Script
from tests.stages.grades import GREEN as _GREEN
from tests.stages.grades import RED as _RED
from tests.stages.grades import cause_of as _cause
from tests.stages.grades import grade_of as _grade


def test_a_failed_attempt_and_a_look_in_between_change_nothing() -> None:
    session = Script().runs("git push", "fatal: no upstream branch", failed=True)
    session.runs("git push origin", "fatal: no upstream branch", failed=True).runs("git status", "clean")
    assert _cause(session.runs("git push -u origin work", "done"), 2, 8, 8) == "checked"


def test_the_same_command_that_passes_unchanged_may_have_passed_by_itself() -> None:
    session = Script().runs("curl http://x", "curl: (7) Connection refused", failed=True).runs("curl http://x", "ok")
    assert _cause(session, 2, None, 4) == "asserted"


def test_what_fails_again_later_contradicts_it() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs("pytest tests", _GREEN)
    session.runs("pytest tests", _RED, failed=True)
    assert _grade(session, (2, 4, 6)).contradiction == "it failed again in T8"


def test_what_failed_for_another_reason_before_the_remedy_is_not_what_the_remedy_cured() -> None:
    session = Script().runs("python a.py", "ImportError: requires lark", failed=True)
    session.runs("pip install lark", "installed").runs("python a.py", "ValueError: version 3", failed=True)
    session.runs("pip install lark==1.0", "installed").runs("python a.py", "ok")
    assert _grade(session, (2, 8, 10)).reason == "failed in T2, passed in T10, but failed in T6 for another reason"
    assert _cause(session, 6, 8, 10) == "checked"


@pytest.mark.parametrize(
    ("failed", "passed", "besides"),
    [
        ("node - <<'E'\nrequire('a')\nE", "node --experimental - <<'E'\nimport 'a'\nE", "flags and here-document"),
        ("go build ./api", "cd api && A=1 go build ./api", "environment and folder"),
    ],
)
def test_of_two_things_changed_in_the_call_itself_none_is_the_cause(failed: str, passed: str, besides: str) -> None:
    session = Script().runs(failed, "Error: no", failed=True).runs(passed, "done")
    grade = _grade(session, (2, 4, 4))
    assert grade == Grade("asserted", f"failed in T2, passed in T4, but with other {besides} as well")


def test_a_call_that_is_changed_too_says_nothing_of_what_was_done_before_it() -> None:
    session = Script().runs("git push", "! [rejected] (fetch first)", failed=True).runs("git pull", "Updated")
    assert _cause(session.runs("git push --force", "forced update"), 2, 4, 6) == "asserted"


def test_what_ran_at_last_and_failed_otherwise_has_not_passed() -> None:
    session = Script().runs("npm test", "npm : npm.ps1 cannot be loaded", failed=True)
    session.runs("npm.cmd test", "1 failed, 3 passed", failed=True)
    assert _grade(session, (2, 4, 4)).reason.startswith("failed in T2, ran and failed for another reason in T4")


def _set_for_tests(again: str, error: str) -> Grade:
    session = Script().runs("cargo test", "SHOP_URL must be set\n0 passed; 1 failed", failed=True)
    session.runs("SHOP_URL=x cargo test", "1 passed").runs(again, error, failed=True)
    return _grade(session, (2, 4, 4), (3, "SHOP_URL must be set"))


def test_a_later_failure_contradicts_only_with_the_same_error_and_the_remedy_applied() -> None:
    same, other = "SHOP_URL must be set\n0 passed; 1 failed", "the cart is empty\n0 passed; 1 failed"
    assert _set_for_tests("SHOP_URL=x cargo test", same).contradiction == "it failed again in T6"
    assert not _set_for_tests("SHOP_URL=x cargo test", other).contradiction
    assert not _set_for_tests("cargo test", same).contradiction


def test_a_compiler_that_gets_past_an_error_to_another_confirms_the_remedy() -> None:
    gone, next_one = "error[E0412]: cannot find type `Select`", "error[E0433]: cannot find crate `uuid`"
    session = Script().runs("cargo check", gone, failed=True).edits("[]", '["Select"]', "Cargo.toml")
    session.runs("cargo check", next_one, failed=True)
    grade = _grade(session, (2, 4, 6), (3, gone))
    assert grade.cause == "checked"
    assert grade.reason.startswith("failed in T2, ran and failed for another reason in T6")


def _together(*calls: tuple[str, str, bool]) -> Script:
    """Commands of one batch: all are issued before the first result; each with its output and whether it failed."""
    session = Script()
    for at, (command, _, _) in enumerate(calls):
        session.builder.assistant(None, calls=[(f"b{at}", "Bash", json.dumps({"command": command}))])
    for at, (_, output, failed) in enumerate(calls):
        session.builder.tool(f"b{at}", output, is_error=failed)
    return session


def test_a_remedy_that_also_ran_in_the_batch_of_the_failure_is_no_cause() -> None:
    missing = "cp: cannot create 'out/a': No such file or directory"
    session = _together(("cd shop; mkdir -p out", "", False), ("cd shop; cp a out/a", missing, True))
    session.runs("mkdir -p out").runs("cd shop; cp a out/a")
    grade = _grade(session, (3, 6, 8))
    assert (grade.cause, grade.reason) == (
        "asserted",
        "failed in T3, passed in T8, but T2 did the same at the same time",
    )
    session = _together(("cd shop; mkdir -p other", "", False), ("cd shop; cp a out/a", missing, True))
    assert _cause(session.runs("cd shop; mkdir -p out").runs("cd shop; cp a out/a"), 3, 6, 8) == "checked"


def test_what_was_called_in_the_batch_of_the_failure_neither_cures_nor_confirms() -> None:
    session = _together(
        ("npm test", "1 failed", True), ("npm ci", "added 2 packages", False), ("npm test", "ok", False)
    )
    assert _grade(session, (2, None, 4)).reason.endswith("but T4 was called before the failure was seen")
    session = _together(("npm test", "1 failed", True), ("npm ci", "added 2 packages", False))
    assert _grade(session.runs("npm test", "1 passed"), (2, 3, 6)).cause == "asserted"


def test_the_refused_word_again_speaks_not_against_leaving_it_out() -> None:
    error = "rg: unrecognized flag -R"
    session = Script().runs("rg price -R src", error, failed=True).runs("rg total src", "src/a.py: total")
    session.runs("rg total -R src", error, failed=True)
    grade = _grade(session, (2, 4, 4), (3, error))
    assert (grade.cause, grade.contradiction) == ("checked", "")


@pytest.mark.parametrize(
    ("between", "again"),
    [
        (None, "npm run e2e"),
        (None, "npm run e2e 2>&1 | tail -5"),
        (None, "npm run e2e --verbose; echo $?"),
        ("git log --oneline -3", "npm run e2e"),
        ("cat e2e/cart.ts", "npm run e2e"),
        ("npm run e2e", "npm run e2e"),
    ],
)
def test_a_retry_after_nothing_but_a_look_may_have_passed_by_itself(between: str | None, again: str) -> None:
    session = Script().runs("npm run e2e", "Error: page.goto: net::ERR_ABORTED", failed=True)
    if between is not None:
        session.runs(between, "Error: x" if between == again else "a1b2c3 cart", failed=between == again)
    last = len(session.runs(again, "12 passed").done().messages)
    remedy = 4 if between is not None else last - 1
    grade = _grade(session, (2, remedy, last), (3, "net::ERR_ABORTED"))
    assert grade == Grade("asserted", f"failed in T2, passed in T{last - 1} unchanged: it may have passed by itself")


@pytest.mark.parametrize(
    ("between", "again"),
    [
        (None, "CI=1 npm run e2e"),
        (None, "export CI=1 && npm run e2e"),
        (None, "sudo npm run e2e"),
        (None, "sleep 20 && npm run e2e"),
        ("mkdir -p out", "npm run e2e"),
        ("sleep 20", "npm run e2e"),
        ("docker compose up -d", "npm run e2e"),
    ],
)
def test_what_was_done_before_or_in_the_retry_may_be_the_cause(between: str | None, again: str) -> None:
    session = Script().runs("npm run e2e", "Error: page.goto: net::ERR_ABORTED", failed=True)
    if between is not None:
        session.runs(between, "")
    last = len(session.runs(again, "12 passed").done().messages)
    assert _cause(session, 2, 4 if between is not None else last - 1, last) == "checked"


def test_a_step_that_had_passed_before_and_is_not_run_again_is_no_change() -> None:
    failed, passed = "git add . && git push", "git push"
    session = Script().runs(failed, "fatal: unable to access 'https://h/': Empty reply from server", failed=True)
    assert _cause(session.runs(passed, "main -> main"), 2, 4, 4) == "asserted"


def test_how_long_a_harness_waits_is_a_cause_only_of_a_failure_that_speaks_of_time() -> None:
    for line, cause in (("Error: ENOTFOUND registry", "asserted"), ("Command timed out after 120s", "checked")):
        session = Script().call("Bash", {"command": "npm ci", "timeout": 120}, f"Exit code 1\n{line}", failed=True)
        session.call("Bash", {"command": "npm ci", "timeout": 600, "description": "Again"}, "added 12 packages")
        assert _cause(session, 2, 4, 4) == cause


def test_a_loop_over_other_words_and_the_end_of_what_still_ran_are_changes() -> None:
    step = 'perl -i -pe s/5/6/ "$f"; done'
    session = Script().runs(f"for f in $LIST; do {step}", "Can't open a.md b.md: No such file", failed=True)
    assert _cause(session.runs(f"for f in a.md b.md; do {step}", "ok"), 2, 4, 4) == "checked"
    session = Script().call("spawn_agent", {"task": "read a.md"}, "Error: thread limit reached (max 6)", failed=True)
    session.call("close_agent", {"target": "019d"}, "closed").call("spawn_agent", {"task": "read a.md"}, "started")
    assert _cause(session, 2, 4, 6) == "checked"


def test_a_service_that_is_called_again_with_the_same_words_proves_nothing() -> None:
    def cause(*orders: str) -> str:
        session = Script().call("book_seat", {"order": orders[0]}, "Error: busy", failed=True)
        return _cause(session.call("book_seat", {"order": orders[1]}, "booked"), 2, 4, 4)

    assert (cause("A1", "A1"), cause("A1", "#A1")) == ("asserted", "checked")


@pytest.mark.parametrize("shell", ["", "powershell.exe -NoProfile -Command "])
def test_another_page_that_powershell_does_not_find_later_contradicts_nothing(shell: str) -> None:
    def fetches(path: str) -> str:
        return f"{shell}(Invoke-WebRequest -UseBasicParsing https://h.example/shop/main/{path}).Content"

    missing = "Invoke-WebRequest : 404: Not Found"
    session = Script().runs(fetches("cart.py"), missing, failed=True).runs("cat pyproject.toml", "shop.cart")
    session.runs(fetches("shop/cart.py"), "def total(): ...").runs(fetches("shop/tax.py"), missing, failed=True)
    assert not _grade(session, (2, 4, 6), (3, missing)).contradiction
    session.runs(fetches("cart.py"), missing, failed=True)
    assert _grade(session, (2, 4, 6), (3, missing)).contradiction == "it failed again in T10"


def test_a_line_that_powershell_could_not_read_differs_by_what_stands_between_its_steps() -> None:
    error = "The token '&&' is not a valid statement separator in this version."
    for again, cause in (("git remote -v; git status", "checked"), ("git remote -v && git status", "asserted")):
        session = Script().runs("git remote -v && git status", error, failed=True).runs(again, "clean")
        assert _cause(session, 2, 4, 4) == cause


def test_an_option_without_which_another_call_of_the_batch_was_started_is_no_cause() -> None:
    session = Script()
    session.builder.assistant(
        calls=[
            (each, "shell", json.dumps({"command": line, "login": True}))
            for each, line in (("one", "git status"), ("two", "ls shop"))
        ]
    )
    session.builder.tool("one", "CreateProcessWithLogonW failed: 1056", is_error=True)
    session.builder.tool("two", "fatal: not a git repository", is_error=True)
    session.call("shell", {"command": "git status", "login": False}, "nothing to commit")
    grade = _grade(session, (2, 5, 5))
    said = "failed in T2, passed in T5, but another call was started in T2 without what was changed"
    assert (grade.cause, grade.reason) == ("asserted", said)


def test_a_call_of_the_batch_that_passed_says_nothing_of_what_another_failed_by() -> None:
    session = Script()
    calls = [("one", "lamp sync", 1), ("two", "ls shop", 1)]
    session.builder.assistant(
        calls=[(each, "shell", json.dumps({"command": line, "retries": count})) for each, line, count in calls]
    )
    session.builder.tool("one", "error: the lamp did not answer", is_error=True)
    session.builder.tool("two", "cart.py", is_error=False)
    session.call("shell", {"command": "lamp sync", "retries": 5}, "synced")
    assert _grade(session, (2, 5, 5)).cause == "checked"


@pytest.mark.parametrize(
    "ended", ["building\n\nProcess exited with signal SIGKILL.", "Cancelled: parallel tool call Bash errored"]
)
def test_a_call_that_a_signal_ended_or_that_no_failure_stands_beside_was_refused_by_nobody(ended: str) -> None:
    session = Script().runs("npm run build", ended).edits("a", "b", "config.js").runs("npm install x", "added")
    session.runs("npm run build", "built in 3s")
    grade = _grade(session, (2, 4, 8), (3, ended.rpartition("\n")[2]))
    assert grade == Grade("asserted", "the checks recognize no failure in T2")
