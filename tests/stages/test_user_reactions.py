"""What a user's turn says of the work: made-up turns of each kind, and the cause of a lesson that cites them."""

from __future__ import annotations

import pytest

from agent_wiki.stages.causes import graded
from agent_wiki.stages.turnings import Grade, Turning
from agent_wiki.stages.user_reactions import accepts, is_judged, reaction_of
from tests.engines.scripted_session import Script

_OBJECTIONS = (
    "no, the totals belong to the members",
    "nope, that was the old file",
    "Nooo it should say Sold Out",
    "wrong folder, look again",
    "stop, that is the live shop",
    "that's not what the ticket says",
    "This is wrong. Guests pay no tax.",
    "not what I had in mind: a list, please",
    "why did you delete the lamp table?",
    "Why are you writing this in Perl?",
    "why not just use the basket helper?",
    "why is it at the top left and not in the footer",
    "but you left the old price in",
    "actually no, keep the alias",
    "don't touch the invoices",
    "you forgot the second column",
    "You missed the gap below the header",
    "you broke the search",
    "you didn't run the tests before saying so",
    "You're supposed to follow STYLE.md",
    "I said two decimals, not three",
    "i meant push to the fork",
    "I never asked for a new class",
    "please put it back",
    "hmm, revert that and try the other one",
    "use pnpm, not npm",
    "that can't be right, the shop opens at nine",
    "a bit too much, you are overengineering this",
    "how can you say it passes if you never ran it",
    "jesus, i gave you the path already",
    "it looks too big",
    "Good, but don't call the runner by hand",
    "I was hoping that you would keep the old text",
    "You only ran the new file",
    "That is actually not correct. The list shows that the lamp server runs.",
    "thats not the branch I was looking for",
    "I don't trust you, did you try all of these?",
    "I don't think that's it. It's something else",
    "I am even skeptical about this one, test it again",
    "what do you mean there were no changes? You made commits",
    "too frail for my taste tbh",
    "мне не нравится эта лампа",
    "我不认为这样合适",
    "nein, das Feld bleibt leer",
    "por qué has borrado la tabla",
)
_QUESTIONS = (
    "anything else that we should look at if it's too dark, or can we start?",
    "what does the second flag do?",
    "what do you mean by a lamp server?",
    "do you think that's the issue?",
    "where is the price set",
    "how do I start the shop locally?",
    "is there a test for the basket?",
    "are we on the main branch?",
    "could we use one table for both?",
    "which of the two is faster?",
    "does it also work for guests?",
    "what are the other two libraries for and what do they do?",
    "so now it reads the prices from the file?",
    "when does the sale end",
    "who calls this function?",
    "can you explain the last step",
    "should the tax be in there as well?",
    "how long does it take with ten thousand lamps?",
    "and what happens if the basket is empty?",
    "was the price rounded before?",
    "would a view be simpler here?",
    "ok, and what if a member has two cards?",
    "do we need a migration for that?",
    "why is it called basket?",
    "did the build finish?",
)
_REQUESTS = (
    "add a column for the tax",
    "now make the header blue",
    "please write a test for guests",
    "let's put the prices into a table",
    "use the basket helper for members as well",
    "I need the totals as a file",
    "remove the old banner",
    "next, add the voucher field to the form",
    "I want a page that lists all lamps with prices",
    "rename it to basket and add a note for the shop",
    "The page must show ten lamps at most. Add paging for the rest.",
    "make a small script that sends the report each night",
    "first read the notes, then add the tax",
    "we should keep the vouchers in a table of their own",
    "put the docs next to the code",
    "always sort the lamps by name",
    "try it with the larger file",
    "add the same for invoices, with dates",
    "write the release notes for the new basket and add them to the site",
    "make sure the report has a title",
    "keep both prices and add a label",
)
_REPORTS = (
    "the page does not load",
    "the build fails on the server",
    "it crashes when I open the basket",
    "I get an error after login",
    "the button is missing on the phone",
    "the list does not show the lamps",
    "the tests hang on the second run",
    "nothing is displayed, the screen is blank",
    "the images are broken in the mail",
    "it is stuck at 40 percent",
    "the server can't start after the update",
    "the chart is not visible in dark mode",
    "the search isnt working for guests",
    "the second tab stays blank",
    "there is an exception in the log",
    "the menu doesn't appear on small screens",
    "prices are missing for three lamps",
    "the upload fails with big files",
    "the basket won't open in the app",
    "it still shows the old price",
    "the job crashed again last night",
)
_ACCEPTANCES = (
    "great, thanks",
    "perfect",
    "thank you, that was quick",
    "looks good, commit it",
    "works now",
    "lgtm",
    "nice, push it",
    "awesome work",
    "ok, merge it",
    "yes, exactly like that",
    "that's better",
    "cool, that is what I was after",
    "excellent",
    "love it, ship it",
    "approved",
    "sounds good, go ahead",
    "all fine, release it",
    "yep, correct",
    "good, deploy",
    "thx, it worked",
    "agreed, proceed",
)
_PASTED = (
    "Property 'price' does not exist on type 'Lamp'. Did you mean 'prices'?",
    "Type 'string' is not assignable to type 'number'.",
    "error TS2345: Argument of type 'Lamp' is not assignable to parameter of type 'Basket'.",
    "ModuleNotFoundError: No module named 'basket'",
    "npm ERR! code ELIFECYCLE",
    "fatal: not a git repository (or any of the parent directories): .git",
    "bash: shopctl: command not found",
    "1 failed, 12 passed in 3.2s",
    "Error: listen EADDRINUSE: address already in use :::3000",
    "Uncaught ReferenceError: basket is not defined",
    "error[E0308]: mismatched types",
    'ERROR: relation "lamps" does not exist',
    "panic: runtime error: index out of range [3] with length 3",
    "Formatter would have printed the following content:",
    "HTTP 502 Bad Gateway nginx/1.25",
    "Permission denied (publickey).",
    "OSError: [Errno 28] No space left on device",
    "java.lang.NullPointerException at shop.Basket.total(Basket.java:14)",
    "warning: unused variable: `tax`",
    "container shop-db-1 exited with code 1 (restarting)",
    "src/basket.py:3:1: F401 `os` imported but unused",
    "AssertionError: expected 3, got 4",
)


