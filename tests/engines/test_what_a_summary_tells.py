"""What the next agent reads first: what was committed and reported, what is open, and whose words are whose."""

from __future__ import annotations

import json

import pytest

from agent_wiki.engines.offline.acts import Act, acts_of
from agent_wiki.engines.offline.requests import requests_of
from agent_wiki.engines.offline.summarize import answer
from agent_wiki.engines.offline.what_changed import what_changed
from agent_wiki.stages.summarize import SummarizeQuestion
from tests.engines.outcomes import shown
from tests.engines.sessions import Session
from tests.engines.summaries import COMMITTED, capped, summary

UNCHECKED = "nothing was run to check the last change (T2)"


def test_a_story_has_the_subject_of_the_commit_and_the_agent_s_report() -> None:
    session = capped().run("git commit -qam x", COMMITTED)
    arc = summary(session.says("Done.\n\n```python\ncap(100)\n```\nTotals above a hundred are cut in `cap`."))
    assert "committed (T5): “Cap the totals at a hundred”" in arc.narrative
    assert "In its own words (T6): “Totals above a hundred are cut in `cap`”." in arc.narrative
    assert "cap(100)" not in arc.narrative


def test_a_page_is_named_after_the_one_commit_that_nothing_was_changed_after() -> None:
    assert summary(capped().run("git commit -qam x", COMMITTED)).title == "Cap the totals at a hundred"
    assert summary(capped().run("git commit -qam x", COMMITTED).edit("src/cap.py")).title == ""
    two = capped().run("git commit -qam x", COMMITTED).run("git commit -qam y", COMMITTED.replace("Cap", "Test"))
    assert summary(two).title == ""
    opened = capped().run('gh pr create --title "Cap all totals" --body b', "https://example.org/pull/4")
    assert summary(opened).title == "Cap all totals"


def test_what_was_answered_on_the_way_stands_in_the_story() -> None:
    session = Session().user("where are the totals made?").read("cart.py").says("They are made in `cart.total`.")
    arc = summary(
        session.user("then write that into the notes of the shop")
        .write("notes.md")
        .says("The notes have it now, in a line of their own.")
    )
    assert "The agent answered: “They are made in `cart.total`” (T4)." in arc.narrative


def test_what_an_agent_says_in_each_reply_is_not_what_it_answered() -> None:
    rule = "Rule one: I confirm my plan before each file that I write or run."
    session = Session()
    for number in ("first", "second", "third"):
        session.user(f"Write the {number} chapter of the book about the harbour").write(f"{number}.md")
        session.says(f"{rule}\n\nThe {number} chapter is written, with all its boats.")
    narrative = summary(session).narrative
    assert "Rule one" not in narrative
    assert "The first chapter is written, with all its boats" in narrative


def test_an_answer_to_a_word_that_is_not_told_is_no_answer_to_the_request_before_it() -> None:
    session = Session().user("where are the totals made?").read("cart.py").says("They are made in `cart.total`.")
    session.user("ok").read("tax.py").says("The taxes are added in `tax.add`, after the totals.")
    arc = summary(session.user("then write that into the notes of the shop").write("notes.md").says("Written."))
    assert "The agent answered: “They are made in `cart.total`” (T4)." in arc.narrative
    assert "To “ok” (T5) it answered: “The taxes are added in `tax.add`, after the totals” (T8)." in arc.narrative


def test_a_story_says_what_the_agent_asked_last_and_what_was_left_without_an_answer() -> None:
    report = "The totals of members and of guests are capped in `cap`, and no other file had to be changed for it."
    report = f"{report} A test covers them both."
    asked = summary(capped().says(f"{report}\n\nShall I commit it?"))
    assert asked.outcome == "partial"
    assert asked.narrative.endswith("It ends by asking: “Shall I commit it?”.")
    left = summary(capped().says("The totals are capped now.").user("and what about the taxes on them?"))
    assert left.outcome_reason == "the recording ends before the last request was met"


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("no, only the totals of members", "objected"),
        ("you should have capped the taxes too", "objected"),
        ("the build is failing on the server", "said"),
        ("but the taxes are in there already, right?", "asked"),
        ("does it take the member's total instead of the guest's?", "asked"),
        ("wait wait, the cap is for guests too, right?", "asked"),
        ("wait what is this: src/cap.py", "said"),
        ("wait, why did you cap the taxes?", "objected"),
        ("You know, why not cap the taxes as well", "said"),
        ("something feels off, are you sure of the guests", "objected"),
        ("go on, you are not done yet with the guests", "objected"),
        ("sorry wrong window, ignore that. I think the cap can be simpler", "said"),
    ],
)
def test_the_user_objects_only_in_so_many_words(text: str, verb: str) -> None:
    story = summary(capped().says("The totals are capped.").user(text).edit("src/cap.py").says("Changed.")).narrative
    assert f"user {verb}: “{text[:20]}" in story


