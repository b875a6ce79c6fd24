"""What a summary tells of a failure and of the last state, where only the details of the recording say it."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline import summarize
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.summarize import ArcAnswer, SummarizeQuestion
from agent_wiki.trajectory.calls import Call, paired_calls
from tests.engines.sessions import Session

ASK = "Add a test of the sum to the cart, please"


def _arc(session: Session) -> ArcAnswer:
    return summarize.answer(SummarizeQuestion(session.done())).arcs[0]


def test_a_check_that_passed_in_another_form_is_told_with_it() -> None:
    compiled = "javac -cp /srv/target/{} -d /srv /srv/Sum.java && java -cp /srv:/srv/target/{} Sum"
    lacks = "/srv/Sum.java:1: error: package shop.cart does not exist"
    red = Session().user(ASK).write("/srv/Sum.java").run(compiled.format("cart.jar", "cart.jar"), lacks, failed=True)
    session = red.edit("/srv/Sum.java").run(compiled.format("classes", "classes"), "sum: 7").says("Done.")
    assert "it passed as `javac -cp …/target/classes -d /srv /srv/Sum.java` after changes to" in _arc(session).narrative
    red = Session().user(ASK).edit("cart.py").run("pytest tests/cart/test_sum.py", "1 failed in 0.1s", failed=True)
    session = red.edit("cart.py", "b", "c").run("pytest tests/cart/test_sum.py", "3 passed in 0.1s").says("Done.")
    assert "it passed after changes to `cart.py`" in _arc(session).narrative


def test_a_loop_over_tests_that_adds_them_up_is_a_check() -> None:
    loop = 'for f in tests/*.test.js; do r=$(node "$f"); p=$((p + ${r:-0})); done && echo "TOTAL: $p passed, 0 failed"'
    session = Session().user(ASK).edit("cart.js", "a", "b").run("npx tsc", "").run(loop, "TOTAL: 24 passed, 0 failed")
    assert _arc(session.says("Done.")).outcome == "success"
    red = Session().user(ASK).edit("cart.js", "a", "b").run(loop, "TOTAL: 23 passed, 1 failed")
    assert _arc(red.says("Done.")).outcome != "success"


def test_a_script_that_runs_in_a_loop_is_named_and_not_the_loop() -> None:
    session = Session().user(ASK).write("/srv/try.py", "print(sum_of([1, 2]))").edit("cart.py", "a", "b")
    session = session.run("for n in 1 2 3; do python /srv/try.py $n; done", "ok", failed=False)
    assert "`for n in" not in (arc := _arc(session.says("Done."))).narrative + arc.outcome_reason


def test_a_finding_of_a_review_that_is_handed_over_next_rejects_nothing() -> None:
    session = Session().user(ASK).edit("cart.py", "a", "b").run("pytest", "3 passed in 0.10s").says("Added.")
    next_one = (
        "next up\n\n6) **Low: logging is implicit**\n- **Conclusion:** Cannot be confirmed\n- **Fix:** add handlers"
    )
    arc = _arc(
        session.user(next_one)
        .run("grep -rn LOGGING src", "src/settings.py:4: LOGGING = {}")
        .says("It is there already.")
    )
    assert "did not accept" not in (arc.outcome_reason or "")


def test_a_call_that_stands_in_the_reply_as_text_is_not_what_the_agent_said() -> None:
    written = (
        "Some of the ratios may be None, so they are skipped.\n\n<function=str_replace_editor>\n<parameter=new_str>\n"
        "self.ratio_.append(np.mean(ratios[best]))\n</parameter>\n</function>"
    )
    session = Session().user(ASK)
    session.builder.assistant(
        written,
        calls=[
            (
                "c1",
                "Edit",
                {
                    "file_path": "cart.py",
                    "old_string": "self.ratio_.append(1)",
                    "new_string": "self.ratio_.append(np.mean(ratios[best]))",
                },
            )
        ],
    )
    session.builder.tool("c1", "The file cart.py has been edited.")
    arc = _arc(session.run("pytest", "3 passed in 0.10s").says("Done."))
    assert not any("np.mean" in each.text for each in arc.key_turns)


@pytest.mark.parametrize("cut", ["curl http://localhost:8000 | head -20"])
def test_a_page_of_which_only_the_head_was_read_was_fetched(cut: str) -> None:
    session = Session().user(ASK).run(cut, "<html>\n<title>Cart</title>\ncurl: (23) Failed writing body")
    assert not verdict_of(paired_calls(session.done())[0]).has_failed
    lost = Session().user(ASK).run("curl http://localhost:8000", "curl: (7) Failed to connect to localhost port 8000")
    assert verdict_of(paired_calls(lost.done())[0]).has_failed


def test_gemini_s_own_word_is_no_request() -> None:
    session = Session().user(ASK).edit("cart.py", "a", "b").says("What shall it be called?")
    arc = _arc(session.user("System: Please continue.").run("pytest", "3 passed in 0.10s").says("Done."))
    assert "Please continue" not in arc.narrative


def _waited(keys: dict[str, str], result: str) -> list[Call]:
    session = Session().user(ASK)
    left = "3 of 40 ran\n[The command timed out after 300 seconds. You may wait longer by sending an empty command '']"
    session.call("execute_bash", {"command": "./mvnw test"}, left).call("execute_bash", keys, result)
    return paired_calls(session.done())


def test_a_command_that_was_waited_for_ends_with_what_came_then() -> None:
    passed, failed = "Tests run: 40, Failures: 0\n[INFO] BUILD SUCCESS", "[ERROR] BUILD FAILURE\n[ERROR] 2 errors"
    for keys in ({"command": "", "is_input": "true"}, {"command": ""}):
        begun, waited = _waited(keys, passed)
        assert (begun.ended_by, verdict_of(waited).state) == (waited, "passed")
        assert verdict_of(_waited(keys, failed)[1]).has_failed
    stopped, _ = _waited({"command": "C-c", "is_input": "true"}, "^C")
    assert stopped.ended_by is None


def test_of_several_commands_in_a_call_nothing_says_which_printed_the_end() -> None:
    both = "curl -s http://localhost:8000/health && curl -s http://localhost:80 | head -5"
    printed = '{"status":"ok"}\n<link rel="icon" href="/vite.svg" />'
    session = Session().user(ASK).edit("cart.py", "a", "b").run(both, printed).says("It runs.")
    assert "vite.svg" not in _arc(session).outcome_reason
    alone = Session().user(ASK).edit("cart.py", "a", "b").run("./serve.sh --status", "cart: 3 of 3 up").says("It runs.")
    assert "3 of 3 up" in _arc(alone).outcome_reason
