"""The body of a pull request: it always fits, what matters most is cut last, and what was cut is counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_wiki.changes.body import MOST_CHARACTERS, pull_request_body
from agent_wiki.changes.checks import WikiCheck
from agent_wiki.changes.facts import ChangeFacts
from agent_wiki.changes.markdown import Links
from agent_wiki.changes.pages import ChangedPage, CitedTurn, ComparedPages, PageChange
from agent_wiki.changes.revision import Revision
from agent_wiki.changes.runs import RunFacts
from agent_wiki.changes.sessions import NO_TASK, AddedSessions, OutcomeRow

HOSTILE = "@all fixes #1 `<!-- | " * 500


def _pages(change: PageChange, number: int, title: str = "Run the check") -> list[ChangedPage]:
    cited = CitedTurn(HOSTILE, 3, "summaries/s.md")
    path = "guidelines/run-the-check__0123456789ab.md"
    return [
        ChangedPage(change, "guideline", str(each), title, HOSTILE, path, why=(HOSTILE,) * 3, cited=cited)
        for each in range(number)
    ]


def _facts(pages: ComparedPages, sessions: AddedSessions | None = None, run: RunFacts | None = None) -> ChangeFacts:
    return ChangeFacts(Revision(Path("wiki"), "HEAD", "0" * 40, "wiki/"), pages, sessions or AddedSessions(), run)


def _body(facts: ChangeFacts) -> str:
    return pull_request_body(facts, Links("https://example.org/o/r/blob/main", "wiki/"), "`body.json`")


def test_whatever_came_in_it_fits() -> None:
    pages = ComparedPages(_pages("new", 10_000, HOSTILE), _pages("changed", 3_000), _pages("retired", 3_000), 7)
    rows = [OutcomeRow(f"{HOSTILE}{each}", 1) for each in range(200)]
    lines = [f"{HOSTILE}{each}" for each in range(200)]
    run = RunFacts(1, sessions={f"{HOSTILE}{each}": 1 for each in range(99)}, failures=lines, set_aside=lines)  # type: ignore[arg-type]
    run.warnings = run.stopped = run.unreadable = lines
    facts = _facts(pages, AddedSessions(1, by_task=rows, by_model=rows), run)
    facts.edited = facts.kept = facts.quarantined = lines
    body = _body(facts)
    assert MOST_CHARACTERS // 2 < len(body) <= MOST_CHARACTERS
    titles = ("New", "Changed", "Retired", "Failed", "Set aside", "Outcomes by task", "Warnings", "Edits of people")
    assert all(f"### {title}" in body for title in titles)
    assert "@all" not in body


def test_what_matters_less_is_cut_first_and_counted() -> None:
    warnings = [f"warning {each} {'x' * 400}" for each in range(500)]
    body = _body(_facts(ComparedPages(_pages("new", 20)), run=RunFacts(1, warnings=warnings)))
    assert body.count("**guideline**") == 20
    shown = len(re.findall(r"^- warning", body, re.MULTILINE))
    assert 3 < shown < 500
    assert f"… and {500 - shown} more: `run.warnings` in `body.json`." in body


def test_what_was_not_given_is_unknown_and_not_none() -> None:
    body = _body(_facts(ComparedPages()))
    assert "Read, failed, set aside: unknown" in body
    assert "Asking a model: unknown" in body
    assert "Coverage" not in body


def test_those_of_unknown_outcome_are_apart() -> None:
    rows = [OutcomeRow("m-1", 5, passed=2, known=3, passed_before=0, known_before=0)]
    rows[0].outcomes.update(success=2, failure=1, unknown=2)
    body = _body(_facts(ComparedPages(), AddedSessions(5, new=5, by_model=rows)))
    assert "| m-1 | 5 | 2 | 0 | 1 | 2 | 2 of 3 (67%) |\n" in body
    assert "all others" not in body
    rows += [OutcomeRow("m-2", 1, passed=1, known=1, passed_before=3, known_before=4)]
    body = _body(_facts(ComparedPages(), AddedSessions(5, new=5, by_model=rows)))
    assert "| succeeded | all others |\n|---|---|---|---|---|---|---|---|\n" in body
    assert "| 2 of 3 (67%) | unknown |" in body


@pytest.mark.parametrize(
    ("pages", "sessions", "title"),
    [
        (ComparedPages(), AddedSessions(), "Wiki: nothing new"),
        (ComparedPages(minor=3), AddedSessions(total=9), "Wiki: nothing new"),
        (ComparedPages(), AddedSessions(new=1), "Wiki: no page changed, from 1 session"),
        (
            ComparedPages(_pages("new", 2), [], _pages("retired", 1)),
            AddedSessions(),
            "Wiki: 2 new, 1 retired, from 0 sessions",
        ),
    ],
)
def test_a_page_or_a_session_is_news(pages: ComparedPages, sessions: AddedSessions, title: str) -> None:
    facts = _facts(pages, sessions)
    assert facts.title == title
    assert facts.to_json()["news"] is (title != "Wiki: nothing new")


def test_a_secret_that_two_texts_make_is_removed() -> None:
    pages = ComparedPages(
        [ChangedPage("new", "guideline", "0", "Set the password", "hunter2Xq9!zz81", "guidelines/x.md")]
    )
    run = RunFacts(1, warnings=["AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz81kQ7aP2"])
    body = _body(_facts(pages, run=run))
    assert "wJalrXUtnFEMI" not in body
    assert "hunter2Xq9" not in body


def test_what_waits_for_a_person_is_said_before_all_else() -> None:
    run = RunFacts(1, failures=["a.json: damaged", "b.json: damaged"], failed_on=["2 of 9 recordings failed @all"])
    facts = _facts(ComparedPages(_pages("new", 1)), run=run)
    facts.checks = [WikiCheck("links", "the links", ("one leads nowhere",)), WikiCheck("index", "the rows", ())]
    facts.quarantined = ["_quarantine/x.md"]
    head = _body(facts).partition("### New")[0]
    assert (
        "**RED**: 2 of 9 recordings failed @&#8203;all. **Look at**: 2 failures, 1 check finding, 1 quarantined file."
        in head
    )
    assert "Nothing failed, and every check passed." in _body(_facts(ComparedPages(), run=RunFacts(1)))
    assert "In brackets" not in _body(_facts(ComparedPages()))


def test_sessions_without_a_task_come_last_and_make_no_table_alone() -> None:
    rows = [OutcomeRow(NO_TASK, 5), OutcomeRow("book", 1)]
    shown = _body(_facts(ComparedPages(), AddedSessions(6, new=6, by_task=rows)))
    assert shown.index("| book | 1 |") < shown.index(f"| {NO_TASK} | 5 |")
    assert "by task" not in _body(_facts(ComparedPages(), AddedSessions(5, new=5, by_task=rows[:1])))
