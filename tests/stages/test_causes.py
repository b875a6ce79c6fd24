"""How sure the cause in a lesson is: whether the same check failed and passed, and what was changed in between."""

from __future__ import annotations

import pytest

from agent_wiki.stages.causes import graded
from agent_wiki.stages.turnings import NOBODY, Grade, Turning
from agent_wiki.trajectory import Trajectory
from tests.engines.scripted_session import Script
from tests.stages.grades import GREEN as _GREEN
from tests.stages.grades import RED as _RED
from tests.stages.grades import cause_of as _cause
from tests.stages.grades import grade_of as _grade


def _turns(trajectory: Trajectory) -> int:
    return len(trajectory.messages)


def test_a_check_that_fails_and_passes_after_one_edit_is_checked() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).edits("3", "4").runs("pytest tests", _GREEN)
    assert _grade(session, (2, 4, 6)) == Grade(
        "checked", "failed in T2, passed in T6; nothing else was changed in between"
    )


@pytest.mark.parametrize(
    ("passed", "cause"),
    [
        ("NODE_PATH=/opt node /home/kim/shop/cart.js", "checked"),
        ("NODE_PATH=/opt node /home/kim/other/cart.js", "asserted"),
    ],
)
def test_a_script_is_the_same_by_its_whole_path_and_from_its_folder(passed: str, cause: str) -> None:
    session = Script().runs("cd /home/kim/shop && node cart.js", "Error: Cannot find module 'lamp'", failed=True)
    assert _cause(session.runs(passed, "total 3"), 2, 4, 4) == cause


def test_a_result_that_a_lesson_cites_as_ill_is_an_event_though_the_call_passed() -> None:
    login, quote = "curl -s localhost:8080/login -d user=kim", '"message":"Bad credentials"'
    session = Script().runs(login, '{"code":"INTERNAL","message":"Bad credentials"}').edits("3", "4")
    session.runs(login, '{"token":"lamp"}')
    assert _grade(session, (2, 4, 6), (2, quote)).cause == "checked"
    assert _grade(session, (2, 4, 6), (2, '"code":"INTERNAL"')).cause == "asserted"


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


def test_a_remedy_that_the_failure_names_wins_over_what_else_happened() -> None:
    error = "config files are not trusted. Trust them with `mise trust --all`"
    session = Script().runs("mise run lint", error, failed=True).edits("a", "b")
    session.runs("mise trust --all", "trusted").runs("mise run lint", "0 issues")
    assert _grade(session, (2, 6, 8)).reason.endswith("the failure itself names the remedy")


def test_a_word_of_a_long_file_that_an_error_happens_to_have_names_no_remedy() -> None:
    error = "Error: top level variables are used in a factory. Run with `--reporter=verbose` for more"
    written = " ".join(f"const part{number} = shown(part);" for number in range(60)) + " --reporter=verbose"
    session = Script().runs("npm run test", error, failed=True).edits("a", written).runs("npm run test", "3 passed")
    turning = (2, 4, 6)
    assert not _grade(session, turning, (4, "const part1 = shown(part);")).reason.endswith("names the remedy")
    assert _grade(session, turning, (4, "--reporter=verbose")).reason.endswith("names the remedy")
    known = graded(session.done(), Turning(*turning, is_known=True), [(4, "const part1 = shown(part);")])
    assert known == Grade("checked", "failed in T2, passed in T6; the remedy of this failure is a known one")


def test_in_a_chain_the_step_that_failed_is_the_check() -> None:
    line = "bd update 7 --claim && workmux add task"
    session = Script().runs(line, "Error claiming 7: already claimed", failed=True)
    assert _cause(session.runs("workmux add task", "added"), 2, 4, 4) == "asserted"


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


@pytest.mark.parametrize(("reward", "cause"), [(0.0, "asserted"), (1.0, "checked"), (None, "checked")])
def test_a_service_that_takes_a_call_proves_nothing_where_the_session_is_judged_a_failure(
    reward: float | None, cause: str
) -> None:
    session = Script(reward=reward).call("book", {"seats": 1, "amount": 255}, "Error: amount does not add up: 305")
    session.call("book", {"seats": 1, "amount": 305}, "booked 1 seat for 305")
    assert _grade(session, (2, 4, 4), (3, "Error: amount does not add up: 305")).cause == cause


def test_a_check_that_was_narrowed_is_not_the_same() -> None:
    session = Script().runs("pytest tests", _RED, failed=True).runs("pip install a", "Successfully installed a")
    assert _cause(session.runs("pytest tests -k basket", _GREEN), 2, 4, 6) == "asserted"


