"""Sentences of a summary that were false of recorded sessions, and are left out or say less."""

from __future__ import annotations

import re

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.goal import request_line
from agent_wiki.engines.offline.summarize import answer
from agent_wiki.stages.summarize import SummarizeQuestion
from tests.engines.sessions import Session
from tests.engines.summaries import summary

WEB = "src/cart.ts(3,1): error TS2345: no such member"


def asked(text: str = "mend the totals of the shop") -> Session:
    return Session(cwd="/home/me/shop").user(text)


def test_a_check_in_another_folder_settles_nothing() -> None:
    session = asked().run("cd server && npx tsc --noEmit", WEB, failed=True).edit("web/lamp.ts")
    elsewhere = session.run("cd ../web && npx tsc --noEmit", "").says("The totals are right now, as far as I see.")
    story = summary(elsewhere).narrative
    assert f"`tsc --noEmit` failed (T3): “{WEB}”" in story
    assert "it passed" not in story


def test_of_several_failures_the_last_one_is_quoted_before_what_made_it_pass() -> None:
    session = asked().run("npm run check", "sh: 1: lampc: command not found", failed=True)
    session.run("npm run check", "Found 2 errors.", failed=True).edit("src/cap.ts")
    story = summary(session.run("npm run check", "Checked 4 files. No errors.").says("Done with it.")).narrative
    assert (
        "`npm run check` failed repeatedly, last (T5): “Found 2 errors”; it passed after changes to `src/cap.ts`"
        in story
    )
    assert "command not found" not in story


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("AssertionError: 3 != 4", True),
        ("error: unexpected argument '-x'", False),
        ("make: command not found", False),
        ("error: connection refused", False),
    ],
)
def test_no_edit_made_a_check_pass_that_had_not_come_to_what_it_checks(line: str, *, is_named: bool) -> None:
    session = asked().run("make test", line, failed=True).edit("src/cap.py").run("make test", "4 passed")
    assert ("after changes to" in summary(session).narrative) is is_named


def test_what_only_ran_in_between_is_no_remedy_of_a_commit() -> None:
    session = asked().edit("cap.py").run("git commit -qm x", "fatal: could not write index", failed=True)
    session.run("git stash list", "").run("git commit -qm x", "[main 1a2b3c4] Cap them\n 1 file changed")
    story = summary(session).narrative
    assert "stash" not in story.partition("failed")[2].partition(".")[0]
    assert "it worked unchanged on a later try (T9)" in story


def test_a_tool_of_a_service_that_worked_later_is_not_said_to_have_worked_by_its_other_arguments() -> None:
    session = asked("put the files up").call("push_files", {"repo": "shop", "message": "all"}, "409 empty", failed=True)
    session.call("make_file", {"repo": "shop", "path": "README.md"}, "{}")
    story = summary(session.call("push_files", {"repo": "shop", "message": "all of it"}, "{}")).narrative
    assert "with other" not in story


def test_a_file_that_could_not_be_read_and_an_edit_that_was_made_in_the_end_are_no_troubles() -> None:
    session = asked().call("Read", {"file_path": "cap.py"}, "File content (9 MB) is too much", failed=True)
    session.call("Edit", {"file_path": "ci.yml", "old_string": "a"}, "hook: be careful", failed=True)
    story = summary(session.edit("ci.yml").says("It is mended.")).narrative
    assert "failed" not in story


def test_a_check_where_nothing_was_changed_did_not_pass_after_the_last_change() -> None:
    story = summary(asked("are the tests green?").run("pytest", "4 passed in 1s").says("All four pass.")).narrative
    assert "At the end `pytest` passed (T3)" in story


def test_an_error_of_the_service_is_no_answer_and_work_that_could_not_be_handed_over_was_not() -> None:
    session = asked().call("Agent", {"description": "Look for caps"}, "API Error: Unable to connect to API (EACCES)")
    session.edit("cap.py").says("API Error: 403 forbidden").user("go on with the lamps, please")
    story = summary(session.edit("lamp.py").says("The lamps are capped as well.")).narrative
    assert "API Error" not in story
    assert "handed work" not in story


def test_a_list_of_files_is_no_answer() -> None:
    session = (
        asked().edit("cap.py").says("- `src/cap.py`\n- `src/lamp.py` and `src/cart.py`\n\nBoth are capped at ten.")
    )
    assert "In its own words: “Both are capped at ten”" in summary(session).narrative


