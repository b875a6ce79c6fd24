"""What came of a wiki page is told from what the session did after reading it."""

from __future__ import annotations

from agent_wiki.engines.offline.summarize import answer
from agent_wiki.stages.recalled_pages import RecalledPage
from agent_wiki.stages.summarize import SummarizeQuestion
from tests.engines.sessions import Session

PAGE = "guidelines/list-zip-entries__0123456789ab.md"
TEXT = "# List zip entries\n\nUse `unzip -Z1 <file>` to list the entries.\n"


def reading(text: str = TEXT) -> Session:
    return Session().user("How many entries has a.zip?").read(f"/repo/wiki/{PAGE}", text)


def recalled(session: Session) -> RecalledPage:
    pages = answer(SummarizeQuestion(session.done())).arcs[0].recalled
    assert [each.page for each in pages] == [PAGE]
    return pages[0]


def test_reading_alone_is_ignored() -> None:
    assert recalled(reading().run("ls -l", "a.zip")).status == "ignored"


def test_a_command_of_the_page_that_works_is_followed() -> None:
    page = recalled(reading().run("unzip -Z1 a.zip", "x\ny"))
    assert (page.status, page.turn, page.quote) == ("followed", 4, "unzip -Z1")


def test_a_command_that_the_session_used_before_proves_nothing() -> None:
    session = Session().user("count").run("unzip -Z1 b.zip", "x").read(f"/repo/wiki/{PAGE}", TEXT)
    assert recalled(session.run("unzip -Z1 a.zip", "x")).status == "ignored"


def test_a_command_that_failed_where_another_worked_is_contradicted() -> None:
    session = reading().run("unzip -Z1 a.zip", "unzip: invalid option", failed=True).run("unzip -l a.zip", "x")
    assert recalled(session).status == "contradicted"


def test_a_command_that_failed_with_nothing_after_is_harmful() -> None:
    assert recalled(reading().run("unzip -Z1 a.zip", "unzip: invalid option", failed=True)).status == "harmful"


def test_saying_that_the_page_is_outdated_contradicts_it() -> None:
    session = reading().says("The page list-zip-entries is outdated, zipinfo is gone here.")
    page = recalled(session)
    assert (page.status, page.turn) == ("contradicted", 4)
    assert page.quote == "The page list-zip-entries is outdated, zipinfo is gone here."


def test_indexes_are_consulted_and_not_recalled() -> None:
    session = Session().user("count").run("cat wiki/AGENTS.md wiki/_index.jsonl", "{}")
    assert answer(SummarizeQuestion(session.done())).arcs[0].recalled == []


def reports(session: Session, status: str, evidence: str, of: str = "0123456789ab") -> Session:
    told = {"id": of, "status": status, "evidence": evidence}
    return session.call("mcp__wiki__report_use", told, f"Noted: {of} {status}.")


def test_what_the_agent_reports_against_a_page_is_believed() -> None:
    session = reports(reading().run("unzip -Z1 a.zip", "x"), "harmful", "it listed another archive\nand more")
    page = recalled(session)
    assert (page.status, page.turn, page.quote) == ("harmful", 6, "it listed another archive")


def test_that_a_page_helped_is_believed_when_something_was_done_and_worked() -> None:
    assert recalled(reports(reading(), "followed", "it helped")).status == "ignored"
    page = recalled(reports(reading().run("bsdtar -tf a.zip | wc -l", "3"), "followed", "it helped", of=PAGE))
    assert (page.status, page.turn, page.quote) == ("followed", 6, "it helped")


def test_a_report_of_another_page_or_without_evidence_says_nothing() -> None:
    done = reading().run("bsdtar -tf a.zip | wc -l", "3")
    assert recalled(reports(done, "harmful", "bad", of="ba9876543210")).status == "ignored"
    assert recalled(reports(reading(), "harmful", "  ")).status == "ignored"
