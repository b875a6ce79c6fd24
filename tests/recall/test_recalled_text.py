"""What a session read in a wiki is no new evidence for it; what it found before, or besides, is."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engine import Problem
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.recall.reads import wiki_reads
from agent_wiki.recall.recalled_text import recalled_text
from agent_wiki.stages.extract_guidelines import CitedQuote, GuidelineAnswer, extract_guidelines, without_recalled
from agent_wiki.stages.recalled_pages import RecalledPage
from agent_wiki.stages.summarize import ArcAnswer, SummaryAnswer, with_reads
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillStep
from agent_wiki.stages.synthesize_skill import without_recalled as skill_without_recalled
from agent_wiki.trajectory import Trajectory
from agent_wiki.wiki.layout import content_id
from tests.engines.sessions import Session

RULE = "Use `unzip -Z1 <file>` to list the entries of a zip archive."
ID = content_id(RULE)
PAGE = f"guidelines/list-zip-entries__{ID}.md"
TEXT = f"---\nid: {ID}\ntype: guideline\n---\n# List zip entries\n\n{RULE}\n"
ROW = f'{{"kind": "guideline", "id": "{ID}", "title": "List zip entries", "summary": "{RULE}", "link": "{PAGE}"}}'
SKILL = "skills/list-zip/SKILL.md"
SKILL_TEXT = (
    "# List zip\n\n1. List\n\n   ```\n   unzip -Z1 <file>\n   ```\n\n2. Count\n\n   ```\n   wc -l <list>\n   ```\n"
)


def lesson(*quotes: tuple[int, str], rule: str = RULE, title: str = "List zip entries") -> GuidelineAnswer:
    return GuidelineAnswer(
        title=title,
        rule=rule,
        rationale="It failed.",
        trigger="a zip archive",
        tags=["zip"],
        evidence=[CitedQuote(turn=turn, quote=quote) for turn, quote in quotes],
    )


def kept(session: Session, guideline: GuidelineAnswer) -> list[GuidelineAnswer]:
    return without_recalled([guideline], session.done())[0]


def failing() -> Session:
    return Session().user("How many entries has a.zip?").run("zipinfo a.zip", "zipinfo: not found", failed=True)


READS = {
    "a file read": lambda session: session.read(f"/repo/wiki/{PAGE}", TEXT),
    "a numbered file read": lambda session: session.read(
        f"/repo/wiki/{PAGE}", "\n".join(f"{number:>6}→{line}" for number, line in enumerate(TEXT.split("\n"), 1))
    ),
    "a shell command": lambda session: session.run(f"cat wiki/{PAGE}", TEXT),
    "the index": lambda session: session.run("cat wiki/_index.jsonl", ROW),
    "a row that jq cut": lambda session: session.run("jq -r .summary wiki/_index.jsonl", RULE),
    "wiki consult --read": lambda session: session.run(
        "wiki consult --read zip", f"--- {PAGE} [guideline] 1 session\n\n{TEXT}"
    ),
    "wiki consult --json": lambda session: session.run("wiki consult --json zip", f"[\n{ROW}\n]"),
    "a server's read_page": lambda session: session.call("mcp__wiki__read_page", {"link": PAGE}, TEXT),
}


READ_BEFORE = Problem("List zip entries", "the session read this rule in the wiki (turn 5)")


@pytest.mark.parametrize("way", READS)
def test_a_rule_that_was_read_and_followed_is_no_new_evidence(way: str) -> None:
    session = READS[way](failing()).run("unzip -Z1 a.zip", "x\ny")
    found = lesson((3, "zipinfo: not found"), (6, "unzip -Z1 a.zip"))
    assert kept(session, found) == []
    assert without_recalled([found], session.done())[1] == [READ_BEFORE]


def test_a_rule_that_was_found_before_the_page_was_read_is_the_sessions_own() -> None:
    session = failing().run("unzip -Z1 a.zip", "x\ny").read(f"wiki/{PAGE}", TEXT)
    own = lesson((3, "zipinfo: not found"), (4, "unzip -Z1 a.zip"))
    assert kept(session, own) == [own]


def test_the_same_rule_in_other_words_is_no_new_evidence_either() -> None:
    session = failing().read(f"wiki/{PAGE}", TEXT).run("unzip -Z1 a.zip", "x\ny")
    assert kept(session, lesson((6, "unzip -Z1 a.zip"), rule="Use `unzip -Z1` to list a zip archive's entries.")) == []


def test_another_rule_of_the_same_session_is_kept() -> None:
    session = failing().read(f"wiki/{PAGE}", TEXT).run("python a.py", "python: not found", failed=True)
    other = lesson(
        (7, "python: not found"), rule="Use `python3` where `python` is missing.", title="Call it python3 here"
    )
    assert kept(session, other) == [other]


def test_quotes_of_a_page_are_no_evidence_of_anything() -> None:
    session = failing().read(f"wiki/{PAGE}", TEXT).says(f"The wiki says: {RULE}").run("python3 a.py", "ok")
    found = lesson((5, "# List zip entries"), (6, RULE), (7, "python3 a.py"), rule="Use `python3` here, always.")
    (standing,) = kept(session, found)
    assert [cited.turn for cited in standing.evidence] == [7]
    only = lesson((5, "# List zip entries"), rule="Use `python3` here, always.")
    assert without_recalled([only], session.done()) == (
        [],
        [Problem("List zip entries", "its quotes are text of the wiki")],
    )


def test_a_call_that_does_what_a_page_says_is_an_act() -> None:
    session = (
        failing().read(f"wiki/{PAGE}", "Run `make test-all --verbose` first.").run("make test-all --verbose", "ok")
    )
    recalled = recalled_text(session.done())
    assert recalled.is_recalled(5, "make test-all --verbose")
    assert not recalled.is_recalled(6, "make test-all --verbose")


def test_of_a_cluster_the_members_are_read() -> None:
    text = f"---\nid: cluster:zip\nmembers:\n- id: {ID}\n  link: list-zip-entries__{ID}.md\n---\n# Zip\n"
    session = failing().read("wiki/guidelines/zip__cluster.md", text).run("unzip -Z1 a.zip", "x")
    assert kept(session, lesson((6, "unzip -Z1 a.zip"))) == []


def test_a_session_without_a_wiki_is_left_alone() -> None:
    found = lesson((3, "zipinfo: not found"))
    assert kept(failing(), found) == [found]


def skill(name: str, turn: int = 4) -> SkillAnswer:
    return SkillAnswer(
        name=name,
        description="Lists a zip.",
        trigger="a zip",
        overview="A list.",
        when_to_use="Zips.",
        steps=[SkillStep(text="List", command="unzip -Z1 <archive>"), SkillStep(text="Count", command="wc -l <file>")],
        tags=["zip"],
        evidence=[CitedQuote(turn=turn, quote="unzip -Z1 a.zip")],
    )


@pytest.mark.parametrize("name", ["list-zip", "count-entries"])
def test_a_workflow_that_was_read_is_no_new_skill(name: str) -> None:
    session = Session().user("Count").run(f"cat wiki/{SKILL}", SKILL_TEXT).run("unzip -Z1 a.zip | wc -l", "3")
    assert skill_without_recalled(skill(name), session.done())[0] is None


def test_a_skill_of_the_sessions_own_is_kept() -> None:
    session = Session().user("Count").run("unzip -Z1 a.zip", "x").run(f"cat wiki/{SKILL}", SKILL_TEXT)
    assert skill_without_recalled(skill("list-zip", turn=2), session.done())[0] == skill("list-zip", turn=2)
    other = Session().user("Count").read(f"wiki/{PAGE}", TEXT).run("unzip -Z1 a.zip", "x")
    assert skill_without_recalled(skill("list-zip"), other.done())[0] == skill("list-zip")


def summary(*recalled: RecalledPage) -> SummaryAnswer:
    arc = ArcAnswer(
        first_turn=1, last_turn=9, goal="g", outcome="success", narrative="n", key_turns=[], recalled=list(recalled)
    )
    return SummaryAnswer(arcs=[arc])


def recalled_in(session: Trajectory, *recalled: RecalledPage) -> tuple[list[tuple[str, str]], list[Problem]]:
    answer, dropped = with_reads(summary(*recalled), wiki_reads(session))
    return [(each.page, each.status) for each in answer.arcs[0].recalled], dropped


def test_what_an_engine_says_of_a_page_that_was_not_read_does_not_count() -> None:
    session = failing().read(f"wiki/{PAGE}", TEXT).run("unzip -Z1 a.zip", "x").done()
    harmed = RecalledPage(page="guidelines/other__ffffffffffff.md", status="harmful", turn=6, quote="unzip")
    assert recalled_in(session, harmed) == (
        [(PAGE, "ignored")],
        [Problem("recalled", "guidelines/other__ffffffffffff.md: the session had not read it")],
    )
    early = RecalledPage(page=PAGE, status="followed", turn=2, quote="zipinfo")
    assert recalled_in(session, early)[0] == [(PAGE, "ignored")]
    followed = RecalledPage(page=f"wiki/{PAGE}", status="followed", turn=6, quote="unzip -Z1")
    assert recalled_in(session, followed) == ([(f"wiki/{PAGE}", "followed")], [])


def test_every_engine_is_checked() -> None:
    session = failing().read(f"wiki/{PAGE}", TEXT).run("unzip -Z1 a.zip", "x").done()
    found: dict[str, Any] = lesson((6, "unzip -Z1 a.zip")).model_dump()
    engine = ScriptedEngine({"extract-guidelines": {"s": {"guidelines": [found]}}})
    contributed, dropped = extract_guidelines(session, summary(), engine)
    assert contributed == ()
    assert dropped == [READ_BEFORE]