@pytest.mark.parametrize(
    "text", ["don't stop", "could we instead cap them all at ten?", "again, i gave you a wrong list"]
)
def test_a_proposal_and_an_encouragement_are_no_objections(text: str) -> None:
    session = asked().edit("cap.py").says("They are capped now.").user(text).edit("cap.py")
    assert "objected" not in summary(session.says("Both are capped at ten now.")).narrative


def test_a_turn_that_was_meant_for_another_session_is_left_out() -> None:
    session = asked().edit("cap.py").says("They are capped.").user("no, call it update and keep the branch")
    session.user("sorry wrong chat. ignore last message. the cap can be simpler")
    story = summary(session.edit("cap.py").says("It is simpler now.")).narrative
    assert "keep the branch" not in story
    assert "the cap can be simpler" in story


def test_what_an_inline_script_wrote_is_among_what_was_changed() -> None:
    script = "python3 - <<'E'\nfrom pathlib import Path\np = Path('src/cap.py')\np.write_text(p.read_text() + 'x')\nE"
    story = summary(asked().run(script).says("The cap is in place now.")).narrative
    assert "changed `src/cap.py`" in story


def test_a_poll_that_was_blocked_ends_no_command() -> None:
    session = asked("run the jobs").run(
        "act -j lint", "Command running in background with ID: b43. Output in /t/b43.output"
    )
    session.run(
        "sleep 60 && tail /t/tasks/b43.output", "<tool_use_error>Blocked: sleep 60</tool_use_error>", failed=True
    )
    assert not any(act.has_worked for act in acts_of(session.done())[1:])


def test_an_arc_says_that_the_user_reported_a_fault_right_after_it() -> None:
    session = asked()
    for name in ("cap", "lamp", "cart", "bill"):
        session.read(f"{name}.py").edit(f"{name}.py")
    reported = "License check task not found in the pipeline of the docs"
    session.says("The totals are mended.").user(reported)
    for name in ("ci", "job", "task", "step"):
        session.read(f"{name}.yml").edit(f"{name}.yml")
    first, _ = answer(SummarizeQuestion(session.says("The task is there now.").done())).arcs
    assert f"The user's next words: “{reported}” (T19)." in first.narrative


FRAME = "# Frame\n\nYou are Dora. Do the task by the norms.\n\n" * 60
PACK = "Pack the changes of this folder into one pull request for the shop and its lamps."
STEPS = "1. **Look** — " + "run all of it and " * 40


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("look at [the list](https://lamps.test/a)\n\nso remove it", "Look at the list so remove it"),
        ("You are the lamp agent. Your task is to cap the lamps.", "Your task is to cap the lamps."),
        (f"{PACK} Follow these steps in order:\n\n{STEPS}", PACK),
        (
            "Add a lamp.\n\nAdd the stairs of the shop, with a test of each.",
            "Add a lamp. Add the stairs of the shop, with a test of each.",
        ),
        (
            "Show me:\n1. the lamps of the shop\n2. the stairs in a/b\n",
            "Show me: the lamps of the shop; the stairs in a/b",
        ),
        (f"{FRAME}## Tasks\n\nProcess this document:\n\n/a b/1.md", "Process this document: /a b/1.md"),
    ],
)
def test_the_line_of_a_request_has_what_it_asks_for_and_not_its_frame(text: str, line: str) -> None:
    assert request_line(text) == line


def test_the_request_below_the_text_of_a_skill_is_the_goal() -> None:
    body = "Do the work that the user describes.\n\nBase directory for this skill: /me/skills/implement\n"
    text = f"{body}Relative paths in this skill are relative to this base directory.\n\nfirst free ticket on LAMP-2"
    assert (
        summary(Session().user(text).edit("cap.py").says("Done so.")).goal == "/implement first free ticket on LAMP-2"
    )


def test_what_a_policy_refused_the_user_did_not() -> None:
    arc = summary(asked().run("npm test", "rejected: blocked by policy", failed=True).edit("cap.py").says("Mended."))
    assert "refused" not in arc.narrative
    assert arc.dead_ends == []


