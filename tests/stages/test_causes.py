"""How sure the cause in a lesson is: what the turns between its event and its confirmation show."""

from __future__ import annotations

import json

import pytest

from agent_wiki.stages.causes import graded
from agent_wiki.stages.turnings import Grade, Turning
from agent_wiki.trajectory import Trajectory
from tests.engines.scripted_session import Script

_RED, _GREEN = "FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed", "3 passed"


def _grade(session: Script, turning: tuple[int, int | None, int | None], *quotes: tuple[int, str]) -> Grade:
    return graded(session.done(), Turning(*turning), quotes)


def _cause(session: Script, *turning: int | None) -> str:
    event, remedy, confirmation = turning
    assert event is not None
    return graded(session.done(), Turning(event, remedy, confirmation), []).cause


def _turns(trajectory: Trajectory) -> int:
    return len(trajectory.messages)


def test_a_check_that_fails_and_passes_after_one_edit_is_checked() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs("pytest tests", _GREEN)
    assert _grade(session, (2, 4, 6)) == Grade(
        "checked", "failed in T2, passed in T6; nothing else was changed in between"
    )


def test_several_edits_of_the_same_file_are_counted() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("2", "3").edits("3", "4")
    assert _grade(session.runs("pytest tests", _GREEN), (2, 4, 8)) == Grade(
        "checked", "failed in T2, passed in T8; only the remedy was changed in between, in 2 steps"
    )


@pytest.mark.parametrize(
    "between",
    [
        lambda session: session.edits("x", "y", "other.py"),
        lambda session: session.runs("pip install lark", "Successfully installed lark"),
        lambda session: session.runs("sed -i s/a/b/ setup.cfg"),
    ],
)
def test_what_else_was_changed_in_between_vetoes_it(between: object) -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4")
    between(session)  # type: ignore[operator]
    assert _cause(session.runs("pytest tests", _GREEN), 2, 4, 8) == "asserted"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("cat > /tmp/try.py <<'E'\nprint(total([1]))\nE", "checked"),
        ("cat > /tmp/try.py <<'E'\nopen('x', 'w')\nE", "asserted"),
        ("cat > try.py <<'E'\nprint(total([1]))\nE", "asserted"),
        ("kubectl config view", "checked"),
        ("kubectl config use-context other", "asserted"),
    ],
)
def test_a_temporary_script_that_only_prints_and_a_look_at_a_cluster_change_nothing(line: str, cause: str) -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs(line, "")
    script = "/tmp/try.py" if "/tmp" in line else "try.py"
    session.runs(f"python {script}" if "try" in line else line, "1").runs("pytest tests", _GREEN)
    assert _cause(session, 2, 4, 10) == cause


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest tests", "pytest tests/test_a.py"),
        ("workmux send a -P x.md", "workmux status"),
        ("npm --version", "pip --version"),
        ("cargo test", "cargo build"),
        ("python a.py", "python b.py"),
    ],
)
def test_the_next_thing_that_works_is_not_the_same_check(failed: str, passed: str) -> None:
    session = Script().runs(failed, "Error: no", failed=True).runs(passed, _GREEN)
    assert _cause(session, 2, 4, 4) == "asserted"


@pytest.mark.parametrize(
    ("between", "cause"),
    [("sed -i s/a/b/ a.py", "checked"), ("mise tasks", "checked"), ("brew install ruff", "asserted")],
)
def test_only_what_installs_programs_brings_one_that_was_missing(between: str, cause: str) -> None:
    session = Script().runs("ruff check .", "zsh: command not found: ruff", failed=True).runs(between, "ok")
    assert _cause(session.runs("mise exec -- ruff check .", "All checks passed!"), 2, 6, 6) == cause


@pytest.mark.parametrize("passed", ["cd /home/kim/shop/web && npm run build", "npm run build"])
def test_behind_a_folder_that_was_not_there_the_rest_of_the_line_is_what_failed(passed: str) -> None:
    missing = "bash: line 1: cd: web: No such file or directory"
    session = Script().runs("cd web && npm run build", missing, failed=True).runs(passed, "built")
    assert _cause(session, 2, 4, 4) == "checked"
    other = Script().runs("cd web && npm run build", missing, failed=True).runs("npm run lint", "ok")
    assert _cause(other, 2, 4, 4) == "asserted"


def test_a_failed_attempt_and_a_look_in_between_change_nothing() -> None:
    session = Script().runs("git push", "fatal: no upstream branch", failed=True)
    session.runs("git push origin", "fatal: no upstream branch", failed=True).runs("git status", "clean")
    assert _cause(session.runs("git push -u origin work", "done"), 2, 8, 8) == "checked"