def test_a_long_part_of_the_prompt_that_is_recorded_again_asks_for_nothing() -> None:
    text = "Show every lamp of the shop with its price, and sort the lamps by how many of them were sold. " * 3
    session = Session().user(f"Build the page of lamps.\n\n{text}").write("lamps.html").says("Built.").user(text)
    assert [request.turn for request in requests_of(session.done())] == [1]


def test_a_skill_that_a_client_pastes_as_the_user_is_the_command_for_it() -> None:
    pasted = '<skill name="tidy-notes" location="/skills/tidy">\nSort the notes.\n</skill>\nonly those of May'
    session = Session().user(pasted).edit("notes.md").says("Sorted.")
    assert [(each.kind, each.text) for each in requests_of(session.done())] == [
        ("command", "/tidy-notes only those of May")
    ]


def test_a_report_is_not_quoted_by_its_cheer_and_a_lead_in_only_where_nothing_else_is_said() -> None:
    read = capped().says(
        "Perfect! I have now read all the files. Let me give a summary of it.\n\nThe cap is in `cap.py`."
    )
    assert "In its own words (T4): “The cap is in `cap.py`”." in summary(read).narrative
    shown_code = capped().says("Done. Removed the old cap from the settings:\n\n```json\n{}\n```")
    assert "In its own words (T4): “Removed the old cap from the settings”." in summary(shown_code).narrative


def test_the_error_that_ended_a_session_is_told_once() -> None:
    story = summary(capped().says("You've hit your limit · resets 1pm")).narrative
    assert story.count("hit your limit") == 1


def test_a_goal_has_the_request_below_a_bare_heading_and_no_number_of_a_list() -> None:
    below = "# The lamp search\nThe shop finds lamps by name.\n\n## Details\nIt fails.\n\nFind the cause and fix it."
    assert (
        summary(Session().user(below).read("a.py").says("Found.")).goal == "The lamp search: Find the cause and fix it."
    )
    counted = "Package the changes into a pull request. Follow these steps in order: 1.\n\nLook at the diff."
    assert not summary(Session().user(counted).read("a.py").says("Done.")).goal.endswith("1.")


def test_what_is_only_pointed_at_before_the_prompt_is_no_goal() -> None:
    prompt = "[Read from: docs/plan.md, docs/progress.md]\n\nReview the page of lamps against the plan. No edits."
    assert summary(Session().user(prompt).read("lamps.html").says("It is fine.")).goal.startswith("Review the page")
    attached = "[attached document: lamps.pdf]\n[attached document: prices.pdf]\nreview the page of lamps"
    assert summary(Session().user(attached).read("lamps.html").says("It is fine.")).goal == "Review the page of lamps"


def test_an_objection_to_a_proposal_says_nothing_of_the_work() -> None:
    tested = capped().run("pytest", "4 passed").says("The totals are capped.").user("what comes next?")
    tested.says("I would build a whole harness of checks for the prices.")
    result = shown(tested.user("no, that is too much, you are overdoing it").says("Agreed."))
    assert (result.outcome, result.basis) == ("success", "check")
    last_word = shown(capped().says("The totals are capped.").user("no, that is not what I asked for"))
    assert (last_word.outcome, last_word.basis) == ("failure", "user")


@pytest.mark.parametrize(
    ("question", "outcome"),
    [("Does this structure look right before I detail it?", "partial"), ("Want me to mend these?", "success")],
)
def test_a_proposal_that_waits_for_a_word_is_partial_and_a_review_is_not(question: str, outcome: str) -> None:
    session = Session().user("review how the totals are made").read("cart.py").read("lamp.py")
    assert (
        shown(session.says(f"{'The totals are made in one place and read in three. ' * 8}\n\n{question}")).outcome
        == outcome
    )


def test_a_checked_commit_without_an_answer_is_partial_where_a_pull_request_was_asked_for() -> None:
    checked = Session().user("cap the totals, open a PR for it").edit("a.py").run("pytest", "4 passed")
    assert shown(checked.call("Bash", {"command": "git commit -am cap"}, None)).outcome == "partial"