def test_what_was_done_stands_after_the_turn_of_the_user_that_it_was_done_for() -> None:
    session = asked().edit("cap.py")
    for number in range(9):
        session.user(f"now the lamp number {number} of the shop, please").edit(f"lamp_{number}.py")
    narrative = summary(session.says("All the lamps are capped.")).narrative
    done = re.findall(r"lamp_(\d)\.py", narrative)
    assert len(done) > 7
    for number in done:
        before = narrative[: narrative.index(f"lamp_{number}.py")]
        assert re.findall(r"lamp number (\d)", before)[-1] == number


def test_an_answer_to_a_turn_that_there_is_no_room_for_is_led_in() -> None:
    session = asked().edit("cap.py").says("The totals are mended, every one of them, and so are the sums of months.")
    for number in range(14):
        session.user(f"please have a good look at the lamp number {number} of the shop, and at the cable below it too")
        session.edit(f"lamp_{number}.py").says(f"The lamp number {number} hangs well, and its cable is new.")
    session.user("rename this session, please").says("The session is now called lamps and totals, as was wished.")
    narrative = summary(session).narrative
    assert len(narrative.split()) <= 250
    assert "rename this session" in narrative[: narrative.index("now called lamps")]
    assert narrative.rindex("lamp number") < narrative.index("rename this session")


def test_a_claim_is_not_quoted_without_what_takes_it_back() -> None:
    claim = "The totals of all the months are capped now, and so are the sums of the years."
    claim += " The lamps and the cables were counted as well, each of them once, for the whole shop."
    arc = summary(asked().edit("cap.py").says(f"{claim}\n\nHowever, I could not run the tests here."))
    assert "However, I could not run the tests here”" in arc.narrative
    lamps = "\n\n".join(f"The lamp of room {each} is counted in the sums of its own floor." for each in range(20))
    arc = summary(asked().edit("cap.py").says(f"{claim}\n\n{lamps}\n\nHowever, I could not run the tests here."))
    assert "further on: “However, I could not run the tests here”" in arc.narrative


def test_a_report_of_what_does_not_work_is_said_and_no_objection() -> None:
    session = asked().edit("cap.py").says("They are capped.").user("no its not on main, since that was merged before")
    assert "The user said: “no its not on main" in summary(session.edit("cap.py").says("Moved over.")).narrative


def test_a_call_that_was_stopped_while_it_ran_was_not_refused() -> None:
    session = asked().call("Bash", {"command": "npm test"}, "aborted by user after 7s", failed=True, mark="rejected")
    assert "refused" not in summary(session.says("It was stopped.")).narrative


def test_what_a_tested_program_warns_of_fails_no_test() -> None:
    log = 'time=2026-04-08T17:29:44 level=WARN msg="order rejected" error="not enough lamps"\nok  \tshop/lamps\t3.1s'
    session = asked().edit("lamps.go").run("go test ./... 2>&1 | tail -80", log).says("All of it passes.")
    assert "`go test ./...` failed" not in summary(session).narrative


def test_a_sentence_of_the_file_that_is_written_is_no_finding_of_the_agent() -> None:
    text = "I tidy the notes.\n\n```\nThis happens because the comma is ambiguous in a list of lamps.\n```"
    session = asked().call("Edit", {"file_path": "a.md", "old_string": "a", "new_string": "b"}, "updated", text=text)
    assert "Its finding" not in summary(session.says("The notes are tidy.")).narrative


def test_a_call_that_was_cancelled_because_a_parallel_one_failed_is_no_failure() -> None:
    session = asked().run("npx tsc --noEmit", "Cancelled: parallel tool call Bash(cd server && …) errored", failed=True)
    assert "failed" not in summary(session.run("npx tsc --noEmit", "").says("It compiles.")).narrative


def test_what_was_tried_again_is_no_remedy_of_itself() -> None:
    session = asked().run("pytest tests -x", "E   NameError: name 'lamp' is not defined\n1 failed", failed=True)
    session.run("pip install lamps", "Successfully installed lamps")
    story = summary(session.run("pytest tests -x", "3 passed").says("The totals are right.")).narrative
    assert "it passed after `pip install lamps`" in story
    assert "and `pytest" not in story


def test_a_difference_is_not_named_where_the_machine_was_set_up_in_between() -> None:
    session = asked().run("dpkg -l lamps caps", "dpkg-query: no packages found matching lamps", failed=True)
    session.run("apt-get install -y lamps", "Setting up lamps")
    story = summary(session.run("dpkg -l lamps", "ii  lamps  1.0").says("They are there now.")).narrative
    assert "without `caps`" not in story