def test_the_same_command_that_passes_unchanged_may_have_passed_by_itself() -> None:
    session = Script().runs("curl http://x", "curl: (7) Connection refused", failed=True).runs("curl http://x", "ok")
    assert _cause(session, 2, None, 4) == "asserted"


def test_a_remedy_that_the_failure_names_wins_over_what_else_happened() -> None:
    error = "config files are not trusted. Trust them with `mise trust --all`"
    session = Script().runs("mise run lint", error, failed=True).edits("a", "b")
    session.runs("mise trust --all", "trusted").runs("mise run lint", "0 issues")
    assert _grade(session, (2, 6, 8)).reason.endswith("the failure itself names the remedy")


def test_a_cause_that_somebody_says_is_stated() -> None:
    session = Script().runs("pytest tests", _RED, failed=True)
    session.call("Edit", {"file_path": "a.py"}, "updated", says="The total is wrong because tax is added twice.")
    session.edits("x", "y", "other.py").runs("pytest tests", _GREEN)
    found = _grade(session, (2, 4, 8), (4, "The total is wrong because tax is added twice."))
    assert (found.cause, found.reason.split("; ")[-1]) == ("stated", "the agent says why in T4")


def test_in_a_chain_the_step_that_failed_is_the_check() -> None:
    line = "bd update 7 --claim && workmux add task"
    session = Script().runs(line, "Error claiming 7: already claimed", failed=True)
    assert _cause(session.runs("workmux add task", "added"), 2, 4, 4) == "asserted"


def test_what_fails_again_later_contradicts_it() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs("pytest tests", _GREEN)
    session.runs("pytest tests", _RED, failed=True)
    assert _grade(session, (2, 4, 6)).contradiction == "it failed again in T8"


def test_an_objection_right_after_contradicts_it() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs("pytest tests", _GREEN)
    session.says("Done.").user("No, revert that: the test was right.")
    assert _grade(session, (2, 4, 6)).contradiction == "the user objected in T9"


def test_the_users_words_are_stated_and_checked_once_accepted() -> None:
    session = Script().runs("npm install", "added 3 packages").says("Installed.").user("use pnpm, not npm")
    quote = (5, "use pnpm, not npm")
    assert _grade(session, (5, None, None), quote).cause == "stated"
    session.runs("pnpm install", "done")
    assert _grade(session, (5, 6, None), quote).cause == "stated"
    session.says("Done.").user("Great, now the tests.")
    assert _grade(session, (5, 6, None), quote) == Grade(
        "checked", "the user said so in T5; followed in T6, accepted in T9"
    )


def test_a_check_that_passes_is_no_acceptance_and_a_request_is_no_objection() -> None:
    session = Script().user("Install it with pnpm.").runs("npm install", "added 3 packages").says("Installed.")
    session.user("no, pnpm").runs("pnpm install", "done").runs("pnpm test", _GREEN)
    request = session.done().messages.index(
        next(each for each in session.done().messages if each.content == "no, pnpm")
    )
    turn = request + 1
    assert _grade(session, (turn, turn + 1, None), (turn, "no, pnpm")).cause == "stated"
    before = (2, "Install it with pnpm.")
    assert _grade(session, (turn, turn + 1, None), before).cause == "asserted"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("Why isn't the list loading?", "asserted"),
        ("now it does not show at all", "asserted"),
        ("TypeError: cannot read property of undefined, missing module", "asserted"),
        ("it is not loading because you must await it", "stated"),
        ("why not use the existing helper?", "stated"),
        ("don't show the list twice", "stated"),
    ],
)
def test_a_symptom_that_the_user_reports_is_no_cause(said: str, cause: str) -> None:
    session = Script().runs("npm install", "added 3 packages").says("Done.").user(said)
    assert _grade(session, (5, None, None), (5, said)).cause == cause


def test_words_of_the_user_that_answer_an_act_are_an_objection_to_it() -> None:
    session = Script().runs("npm install", "added 3 packages").says("Installed.").user("use pnpm, not npm")
    quote = (5, "use pnpm, not npm")
    assert _grade(session, (2, None, None), quote) == Grade("stated", "the user said so in T5")
    session.runs("pnpm install", "done").user("use pnpm, not npm")
    assert _grade(session, (2, 6, None), (8, "use pnpm, not npm")).cause == "asserted"


