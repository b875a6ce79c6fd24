"""The end of a conversation: which reply is the answer, and which turn of the user is a request."""

from __future__ import annotations

from agent_wiki.engines.offline.requests import requests_of
from tests.engines.sessions import Session
from tests.engines.summaries import ASKED, summary


def test_a_goodbye_does_not_take_the_place_of_the_last_answer() -> None:
    talk = Session(reward=0.0).user("I want to cancel my lamp, could you help me with that?")
    talk.call("find_order", {"name": "Kim"}, "none")
    talk.says("Yes, a lamp that is broken can be sent back. Could you tell me the number of the order?")
    talk.user("Alright, I'll check my mails and get back to you later on")
    talk.says("You're welcome! Once you have the number, feel free to reach out. Take care!")
    story = summary(talk).narrative
    assert "In its own words (T4): “Yes, a lamp that is broken can be sent back" in story
    assert "the user asked: “Alright" not in story
    assert "Take care" not in story


def test_a_number_is_an_answer() -> None:
    story = summary(Session().user("What is 2 to the power of 32?").says("2^32 = 4,294,967,296")).narrative
    assert "“2^32 = 4,294,967,296”" in story


def test_a_plea_that_asks_on_the_way_is_a_request() -> None:
    session = Session().user(ASKED).says("Is the lamp insured, and do you want to go on with it?")
    plea = "I was told that it is. Is there anything that could get my money back? I do not want to lose all of it."
    assert [each.kind for each in requests_of(session.user(plea).done())] == ["request", "request"]


def test_one_turn_refuses_once() -> None:
    talk = Session(reward=0.0).user("I want to cancel my lamp, could you help me with that?")
    refusal = "Unfortunately, I'm unable to cancel the order of the lamp. I'm sorry that I can't process this for you."
    story = summary(talk.says(refusal).user("Then pass me on to a person, please.").says("I pass you on.")).narrative
    assert story.count("(T2)") == 1


def test_a_refusal_that_is_the_last_answer_is_told_once_and_after_the_plea_that_it_answers() -> None:
    talk = Session(reward=1.0).user("I want to cancel my lamp, could you help me with that?")
    talk.call("find_order", {"name": "Kim"}, "none").says("Yes. Do you have an insurance?")
    talk.user("I was told I did not need one. Is there anything you can do to get my money back?")
    refusal = "Unfortunately, since the lamp was bought without an insurance, I cannot apply its benefits to it."
    story = summary(talk.says(f"I understand that it is annoying, and I am sorry for it. {refusal}")).narrative
    assert story.count("Unfortunately, since the lamp") == 1
    assert story.index("Is there anything you can do") < story.index("Unfortunately, since the lamp")


def test_what_is_said_beside_a_call_that_hands_over_the_result_is_the_answer() -> None:
    words = "No request reaches the till without a check of its owner: the server compares the two ids each time."
    session = Session().user("review the till for holes").read("till.py")
    session.call("StructuredOutput", {"findings": []}, "Structured output provided successfully", text=words)
    assert "The recording ends without an answer" not in summary(session).narrative
    assert "In its own words (T4): “No request reaches the till" in summary(session).narrative