def test_a_recording_that_breaks_off_within_a_later_call_shows_no_success() -> None:
    session = capped().run("git commit -qam x", COMMITTED).says("Committed.").user("and now set the shop up with it")
    assert shown(session.run("git commit -qam y", COMMITTED)).outcome == "success"
    assert shown(session.call("Bash", {"command": "shop install cap"}, None)).outcome == "partial"


def test_a_recording_that_ends_with_a_commit_before_the_push_that_was_asked_for_last_shows_no_success() -> None:
    def ended(asked: str) -> str:
        session = Session().user("cap the totals").edit("cap.py").run("pytest", "4 passed").says("Capped.").user(asked)
        return shown(
            session.run("git status", "M cap.py").call("Bash", {"command": "git commit -qm cap"}, None)
        ).outcome

    assert (ended("can we put up a PR for this?"), ended("commit it")) == ("partial", "success")


def test_a_pull_that_cannot_go_forward_is_not_settled_by_a_later_commit() -> None:
    session = Session().user("get the latest, then cap the totals")
    session.run("git pull --ff-only", "fatal: Not possible to fast-forward, aborting.", failed=True)
    story = summary(session.edit("cap.py").run("git commit -qam x", COMMITTED)).narrative
    assert "`git pull --ff-only` failed (T3): “fatal: Not possible to fast-forward, aborting”." in story


def test_an_unanswered_push_does_not_go_through_in_the_key_turns() -> None:
    notes = summary(capped().call("Bash", {"command": "git push"}, None)).key_turns
    assert notes[-1].text == "`git push` is not answered"


def with_work(session: Session) -> Session:
    for name in ("log", "tags", "notes", "draft"):
        session.read(f"{name}.md")
    return session.edit("CHANGELOG.md").says("The changelog is written.")


@pytest.mark.parametrize("text", ["yeah please ignore that folder", "has the page landed? if not, merge it"])
def test_a_reply_and_a_wish_to_ship_go_on_with_what_was_asked(text: str) -> None:
    session = Session().user("<command-name>/notes</command-name>", "injected").user("write a changelog for May")
    session = with_work(with_work(session).user(text))
    assert len(answer(SummarizeQuestion(session.done())).arcs) == 1


def test_a_check_passed_after_what_was_removed_and_not_without_a_word_that_other_tries_had_not() -> None:
    session = capped().run("lampc --check", "a.lamp:1: error: no such name", failed=True)
    session.run("lampc --check --quick", "a.lamp:1: error: no such name", failed=True).run("rm -rf .lamps")
    assert "with" not in (story := what_changed(*tries(session.run("lampc --check", "")))), story
    assert story == "after `rm -rf .lamps`"
    fewer = Session().user("check it").run("lampc --check --quick", "error: no such name", failed=True)
    assert what_changed(*tries(fewer.run("lampc --check", ""))) == "without `--quick`"


def tries(session: Session) -> tuple[list[Act], Act, list[Act]]:
    """The tries that failed, the last act, and what worked before it."""
    acts = acts_of(session.done())
    failures = [act for act in acts if act.has_failed]
    return failures, acts[-1], [act for act in acts if act not in failures and not act.edits]


def test_the_script_of_a_stream_editor_and_a_log_are_no_changed_files() -> None:
    acts = acts_of(capped().run("sed -i '' 's/cap/total/' src/cap.py").run("lampc > build.log").done())
    assert [act.edits for act in acts] == [("src/cap.py",), ("src/cap.py",), ()]


def test_a_failure_is_not_shown_by_what_another_command_of_the_line_printed() -> None:
    line = "shopctl status; pg_isready -h localhost | cat"
    session = Session().user("start the shop").run(line, "localhost:5432 - accepting connections", failed=True)
    assert "accepting" not in summary(session.says("It is down.")).narrative.partition("In its own")[0]


def test_what_a_client_records_where_nothing_was_asked_is_no_answer_and_a_question_tool_no_key_turn() -> None:
    session = capped().call("question", {"text": "which cap?"}, "a hundred").says("The guests' totals are capped too.")
    arc = summary(session.says("No response requested."))
    assert "In its own words (T6): “The guests' totals are capped too”" in arc.narrative
    assert not any("goes through" in note.text for note in arc.key_turns)


def test_what_ran_is_told_in_its_order_with_its_turns() -> None:
    session = Session().user("put the shop's new lamps on the site").run("shopctl sync").run("shopctl stop")
    story = summary(session.run("sudo shopctl start").says("It is on.")).narrative
    assert "ran `shopctl sync` (T2), `shopctl stop` (T4) and `sudo shopctl start` (T6)." in story


