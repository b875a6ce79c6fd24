"""What an agent's answers archive, reject and cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.asking.journal import journal_folder
from agent_wiki.commands import main
from tests.pipeline.agents import NO_GUIDELINES, SUMMARY, Wiki, answers
from tests.wikis import changed, ingest, record, rule, skill, tree


def test_the_members_of_a_cluster_are_archived_on_request_and_stay_so(tmp_path: Path, wiki: Wiki) -> None:
    paths = answers(tmp_path, wiki, 2)
    _, asked = wiki("prompt", "cluster")
    told = {"slug": "check-first", "title": "Check first", "description": "Both.", "takeaway": "Run `make check`."}
    cluster = {"clusters": [{**told, "members": asked["about"], "tags": ["checks"]}]}
    assert wiki("apply", "cluster", answer=cluster)[0] == 0
    assert not (tmp_path / "wiki" / "_archived").exists()
    assert wiki("apply", "cluster", "--request", asked["request"], "--archive-members", answer=cluster)[0] == 0
    archived = sorted(each.name for each in (tmp_path / "wiki" / "_archived").glob("*__*.md"))
    assert len(archived) == 2
    before = tree(tmp_path / "wiki")
    assert "archive_members: true" in before["_config.yaml"].decode()
    report = ingest(paths, tmp_path / "wiki", "recorded")
    assert (report.exit_code, changed(before, tree(tmp_path / "wiki"))) == (0, [])
    ingest(paths, tmp_path / "rebuilt", f"recorded:{journal_folder(tmp_path / 'wiki')}")
    assert changed(before, tree(tmp_path / "rebuilt")) == []


def test_what_a_corpus_check_rejects_is_reported(tmp_path: Path, wiki: Wiki) -> None:
    answers(tmp_path, wiki, 2)
    told = {"slug": "x", "title": "X", "description": "D.", "takeaway": "T.", "members": ["a", "b"], "tags": ["t"]}
    code, applied = wiki("apply", "cluster", answer={"clusters": [told]})
    assert (code, applied["problems"]) == (
        1,
        [{"place": "cluster x", "reason": f"{each!r} is not one of the guidelines asked about"} for each in "ab"],
    )


def test_an_agents_answers_are_calls_whose_cost_is_its_own_affair(
    tmp_path: Path, wiki: Wiki, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path, "a")
    assert wiki("apply", "summary", path, "--model", "m-3", answer=SUMMARY)[0] == 0
    assert wiki("apply", "guidelines", path, answer=NO_GUIDELINES)[0] == 0
    _, told = wiki("cost")
    total = told["total"]
    assert [total[name] for name in ("calls", "by_agents", "unpriced", "cost_usd")] == [2, 2, 0, 0]
    assert sorted(told["models"]) == ["(agents, unknown model)", "m-3"]
    assert list(told["runs"]) == ["(agents)"]
    assert main(["cost", "--wiki", str(tmp_path / "wiki")]) == 0
    assert "2 answers by agents, whose own sessions paid" in capsys.readouterr().out


def test_a_skill_archives_what_it_covers_unless_it_is_to_be_kept(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    lesson = {"guidelines": [rule("Run `make check` before a change.")]}
    stating = skill("check-the-cart", overview="Run make check before a change, then again.")
    assert wiki("apply", "guidelines", path, answer=lesson)[0] == 0
    archive = tmp_path / "wiki" / "_archived"
    assert wiki("apply", "skill", path, "--keep-covered", answer=stating)[0] == 0
    assert not archive.exists()
    assert wiki("apply", "skill", path, answer=stating)[0] == 0
    assert len(list(archive.glob("*__*.md"))) == 1
