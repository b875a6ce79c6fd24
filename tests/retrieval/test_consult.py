"""`wiki consult` and `wiki review` as a person or an agent types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from tests.retrieval.wikis import PYTEST, YAML, write_wiki
from tests.wikis import Script, record, rule

TASK = "pytest is not found, how do I run the tests?"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return write_wiki(tmp_path / "wiki")


def test_a_hit_is_listed_with_title_kind_why_path_support_and_trust(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["consult", TASK, "--wiki", str(wiki)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith(f"1. {PYTEST['title']} [guideline, ")
    assert lines[1].startswith("   why: trigger: ")
    assert lines[2] == f"   {wiki}/{PYTEST['link']} (3 sessions (1 success, 2 failure), trust tool)"
    assert err == ""


def test_nothing_that_applies_is_one_line_on_standard_error_and_an_empty_list(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more, printed in (([], ""), (["--read"], ""), (["--json"], "[]\n")):
        assert main(["consult", "bake a chocolate cake", "--wiki", str(wiki), *more]) == 0
        assert capsys.readouterr() == (printed, "nothing in the wiki applies\n")


def test_json_is_index_rows_with_score_and_why(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consult", TASK, "--wiki", str(wiki), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row.keys() == {*PYTEST, "score", "why"}
    assert {name: row[name] for name in PYTEST} == PYTEST


def test_read_prints_pages_within_the_ceiling(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consult", TASK, "--wiki", str(wiki), "--read"]) == 0
    assert "## Rationale" in capsys.readouterr().out
    assert main(["consult", TASK, "--wiki", str(wiki), "--read", "--max-tokens", "60"]) == 0
    assert len(capsys.readouterr().out.encode()) <= 120


def test_read_says_so_on_standard_output_when_nothing_fits(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consult", TASK, "--wiki", str(wiki), "--read", "--max-tokens", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == f"1 page applies and does not fit in 1 tokens; best: {PYTEST['link']}\n"
    assert err == ""


@pytest.mark.parametrize("name", ["shop/cart", "https://github.com/shop/cart.git", "cart\x1b[2J"])
def test_a_repository_that_no_page_knows_is_named_in_one_line_with_those_that_are_known(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = str(write_wiki(tmp_path, ({**PYTEST, "scope": "repository:sympy"}, YAML)))
    assert main(["consult", "YAML mapping values are not allowed", "--wiki", wiki, "--repository", name]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"1. {YAML['title']}")
    assert err.startswith("no page is for the repository cart")
    assert err.endswith(" alone; there are pages for sympy alone\n")
    assert "\x1b" not in err
    assert main(["consult", TASK, "--wiki", wiki, "--repository", "sympy/sympy"]) == 0
    assert capsys.readouterr().err == ""


def test_where_only_pages_of_another_repository_would_apply_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = str(write_wiki(tmp_path, ({**PYTEST, "scope": "repository:sympy"}, {**YAML, "scope": "repository:cart"})))
    assert main(["consult", TASK, "--wiki", wiki, "--repository", "cart"]) == 0
    line = "nothing in the wiki applies here, only what holds for sympy alone (--repository)\n"
    assert capsys.readouterr() == ("", line)


def test_tags_and_kind_narrow(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--tags", "yaml, quoting"], ["--kind", "skill,task"]):
        assert main(["consult", TASK, "--wiki", str(wiki), *more]) == 0
        assert capsys.readouterr().out == ""
    assert main(["consult", TASK, "--wiki", str(wiki), "--tags", "TESTS", "--kind", "guideline"]) == 0
    assert PYTEST["title"] in capsys.readouterr().out


def test_a_tag_that_no_page_has_is_named(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consult", TASK, "--wiki", str(wiki), "--tags", "Tests,testz"]) == 0
    out, err = capsys.readouterr()
    assert (PYTEST["title"] in out, err) == (True, "no page has the tag testz\n")
    assert main(["consult", TASK, "--wiki", str(wiki), "--tags", "testz,\x1b[31mred"]) == 0
    assert capsys.readouterr().err == "no page has the tag red or testz\nnothing in the wiki applies\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["consult", TASK], "no wiki here"),
        (["consult", TASK, "--kind", "page"], "no kind 'page': choose one of cluster, skill"),
        (["consult", TASK, "--read", "--json"], "use only one of them"),
        (["consult", TASK, "--read", "--max-tokens", "0"], "max-tokens"),
        (["consult", TASK, "--max-tokens", "90"], "--max-tokens limits what --read prints; give both"),
        (["review"], "no wiki here"),
    ],
)
def test_usage_errors_are_reported_in_one_line_with_exit_code_2(
    tmp_path: Path, words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--wiki", str(tmp_path / "none")]) == 2
    assert reason in capsys.readouterr().err


def test_a_wiki_made_from_recordings_is_consulted_and_the_catalog_changes_nothing_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Script(tmp_path)
    found.says("a", rules=[rule("Run the check before a change.")])
    wiki = str(tmp_path / "made")
    assert main(["ingest", str(record(tmp_path, "a")), "--wiki", wiki, "--engine", found.engine, "--jobs", "1"]) == 0
    capsys.readouterr()
    assert main(["consult", "change something: which check do I run before?", "--wiki", wiki]) == 0
    assert "Run the check" in capsys.readouterr().out
    assert main(["catalog", "--wiki", wiki]) == 0
    assert "nothing written" in capsys.readouterr().out


def _summary(wiki: Path, session_id: str, status: str, quote: str) -> None:
    path = wiki / "summaries" / f"{session_id}.md"
    path.parent.mkdir(exist_ok=True)
    entry = json.dumps({"id": PYTEST["id"], "title": PYTEST["title"], "status": status, "evidence": quote})
    text = f"---\ntype: episodic-summary\nsession_id: {session_id}\nrecalled_guidelines:\n- {entry}\n---\n\n# Did it\n"
    path.write_text(text, encoding="utf-8")


def test_a_request_needs_no_quotes_and_is_not_empty(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consult", "run the unit tests", "--wiki", str(wiki)]) == 0
    quoted = capsys.readouterr().out
    assert quoted
    assert main(["consult", "run", "the", "unit", "tests", "--wiki", str(wiki)]) == 0
    assert capsys.readouterr().out == quoted
    assert main(["consult", " ", "--wiki", str(wiki)]) == 2
    assert "say what you are about to do" in capsys.readouterr().err


def test_review_lists_what_harmed_or_misled_with_counts_and_quotes(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", "--wiki", str(wiki)]) == 0
    assert capsys.readouterr() == ("", "nothing is held back, and no page has harmed or misled a session\n")
    _summary(wiki, "a", "harmful", "bin/test deleted the build")
    _summary(wiki, "b", "contradicted", "there is no \x1b[31mbin/test")
    _summary(wiki, "c", "followed", "ran bin/test")
    assert main(["review", "--wiki", str(wiki)]) == 0
    out = capsys.readouterr().out
    counts = "disputed: followed 1, contradicted 1, harmful 1; last in `wiki consult`"
    assert out.splitlines()[0] == f"{PYTEST['title']} [{counts}]"
    assert "   harmful in a: “bin/test deleted the build”" in out
    assert "\x1b" not in out
    assert YAML["title"] not in out
    assert main(["review", "--wiki", str(wiki), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"followed": 1, "contradicted": 1, "harmful": 1}
    assert [each["session_id"] for each in found["against"]] == ["a", "b"]


def test_catalog_puts_the_counts_into_the_index_and_consult_goes_by_them(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _summary(wiki, "a", "harmful", "bin/test deleted the build")
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    capsys.readouterr()
    assert main(["consult", TASK, "--wiki", str(wiki)]) == 0
    out = capsys.readouterr().out
    assert "harmful 1" in out
    assert "did more harm than good" in out