def test_files_in_a_temporary_folder_are_said_to_be_there() -> None:
    story = summary(Session().user("count the lamps").write("/tmp/count.py").says("Written.")).narrative
    assert "wrote `count.py` in a temporary folder (T2)." in story


def test_a_check_that_failed_last_is_said_to_have_failed_once() -> None:
    arc = summary(capped().run("npm run check", "Found 2 errors.", failed=True).says("See above."))
    assert arc.narrative.count("failed") == 1
    assert (arc.outcome_turn, arc.outcome_reason) == (5, "the last run of `npm run check` failed")


def test_behind_a_change_of_the_folder_the_line_that_tells_is_quoted() -> None:
    shown = "The command 'lampc' could not be found in this shop.\nFor details visit:\nhttps://lamps.example/help"
    story = summary(
        Session().user("light it").run("cd shop && lampc up", shown, failed=True).says("Not there.")
    ).narrative
    assert "`lampc up` failed (T3): “The command 'lampc' could not be found in this shop”" in story


def test_what_ran_after_the_last_change_and_checks_nothing_is_no_success() -> None:
    arc = summary(capped().run("shopctl sync").says("The totals are capped now."))
    assert "After the last change" not in arc.narrative
    ran = "after the last change (T2) `shopctl sync` ran (T5), and this engine cannot tell what that shows"
    assert (arc.outcome, arc.outcome_reason) == ("partial", ran)


def test_what_was_deleted_is_told() -> None:
    story = summary(Session().user("tidy the shop").run("shopctl sync").run("rm -rf lamps").says("Tidy.")).narrative
    assert "ran `shopctl sync` (T2) and `rm -rf lamps` (T4)." in story


def test_a_path_is_told_with_the_folder_that_says_what_it_is() -> None:
    story = summary(Session().user("build it").edit(".github/workflows/ci.yml").edit("app/[slug]/page.tsx")).narrative
    assert "`.github/workflows/ci.yml`" in story
    assert "`app/[slug]/page.tsx`" in story


def test_a_stop_after_which_the_user_says_the_same_again_is_no_dead_end() -> None:
    def stopped(then: str) -> Session:
        session = Session().user("cap the totals").run("shopctl sync", "")
        return session.user("[Request interrupted by user]", "interrupt").user(then).run("shopctl sync").says("Done.")

    assert not answer(SummarizeQuestion(stopped("cap the totals").done())).arcs[0].dead_ends
    assert answer(SummarizeQuestion(stopped("no, leave them alone").done())).arcs[0].dead_ends


def test_a_title_names_no_second_request_that_was_only_pasted() -> None:
    pasted = "```json\n" + json.dumps({"lamps": {"red": ["a", "b"], "blue": ["c"]}}, indent=1) + "\n```"
    session = Session().user("is there any rule for the lamps ??").says("Yes, one.").user(pasted)
    arc = summary(session.read("a.json").edit("a.json").edit("b.json").says("The lamps are set."))
    assert not f"{arc.title} {arc.goal}".rstrip().endswith("then:")


def test_an_acceptance_is_a_key_turn_and_one_slip_of_many_inline_scripts_none() -> None:
    session = capped().user("great now it works")
    for name in ("one", "two", "three", "four"):
        session.run(f"python3 -c 'import {name}'", f"ModuleNotFoundError: No module named '{name}'", failed=True)
    notes = [note.text for note in summary(session.user("now write the letter").edit("letter.md")).key_turns]
    assert "The user accepts: “great now it works”" in notes


def test_what_exists_already_was_not_refused() -> None:
    session = Session().user("open a pull request for the caps").edit("cap.py").run("git push", "1a2b..3c4d  x -> x")
    again = 'a pull request for branch "caps" into branch "main" already exists'
    reason = summary(session.run("gh pr create --fill", again, failed=True)).outcome_reason
    assert "did not go through" not in reason


def test_a_reply_before_the_user_s_last_words_is_no_last_word() -> None:
    session = capped().says("The shop does not exist yet, so please make it.").user("I have made the shop, it is there")
    assert "In its own words" not in summary(session.call("Bash", {"command": "git push"}, None)).narrative


def test_an_edit_that_the_user_let_pass_later_is_no_dead_end() -> None:
    refused = Session().user("cap the totals").call("Edit", {"file_path": "cap.py"}, "no, which file?", mark="rejected")
    assert summary(refused.says("This one.")).dead_ends
    again = Session().user("cap the totals").call("Edit", {"file_path": "cap.py"}, "no, which file?", mark="rejected")
    assert not summary(again.user("that file, yes").edit("cap.py").says("Capped.")).dead_ends