def test_a_file_that_a_failure_mentions_is_not_a_remedy_that_it_names() -> None:
    session = Script().runs("pytest tests", "cart_total.py:3: assert 3 == 4\n1 failed", failed=True)
    session.edits("3", "4", "cart_total.py").runs("pip install lark", "Successfully installed lark")
    assert _cause(session.runs("pytest tests", _GREEN), 2, 4, 8) == "asserted"


def test_a_check_that_is_read_later_is_judged_by_what_was_read() -> None:
    session = Script().call("exec_command", {"cmd": "npm test"}, "Process running with session ID 7\nOutput:\n")
    session.call("write_stdin", {"session_id": 7}, "Process exited with code 1\nOutput:\n1 failed")
    session.edits("3", "4").runs("npm test", _GREEN)
    assert _grade(session, (2, 6, 8)).reason == "failed in T2, passed in T8; nothing else was changed in between"


def test_a_turn_of_the_harness_that_refuses_nothing_is_no_refusal() -> None:
    session = Script().says("Deployed.").user("Commit: aceb5a3 is live", mark="injected").runs("git push", "pushed")
    assert _grade(session, (3, 4, 4), (3, "Commit: aceb5a3")).cause == "asserted"


def test_a_lesson_names_the_turn_that_says_why() -> None:
    session = Script().runs("make", "it is built").says("Prisma 7 took `url` out of the schema.")
    session.says("Let me see why it needs that.").runs("cat notes", "Prisma 7 reads it from a file of its own.")
    cited = ((3, "it is built"), (4, "Prisma 7 took `url` out of the schema."), (5, "Let me see why it needs that."))
    assert graded(session.done(), Turning(2), cited).cause == "asserted"  # no word that speaks of a cause
    assert graded(session.done(), Turning(2, reason=4), cited).reason.endswith("the agent gives a reason in T4")
    assert graded(session.done(), Turning(2, reason=NOBODY), cited).cause == "asserted"
    assert graded(session.done(), Turning(2, reason=5), cited).cause == "asserted"  # it only announces
    assert graded(session.done(), Turning(5, reason=4), cited[:2]).cause == "asserted"  # from before the event
    printed = ((7, "Prisma 7 reads it from a file of its own."),)
    assert graded(session.done(), Turning(2, reason=7), printed).reason.endswith("the output gives a reason in T7")
    needs = ((5, "Let me see why, because Prisma 7 needs that."),)
    said = Script().runs("make", "it is built").says("It is.").says(needs[0][1])
    assert graded(said.done(), Turning(2, reason=5), needs).cause == "stated"  # it announces, and says why
    fetched = Script().call("WebFetch", {"url": "https://a.example"}, "Version 7 took it out.").says("I see.")
    assert graded(fetched.done(), Turning(2, reason=3), ((3, "Version 7 took it out."),)).cause == "asserted"


def test_what_a_hook_sees_may_be_what_lets_a_push_through() -> None:
    session = Script().runs("git push origin main", "husky - pre-push hook\n FAIL cart.test.ts", failed=True)
    session.edits("a", "b", "cart.ts").runs("git config core.hooksPath .husky")
    assert _cause(session.runs("git push origin main", "ff..65 main -> main"), 2, 6, 8) == "asserted"


@pytest.mark.parametrize(("line", "cause"), [("npm test | tail -5", "checked"), ("npm test; tail -5 log", "asserted")])
def test_in_powershell_the_rest_of_a_pipeline_is_what_failed_with_a_missing_program(line: str, cause: str) -> None:
    missing = "tail: The term 'tail' is not recognized as a name of a cmdlet, function, script file, or program."
    session = Script().runs(line, missing, failed=True).runs("npm test", "3 passed")
    assert _grade(session, (2, 4, 4), (3, missing)).cause == cause


def test_a_line_that_could_not_be_read_is_answered_by_the_same_tool_in_another_form() -> None:
    unread = (
        "ParserError:\nLine |\n   1 |  python - << 'PY'\n     | Missing file specification after redirection operator."
    )
    session = Script().runs("python - << 'PY'\nprint(1)\nPY", unread, failed=True)
    assert _cause(session.runs("@'\nprint(1)\n'@ | python -", "1"), 2, 4, 4) == "checked"


@pytest.mark.parametrize(
    ("line", "cause"),
    [('eval "$(mise activate bash)"', "checked"), ('eval "npm init -y && pip install -e ."', "asserted")],
)
def test_what_sets_the_shell_up_changes_nothing_and_what_else_is_evaluated_may(line: str, cause: str) -> None:
    session = Script().runs("pytest tests", _RED, failed=True).runs(line, "ok").edits("3", "4")
    assert _cause(session.runs("pytest tests", _GREEN), 2, 6, 8) == cause