@pytest.mark.parametrize("words", _OBJECTIONS)
def test_what_is_said_against_the_work_objects(words: str) -> None:
    assert reaction_of(words) == "objection"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        *(("question", words) for words in _QUESTIONS),
        *(("request", words) for words in _REQUESTS),
        *(("report", words) for words in _REPORTS),
        *(("acceptance", words) for words in _ACCEPTANCES),
    ],
)
def test_a_question_a_request_a_report_and_thanks_object_to_nothing(kind: str, words: str) -> None:
    assert reaction_of(words) == kind


@pytest.mark.parametrize(
    "words",
    [
        "no problem, take your time",
        "no errors here",
        "implement it but don't commit",
        "no need, thanks",
        "sorry wrong window, ignore that",
        "don't worry about the tests",
        'show "Access denied" if the role is wrong',
        "run the job when the flag is not set",
        "# No built-in lamps\nthe list of lamps that we sell",
        "can you double check you haven't installed it twice",
        "you should have access to it now",
        f"Build the shop. {'It has lamps and members. ' * 20}Do not use a framework, and never store cards.",
    ],
)
def test_words_that_only_look_like_an_objection_are_none(words: str) -> None:
    assert reaction_of(words) != "objection"


def test_a_no_that_answers_a_question_is_no_objection() -> None:
    assert reaction_of("no") == "objection"
    assert reaction_of("no, include them", is_answer=True) == "remark"
    assert reaction_of("no, you forgot the guests", is_answer=True) == "objection"


def _said(words: str, quote: str = "") -> Grade:
    session = Script().edits("3", "4", "cart.py").says("The basket is done.").user(words).edits("4", "5", "cart.py")
    return graded(session.done(), Turning(5, 6), [(5, quote or words)])