def test_a_recording_that_begins_with_the_agent_s_work_is_told_in_its_order() -> None:
    session = Session().call("Edit", {"file_path": "cap.py", "old_string": "a", "new_string": "b"}, "updated")
    story = summary(session.run("make cap").user("now push it").call("Bash", {"command": "git push"}, None)).narrative
    assert story.startswith("The recording begins in the middle of the work. The agent changed `cap.py`")
    assert story.index("`cap.py`") < story.index("now push it")


def test_what_a_command_printed_in_one_line_is_told_with_it() -> None:
    session = (
        Session().user("send in the form").run("bash export.sh .", "No session of the shop was found.").run("shopctl")
    )
    story = summary(session.run("shopctl list", "a lamp\na cap").says("It is sent.")).narrative
    assert "`bash export.sh .` (T3: “No session of the shop was found”)" in story
    assert "`shopctl list` (T6)" in story


_LONG = (
    "Draw the sum of the month on the first page, and below it the three customers that bought most of all; "
    "leave the colours as they are, and do not show customers who never paid."
)


def test_where_there_is_room_what_somebody_said_is_quoted_whole() -> None:
    answer_of_agent = (
        "The first page draws the sum of the month, and below it the three customers that bought most; "
        "who never paid is left out, and the colours are those of before."
    )
    session = Session().user("Show me the sales.").edit("a.py").says("There they are, a list on a page of its own.")
    session.user(_LONG).edit("a.py").says(answer_of_agent).user("Rename the page to Sales, please.").edit("a.py")
    narrative = summary(session.says("It is called Sales now.")).narrative
    assert _LONG.rstrip(".") in narrative
    assert answer_of_agent.rstrip(".") in narrative


def test_where_there_is_no_room_it_is_cut_and_nothing_else_is_left_out() -> None:
    session = Session().user("Show me the sales.")
    for number in range(6):
        session.edit("a.py").says(f"Page {number}.").user(f"{number}: {_LONG}")
    narrative = summary(session.edit("a.py").says("All of it is done.")).narrative
    assert 0 < narrative.count(_LONG.rstrip(".")) < 6
    assert all(f"{number}: Draw the sum" in narrative for number in range(6))
    assert len(narrative.split()) <= 250


def test_the_items_of_a_list_are_not_run_together() -> None:
    report = (
        "What it has now:\n- a sum of the month\n- the three customers that bought most\n- a page of its own for all"
    )
    narrative = summary(Session().user("Show me the sales.").edit("a.py").says(report)).narrative
    assert "a sum of the month … the three customers that bought most" in narrative


def test_a_change_that_no_check_could_look_at_says_which_could_not_be_run() -> None:
    session = Session().user("Show me the sales.").edit("a.py")
    arc = summary(session.run("pytest", "bash: pytest: command not found", failed=True).says("The sales are shown."))
    assert (arc.outcome, arc.outcome_reason) == ("partial", "`pytest` could not be run after the last change")
    assert summary(Session().user("Show me the sales.").edit("a.py").says("Shown.")).outcome_reason == UNCHECKED


def test_a_script_that_ran_through_and_says_that_it_went_wrong_is_no_success() -> None:
    session = (
        Session().user("fetch the prices with fetch.js").run("node fetch.js", "Prices of 4 lamps\n503 error - bots")
    )
    assert summary(session.says("The prices are fetched.")).outcome != "success"
    session = Session().user("fetch the prices with fetch.js").run("node fetch.js", "Prices of 4 lamps")
    assert summary(session.says("The prices are fetched.")).outcome == "success"


def test_beside_changes_only_what_was_sent_or_deployed_is_named() -> None:
    session = (
        Session()
        .user("put the lamps on the site")
        .edit("lamps.ts")
        .run("rm -rf dist", "")
        .run("npm install lamps", "added 4")
    )
    story = summary(session.run("npx wrangler deploy", "Uploaded shop").says("They are on it.")).narrative
    assert "wrangler deploy" in story
    assert "rm -rf" not in story
    assert "npm install" not in story


def test_a_line_of_code_is_no_reason_for_a_change() -> None:
    said = "const caps = readCaps(file);\n\nThe cap has to come first because the tax is taken from it."
    session = (
        Session()
        .user("cap it")
        .call("Edit", {"file_path": "a.ts", "old_string": "a", "new_string": "const caps = 1"}, "updated", text=said)
    )
    notes = [each.text for each in summary(session.says("Capped.")).key_turns if each.kind == "change"]
    assert not any("readCaps" in each for each in notes)