def test_a_module_of_python_is_called_by_its_name() -> None:
    session = asked("set the shop up").run("python3 -m venv env", "Error: ensurepip is not available", failed=True)
    story = summary(session.says("It could not be set up.")).narrative
    assert "inline" not in story
    assert "`python3 -m venv env` failed" in story


def test_the_request_is_the_first_turn_that_asks_for_something() -> None:
    session = Session(cwd="/home/me/shop").user("hello").says("Hello, what can I do?")
    session.user("mend the totals of the shop").edit("cart.py").says("They are right now.")
    arc = summary(session)
    assert arc.narrative.startswith("The user asked: “mend the totals of the shop”.")
    assert (arc.key_turns[0].turn, arc.key_turns[0].text) == (3, "The request: “mend the totals of the shop”")


def test_a_change_without_a_word_to_it_is_no_key_turn_where_there_are_others() -> None:
    session = asked().edit("cart.py").run("pytest", "1 failed", failed=True).edit("cart.py").run("pytest", "3 passed")
    texts = [note.text for note in summary(session.says("The totals are right.")).key_turns]
    assert len(texts) >= 3
    assert not any(text == "The agent changes `cart.py`" for text in texts)


def test_files_that_are_only_made_are_no_changes() -> None:
    session = asked("make the folders of the shop").run("mkdir -p a && touch a/one.py a/two.py")
    assert "changed" not in summary(session.says("The folders are there.")).narrative


def test_what_was_set_up_and_what_met_with_objections_is_partial() -> None:
    assert summary(asked("set up the input").run("apt-get install -y lamps", "Setting up lamps")).outcome == "partial"
    talk = asked("how is the lamp lit?").says("With a match.").user("no, that is wrong").says("With a switch then.")
    talk.user("no, not that lamp either").says("By the button at its foot.")
    assert summary(talk.user("tell me all about that button").says("It is round.")).outcome == "partial"


def test_an_announcement_shows_no_delivery() -> None:
    session = asked("review the parser").read("a.py").read("b.py")
    review = "Perfect! Now let me create a summary of it.\n\nThe parser reads each token twice. " + "It is slow. " * 30
    assert (summary(session.says(review)).outcome_quote or "").startswith("The parser reads each token twice.")


def test_tools_with_capitals_inside_are_the_same_tools() -> None:
    session = asked("deploy the shop").call("writeToFile", {"path": "shop.py", "content": "x = 1"}, "Written.")
    session.call("executeCommand", {"command": "modal deploy shop.py"}, "Deployed.")
    story = summary(session.says("The shop is deployed.")).narrative
    assert "`shop.py`" in story
    assert "`modal deploy shop.py`" in story


def test_an_answer_that_begins_with_what_was_not_found_is_partial() -> None:
    session = asked("find the key of the lamp and write it to key.txt").read("a.py").read("b.py")
    session.write("key.txt", "none").says("I looked everywhere, but was unable to find any key of the lamp. " * 4)
    arc = summary(session)
    assert (arc.outcome, arc.outcome_quote) != ("success", None)
    assert arc.outcome == "partial"


def test_a_change_of_a_cluster_is_a_key_turn_without_a_word_to_it_too() -> None:
    session = asked("mend the lamp of the cluster").run("kubectl get pods", "lamp 0/1 CrashLoopBackOff")
    session.run("kubectl get events", "lamp failed").run("kubectl describe pod lamp", "Reason: OOMKilled")
    session.run("kubectl patch deployment lamp -p '{}'", "deployment.apps/lamp patched")
    texts = [note.text for note in summary(session.says("The lamp has more memory now.")).key_turns]
    assert any("changes the cluster" in text for text in texts)


def test_two_files_of_one_name_are_two_files() -> None:
    session = asked()
    for place in ("shop", "store", "mill"):
        session.read(f"/srv/{place}/src/main.py").read(f"/srv/{place}/src/lamp.py")
    assert "and others" in summary(session.says("They are alike.")).narrative


def test_a_command_is_named_with_the_sudo_that_its_failure_is_about() -> None:
    arc = summary(asked().run("sudo lampctl hang shop", "sudo: command not found", failed=True).says("No sudo."))
    assert "`sudo lampctl hang shop` failed" in arc.narrative


