"""What a summary page keeps of a trajectory for the corpus stages."""

from __future__ import annotations

import pytest

from agent_wiki.pages.compare.facts import MOST_TERMS, MOST_WRITES, distinctive_terms, request_in, session_facts
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory


def _trajectory(*messages: Message) -> Trajectory:
    return Trajectory("s1", Source("test"), list(messages))


def _call(number: int, name: str, arguments: str, result: Message) -> list[Message]:
    result.tool_call_id = f"c{number}"
    return [Message("assistant", tool_calls=[ToolCall(f"c{number}", name, arguments)]), result]


def test_terms_come_from_the_users_own_turns_only() -> None:
    facts = session_facts(
        _trajectory(
            Message("system", "You are a florist"),
            Message("user", "Order 40 tulips for ann_lee_12"),
            Message("user", "summary about roses", mark="compaction"),
            Message("user", "hook about lilies", mark="injected"),
            Message("assistant", "I ordered orchids"),
            Message("user", "make them red"),
        )
    )
    assert facts.request_terms == ("ann_lee_12", "order", "tulips", "red")
    assert facts.first_terms == 3


def test_a_turn_that_says_nothing_is_no_first_request() -> None:
    facts = session_facts(
        _trajectory(Message("user", "[image: image/png, 12 characters] hi"), Message("user", "order tulips"))
    )
    assert (facts.request_terms, facts.first_terms) == (("order", "tulips"), 2)


def test_a_long_first_request_keeps_its_plain_words() -> None:
    prompt = " ".join(f"step_{number} word{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(50))
    facts = session_facts(_trajectory(Message("user", prompt), Message("user", "and tulips")))
    assert len(facts.request_terms) == facts.first_terms == 100


def test_the_first_request_counts_more_than_the_answers_to_questions() -> None:
    assert distinctive_terms(["paint the fence", "the colour is green"])[:2] == ("fence", "paint")


def test_terms_are_bounded_and_each_once() -> None:
    terms = distinctive_terms([" ".join(f"word{letter}{other}" for letter in "abcdefghijk" for other in "lmnopqr")])
    assert len(terms) == MOST_TERMS == len(set(terms))
    assert distinctive_terms(["fix the tests, the test is broken, testing it"]).count("test") <= 1


def test_a_prompts_instructions_are_not_what_was_asked() -> None:
    text = "<pr_description>\nThe clock is late\n</pr_description>\n<instructions>\nuse one command\n</instructions>"
    assert request_in(text) == "The clock is late"


def test_the_part_under_a_label_is_the_request() -> None:
    text = "We work in a container.\nISSUE:\nThe clock runs late in winter time.\n\nINSTRUCTIONS:\nUse the editor."
    assert request_in(text) == "The clock runs late in winter time."
    headed = "You get a plan.\n\n# General Task\nHow many bridges cross the Tejo river?\n\n# Plan of the boss\nAsk."
    assert request_in(headed) == "How many bridges cross the Tejo river?"


def test_markup_that_the_user_wrote_stays() -> None:
    assert request_in("make the <div> blue") == "make the <div> blue"


def test_pasted_output_is_not_what_was_asked() -> None:
    assert request_in("why?\n```\nTraceback\n```\nfix it").split() == ["why?", "fix", "it"]


def test_writes_are_the_changes_that_worked_in_order() -> None:
    facts = session_facts(
        _trajectory(
            *_call(1, "get_cart", "{}", Message("tool", "empty")),
            *_call(2, "add_item", '{"item": "lamp"}', Message("tool", "Error: sold out", is_error=True)),
            *_call(3, "add_item", '{"item": "vase"}', Message("tool", "ok")),
            *_call(4, "add_item", '{"item": "vase"}', Message("tool", "ok")),
            *_call(5, "remove_item", "{}", Message("tool", "no", is_error=True, mark="rejected")),
            *_call(6, "check_out", "{}", Message("tool", "ok")),
            *_call(7, "pay", "{}", Message("tool", "ok")),
        )
    )
    assert facts.writes == ("add_item(item=vase)", "pay()")
    assert facts.tools == {"add_item": 3, "check_out": 1, "get_cart": 1, "pay": 1, "remove_item": 1}


def test_writes_are_bounded() -> None:
    calls = [each for at in range(50) for each in _call(at, "add_item", f'{{"item": "i{at}"}}', Message("tool", "ok"))]
    assert len(session_facts(_trajectory(*calls)).writes) == MOST_WRITES


def test_a_hostile_turn_is_read_in_linear_time() -> None:
    hostile = "<a>" * 300_000 + "# " * 300_000 + "#" * 300_000
    assert session_facts(_trajectory(Message("user", hostile))).request_terms == ()


def test_of_a_long_template_the_end_counts_where_the_task_stands() -> None:
    template = " ".join(f"Rule {number} of the playbook holds always." for number in range(300))
    first, second = (request_in(f"{template}\n\nWork on plan-{name}.md now.") for name in ("alpha", "beta"))
    assert "plan-alpha.md" in distinctive_terms([first], 120)
    assert "plan-beta.md" in distinctive_terms([second], 120)


def test_lines_of_pasted_json_are_no_part_of_a_request() -> None:
    pasted = (
        'When I stop the recording I get\n{\n  "detail": [\n    {"loc": ["body", "stream"], "msg": "missing"},\n  ]\n}'
    )
    assert (
        " ".join(request_in(f"{pasted}\nKeep several runs.").split())
        == "When I stop the recording I get Keep several runs."
    )


@pytest.mark.parametrize(
    "line",
    ["[BUG] Totals are off by a cent", "(urgent) fix the cart", "[ ] add a test", "(1) Fix the button", "[x] done"],
)
def test_a_line_of_words_that_begins_with_a_bracket_is_no_json(line: str) -> None:
    assert request_in(f"{line}\nPlease look at it.").startswith(line)


@pytest.mark.parametrize("line", ["[", "[]", "[[1, 2], [3, 4]]", '["a", "b"],', '("a", 1),', '{"a": 1}', "}, {", "],"])
def test_a_line_of_data_is_no_request(line: str) -> None:
    assert request_in(f"{line}\nPlease look at it.") == "Please look at it."
