"""The line that is quoted of a failure is what failed, and not what the machine prints in any case."""

from __future__ import annotations

from tests.engines.summaries import asked, summary

NOTICE = "/opt/lamp/init.d/lamp.sh:48: cannot define function based on alias"


def test_what_a_call_that_passed_printed_as_well_is_not_what_failed() -> None:
    session = asked().run("python build.py", f"{NOTICE}\nwrote 3 pages").edit("cap.py")
    session.run("python check.py --all", f"{NOTICE}\nsqlite: no such table: user", failed=True)
    session.edit("cap.py")
    story = summary(session.run("python count.py", "4", failed=False).says("Done with it.")).narrative
    assert "failed (T7): “sqlite: no such table: user”" in story
    assert "alias" not in story


def test_a_notice_alone_is_no_cause() -> None:
    session = asked().run("python build.py", f"{NOTICE}\nwrote 3 pages").edit("cap.py")
    session.run("python check.py --all", NOTICE, failed=True).edit("cap.py").says("Done with it.")
    assert "alias" not in summary(session).narrative


def test_an_error_that_a_script_printed_and_survived_is_still_one() -> None:
    error = "ModuleNotFoundError: No module named 'lamp'"
    session = asked().run("python try.py", f"FAILED: {error}", failed=False).edit("cap.py")
    story = summary(session.run("python check.py --all", error, failed=True).edit("cap.py").says("Done.")).narrative
    assert f"“{error}”" in story


def test_a_check_whose_end_is_shown_passed_where_nothing_in_it_failed() -> None:
    session = asked().run("npm run typecheck", "src/cap.ts(3,1): error TS2345: no such member", failed=True)
    shown = session.edit("src/cap.ts").run("npm run typecheck 2>&1 | tail -5", "$ tsc --noEmit", failed=False)
    assert "it passed after changes to `src/cap.ts` (T7)" in summary(shown.says("Done.")).narrative


def test_no_line_of_a_compiler_is_a_pass() -> None:
    session = asked().run("npx tsc --noEmit", "src/cap.ts(3,1): error TS2345: no such member", failed=True)
    shown = session.edit("src/cap.ts").run("npx tsc --noEmit 2>&1 | head -40", "", failed=False)
    assert "it passed after changes to `src/cap.ts` (T7)" in summary(shown.says("Done.")).narrative


def test_the_last_count_of_a_runner_says_how_it_went() -> None:
    log = "[14:17:17] Task 0 failed: 101\n\n 12 pass\n 0 fail\nRan 12 tests across 2 files."
    assert "`bun test` passed (T5): “0 fail”" in summary(asked().edit("cap.ts").run("bun test", log)).narrative
    story = summary(asked().edit("cap.ts").run("bun test 2>&1 | tail -4", " 11 pass\n 1 fail\nRan 12 tests.")).narrative
    assert "`bun test` failed" in story


def test_a_build_that_reached_no_daemon_has_not_passed() -> None:
    said = "failed to connect to the docker API at npipe:////./pipe/lamp; check if the daemon is running"
    built = asked().edit("cap.py").run("docker compose build till 2>&1 | tail -40", f" Image till Building\n{said}")
    page = summary(built.says("The runner will build it."))
    assert page.outcome == "partial"
    assert "build till` passed" not in page.narrative


def test_what_the_client_says_of_an_unknown_command_is_no_request() -> None:
    page = summary(asked().edit("cap.py").run("make test", "4 passed").says("Done.").user("Unknown skill: export"))
    assert page.outcome == "success"
