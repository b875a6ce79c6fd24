"""The benchmark of lessons: what a judgement counts for, and when it no longer does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.lessons import MODEL, Annotated, Lesson, Score, WrittenPage, annotated, judged_pages, main, scored

_LESSONS = (Lesson("a#0", "Use X.", 3, True, True), Lesson("a#1", "Use Y.", 2, False, False))
_A = Annotated("a", Path("a.jsonl"), False, _LESSONS)
_PAGE = WrittenPage("111", "Use X: use X.", "checked", frozenset({"a.jsonl"}))


def _score(written: list[WrittenPage], **judgements: object) -> Score:
    return scored([_A], written, {"pages": {}, "lessons": {}} | judgements, is_closed=False)


def test_a_lesson_is_found_as_long_as_the_page_that_holds_it_is_there() -> None:
    match = {"a#0": {"page": "111", "match": "full"}}
    assert [found for _, found in _score([_PAGE], lessons=match).lessons] == ["full", "none"]
    assert [found for _, found in _score([], lessons=match).lessons] == ["none", "none"]


def test_only_pages_of_the_chosen_recordings_count() -> None:
    other = WrittenPage("222", "Other.", "", frozenset({"b.jsonl"}))
    assert [page.id for page, _ in _score([_PAGE, other]).pages] == ["111"]
    assert scored([_A], [_PAGE], {"pages": {}, "lessons": {}}, is_closed=True).pages == []


def test_a_page_that_nobody_judged_is_neither_kept_nor_false() -> None:
    assert _score([_PAGE]).share("false") is None
    assert _score([_PAGE], pages={"111": "keep"}).share("keep") == 1.0


@pytest.mark.parametrize(
    ("verdict", "missed"), [("false", ["100% of the judged pages are false, at most 3% may be"]), ("keep", [])]
)
def test_a_false_page_misses_the_target(verdict: str, missed: list[str]) -> None:
    score = _score([_PAGE], pages={"111": verdict}, lessons={"a#0": {"page": "111", "match": "half"}})
    assert [each for each in score.misses() if "false" in each] == missed


def test_a_wiki_that_is_not_here_is_scored_by_its_judgements() -> None:
    match = {"page": "111", "match": "half"}
    judgements = {
        "pages": {"111": "weak"},
        "files": {"111": ["a.jsonl"]},
        "causes": {"111": "stated"},
        "lessons": {"a#1": match},
    }
    score = scored([_A], judged_pages(judgements), judgements, is_closed=False)
    assert [(page.cause, verdict) for page, verdict in score.pages] == [("stated", "weak")]
    assert list(score.misses(MODEL)) == ["0 of 1 lessons of value 3 are found, 80% are to be"]


def test_without_the_annotations_nothing_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--shared", str(tmp_path / "none")]) == 0
    assert "nothing is measured" in capsys.readouterr().out


def test_judgements_that_say_what_a_lesson_is_worth_need_no_annotations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = {"value": 3, "stated": False, "checked": True, "match": "full", "page": "111"}
    told = {"lessons": {"a#0": lesson}, "pages": {"111": "false"}, "files": {"111": ["a"]}, "causes": {}}
    (tmp_path / "j.json").write_text(json.dumps(told), encoding="utf-8")
    asked = ["--stored", "--judgements", str(tmp_path / "j.json"), "--shared", str(tmp_path / "none")]
    assert main(asked) == 1
    printed = capsys.readouterr().out
    assert "value 3             1 of them full 1, half 0, none 0" in printed
    assert "MISSED open: 100% of the judged pages are false" in printed
    assert "closed" not in printed


def test_a_third_of_the_annotated_recordings_is_closed(tmp_path: Path) -> None:
    (tmp_path / "gold").mkdir()
    lesson = {"rule": "Use X.", "value": 2, "stated": True, "cause_checked": False}
    for number in range(60):
        values = {"file": f"f/{number}.jsonl", "lessons": [lesson]}
        (tmp_path / "gold" / f"{number}.json").write_text(json.dumps(values), encoding="utf-8")
    found = annotated(tmp_path)
    assert 10 <= sum(each.is_closed for each in found) <= 30
    assert found[0].lessons == (Lesson("0#0", "Use X.", 2, True, False),)
