"""discover-tasks: families named, answers checked, the telling sessions picked."""

from __future__ import annotations

import random
from typing import Any

import pytest

from agent_wiki.asking.prompts import read_prompts, render_prompt
from agent_wiki.engine import BaseEngine
from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.errors import AnswerRejected
from agent_wiki.pages.compare.families import Family, Override, families
from agent_wiki.pages.compare.views import KeyTurn, SessionView
from agent_wiki.stages.discover_tasks import (
    SubtaskAnswer,
    SubtaskQuestion,
    SubtasksAnswer,
    Task,
    TaskAnswer,
    TaskQuestion,
    check_subtask,
    check_task,
    compares_something,
    discover_tasks,
    distinct_slugs,
    family_slug,
    subtask_questions,
)
from agent_wiki.stages.summarize import TurnNote


def _session(session_id: str, goal: str = "Order a red lamp to Porto", **fields: Any) -> SessionView:
    return SessionView(session_id, goal=goal, **fields)


def _family(*sessions: SessionView, **fields: Any) -> Family:
    return Family(sessions, fields.pop("shared_terms", ("order", "lamp", "ann_lee_12", "porto")), **fields)


def _told(session_id: str, **fields: Any) -> SessionView:
    return _session(
        session_id, narrative="It went so.", notes=(KeyTurn(2, "a"), KeyTurn(5, "b"), KeyTurn(9, "c")), **fields
    )


def test_a_family_is_named_by_what_its_sessions_share_in_the_order_of_a_goal() -> None:
    sessions = [_session("a", "A lamp, please"), _session("b", "To Porto, order one lamp"), _session("c", "Lamp")]
    assert family_slug(_family(*sessions)) == "porto-order-lamp"


def test_the_owners_name_and_a_descriptive_id_name_a_family_and_a_counter_does_not() -> None:
    sessions = [_session(name) for name in "abc"]
    assert family_slug(_family(*sessions, name="Red lamps")) == "red-lamps"
    assert family_slug(_family(*sessions, task_id="acme__parser-77")) == "acme-parser-77"
    assert family_slug(_family(*sessions, task_id="shop/12")) == "order-lamp-porto"


def test_a_name_does_not_change_when_later_sessions_join() -> None:
    sessions = [_session(name, date=f"2031-01-0{at}", task_id="12") for at, name in enumerate("abc", start=1)]
    later = [_session(name, "A lamp, please", date="2031-02-01", task_id="12") for name in "defgh"]
    (family,), (grown,) = families(sessions, {}, []), families([*later, *sessions], {}, [])
    assert family.shared_terms != grown.shared_terms
    assert family_slug(family) == family_slug(grown) == "order-red-lamp-porto"


def test_two_families_never_share_a_page() -> None:
    slugs = distinct_slugs([("lamp", "s1"), ("lamp", "s2"), ("boat", "s3"), ("x" * 40, "s4"), ("x" * 40, "s5")])
    assert len(set(slugs)) == 5
    assert slugs[0] == "lamp"
    assert all(len(each) <= 40 for each in slugs)
    assert distinct_slugs([("lamp", "s1"), ("lamp", "s2")]) == slugs[:2]


def test_a_finding_that_measures_nothing_is_dropped() -> None:
    answer = TaskAnswer(title="T", intro="I", findings=["They tried hard.", "Paid twice in 3 of 3."], tags=["shop"])
    family = _family(*(_session(name) for name in "abc"))
    assert check_task(answer, family).findings == ["Paid twice in 3 of 3."]


@pytest.mark.parametrize(
    ("finding", "is_kept"),
    [
        ("Each of the 2 of 2 that succeeded paid once; 0 of 2 did elsewhere.", True),
        ("All 4 of 4 looked first.", True),
        ("3 of 3 that succeeded paid once.", False),
        ("In 3 out of the 2 that failed.", False),
        ("Of those that paid, 2 of 3 succeeded.", True),
        ("They passed 5 of 7 tests and needed 3 of 9 tool calls.", True),
        ("The median reward was 0.5 of 1.0, and 1.5 of 6 hours went by.", True),
    ],
)
def test_a_count_out_of_sessions_that_are_not_there_is_dropped_and_said(finding: str, is_kept: bool) -> None:
    writes = {"a": ("pay(amount=1)",), "b": ("pay(amount=1)",), "c": ("pay(amount=1)",), "d": ()}
    outcomes = {"a": "success", "b": "success", "c": "failure", "d": "failure"}
    family = _family(*(_session(name, outcome=outcomes[name], writes=writes[name]) for name in "abcd"))
    answer = TaskAnswer(title="T", intro="I", findings=[finding], tags=["shop"])
    assert (check_task(answer, family).findings == [finding]) == is_kept
    assert (TaskQuestion(family).problems(answer) == []) == is_kept


@pytest.mark.parametrize(
    ("outcomes", "fields", "findings", "is_kept"),
    [
        (["success", "success", None], {}, [], False),
        (["unknown", "unknown", "unknown"], {}, [], False),
        (["failure", "partial", "failure"], {}, [], False),
        (["success", "failure", "unknown"], {}, [], True),
        (["success", "success", "success"], {}, ["2 of 3 asked first."], True),
        (["success", "success", "success"], {"task_id": "lamp-1"}, [], True),
        (["success", "success", "success"], {"name": "Lamps"}, [], True),
    ],
)
def test_sessions_that_are_only_alike_make_no_task_page(
    outcomes: list[str | None], fields: dict[str, str], findings: list[str], is_kept: bool
) -> None:
    sessions = [_session(name, outcome=outcome) for name, outcome in zip("abc", outcomes, strict=True)]
    answer = TaskAnswer(title="Lamps", intro="Three.", findings=findings, tags=["lamp"])
    assert compares_something(Task("lamps", _family(*sessions, **fields), answer)) is is_kept


