"""Dead ends of summaries as rows of the index: what they say, what they lead to, and when they are gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.owners_pages import reject
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval import consult
from agent_wiki.retrieval.page_names import files_named
from agent_wiki.retrieval.why import why
from tests.wikis import Script, arc, changed, chat, ingest, rule, tree

DEAD_END = "Raising the timeout of `make check` was given up, because the check waits for a lock that is never freed."
BARE = "The user stopped the agent after `make check`"
TASK = "the check hits its timeout: raise the timeout of make check?"


def _build(folder: Path, *notes: tuple[int, str], **source: Any) -> Path:
    """A wiki of two sessions, of which `a` has these dead ends."""
    script = Script(folder)
    dead_ends = [{"turn": turn, "text": text} for turn, text in notes]
    script.says("a", arcs=[arc(title="The cart adds up", dead_ends=dead_ends)], rules=[rule("Check before a change.")])
    traces = folder / "traces"
    traces.mkdir(parents=True)
    for name in ("a", "b"):
        (traces / f"{name}.json").write_text(json.dumps({**chat(name), **source}), encoding="utf-8")
    ingest([traces], folder / "wiki", script.engine)
    return folder / "wiki"


def _rows(wiki: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()]


def _episodes(wiki: Path) -> list[dict[str, Any]]:
    return [row for row in _rows(wiki) if row["kind"] == "episode"]


def test_the_dead_ends_of_a_summary_are_one_short_row_after_all_lessons(tmp_path: Path) -> None:
    wiki = _build(tmp_path, (2, DEAD_END), (3, BARE))
    assert [row["kind"] for row in _rows(wiki)] == ["guideline", "episode"]
    (row,) = _episodes(wiki)
    assert row == {
        "kind": "episode",
        "id": "episode:a",
        "title": "The cart adds up",
        "tags": ["cart", "checks"],
        "trigger": "Fix the cart",
        "summary": DEAD_END,
        "link": "summaries/a.md",
        "trust": "assistant",
    }


def test_a_long_row_is_cut_and_one_that_names_no_reason_is_not_made(tmp_path: Path) -> None:
    (row,) = _episodes(_build(tmp_path / "long", (2, DEAD_END), (3, DEAD_END), (4, DEAD_END)))
    assert len(row["summary"]) <= 240
    assert _episodes(_build(tmp_path / "bare", (3, BARE))) == []


def test_the_words_of_a_tool_lend_an_episode_no_more_trust_than_a_tool_has(tmp_path: Path) -> None:
    (row,) = _episodes(_build(tmp_path, (2, DEAD_END), (3, DEAD_END)))
    assert row["trust"] == "tool"


def test_an_episode_of_a_repository_is_hidden_in_another(tmp_path: Path) -> None:
    wiki = _build(tmp_path, (2, DEAD_END), schema_version=1, source={"format": "test", "cwd": "/home/kim/clones/shop"})
    assert _episodes(wiki)[0]["scope"] == "repository:shop"
    kinds = {place: {hit.kind for hit in consult(wiki, TASK, repository=place)} for place in ("shop", "cart", None)}
    assert {place: "episode" in found for place, found in kinds.items()} == {"shop": True, "cart": False, None: True}


def test_an_episode_goes_with_its_session_and_with_a_rejected_lesson_from_the_same_turn(tmp_path: Path) -> None:
    wiki = _build(tmp_path, (2, DEAD_END), (3, DEAD_END.replace("timeout", "limit")))
    page = next(path for path in (wiki / "guidelines").glob("*__*.md"))
    reject(wiki, files_named(wiki, [str(page)]), "It is wrong.", Report("reject", str(wiki)))
    (row,) = _episodes(wiki)
    assert row["summary"] == DEAD_END.replace("timeout", "limit")
    forget(wiki, ["a"], Report("forget", str(wiki)), lambda _what, _done, _of: None)
    assert _episodes(wiki) == []


def test_an_edited_summary_has_the_episode_that_its_page_lists(tmp_path: Path) -> None:
    wiki = _build(tmp_path, (2, DEAD_END))
    page = wiki / "summaries" / "a.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("Raising the timeout", "Doubling the timeout"), encoding="utf-8")
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert _episodes(wiki)[0]["summary"].startswith("Doubling the timeout")
    page.write_text(text.replace(f"- T2: {DEAD_END}", "None any more."), encoding="utf-8")
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert _episodes(wiki) == []


def test_another_run_changes_no_row(tmp_path: Path) -> None:
    wiki = _build(tmp_path, (2, DEAD_END))
    before = tree(wiki)
    (wiki / ".wiki" / "finished.json").unlink(missing_ok=True)
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert changed(before, tree(wiki)) == []


@pytest.mark.parametrize("name", ["episode:a", "summaries/a.md"])
def test_why_leads_from_an_episode_to_its_turns(tmp_path: Path, name: str) -> None:
    wiki = _build(tmp_path, (2, DEAD_END))
    (page,) = why(wiki, name, [tmp_path / "traces"]).pages
    assert page.path == "summaries/a.md"
    assert (2, f"dead end: {DEAD_END}") in [(each.citation.turn, each.citation.claim) for each in page.cited]


def test_an_episode_is_listed_by_its_dead_end_and_read_without_the_rest_of_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = _build(tmp_path, (2, DEAD_END))
    asked = ["consult", TASK, "--kind", "episode", "--wiki", str(wiki)]
    assert main(asked) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"1. {DEAD_END} [episode, ")
    assert out[2].startswith(f"   {wiki}/summaries/a.md")
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["summary"] == DEAD_END
    assert main([*asked, "--read"]) == 0
    read = capsys.readouterr().out
    assert DEAD_END in read
    assert "The check failed, then passed." not in read