def test_a_check_before_a_change_of_prose_is_of_the_last_change_of_code() -> None:
    session = asked().edit("cap.py").edit("sum.py").run("pytest -q", "4 passed").edit("README.md", "a", "b")
    assert "After the last change of code `pytest -q` passed" in summary(session.says("Done.")).narrative


def test_a_difference_in_quotation_marks_is_not_laid_to_the_option_beside_it() -> None:
    session = asked().run('shelf read "C:/lamp.md', "unterminated string", failed=True)
    arc = summary(session.run("shelf read -x 'C:/lamp.md'", "a lamp").says("Read."))
    assert "with `-x`" not in arc.narrative


def test_work_that_a_subagent_did_after_the_checks_is_not_covered_by_them() -> None:
    session = asked().edit("cap.py").run("pytest -q", "4 passed")
    sent = {"description": "Simplify the totals", "subagent_type": "simplifier", "prompt": "simplify"}
    assert summary(session.says("Capped.")).outcome == "success"
    session.user("simplify it with the agent for that").call("Task", sent, "Simplified cap.py.").says(
        "It is simpler now."
    )
    assert summary(session).outcome == "partial"


def test_a_later_run_whose_output_is_filtered_has_not_worked() -> None:
    session = asked().run("lampctl hang shop", "E: no hook", failed=True)
    arc = summary(session.run("lampctl hang shop 2>&1 | grep -v hook", "").says("It hangs."))
    assert "on a later try" not in arc.narrative


def test_of_two_files_whose_short_names_are_alike_both_are_named() -> None:
    narrative = summary(asked().edit("/w/shop/src/lamp.py").edit("/w/mill/src/lamp.py").says("Done.")).narrative
    assert "`shop/src/lamp.py`" in narrative
    assert "`mill/src/lamp.py`" in narrative


def test_what_was_changed_is_what_the_lines_that_differ_stand_in() -> None:
    old = "def hang(lamp):\n    return lamp\n\n\ndef light(lamp):\n    return 1\n"
    arc = summary(asked().edit("lamp.py", old, old.replace("return lamp", "return [lamp]")).says("Done."))
    assert "(changed `hang`)" in arc.narrative


def test_the_agent_s_own_mark_in_an_output_is_no_error() -> None:
    command = 'lampctl hang; echo "=== error after hanging ==="'
    arc = summary(asked().run(command, "Exit code 1\n=== error after hanging ===", failed=True).says("It hangs not."))
    assert "error after hanging ===”" not in arc.narrative


def test_a_setting_in_between_may_be_why_the_same_command_worked() -> None:
    session = asked().edit("cap.py").run("git commit -qm x", "fatal: unable to auto-detect email", failed=True)
    session.run("git config user.email ann@shop.example", "").run("git commit -qm x", "[main 1a2b3c4] Cap them")
    assert "unchanged" not in summary(session.says("Done.")).narrative


def test_a_command_in_a_story_keeps_its_address() -> None:
    arc = summary(asked().run("lampctl pull https://shop.example/lamps", "E: no lamp", failed=True).says("None."))
    assert "`lampctl pull https://shop.example/lamps`" in arc.narrative


def test_a_message_that_the_user_took_back_at_once_is_no_dead_end() -> None:
    session = asked().edit("src/cap.ts").says("Capped.").user("and the lamp pa").user("[stopped]", "interrupt")
    assert not summary(session.user("and the lamp page").edit("src/lamp.ts").says("Done.")).dead_ends
    stopped = asked().user("and the lamp page").run("make lamps", "1").user("[stopped]", "interrupt")
    assert [note.text for note in summary(stopped).dead_ends] == ["The user stopped the agent after `make lamps`"]


def test_a_variable_alone_is_nothing_that_was_run() -> None:
    story = summary(asked().run("$?", "True").run("lampctl hang", "hung").says("It hangs.")).narrative
    assert "ran `lampctl hang`" in story
    assert "`$?`" not in story


def test_a_stop_before_the_last_request_is_no_end() -> None:
    session = Session(cwd="/home/me/shop", exit_status="interrupted").user("mend the lamp").run("make lamps", "1")
    session.user("[stopped]", "interrupt").user("do that for the mill").run("make mill", "1")
    assert "stopped the agent there" not in summary(session).narrative