def test_a_question_shows_narratives_rewards_and_whole_arguments_that_differ() -> None:
    long = f"book(flights={'x' * 150}; reason=delayed)"
    sessions = [
        _told("a", outcome="success", reward=1.0, writes=("login(user=1)", long), look_ups=("fares(cabin=eco)",)),
        _told("b", outcome="failure", reward=0.0, writes=("login(user=1)",), failures=(f"{long} -> Error: no seat",)),
    ]
    asked = render_prompt(TaskQuestion(_family(*sessions)), read_prompts()).question
    assert "a: outcome success; reward 1.0;" in asked
    assert "  narrative: It went so.\n" in asked
    assert f"  - {long}\n" in asked
    assert "  - looked up: fares(cabin=eco)\n" in asked
    assert f"  - failed: {long} -> Error: no seat\n" in asked
    assert "  - login" not in asked, "what all did sets none apart"


def test_a_tag_that_is_none_is_rejected() -> None:
    with pytest.raises(AnswerRejected, match="tags"):
        check_task(TaskAnswer(title="T", intro="I", tags=["Not a tag"]), _family(_session("a")))


def _subtask(parent: str, turn: int) -> SubtaskAnswer:
    return SubtaskAnswer(
        slug="x",
        title="X",
        parent_session_id=parent,
        narrative="Both suppliers refused until the invoice named a warehouse, so quote that first.",
        key_steps=[TurnNote(turn=turn, text="t")],
    )


def test_a_subtask_cites_its_parents_turns() -> None:
    assert check_subtask(_subtask("a", 5), _told("a")).slug == "x"
    with pytest.raises(AnswerRejected, match="turn 6"):
        check_subtask(_subtask("a", 6), _told("a"))
    with pytest.raises(AnswerRejected, match="parent_session_id"):
        check_subtask(_subtask("b", 5), _told("a"))


def test_a_subtask_says_something_that_its_summary_does_not() -> None:
    told = _told("a")
    repeated = _subtask("a", 5).model_copy(update={"narrative": "To Porto: it went so, a red lamp was ordered."})
    with pytest.raises(AnswerRejected, match="narrative"):
        check_subtask(repeated, told)
    (problem,) = SubtaskQuestion(told, "debugging").problems(SubtasksAnswer(subtasks=[repeated]))
    assert (problem.place, "summary of a" in problem.reason) == ("narrative", True)


def test_a_condition_is_shown_by_its_success_with_the_fewest_calls() -> None:
    sessions = [
        _told("a1", condition="with", outcome="success", tool_calls=9),
        _told("a2", condition="with", outcome="success", tool_calls=4),
        _told("a3", condition="with", outcome="failure", tool_calls=1),
        _told("b1", condition="without", outcome="failure", tool_calls=2),
    ]
    questions = subtask_questions(sessions, [_family(*sessions)])
    assert [(each.session.session_id, each.reason) for each in questions] == [("a2", "condition")]


def test_long_debugging_that_worked_is_worth_a_page_and_a_smooth_session_is_not() -> None:
    long = _told("long", outcome="success", tool_calls=60, errors=12, dead_ends=3)
    smooth = _told("smooth", outcome="success", tool_calls=60, errors=1, dead_ends=0)
    lost = _told("lost", outcome="failure", tool_calls=60, errors=12, dead_ends=3)
    unknown = _told("unknown", outcome="success")
    questions = subtask_questions([long, smooth, lost, unknown], [])
    assert [(each.session.session_id, each.reason) for each in questions] == [("long", "debugging")]


def _corpus() -> list[SessionView]:
    words = {"lamp": "Order a red lamp for ann_lee_12 to Porto", "boat": "Rent the boat K7PQ2 in Lagos for cara_moss_9"}
    return [
        _told(f"{name}-{at}", goal=text, outcome="success", tool_calls=50, errors=9, dead_ends=at)
        for name, text in words.items()
        for at in range(4)
    ]


def test_the_stage_gives_the_same_for_the_same_set_of_sessions() -> None:
    class _Telling(BaseEngine):
        name, version = "telling", "1"

        def answer(self, question: Any) -> Any:
            if isinstance(question, SubtaskQuestion):
                return SubtasksAnswer(subtasks=[_subtask(question.session.session_id, 5)])
            return OfflineEngine().answer(question)

    sessions = _corpus()
    first = discover_tasks(sessions, {}, [], _Telling())
    shuffled = random.Random(1).sample(sessions, len(sessions))
    assert discover_tasks(shuffled, {}, [], _Telling()) == first
    assert [task.slug for task in first.tasks] == ["rent-boat-lagos", "order-red-lamp-porto"]
    assert len({subtask.slug for subtask in first.subtasks}) == len(first.subtasks) == 4


def test_one_rejected_answer_leaves_the_others() -> None:
    class _Careless(BaseEngine):
        name, version = "careless", "1"

        def answer(self, question: Any) -> Any:
            answer = OfflineEngine().answer(question)
            is_lamp = any("lamp" in session.goal for session in getattr(question, "family", _family()).sessions)
            return answer.model_copy(update={"tags": ["A B"]}) if is_lamp else answer

    found = discover_tasks(_corpus(), {"boat-0": Override("")}, [], _Careless())
    assert [task.slug for task in found.tasks] == ["rent-boat-lagos"]
    assert len(found.rejected) == 1
    assert "order-red-lamp-porto" in found.rejected[0]
