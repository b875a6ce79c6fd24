"""Which of the agent's words answer, what counts as a change, and how a recording's end is described."""

from __future__ import annotations

import pytest

from tests.engines.sessions import Session
from tests.engines.summaries import COMMITTED, capped, summary


def test_what_it_is_about_to_do_and_courtesies_are_no_answer() -> None:
    session = Session().user("Who may add a lamp?").read("shop.py")
    reply = "Totally fair question. Let me compile what I found.\n\nWho is in the group `keepers` may add a lamp."
    assert (
        "In its own words (T4): “Who is in the group `keepers` may add a lamp”."
        in summary(session.says(reply)).narrative
    )
    announced = Session().user("Set the icon of the shop.").read("shop.py").says("I'll find where the icon is set.")
    assert "I'll find" not in summary(announced).narrative


@pytest.mark.parametrize("colon", [":", "："])
def test_no_quote_ends_where_a_list_is_led_in(colon: str) -> None:
    reply = f"The bars are there now, below the sum of the week. They show{colon}\n\n- the hours of the lamp keeper"
    narrative = summary(Session().user("Show the hours.").edit("a.py").says(reply)).narrative
    assert f"They show{colon}" not in narrative
    assert "the hours of the lamp keeper" in narrative


def test_a_turn_that_the_story_has_told_is_not_quoted_again() -> None:
    session = (
        Session().user("Describe the prices of the shop").edit("api.json").says("They are described. Anything else?")
    )
    session.user("leave `change` out of it there").read("api.json").says("The field `change` is gone from the body.")
    narrative = summary(session.user("Push all of it to the server").run("git push", "a..b  main -> main")).narrative
    assert "To “leave" not in narrative
    assert "The agent answered: “The field `change` is gone from the body” (T8)." in narrative


def test_a_push_that_hangs_is_not_told() -> None:
    session = Session().user("Commit and push the totals.").edit("cap.py").run("git commit -qam x", COMMITTED)
    hung = session.call("Bash", {"command": "git push -u origin main"}, "libpng warning: iCCP: known incorrect profile")
    hung.builder.messages[-1].is_error = None
    assert "It committed (T5)" in summary(hung).narrative
    assert "pushed" not in summary(hung).narrative


def test_a_file_that_only_gets_another_name_is_not_changed() -> None:
    session = Session().user("Which lamp sells best?").write("best.py").run("python best.py", "lamp 4: 12 sold")
    narrative = summary(session.run("mv best.py lamps.py").says("Lamp 4 sells best, twelve of them.")).narrative
    assert "wrote `best.py`" in narrative
    assert "lamps.py" not in narrative


def test_a_move_that_failed_changes_nothing() -> None:
    session = Session().user("Tidy the shop up.").edit("cap.py")
    moved = session.run("mv old.py lib/old.py || echo left", "mv: cannot move 'old.py': No such file\nleft")
    assert "lib/old.py" not in summary(moved).narrative


def test_of_a_chain_that_printed_nothing_no_later_step_is_blamed() -> None:
    chain = "ls /memory 2>/dev/null && rm plan.md && mv shop.md vision.md"
    session = Session().user("Tidy the notes up.").edit("notes.md").run(chain, "Exit code 1", failed=True)
    assert "failed" not in summary(session.says("The notes are tidy, each in its folder.")).narrative


def test_a_request_that_no_reply_answers_shows_no_outcome() -> None:
    session = Session().user("Show the sales of the shop.").edit("a.py").says("They are shown, a list for each month.")
    arc = summary(session.user("Set the icon of the page, too.").read("icon.svg"))
    assert (arc.outcome, arc.outcome_turn, arc.outcome_quote) == ("partial", None, None)
    assert arc.outcome_reason == "the recording ends before the last request was met"


def test_edits_of_cursor_and_of_copilot_are_edits() -> None:
    session = (
        Session().user("Cap the totals.").call("StrReplace", {"path": "cap.py", "old_string": "1", "new_string": "2"})
    )
    assert "The agent changed `cap.py`" in summary(session.call("todo_write", {"merge": True})).narrative
    made = Session().user("Cap the totals.").call("copilot_replaceString", {"content": "x"}, "completed")
    assert "copilot_replaceString" not in summary(made.says("The totals are capped now, in the cart.")).narrative


