"""A failed check counts against a session only where it speaks of its work and nothing settled it since."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.summarize import answer
from agent_wiki.shell.result_lines import shows_failure
from agent_wiki.stages.summarize import SummarizeQuestion
from tests.engines.outcomes import shown
from tests.engines.sessions import Session
from tests.engines.summaries import asked, summary

LINT = "src/lamp.ts\n  src/lamp.ts:30:18  error  Use another comment\n1 problem"


def linted(remark: str, path: str = "src/cart.ts") -> Session:
    """Tests that pass after an edit, and a linter that complains of a file, with a remark on that."""
    session = Session().user("cap the totals of the cart").edit(path).run("npm test", "4 passed")
    return session.run("npx eslint src", LINT, failed=True).says(remark)


def test_what_was_there_before_in_files_that_nobody_touched_is_no_failure_of_the_work() -> None:
    assert (shown(linted("That one is pre-existing.")).outcome) == "success"
    assert shown(linted("It complains of a comment.")).outcome == "partial"
    assert shown(linted("That one is pre-existing.", path="src/lamp.ts")).outcome == "partial"
    stopped = linted("That one is pre-existing.").user("[Request interrupted by user]", "interrupt")
    assert shown(stopped).outcome == "partial"


@pytest.mark.parametrize(
    ("failed", "passed", "outcome"),
    [
        ("pytest tests/test_cart.py -p no:conftest", "pytest tests/test_cart.py", "success"),
        ("npm run test:api -- cart.test.js", "npx jest api/cart.test.js", "success"),
        ("pytest tests/test_cart.py::test_cap", "python -m pytest tests/test_cart.py -q", "success"),
        ("pytest tests/test_cart.py", "python -m pytest tests/test_cart.py -k cap", "partial"),
        ("pytest tests/test_cart.py", "npx jest api/lamp.test.js", "partial"),
    ],
)
def test_a_failure_is_settled_by_a_check_of_the_same_file_narrowed_no_further(
    failed: str, passed: str, outcome: str
) -> None:
    session = Session().user("cap the totals of the cart").edit("src/cart.py").run(failed, "1 failed", failed=True)
    assert shown(session.run(passed, "8 passed").says("It holds.")).outcome == outcome


def test_a_script_that_runs_the_one_which_failed_settles_it() -> None:
    session = Session().user("cap the totals").edit("src/cart.ts")
    session.run("pnpm format:check", "cart.ts: not formatted\n1 error", failed=True)
    result = "$ pnpm typecheck && pnpm format:check\nAll matched files are formatted\n12 passed"
    assert shown(session.run("pnpm check", result).says("All is well.")).outcome == "success"


def test_a_build_that_failed_and_then_says_nothing_has_passed() -> None:
    session = (
        Session().user("cap the totals").edit("cart.go").run("go build ./...", "cart.go:4: undefined: cap", failed=True)
    )
    session.edit("cart.go").call("Bash", {"command": "go build ./..."}, "(Bash completed with no output)")
    assert shown(session).outcome == "success"


def test_a_check_that_was_not_allowed_to_run_says_nothing() -> None:
    session = Session().user("cap the totals").edit("cart.go")
    session.run("go test ./...", "Permission to use Bash with command go test has been denied.", failed=True)
    assert shown(session.says("I could not run the tests.")).outcome != "failure"


def test_the_step_of_an_image_is_no_line_that_fails() -> None:
    assert not shows_failure('#25 [server 7/8] RUN test -f server.js || (echo "Build failed: no server" && exit 1)')
    assert shows_failure("Build failed: no server")


def test_work_in_a_temporary_folder_of_a_mac_is_no_change() -> None:
    session = Session().user("investigate how the totals could be capped").read("cart.py").read("lamp.py")
    session.write("/private/tmp/try/cart.py").says("They can be capped in `total`. " * 12)
    assert (shown(session).outcome, shown(session).basis) == ("success", "delivered")


def test_a_report_of_the_error_that_is_left_goes_on_with_the_request() -> None:
    session = Session().user("write a changelog for the first release of the shop")
    for name in ("log", "tags", "notes", "draft"):
        session.read(f"{name}.md")
    session.edit("CHANGELOG.md").run("cargo test", "error: could not compile `shop`", failed=True).says("Written.")
    session.user("can you please mend the rust error about a missing field in the parser")
    for name in ("parser", "lexer", "tokens", "errors"):
        session.read(f"{name}.rs")
    session.edit("parser.rs").run("cargo test", "test result: ok. 4 passed").says("Mended.")
    assert [arc.outcome for arc in answer(SummarizeQuestion(session.done())).arcs] == ["success"]


def test_a_check_that_fails_alike_with_the_work_put_away_says_nothing_of_the_work() -> None:
    error = "src/routes/api.ts(9,8): error TS2613: Module has no default export."
    session = asked().edit("src/cap.ts").run("npm test", "4 passed").run("npm run typecheck", error, failed=True)
    assert summary(session).outcome == "partial"
    session = asked().edit("src/cap.ts").run("npm test", "4 passed").run("npm run typecheck", error, failed=True)
    session.run("git stash && npm run typecheck; git stash pop", f"{error}\nDropped refs/stash@{{0}}", failed=True)
    assert summary(session).outcome == "success"


ERROR = "src/routes/api.ts(9,8): error TS2613: Module has no default export."


def with_failed(line: str) -> Session:
    return asked().edit("src/cap.ts").run("npm test", "4 passed").run("npm run typecheck", line, failed=True)


@pytest.mark.parametrize(
    "line", ["Tests:       1 failed, 12 passed, 13 total", "ELIFECYCLE  Command failed with exit code 1."]
)
def test_a_count_that_is_the_same_without_the_work_does_not_say_which_test_it_was(line: str) -> None:
    session = with_failed(f"FAIL cart\n{line}")
    session.run("git stash && npm run typecheck; git stash pop", f"FAIL lamp\n{line}", failed=True)
    assert summary(session).outcome == "partial"


@pytest.mark.parametrize("look", ["git stash list && npm run typecheck", "cd /tmp/copy && npm run typecheck"])
def test_where_nothing_was_put_away_the_same_failure_is_of_the_work(look: str) -> None:
    assert summary(with_failed(ERROR).run(look, ERROR, failed=True)).outcome == "partial"


def test_what_was_mended_since_and_fails_again_is_of_the_work() -> None:
    session = asked().run("git stash && npm run typecheck; git stash pop", ERROR, failed=True).edit("src/routes/api.ts")
    session.run("npm run typecheck", "").edit("src/cap.ts").run("npm test", "4 passed")
    assert summary(session.run("npm run typecheck", ERROR, failed=True)).outcome == "partial"