@pytest.mark.parametrize("words", [each for each in _OBJECTIONS if len(each) > 12])
def test_an_objection_is_the_cause(words: str) -> None:
    assert _said(words) == Grade("stated", "the user said so in T5; followed in T6")


@pytest.mark.parametrize("words", [*_QUESTIONS, *_REPORTS, *_PASTED])
def test_a_question_a_report_and_a_pasted_error_are_no_cause(words: str) -> None:
    grade = _said(words)
    assert "said so in" not in grade.reason
    assert "asked for it" not in grade.reason
    assert grade.cause == "asserted" or grade.reason.endswith("gives a reason in T5")


@pytest.mark.parametrize("words", _REQUESTS)
def test_a_request_that_was_followed_is_called_one(words: str) -> None:
    assert _said(words) == Grade("stated", "the user asked for it in T5; followed in T6")


def test_the_reason_says_what_the_user_did_in_place_of_objecting() -> None:
    asked = "the user asked something in T5, in which no objection is recognized"
    assert _said("what does the second flag do?").reason == asked
    assert _said("the page does not load").reason == "the user reported in T5 what did not work, and not why"
    assert _said("woah, the lamps in there!").reason == asked.replace("asked", "said")
    output = "$ make\n" + "cart.py:3: error\n" * 3
    pasted = _said(f"{output}\nwhat now?", "cart.py:3: error")
    assert pasted.reason == "what is cited of T5 was pasted by the user, or no objection is recognized in it"


def test_the_objection_is_looked_for_behind_the_event_and_a_first_request_objects_to_nothing() -> None:
    session = Script().edits("3", "4", "cart.py").says("Done.").user("Type 'Lamp' is not assignable").says("I see.")
    session.user("no, that is the old type").edits("4", "5", "cart.py")
    quotes = [(5, "Type 'Lamp' is not assignable"), (7, "no, that is the old type")]
    assert graded(session.done(), Turning(5, 8), quotes).reason == "the user said so in T7; followed in T8"
    first = Script("no, you broke the basket").edits("3", "4", "cart.py")
    assert graded(first.done(), Turning(1, 2), [(1, "you broke the basket")]).cause == "asserted"


def test_a_rule_for_later_work_is_a_cause_though_nothing_followed() -> None:
    session = Script().edits("3", "4").says("Done.").user("From now on sort the lamps by name.")
    quotes = [(5, "From now on sort the lamps by name.")]
    assert graded(session.done(), Turning(5), quotes) == Grade(
        "stated", "the user asked for it in T5, for later work too"
    )
    once = Script().edits("3", "4").says("Done.").user("add the tax to the lamps")
    assert graded(once.done(), Turning(5), [(5, "add the tax to the lamps")]).cause == "asserted"


def test_words_in_letters_that_are_not_judged_are_what_the_lesson_takes_them_for() -> None:
    said = "the user's words in T5, not in English, are taken for an objection; followed in T6"
    assert _said("你为什么要用三维来写这个游戏呢").reason == said


@pytest.mark.parametrize(("quote", "cause"), [("I can't fetch the script here.", "asserted"), ("it cannot", "stated")])
def test_what_the_agent_cannot_do_says_not_why(quote: str, cause: str) -> None:
    session = Script().edits("3", "4").says("I can't fetch the script here. The old form does it, it cannot nest.")
    assert graded(session.done(), Turning(2, None, None), [(4, quote)]).cause == cause


@pytest.mark.parametrize(
    "words",
    [
        "No, eso es todo por ahora. Muchas gracias.",
        "Nein, danke",
        "Não, obrigado",
        "No longer needed",
        "Bじゃなくていいの？",
    ],
)
def test_a_no_to_the_offer_of_more_is_no_objection(words: str) -> None:
    assert reaction_of(words) != "objection"


