"""The judged questions: what an answer is worth, and that choosing and reporting are apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.questions import Judged, Question, Score, judged, listed, report, todo

from tests.retrieval.wikis import CANCEL, PYTEST, YAML, write_wiki

_TESTS = Question("pytest is not found, how do I run the tests?", "error", frozenset({"111111111111"}), frozenset())
_CAKE = Question("bake a chocolate cake", "unrelated", frozenset(), frozenset())


@pytest.mark.parametrize(
    ("page", "verdict"), [("a", "useful"), ("b", "partly"), ("c", "wrong"), (None, "silent")], ids=str
)
def test_a_page_is_worth_what_the_reader_judged(page: str | None, verdict: str) -> None:
    assert Question("?", "vague", frozenset({"a"}), frozenset({"b"})).verdict(page) == verdict


def test_only_wikis_that_have_a_useful_page_owe_one() -> None:
    score = Score()
    score.note(_TESTS, frozenset({"111111111111"}), None)
    score.note(_TESTS, frozenset({"222222222222"}), None)
    score.note(_CAKE, frozenset({"222222222222"}), "222222222222")
    assert (score.useful, score.wrong, score.silent) == (0.0, 1 / 3, 0.0)
    assert not score.is_met()


def test_a_wiki_is_asked_and_its_mistakes_are_listed(tmp_path: Path) -> None:
    wikis = {"one": write_wiki(tmp_path / "wiki")}
    lines, total = report(wikis, [_TESTS, _CAKE])
    assert total.is_met()
    assert [line.split()[0] for line in lines[1:]] == ["one", "all"]
    assert list(listed(wikis, [_TESTS, _CAKE])) == []
    other = Question(_TESTS.ask, "error", frozenset({str(YAML["id"])}), frozenset())
    assert [line.split()[0] for line in listed(wikis, [other])] == ["wrong"]


def test_a_page_that_the_reader_did_not_know_is_to_be_judged(tmp_path: Path) -> None:
    known = Judged(frozenset({str(PYTEST["id"]), str(CANCEL["id"])}), (), (), ())
    (line,) = todo({"one": write_wiki(tmp_path / "wiki")}, known)
    assert line.startswith(f"one: {YAML['id']} ")


def test_there_are_enough_questions_and_none_is_in_two_parts() -> None:
    known = judged()
    for questions, unrelated in ((known.choosing, 25), (known.reporting, 25), (known.second_reader, 15)):
        assert len(questions) >= 80
        assert sum(not each.useful | each.partly for each in questions) >= unrelated
        assert all(each.useful | each.partly <= known.read for each in questions)
    parts = [{each.ask for each in part} for part in (known.choosing, known.reporting, known.second_reader)]
    assert sum(map(len, parts)) == len(set().union(*parts))