def test_an_objection_that_is_raised_again_is_not_accepted() -> None:
    session = Script().says("Done.").user("the total is wrong, use Decimal").edits("float", "Decimal")
    session.says("Done.").user("still wrong")
    assert _grade(session, (3, 4, None), (3, "wrong, use Decimal")).cause == "stated"


def test_a_refusal_without_words_says_nothing() -> None:
    session = Script().call("Bash", {"command": "rm -rf __pycache__"}, "rejected by the user", mark="rejected")
    assert _grade(session, (2, None, None), (2, "rm -rf __pycache__")).cause == "asserted"


def test_another_program_on_the_same_file_stands_in_for_one_that_is_missing() -> None:
    session = Script().runs("pytest tests/a.py", "pytest: command not found", failed=True)
    session.runs("bin/test tests/a.py", "ok")
    assert _grade(session, (2, 4, 4)) == Grade(
        "checked", "failed in T2, another call for the same job passed in T4; nothing else was changed in between"
    )


def test_what_failed_for_its_surroundings_is_answered_by_a_part_of_it() -> None:
    error = "open /home/kim/.cache/go-build/a: operation not permitted"
    session = Script().runs("go test ./...", error, failed=True).runs("GOCACHE=$PWD/.c go test ./auth", "ok")
    assert _grade(session, (2, 4, 4), (3, error)).cause == "checked"
    red = Script().runs("go test ./...", "--- FAIL: TestA", failed=True).runs("GOCACHE=$PWD/.c go test ./auth", "ok")
    assert _grade(red, (2, 4, 4), (3, "--- FAIL: TestA")).cause == "asserted"


def test_a_state_that_a_look_shows_is_confirmed_when_a_look_shows_it_no_more() -> None:
    line = "0/3 nodes are available: didn't have free ports"
    session = Script().runs("kubectl describe pod web", line)
    session.runs("kubectl patch deployment web -p x", "patched").runs("kubectl get pods", "web 1/1 Running")
    assert _grade(session, (2, 4, 6), (3, line)).cause == "checked"
    still = Script().runs("kubectl describe pod web", line)
    still.runs("kubectl patch deployment web -p x", "patched").runs("kubectl describe pod web", line)
    assert _grade(still, (2, 4, 6), (3, line)).cause == "asserted"


def test_a_reply_that_the_harness_refused_is_confirmed_by_one_that_it_carried_out() -> None:
    words = "Please provide EXACTLY ONE action, found 2 actions."
    session = Script().says("```ls``` ```pwd```").user(words, mark="injected").runs("ls", "a.py")
    assert _grade(session, (3, 4, 4), (3, words)).cause == "checked"


def test_turns_that_do_not_exist_prove_nothing() -> None:
    session = Script().runs("pytest", _RED, failed=True)
    assert _cause(session, 2, 99, 99) == "asserted"
    assert _turns(session.done()) == 3


def test_what_failed_for_another_reason_before_the_remedy_is_not_what_the_remedy_cured() -> None:
    session = Script().runs("python a.py", "ImportError: requires lark", failed=True)
    session.runs("pip install lark", "installed").runs("python a.py", "ValueError: version 3", failed=True)
    session.runs("pip install lark==1.0", "installed").runs("python a.py", "ok")
    assert _grade(session, (2, 8, 10)).reason == "failed in T2, passed in T10, but failed in T6 for another reason"
    assert _cause(session, 6, 8, 10) == "checked"


@pytest.mark.parametrize(("reward", "cause"), [(0.0, "asserted"), (1.0, "checked"), (None, "checked")])
def test_a_service_that_takes_a_call_proves_nothing_where_the_session_is_judged_a_failure(
    reward: float | None, cause: str
) -> None:
    session = Script(reward=reward).call("book", {"seats": 1, "amount": 255}, "Error: amount does not add up: 305")
    session.call("book", {"seats": 1, "amount": 305}, "booked 1 seat for 305")
    assert _grade(session, (2, 4, 4), (3, "Error: amount does not add up: 305")).cause == cause


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


def test_a_check_that_was_narrowed_is_not_the_same() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).runs("pip install a", "Successfully installed a")
    assert _cause(session.runs("pytest tests -k basket", _GREEN), 2, 4, 6) == "asserted"


def test_what_ran_at_last_and_failed_otherwise_has_not_passed() -> None:
    session = Script().runs("npm test", "npm : npm.ps1 cannot be loaded", failed=True)
    session.runs("npm.cmd test", "1 failed, 3 passed", failed=True)
    assert _grade(session, (2, 4, 4)).reason.startswith("failed in T2, ran, and failed otherwise, in T4")