@pytest.mark.parametrize(
    "words",
    [
        "Tu n'as pas compris, la lampe devait rester.",
        "нет, верни лампу",
        "아니 램프를 남기라고",
        "不对，灯应该留着",
        "違います、ランプは残してください",
        "青ではなく赤にしてください",
        "ランプの色が変わってないみたい",
        "まだ直っていません",
        "Du hast die Lampe vergessen",
        "você não entendeu, a lâmpada fica",
    ],
)
def test_objections_in_other_languages(words: str) -> None:
    assert reaction_of(words) == "objection"


@pytest.mark.parametrize(
    "words",
    [
        *("Nonetheless, mend the lamp", "да, давай", "oui, vas-y", "ランプを追加して", "None of the lamps"),
        "色の塗りつぶしの場所だけではなくて、数字の場所も30分ずらしてくれますか",
        "直面した問題と解決方法について、社内で共有できるようにまとめてください。個別の事例ではなく、汎用的な内容にしてください",
        "直っていない場合は教えてください",
        "since I asked those two for a summary, I can see why they said that",
    ],
)
def test_what_is_no_objection_in_another_language(words: str) -> None:
    assert reaction_of(words) != "objection"


@pytest.mark.parametrize(
    ("words", "is_known"),
    [
        ("not that file, use the other one", True),
        ("cap.py", True),
        ("lgtm", True),
        ("works great, good job so far", True),
        ("as above, pour no more logs into one file per page", True),
        ("same error again on Windows", True),
        ("我的cart_utils.py用lamps环境运行不了", False),
        ("Perfecto, pero yo te dije solo el segundo caso, entonces?", False),
        ("das Programm zeigt immer noch falsche Lampen", False),
        ("пусть будет как раньше", False),
    ],
)
def test_objections_are_looked_for_in_english_alone(words: str, is_known: bool) -> None:
    assert is_judged(words) == is_known


def test_what_is_said_in_another_language_is_what_the_lesson_takes_it_for() -> None:
    assert _said("Perfecto, pero yo te dije solo el segundo caso, entonces?").cause == "stated"


@pytest.mark.parametrize(
    "words",
    [
        "成功了。",
        "可以了，谢谢",
        "没问题了",
        "うまくいけました！",
        "ありがとうございます",
        "이제 잘 됩니다",
        "ya funciona, gracias",
        "Funcionou, obrigado!",
        "ça marche maintenant",
        "Danke, klappt jetzt!",
        "perfetto, grazie",
        "теперь работает, спасибо",
    ],
)
def test_praise_and_thanks_in_other_languages_accept_where_they_are_all_that_is_said(words: str) -> None:
    assert accepts(words)
    assert not accepts(f"{words} pero cambia el color del botón")
    assert not accepts(f"{words}?")


@pytest.mark.parametrize(
    "words",
    [
        "❌ funciona",
        "¿ya funciona",
        "funktioniert es jetzt",
        "работает :(",
        "funciona 👎",
        "no funciona",
        "geht nicht",
        "не работает",
        "还是不行",
        "可以",
        "sí",
        "好的",
        "对了",
        "funciona, pero el botón no",
    ],
)
def test_assent_and_trouble_in_other_languages_accept_nothing(words: str) -> None:
    assert not accepts(words)


def test_praise_in_korean_is_no_objection_although_it_says_what_something_is_not() -> None:
    assert reaction_of("좋다. 이건 그냥 요약이 아니라 분석이다.") != "objection"
    assert reaction_of("이건 요약이 아니라 분석이야.") == "objection"


def test_leave_to_go_on_is_no_objection_although_it_names_what_was_wanted() -> None:
    words = "I understand about the seats; it's the flight I wanted. Yes, please proceed with the booking."
    assert reaction_of(words) != "objection"
    assert reaction_of(words.partition("Yes")[0]) == "objection"


@pytest.mark.parametrize(
    "words",
    [
        "That is not what I asked for. Yes, do that only for members.",
        "You deleted the tests again! Yes, continue, but restore them first.",
        "No, that's wrong. Yes, proceed with the first plan instead.",
    ],
)
def test_leave_under_a_condition_takes_back_no_objection(words: str) -> None:
    assert reaction_of(words) == "objection"