def test_a_call_without_a_result_is_not_where_it_ends_once_the_agent_has_answered() -> None:
    session = Session().user("Take the discount out of the shop.").edit("shop.js").call("read_file", {}, None)
    answered = summary(session.says("The discount is gone from the shop and from the mail."))
    assert "The recording ends before" not in answered.narrative


def test_questions_about_files_are_all_told_in_any_language() -> None:
    session = Session().user("почему падает корзина?").read("cart.py").says("Потому что в ней нет цены лампы.")
    session.user("как теперь исправить рабочее пространство проекта").read("shop.py").says(
        "Нужно добавить папку магазина."
    )
    assert "как теперь исправить рабочее пространство проекта" in summary(session).narrative


def test_an_answer_that_ends_with_what_comes_next_is_left_open() -> None:
    session = Session().user("Which three faults of the spec are worst, and how would you mend them?").read("spec.md")
    session.read("plan.md").says("Three faults matter: " + "the trace ids are missing in one more place; " * 8)
    assert summary(session).outcome == "success"
    session.user("option 2, with the edits to make").says("You chose option 2 and want the edits. I'll propose them.")
    assert summary(session).outcome == "partial"


def test_a_recording_that_ends_at_work_after_an_answer_does_not_lack_that_answer() -> None:
    session = Session().user("Show the sales of the shop.").edit("a.py").says("They are shown, a list for each month.")
    session.user("Explain line 76 to me.").says("It sums the sales up.").read("b.py")
    assert "before the agent reports" not in summary(session).narrative


def test_a_forced_push_is_called_that() -> None:
    pushed = capped().run("git push -f origin main", "+ 056ba31...5aeb7e0 main -> main (forced update)")
    assert "force-pushed (T5)" in summary(pushed).narrative


def test_a_file_that_a_shell_writes_whole_is_written_and_a_known_one_is_changed() -> None:
    new = Session().user("Make a list of the lamps.").run("cat > lamps.md <<'EOF'\nlamp 1\nEOF")
    assert "The agent wrote `lamps.md`" in summary(new).narrative
    known = Session().user("Make a list of the lamps.").read("lamps.md").run("cat > lamps.md <<'EOF'\nlamp 1\nEOF")
    assert "The agent changed `lamps.md`" in summary(known).narrative


def test_what_follows_a_slash_in_another_script_is_no_command() -> None:
    session = Session().user("Add the chat page of the shop, please.").edit("chat.tsx").says("It is there.")
    narrative = summary(session.user("/chat输入内容对话报错，请看一下").edit("chat.tsx")).narrative
    assert "then ran" not in narrative
    assert "/chat输入内容对话报错" in narrative


@pytest.mark.parametrize(("error", "named"), [("Cart.kt:12: unresolved", True), ("internal compiler error", False)])
def test_of_many_changes_before_a_pass_none_is_the_remedy_that_the_failure_does_not_name(
    error: str, named: bool
) -> None:
    session = Session().user("Split the cart.").edit("Cart.kt").run("./gradlew test", f"error: {error}", failed=True)
    for path in ("Cart.kt", "Lamp.kt", "Shop.kt"):
        session.edit(path)
    narrative = summary(session.run("./gradlew test", "BUILD SUCCESSFUL").says("The cart is split in three.")).narrative
    assert ("passed after changes to `Cart.kt`" in narrative) is named
    assert ("passed after changes to several files" in narrative) is not named


@pytest.mark.parametrize(
    ("cause", "is_quoted"),
    [
        ("The cause was a cap in `cap.py` that nobody had set.", True),
        ("The cause is probably a cap in `cap.py` that nobody had set.", False),
        ("What was the cause?", False),
    ],
)
def test_of_an_answer_its_finding_is_quoted_beside_its_opening(cause: str, is_quoted: bool) -> None:
    month, tax = (
        "the sums of each month are right, as are those of the years before",
        "so are all the taxes in the shop",
    )
    sums = f"- {month}\n- {tax}, and {month}\n- each of the discounts was worked out by hand and is right, {tax}"
    reply = f"I went through the whole cart.\n\n{sums}\n\n{cause}"
    narrative = summary(Session().user("Why are the totals too high?").read("cap.py").says(reply)).narrative
    assert "I went through the whole cart. … " in narrative
    assert (f" … {cause.rstrip('.')}”" in narrative) is is_quoted


