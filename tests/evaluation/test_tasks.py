"""The task file: which task a session is, and whether its answer counts."""

from __future__ import annotations

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.evaluation.tasks import EvaluationTask, Judged, has_cited, judged, parse_tasks

FILE = """\
- id: t1-zip
  prompt: "List all entry names   inside /workspace/sample.zip, one per line."
  outcome_match_all: [foo.txt, bar/baz.txt]
  outcome_match_any: []
  seed: archive-formats
- {id: t2-sum, prompt: Add, outcome_match_all: 42, family: numbers}
"""


def test_every_text_of_match_all_has_to_be_said_whatever_its_case() -> None:
    task = EvaluationTask("t", match_all=("Foo.txt", "42"))
    assert judged(task, "42 entries, foo.TXT first") == Judged(outcome=True, matched_all=True, matched_any=None)
    assert judged(task, "foo.txt only") == Judged(outcome=False, matched_all=False, matched_any=None)


def test_one_text_of_match_any_is_enough_and_none_is_not() -> None:
    task = EvaluationTask("t", match_any=("red", "blue"))
    assert judged(task, "It is Blue.").outcome is True
    assert judged(task, "It is green.").outcome is False


def test_with_both_rules_both_must_hold_and_each_is_reported() -> None:
    task = EvaluationTask("t", match_all=("42",), match_any=("red", "blue"))
    assert judged(task, "42, green") == Judged(outcome=False, matched_all=True, matched_any=False)
    assert judged(task, "42, red").outcome is True


def test_a_task_without_rules_judges_nothing() -> None:
    assert judged(EvaluationTask("t"), "anything") == Judged(None, None, None)
    assert has_cited(EvaluationTask("t"), "anything") is None


def test_naming_an_expected_page_or_a_text_of_match_any_is_citing() -> None:
    task = EvaluationTask("t", match_any=("0xA434",), expected_pages=("walk-the-ifd__0123456789ab.md",))
    assert has_cited(task, "As walk-the-ifd__0123456789ab.md says") is True
    assert has_cited(task, "tag 0xa434") is True
    assert has_cited(task, "I just knew") is False


def test_a_file_gives_families_by_family_or_seed_and_a_lone_text_is_a_list() -> None:
    tasks = parse_tasks(FILE, "tasks.yaml")
    assert tasks.families() == {"t1-zip": "archive-formats", "t2-sum": "numbers"}
    second = tasks.named("t2-sum")
    assert second is not None
    assert second.match_all == ("42",)


def test_a_task_is_found_by_what_was_asked_also_among_other_words() -> None:
    tasks = parse_tasks(FILE, "tasks.yaml")
    asked = "Hint: read the wiki.\n\nList all entry names inside /workspace/sample.zip,\none per line."
    found = tasks.asked(asked)
    assert found is not None
    assert found.id == "t1-zip"
    short = tasks.asked("Add")
    assert short is not None
    assert short.id == "t2-sum"
    assert tasks.asked("Add a test") is None, "a short prompt stands in others by chance"


def test_two_tasks_with_the_same_prompt_match_no_request() -> None:
    prompt = "Read the width of the picture in the workspace."
    tasks = parse_tasks(f"- {{id: a, prompt: {prompt}}}\n- {{id: b, prompt: {prompt}}}\n", "tasks.yaml")
    assert tasks.asked(prompt) is None


def test_a_task_is_found_by_the_folder_a_recording_lies_in() -> None:
    tasks = parse_tasks(FILE, "tasks.yaml")
    found = tasks.of_path(reversed(("runs", "t1-zip", "strong", "trial-3.jsonl")))
    assert found is not None
    assert found.id == "t1-zip"
    assert tasks.of_path(("strong__t2-sum__x.json",)) is tasks.named("t2-sum")
    assert tasks.of_path(("t1", "zip")) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {id: a}\n- [", "tasks.yaml:3: "),
        ("just words", "tasks.yaml: not a list of tasks"),
        ("- 3", "tasks.yaml: task 1: not a mapping with an id"),
        ("- {prompt: x}", "tasks.yaml: task 1: it has no id"),
        ("- {id: a}\n- {id: a}", "tasks.yaml: task 2: another task already has the id 'a'"),
        ("- {id: a, outcome_match_all: [{a: b}]}", "tasks.yaml: task 1 (a): outcome_match_all: "),
        (
            "- {id: a, outcome_match_any: ['']}",
            "tasks.yaml: task 1 (a): outcome_match_any: '' is not a non-empty string",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_tasks(text, "tasks.yaml")
    assert str(error.value).startswith(reason)