def test_a_file_that_a_failure_mentions_is_not_a_remedy_that_it_names() -> None:
    session = Script().runs("pytest tests", "cart_total.py:3: assert 3 == 4\n1 failed", failed=True)
    session.edits("3", "4", "cart_total.py").runs("pip install lark", "Successfully installed lark")
    assert _cause(session.runs("pytest tests", _GREEN), 2, 4, 8) == "asserted"


@pytest.mark.parametrize(
    ("said", "cause"),
    [("great, push it", "checked"), ("where is the changelog kept?", "stated"), ("no, that is not it", "stated")],
)
def test_only_words_of_acceptance_accept(said: str, cause: str) -> None:
    session = Script().edits("a", "b").says("Done.").user("no, use an array").edits("b", "[]").user(said)
    assert _grade(session, (5, 6, None), (5, "no, use an array")).cause == cause


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
    assert grade.reason.startswith("failed in T2, ran, and failed otherwise, in T6")


def test_a_check_that_is_read_later_is_judged_by_what_was_read() -> None:
    session = Script().call("exec_command", {"cmd": "npm test"}, "Process running with session ID 7\nOutput:\n")
    session.call("write_stdin", {"session_id": 7}, "Process exited with code 1\nOutput:\n1 failed")
    session.edits("3", "4").runs("npm test", _GREEN)
    assert _grade(session, (2, 6, 8)).reason == "failed in T4, passed in T8; nothing else was changed in between"


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


_PNPM = "no, use pnpm"


def _corrected(*later: str) -> Script:
    """The user objects in turn 5, the agent follows in turn 6, and the user goes on in turns 9, 11, …"""
    session = Script().runs("npm install", "added 3 packages").says("Installed.").user(_PNPM)
    session.runs("pnpm install", "done")
    for said in later:
        session.says("Done.").user(said)
    return session


def test_a_user_who_goes_on_has_not_accepted_and_that_is_said() -> None:
    session = _corrected("Now add a script that starts the shop.")
    assert _grade(session, (5, 6, 9), (5, _PNPM)) == Grade(
        "stated", "the user said so in T5; followed in T6, not objected to in T9"
    )


@pytest.mark.parametrize(
    ("later", "named", "cause"),
    [
        (("which version is it?", "perfect, thanks"), 11, "checked"),
        (("which version is it?", "perfect, thanks"), None, "stated"),
        (("which version is it?", "and the tests?", "perfect, thanks"), 13, "checked"),
        (("which one?", "and the tests?", "and the docs?", "perfect, thanks"), 15, "stated"),
        (("it does not start any more", "perfect, thanks"), 11, "stated"),
        (("no, I said pnpm", "perfect, thanks"), 11, "stated"),
    ],
)
def test_an_acceptance_that_comes_later_counts_where_it_is_named_and_nothing_speaks_against_it(
    later: tuple[str, ...], named: int | None, cause: str
) -> None:
    assert _grade(_corrected(*later), (5, 6, named), (5, _PNPM)).cause == cause


def test_an_answer_that_the_user_corrects_is_followed_by_one_that_the_user_accepts() -> None:
    said = "no, I asked for the totals, not the taxes"
    session = Script().says("The taxes are 3.").user(said).says("The totals are 7.").user("great, thanks")
    assert _grade(session, (3, 4, 5), (3, said)).cause == "checked"
    assert _grade(session, (3, None, 5), (3, said)).cause == "stated"


def test_a_plan_that_the_harness_says_is_approved_is_accepted() -> None:
    said = "Use the existing table of taxes."
    refused = f"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{said}"
    session = Script().call("ExitPlanMode", {"plan": "A new table."}, refused, mark="rejected")
    approved = "User has approved your plan. You can now start coding."
    session.call("ExitPlanMode", {"plan": "The existing table."}, approved)
    assert _grade(session, (2, 4, 5), (3, said)) == Grade(
        "checked", "the user said so in T3; followed in T4, accepted in T5"
    )


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


@pytest.mark.parametrize(
    ("reply", "said", "is_against"),
    [
        ("It is pushed. Would you like me to unstage the other files?", "no, push everything", False),
        ("It is pushed. Would you like me to unstage the other files?", "no, it still does not work", True),
        ("It is pushed.", "no, push everything", True),
    ],
)
def test_a_no_to_an_offer_is_no_objection(reply: str, said: str, *, is_against: bool) -> None:
    session = Script().runs("make test", "1 failed", failed=True).edits("3", "4").runs("make test", "ok")
    assert bool(_grade(session.says(reply).user(said), (2, 4, 6)).contradiction) is is_against