def test_files_that_are_new_are_written_and_the_others_changed() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: cap.py\n+CAP = 3\n*** Update File: cart.py\n@@\n-a = 1\n+a = CAP\n*** End Patch"
    )
    capped = Session().user("Cap the cart.").call("apply_patch", {"input": patch}, "Success.").says("It is capped.")
    assert "The agent wrote `cap.py`, and changed `cart.py`" in summary(capped).narrative
    by_opencode = Session().user("Cap the cart.").call("apply_patch", {"patchText": patch}, "Success.").says("Capped.")
    assert "The agent wrote `cap.py`, and changed `cart.py`" in summary(by_opencode).narrative
    again = Session().user("Cap the cart.").write("cap.py").edit("cap.py").says("It is capped.")
    assert "The agent wrote `cap.py` (T2 to T4)." in summary(again).narrative


def test_an_agent_s_own_notes_are_no_remedy() -> None:
    failed = Session().user("Cap the cart.").edit("cart.ts").run("npm run build", "error TS1005", failed=True)
    failed.write("/home/kim/.gemini/antigravity/brain/0a1b/task.md").run("npm run build", "built in 3 s")
    assert "task.md" not in summary(failed.says("It is capped.")).narrative


def test_a_page_whose_syntax_was_read_is_no_scratch_file() -> None:
    read = Session().user("Cap the cart.").edit("static/test-ui.html").run("node --check static/test-ui.html", "")
    assert "`static/test-ui.html`" in summary(read.edit("cart.ts").says("It is capped.")).narrative


@pytest.mark.parametrize("words", ["I am still having the same issue with the cap", "That did not fix the cap"])
def test_that_nothing_has_changed_is_an_objection(words: str) -> None:
    found = summary(capped().user(words).says("I look at it."))
    assert (found.outcome, found.outcome_reason) == ("failure", "the user did not accept it")
    assert (found.outcome_quote or "").startswith(words)


@pytest.mark.parametrize(("printed", "verb"), [("[main 4ac1e90] cap", "committed"), ("kim@shop % git commit", "")])
def test_a_commit_has_to_say_that_it_was_made(printed: str, verb: str) -> None:
    session = capped()
    session.builder.assistant(None, calls=[("c9", "Bash", {"command": "git commit -am cap"})])
    session.builder.tool("c9", printed)  # without an exit code
    assert ("committed" in summary(session.says("It is capped.")).narrative) is bool(verb)


def test_node_with_c_reads_a_file_and_runs_nothing() -> None:
    failed = Session().user("Mend the crash at the start.").edit("server.js")
    failed.run("node -c server.js", "SyntaxError: Unexpected end of input", failed=True).edit("server.js")
    parsed = summary(failed.run("node -c server.js", ""))
    assert parsed.outcome == "partial"  # as after `node --check`
    assert "`node -c server.js` failed" in parsed.narrative
    page = Session().user("Mend the page.").edit("page.html")
    unread = 'TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".html" for /srv/page.html'
    page.run("node --check page.html", unread, failed=True).run("npm test", "Tests  3 passed (3)")
    assert summary(page.says("The page is mended.")).outcome == "success"  # it says nothing of the page


def test_several_replacements_in_one_call_name_their_files() -> None:
    pair = {"oldString": "a", "newString": "b"}
    changes = {"replacements": [{"filePath": path, **pair} for path in ("cap.py", "cart.py", "cap.py")] + ["cut"]}
    session = Session().user("Cap the cart.").call("multi_replace_string_in_file", changes, "ok")
    narrative = summary(session.says("It is capped.")).narrative
    assert "`cap.py`" in narrative
    assert "`cart.py`" in narrative


def test_a_line_of_a_map_of_the_repository_is_no_report() -> None:
    said = "The cart is capped at one hundred orders, and the form says so to the customer who orders more."
    code = "│def cap_orders(cart: Cart, limit: int = 100) -> Cart of the orders that are left then"
    more = [
        f"The totals of old carts {at} are counted anew when they are opened, so that none is lost." for at in "abc"
    ]
    told = summary(capped().says("\n\n".join((said, *more, code, "⋮", said.replace("cart", "basket")))))
    assert told.reported
    assert not any("│" in note.text for note in told.reported)
