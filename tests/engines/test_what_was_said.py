"""Which turns of the user a summary takes for requests, which words it quotes, which replies it takes for answers."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.command_prompts import asked_in_command_prompt
from agent_wiki.engines.offline.reply_prose import first_prose, reservation
from agent_wiki.engines.offline.wording import said
from tests.engines.sessions import Session
from tests.engines.summaries import ASKED, summary


def test_the_stop_of_a_look_is_no_dead_end() -> None:
    looked = Session().user(ASKED).run("ls src", "cap.py").user("[Request interrupted by user]", "interrupt")
    assert summary(looked).dead_ends == []
    pushed = Session().user(ASKED).edit("cap.py").user("[Request interrupted by user]", "interrupt")
    assert [note.text for note in summary(pushed).dead_ends] == ["The user stopped the agent after `Edit cap.py`"]


def test_the_words_with_which_a_tool_ends_the_work_are_the_answer() -> None:
    session = Session().user("Open the login page and say whether its form is there.")
    session.call("navigate", {"target": "/login"}, "ok")
    session.call("done", {"verdict": "PASS"}, "ended", text="The form for the login is there, and nothing redirects.")
    narrative = summary(session).narrative
    assert "“The form for the login is there, and nothing redirects”" in narrative
    assert "without an answer" not in narrative


@pytest.mark.parametrize("lines", [90, 900])  # the latter is longer than what is read of a turn
def test_of_a_paste_the_request_is_what_was_written_below_it(lines: int) -> None:
    pasted = "\n".join(f"- the cap number {at} is done, and run the next one" for at in range(lines))
    session = Session().user(f"AP_OF_SHOP env var)\n{pasted}\nPlease add the cap of the guests, too.").edit("cap.py")
    assert summary(session.says("It is capped.")).goal == "Please add the cap of the guests, too."


def test_what_a_prompt_is_for_is_not_quoted_as_the_users_words() -> None:
    prompt = "## User Input\n\n```text\n\n```\n\n## Outline\n\n1. **Execute plan workflow**: follow the template.\n"
    session = Session().user(ASKED).edit("cap.py").says("It is capped.").user(prompt)
    narrative = summary(session.write("plan.md", "# Plan\n").says("The plan is written.")).narrative
    assert "Plan the implementation (T5)" in narrative
    assert "“Plan the implementation”" not in narrative


def test_pasted_output_that_follows_is_not_quoted_as_words() -> None:
    session = Session().user(ASKED).edit("cap.py").says("It is capped.")
    session.user("ERROR: no such column cap\n    at cap.py:3\n    at shop.py:9").edit("cap.py").says("It is mended.")
    assert "Pasted output" not in summary(session).narrative


def test_a_long_lead_in_is_not_said_before_each_line_of_a_report() -> None:
    lead = "Pushed successfully, and there were no conflicts in it. Here is what was added"
    items = ["- `cap.py`: the cap of the members' totals", "- `guest.py`: the cap of the guests' totals, too"]
    session = Session().user(ASKED).edit("cap.py").edit("guest.py")
    report = [
        note.text
        for note in summary(session.says(f"{lead}:\n\n" + "\n".join(items) + "\n" + "It holds. " * 9)).reported
    ]
    assert sum(lead in each for each in report) <= 1


def test_a_conversation_says_what_the_agent_offered_and_not_what_it_asked_for() -> None:
    session = Session().user("I want to move my flight of next Monday to another day.")
    session.says("Sure! Please provide your user id.").user("It is kim_17.")
    session.call("find_flights", {"day": "Tuesday"}, "two flights")
    session.says("There are two flights on Tuesday: one at nine for 120 dollars, and one at noon for 90 dollars.")
    session.user("Then please take the one at noon.").call("change_flight", {"flight": "noon"}, "changed")
    narrative = summary(session.says("Your flight is changed.")).narrative
    assert "There are two flights on Tuesday" in narrative
    assert "provide your user id" not in narrative


def test_a_fault_that_is_reported_is_a_request_and_a_change_of_branch_is_none() -> None:
    session = Session().user("The type check fails on that branch.").edit("a.json").says("It is mended.")
    session.user("ok lets go back to the pr 133 branch").says("Done.")
    session.user("there are a few comments of the review that need to be addressed")
    for path in ("a.ts", "b.ts", "c.ts", "d.ts"):
        session.edit(path)
    arc = summary(session.says("They are addressed."))
    assert "go back" not in arc.goal
    assert "go back" not in (arc.title or "")


def test_a_vague_opening_is_followed_by_what_was_wanted() -> None:
    session = Session().user("Hi! I need to make some changes to my upcoming flight. Can you help me with that?")
    session.says("What is your user id?").user("Sure, my user id is kim_17.").call(
        "get_user", {"user": "kim_17"}, "Kim"
    )
    session.says("What would you like to change?").user("I'd like to move it to Tuesday and add two checked bags.")
    goal = summary(session.call("change_flight", {"day": "Tuesday"}, "ok").says("It is changed.")).goal
    assert goal.endswith("then: I'd like to move it to Tuesday and add two checked bags.")


def test_another_choice_than_the_one_offered_is_no_objection() -> None:
    session = Session().user(ASKED).edit("cap.py").says("It is capped. Would you like me to document it?")
    session.user("No, let's expand the checks of the members first.").edit("check.py").says("They are expanded.")
    narrative = summary(session).narrative
    assert "objected" not in narrative
    assert "let's expand the checks" in narrative


def test_that_the_agent_may_not_help_is_no_delivery() -> None:
    session = Session().user("Explain how the caps of the shop are computed, in detail.").read("cap.py").read("tax.py")
    arc = summary(
        session.says("I'm sorry, but I can't assist with that. " + "There are rules for what I explain. " * 4)
    )
    assert arc.outcome != "success"


def test_a_log_of_a_build_server_is_pasted_output_and_not_the_request() -> None:
    log = "Run mkdocs build --strict\nERROR: the page cap.md is missing\nError: Process completed with exit code 1."
    session = (
        Session().user(ASKED).edit("cap.py").says("It is capped.").user(log).write("docs/cap.md").says("It is there.")
    )
    narrative = summary(session).narrative
    assert "pasted output: “ERROR: the page cap.md is missing”" in narrative
    assert "asked: “Run mkdocs" not in narrative


def test_files_mentioned_before_a_request_are_no_part_of_its_goal() -> None:
    asked = '@"docs/the cap.md" @src/cap.py Cap the totals of the shop at ten for members and for guests.'
    assert summary(Session().user(asked).edit("src/cap.py").says("It is capped.")).goal.startswith("Cap the totals")


def test_an_answer_without_changes_is_quoted_at_length_and_its_question_once() -> None:
    parts = [f"The cap of {name} is read from its own table and never from the cart itself." for name in ("a", "b")]
    reply = f"{' '.join(parts)} It is three for guests and nine for members of the shop. Shall it be one table?"
    narrative = summary(Session().user("Where is the cap of a cart read from?").read("cap.py").says(reply)).narrative
    assert "nine for members of the shop" in narrative
    assert narrative.count("Shall it be one table?") == 1


def test_a_terminal_with_its_prompt_is_pasted_and_a_rule_across_it_is_no_word() -> None:
    paste = "(base) lamp@shop:/srv/cart$ git remote set-url origin git@shop.example\nerror: No such remote 'origin'"
    paste += "\nhint: If you want to see the remotes, use 'git remote'"
    session = Session().user(ASKED).edit("cap.py").says("It is capped, push it to the shop.").user(paste)
    assert "the user pasted output: “error: No such remote 'origin'”" in summary(session.says("Add it.")).narrative
    ruled = f"two tests fail {'⎯' * 40} in cap.py and in cart.py, please have a look at both of them"
    narrative = summary(Session().user(ruled).read("cap.py").says("Both read the same cap.")).narrative
    assert "“two tests fail in cap.py" in narrative


def test_what_the_agent_said_after_it_was_stopped_comes_after_it() -> None:
    session = Session().user(ASKED).call("Bash", {"command": "rm -r caps"}, None)
    session.user("[Request interrupted by user]", mark="interrupt").user("y")
    narrative = summary(session.says("The folder of the caps is still there. Shall I remove it?")).narrative
    assert "stopped the agent there (T3). In its own words (T5): “The folder" in narrative


def test_an_offer_to_run_the_tests_says_that_they_were_not_run() -> None:
    session = (
        Session().user(ASKED).edit("cap.py").says("It is capped.\n\nIf you want me to run the tests, I can do that.")
    )
    answer = summary(session.user("Now write the table of all prices of the shop, with a row for each of its lamps."))
    assert answer.outcome == "partial"


def test_what_is_typed_into_the_wrong_window_is_no_request() -> None:
    session = Session().user("Write the README of the shop.").read("cap.py").write("README.md", "# Caps\n\nOf totals.")
    session.says("The README of the shop is written.").user(":wq").user(
        "[Request interrupted by user]", mark="interrupt"
    )
    assert ":wq" not in summary(session).narrative


def test_a_report_that_begins_with_blocked_is_no_delivery() -> None:
    why = "Each of the three commands failed before it read the caps, for the alias of the shell is still there. "
    session = Session().user("Explain what the three commands print of the caps.").read("a.sh").read("b.sh")
    assert summary(session.says(f"**Blocked verification**\n\n{why * 3}")).outcome == "partial"


def test_a_short_answer_of_signs_says_as_much_as_a_long_one_of_letters() -> None:
    session = Session().user("このプロダクトの README.md を作成して").read("cap.py").run("npm test", "15 passed")
    session.write("README.md", "# 合計の上限\n\n会員とゲストの上限。")
    reply = "`README.md` を新規作成しました。最短起動手順を先頭に置き、設定と使用方法と既知の制約を整理済みです。" * 3
    assert summary(session.says(reply)).outcome == "success"


def test_a_path_behind_a_command_is_no_command() -> None:
    asked = "/review Make a plan to change the /profiles/groups/page to what the specification says."
    narrative = summary(Session().user(asked).read("spec.md").says("The plan is made.")).narrative
    assert "The user ran `/review`: " in narrative


def test_a_turn_that_only_activates_a_persona_is_not_quoted_as_nothing() -> None:
    session = Session().user(ASKED).edit("cap.py").says("It is capped.")
    session.user("You must fully embody this agent's persona.\n\n<agent-activation>\n1. LOAD a.md\n</agent-activation>")
    assert "said: …”" not in summary(session.read("a.md").says("Good day.")).narrative
    session.user("T020/T021/T022")
    assert "“T020/T021/T022” (T" in summary(session.edit("cup.py").says("They are done.")).narrative


@pytest.mark.parametrize(
    "issue",
    [
        '{"id": "m17", "title": "Review the caps of the shop", "description": "Only comment.", "status": "todo"}',
        "title:\tReview the caps of the shop\nstate:\tOPEN\n",
    ],
)
def test_where_no_request_is_recorded_the_issue_that_was_read_first_names_the_work(issue: str) -> None:
    session = Session().run("shop view m17", issue).read("cap.py").run("shop comment m17 'all holds'", "OK")
    answer = summary(session.says("The caps of the shop hold, and the review is posted as a comment."))
    assert answer.title == "Review the caps of the shop"
    assert "No request of a user is recorded. The issue that it read first: “Review the caps of the shop” (T2)." in (
        answer.narrative
    )


def test_a_result_in_json_that_is_no_issue_names_no_work() -> None:
    session = Session().run("shop list", '{"title": "lamps", "count": 3}').read("cap.py")
    assert "The issue" not in summary(session.says("There are three lamps in the shop today.")).narrative


def test_to_leave_after_the_last_answer_is_no_stop_and_tests_that_were_not_selected_did_not_fail() -> None:
    session = Session().user(ASKED).edit("cap.py").says("The totals are capped at ten now.").user("exit")
    left = summary(session.user("[Request interrupted by user]", "interrupt"))
    assert "stopped" not in f"{left.narrative} {left.outcome_reason} {[note.text for note in left.key_turns]}"
    nothing = Session().user(ASKED).edit("cap.py")
    nothing.run("pytest test_cap.py -k ten", "collected 7 items / 7 deselected / 0 selected", failed=True)
    assert "failed" not in summary(nothing.says("The totals are capped at ten now.")).narrative


def test_a_question_that_was_answered_with_yes_and_worked_on_is_not_the_last_word() -> None:
    session = Session().user(ASKED).read("cap.py").says("No caps are set up yet. Would you like me to set them up now?")
    narrative = summary(session.user("y").read("a.py").read("b.py")).narrative
    assert "In its own words" not in narrative


def test_a_plan_that_is_sent_back_with_words_is_answered() -> None:
    refused = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nBuild it."
    )
    session = Session().user(ASKED).call("ExitPlanMode", {"plan": "# Caps"}, refused, failed=True, mark="rejected")
    arc = summary(session.says("I build it."))
    assert "The user answered the plan (T2): “Build it”" in arc.narrative
    assert "refuse" not in f"{arc.narrative} {[note.text for note in arc.key_turns]}"


@pytest.mark.parametrize(
    "said",
    [
        "New Terminal Output:\n\nSheet names: ['Task']",
        "Loaded skill: xlsx",
        "▣ DCP | -23.4K removed, +1.4K summary — Compression #3",
    ],
)
def test_what_a_terminal_shows_is_no_request(said: str) -> None:
    arc = summary(Session().user(ASKED).says("```\nls\n```").user(said).says("The totals are in the first sheet."))
    assert arc.requests == []
    assert "the user said" not in arc.narrative


def test_a_chat_without_recorded_calls_that_holds_code_is_no_talk_with_a_service() -> None:
    chat = (
        Session().user(ASKED).says("Put this in:\n\n```python\nCAP = 3\n```").user("ok it worked thanks a lot for it")
    )
    chat.says("You are welcome.").user("the label is still not set for the guests of the shop").says("```\nx\n```")
    assert 5 in [note.turn for note in summary(chat).requests]


def test_the_answer_to_what_the_agent_asked_is_not_the_heading() -> None:
    asked = "今回は、地図の範囲を選択するとその三次元マップを表示するアプリを作成します。質問をしてください。"
    session = (
        Session()
        .user(asked)
        .says("1. 地図は何を使いますか？ 2. 範囲は矩形ですか？ 3. データは何ですか？ お答えください。")
    )
    session.user("地図はオープンなものを使います。範囲選択は矩形とします。データはサンプルも作ってください。")
    for name in ("map", "box", "data"):
        session.edit(f"{name}.ts")
    assert summary(session.says("できました。")).goal.startswith("今回は")
    assert ", then: " not in summary(session).goal


def test_an_interrupt_that_no_objection_follows_is_no_dead_end() -> None:
    stopped = Session().user(ASKED).run("make load", "loading").user("[Request interrupted by user]", "interrupt")
    waited = stopped.user("Please wait until it is loaded and then load the others of the shop, too.")
    assert summary(waited.run("make load", "loaded").says("It is loaded.")).dead_ends == []
    objected = Session().user(ASKED).edit("cap.py").user("[Request interrupted by user]", "interrupt")
    objected.user("No, that is wrong, do not cap the orders.").says("Understood.")
    assert [note.text for note in summary(objected).dead_ends] == ["The user stopped the agent after `Edit cap.py`"]


def test_thanks_for_code_that_a_chat_gave_settle_it() -> None:
    chat = Session().user(ASKED).says("Put this in:\n\n```python\nCAP = 3\n```").user("It's working now, thanks!")
    arc = summary(chat)
    assert (arc.outcome, arc.outcome_reason) == ("success", "the user accepted it")
    assert "without an answer" not in arc.narrative


def test_a_line_of_code_is_no_reason_for_a_change() -> None:
    said = "```\nmenu.addAction('Delete', window.delete_selected, Key.Delete)\n```"
    change = {"file_path": "a.py", "old_string": "a", "new_string": "b"}
    session = Session().user(ASKED).call("Edit", change, "ok", text=said)
    assert not any("addAction" in note.text for note in summary(session.says("It is done.")).key_turns)


def test_a_no_to_what_the_agent_offered_is_no_objection_in_other_languages_either() -> None:
    session = Session().user("Garde les échanges.").edit("notes.md").says("Dois-je ouvrir un navigateur ?")
    session.user("non restons comme ça. Peut-on sauvegarder nos échanges de cette discussion ?").edit("log.md")
    assert not any("objects" in note.text for note in summary(session.says("C'est fait.")).key_turns)


def test_a_key_turn_says_of_a_new_file_that_it_is_written() -> None:
    why = "The caps need a module of their own because the cart must not know them."
    session = Session().user(ASKED).call("Write", {"file_path": "cap.py", "content": "CAP = 3"}, "created", text=why)
    session.call("Edit", {"file_path": "cart.py", "old_string": "a", "new_string": "b"}, "updated", text=why)
    texts = [note.text for note in summary(session.says("It is capped.")).key_turns]
    assert any(text.startswith("The agent writes `cap.py`") for text in texts)
    assert any(text.startswith("The agent changes `cart.py`") for text in texts)


def test_what_stands_before_the_finding_takes_nothing_of_it_back() -> None:
    reply = "The page shows a text. However, the lamps are not sent with it.\n\nRoot cause: the cart is read too early."
    assert reservation(reply, "“Root cause: the cart is read too early”") == ""
    assert reservation(reply, "“The page shows a text”") == "However, the lamps are not sent with it."


LOG = (
    "untranslated messages\nNote: Some files use a deprecated API.\ne: file:///till/A.kt:76:11 Conflicting calls\n"
    "Please upgrade your version of Kotlin soon.\nwarning: value 8 is obsolete\n> Task failed\nBUILD FAILED in 59s"
)


def test_a_pasted_log_asks_for_nothing_that_it_says() -> None:
    session = Session().user(LOG).edit("A.kt").says("The clash is gone.").user(f"{LOG}\nplease mend that, too")
    arc = summary(session.edit("B.kt").says("So is this one."))
    assert arc.goal.startswith("Pasted output: e: A.kt:76:11 Conflicting calls, then: ")
    assert "Please upgrade" not in arc.narrative


def test_of_a_long_request_both_ends_are_listed() -> None:
    report = "I have built the cart, its tools and its tests, and all of them pass. " * 12
    session = Session().user("Watch the four helpers.").says("I do.")
    session.user(f"{report.strip()}\n\nthis is its last message, can you verify that yourself?").edit("cart.py")
    (_, later) = summary(session.says("It is verified.")).requests
    assert later.text.startswith("“I have built the cart")
    assert later.text.endswith("… “this is its last message, can you verify that yourself?”")


def test_a_quote_is_not_cut_before_the_word_that_turns_it_round() -> None:
    found = (
        "The catalog has all that it takes to find the attachment of a policy, but there is no call that fetches it."
    )
    words = summary(Session().user("Which calls fetch the card?").read("api.md").says(f"{found} {found}")).narrative
    assert "of a policy”" not in words
    assert "but not" in said("The cart is capped at ten for members, but not for guests of the shop.", 50)


def test_the_code_that_a_line_leads_in_to_belongs_to_it() -> None:
    reply = (
        "The conversation of this directory is stored at:\n\n```\n~/.claude/projects/shop/7.jsonl\n```\n\nThat is all."
    )
    assert first_prose(reply).startswith(
        "The conversation of this directory is stored at: `~/.claude/projects/shop/7.jsonl`"
    )


def test_what_stands_between_two_blocks_of_code_is_kept() -> None:
    reply = (
        "The file of the shop has this:\n\n```yaml\nservices:\n```\nThe port was in use by another container.\n"
        "```\nports: 5433\n```\nIt starts now, as far as its log says."
    )
    assert "The port was in use by another container." in first_prose(reply)


def test_what_was_typed_to_a_command_whose_place_for_it_was_left_stands_below_its_prompt() -> None:
    prompt = "## User Input\n\n```text\n$ARGUMENTS\n```\n\nYou **MUST** consider the user input before proceeding.\n\n"
    prompt += "## Outline\n\n1. **Execute plan workflow**\n\n## Key rules\n\n- Use absolute paths\n- ERROR on gates"
    typed = "Build an API for persons with a search by their last name"
    assert asked_in_command_prompt(f"{prompt}\n{typed}\n") == typed
    assert typed not in str(asked_in_command_prompt(f"{prompt}\n\n{typed}\n"))  # a part of the prompt
    other = prompt.replace("**Execute plan workflow**", "Run the script.")
    assert typed not in str(asked_in_command_prompt(f"{other}\n{typed}\n"))  # the end of its last item


def test_a_banner_is_no_sentence() -> None:
    reply = "════ PAI | NATIVE MODE ═══════════════\n\nThe port was in use by another container, and it is free by now."
    assert first_prose(reply).startswith("The port was in use")


def test_what_the_user_answered_to_a_question_of_a_tool_is_a_key_turn() -> None:
    questions = [{"question": "Which cap applies to the cart?", "header": "Cap"}]
    answered = 'User has answered your questions: "Which cap applies to the cart?"="100 orders (Recommended)".'
    session = Session().user(ASKED).call("AskUserQuestion", {"questions": questions}, answered).edit("cap.py")
    notes = {note.turn: note.text for note in summary(session.says("It is capped.")).key_turns}
    assert notes[3] == "The user answers “100 orders” to “Cap”"
    another = Session().user(ASKED).call("lookup", {"questions": questions}, answered).edit("cap.py")
    assert not any("answers" in note.text for note in summary(another.says("It is capped.")).key_turns)


def test_a_check_that_ran_before_the_notes_were_changed_passed_after_the_last_change_of_code() -> None:
    session = (
        Session().user("cap the totals, and tell of it in the notes").edit("cap.py").run("mypy .", "Success: no issues")
    )
    session.edit("NOTES.md").run("pytest -q", "4 passed").says("Done.")
    assert "After the last change of code `mypy .` (T5) and `pytest -q` (T9) passed" in summary(session).narrative
