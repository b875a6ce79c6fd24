"""Whole runs that ask a model: recordings in, wiki out, over real HTTP to the loopback server."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import cost_usd, read_models
from agent_wiki.asking.prompts import read_prompts
from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.report import Report
from agent_wiki.wiki.page import parse_page
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from tests.engines.answering import says
from tests.paid_runs import dated_recordings, digests
from tests.processes import exit_codes, started_wiki
from tests.wikis import changed, chat, ingest, record, rule, tree


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, **options: Any) -> Report:
    asking = AskingOptions(base_url=server.base_url, **options)
    return ingest(paths, wiki, "anthropic", asking=asking)


def _recordings(folder: Path, number: int = 2) -> list[Path]:
    return dated_recordings(folder, number)


def _trial(folder: Path, name: str) -> Path:
    """A recording of a task whose id was recorded."""
    source = {"format": "test", "task_id": "checkout-rounding"}
    path = record(folder, name)
    path.write_text(json.dumps({"schema_version": 1, **chat(name), "source": source}), encoding="utf-8")
    return path


def test_two_recordings_become_a_wiki_and_the_report_says_what_it_cost(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        report = _ask(paths, wiki, server)
        assert report.exit_code == 0, report.lines()
        assert len(server.bodies()) == report.asked["total"]["calls"] == 2, "each recording is read once"
        assert report.asked["total"]["output_tokens"] == server.ledger.total().output_tokens
    assert report.pages == {"summary pages": 2, "guideline pages": 1, "skill pages": 1}
    assert report.asked["stages"]["summarize+extract-guidelines+synthesize-skill"]["calls"] == 2
    assert any(line.startswith("asked: 2 calls, ") for line in report.lines())
    page = parse_page((wiki / "summaries" / "session-0.md").read_text(encoding="utf-8"), "page")
    assert page.fields["made_by"] == "claude-haiku-5-5"
    stages = json.loads((wiki / "_sessions" / "session-0.json").read_text(encoding="utf-8"))["stages"]
    made = stages["summarize"]["made_by"]
    assert (made["engine"], made["model"], made["prompt_version"]) == (
        "anthropic",
        "claude-haiku-5-5",
        read_prompts()["summarize"].head.version,
    )
    assert made["request"].startswith("sha256:")
    later = [stages[stage]["made_by"]["model"] for stage in ("extract-guidelines", "synthesize-skill")]
    assert later == ["claude-haiku-5-5"] * 2


def test_a_second_run_asks_nothing_and_writes_nothing(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server)
        before, asked = tree(wiki), len(server.bodies())
        assert _ask(paths, wiki, server).written == []
        assert (changed(before, tree(wiki)), len(server.bodies())) == ([], asked)


def test_from_the_journal_alone_the_same_wiki_is_built(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server)
    other = tmp_path / "other"
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    report = ingest(paths, other, "anthropic", asking=AskingOptions(base_url="http://127.0.0.1:9"))
    assert report.exit_code == 0, report.lines()
    assert (report.asked["total"]["calls"], report.asked["total"]["replayed"]) == (0, 6)
    assert changed(tree(wiki), tree(other)) == []


def test_another_model_for_a_stage_makes_that_stage_pending_and_no_other(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server)
        report = _ask(paths, wiki, server, models=("extract-guidelines=claude-opus-5-5",))
        assert {stage: found["calls"] for stage, found in report.asked["stages"].items()} == {"extract-guidelines": 2}


def test_the_wiki_does_not_depend_on_concurrency_or_on_what_went_wrong_on_the_way(tmp_path: Path) -> None:
    paths = _recordings(tmp_path / "t", 5)
    with MessagesServer(says({})) as server:
        _ask(paths, tmp_path / "one", server, concurrency=1)
    faults = [Fault(kind="rate-limit", every=5, seconds=0), Fault(kind="overloaded", requests=(3,))]
    with MessagesServer(says({}), Endpoint(latency_seconds=0.02), faults) as server:
        _ask(paths, tmp_path / "many", server, concurrency=8)
        assert all(count == 1 for count in Counter(billed.digest for billed in server.ledger.billed).values())
    assert changed(tree(tmp_path / "one"), tree(tmp_path / "many")) == []


def test_requests_are_under_way_side_by_side(tmp_path: Path) -> None:
    paths = _recordings(tmp_path / "t", 8)
    with MessagesServer(says({}), Endpoint(latency_seconds=0.15)) as server:
        _ask(paths, tmp_path / "wiki", server, concurrency=8)
        assert 4 <= server.ledger.most_in_flight <= 8


def test_a_refused_session_fails_and_the_others_go_on(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 3), tmp_path / "wiki"
    with MessagesServer(says({}), faults=[Fault(kind="refusal", text="The cart of session-1")]) as server:
        report = _ask(paths, wiki, server)
    assert report.exit_code == 1
    assert (report.sessions["mined"], report.sessions["failed"]) == (2, 1)
    (failure,) = report.failures
    assert (failure.kind, failure.unit, failure.stage) == ("answer", "session-1", "summarize")
    assert "refused to answer (The request was declined" in failure.reason
    assert failure.request in {record.get("prompt") for record in records(journal_folder(wiki), [])}


def test_no_quote_that_is_not_in_the_recording_reaches_a_page(tmp_path: Path) -> None:
    evidence = [{"turn": 2, "quote": "make check"}, {"turn": 3, "quote": "all checks passed"}]
    found = {"extract-guidelines": {"guidelines": [rule("Run the check.", evidence=evidence)]}}
    with MessagesServer(says(found)) as server:
        report = _ask(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
        assert sum("`GuidelinesAnswer`" in json.dumps(body) for body in server.bodies()) == 3
    assert len(report.dropped_claims) == 1
    pages = [text for path, text in tree(tmp_path / "wiki").items() if path.startswith("guidelines/")]
    assert not any(b"all checks passed" in text for text in pages)


def _cost(wiki: Path) -> float:
    answers = (each for each in records(journal_folder(wiki), []) if each["kind"] == "answer")
    return sum(float(each["cost_usd"]) for each in answers if "of" not in each)


def test_the_cap_is_never_passed_and_the_next_runs_finish_the_wiki(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 6), tmp_path / "wiki"
    small = {"models": ("claude-haiku-5-5",)}
    with MessagesServer(says({})) as server:
        _ask(paths, tmp_path / "whole", server, **small)
    with MessagesServer(says({}), Endpoint(latency_seconds=0.01)) as server:
        spent, stops = 0.0, 0
        for _ in range(30):
            report = _ask(paths, wiki, server, max_usd=0.018, concurrency=4, **small)
            now = _cost(wiki)
            assert now - spent <= 0.018
            assert report.asked["total"]["cost_usd"] == pytest.approx(now - spent, abs=1e-5)
            spent = now
            if report.exit_code == 0:
                break
            stops += 1
            assert report.exit_code == 3
            assert "--max-usd 0.018 is reached" in report.lines()[-1]
        assert stops >= 1
        assert all(count == 1 for count in digests(server).values()), "nothing is asked twice"
    assert changed(tree(tmp_path / "whole"), tree(wiki)) == []


def test_a_corpus_stage_that_nobody_may_pay_for_keeps_what_it_made_before(tmp_path: Path) -> None:
    paths, wiki = [_trial(tmp_path / "t", name) for name in "abc"], tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        assert _ask(paths, wiki, server).pages["task pages"] == 1
        paths.append(_trial(tmp_path / "t", "d"))
        fault = Fault(kind="server-error", text="These sessions attempted")
        server.setting.faults._faults = (fault,)
        report = _ask(paths, wiki, server)
        assert report.exit_code == 1
        assert str(report.failures[0]).startswith("discover-tasks: ")
        assert report.pages["task pages"] == 1
        server.setting.faults._faults = ()
        assert _ask(paths, wiki, server).exit_code == 0


def test_two_processes_on_one_wiki_pay_once(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 3), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        words = ("ingest", "--wiki", wiki, "--engine", "anthropic", "--base-url", server.base_url)
        assert exit_codes(*[started_wiki(*words, *paths) for _ in range(2)]) == [0, 0]
        assert all(count == 1 for count in digests(server).values())


def test_the_command_line_asks_and_shows_what_it_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths, wiki = _recordings(tmp_path / "t"), str(tmp_path / "wiki")
    with MessagesServer(says({})) as server:
        words = ["--wiki", wiki, "--engine", "anthropic", "--base-url", server.base_url, "--json"]
        assert main(["ingest", *map(str, paths), *words, "--model", "claude-haiku-5-5", "--max-usd", "5"]) == 0
        asked = json.loads(capsys.readouterr().out)["asked"]
        assert main(["ingest", *map(str, paths), *words, "--model", "claude-opus-5-5", "--max-usd", "0"]) == 3
        assert json.loads(capsys.readouterr().out)["stopped"].startswith("--max-usd 0 is reached")
    assert main(["cost", "--wiki", wiki, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["calls"] == asked["total"]["calls"] == 2
    assert set(found["models"]) == {"claude-haiku-5-5"}
    assert {stage: each["calls"] for stage, each in found["stages"].items()} == {
        "summarize+extract-guidelines+synthesize-skill": 2
    }
    assert main(["cost", "--wiki", wiki]) == 0
    assert "by stage:" in capsys.readouterr().out
    assert main(["cost", "--wiki", str(tmp_path / "none")]) == 0
    assert "no model has been asked yet" in capsys.readouterr().out


def test_wrong_words_and_a_missing_key_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    path = str(_recordings(tmp_path / "t", 1)[0])
    for words, reason in (
        ([], "set ANTHROPIC_API_KEY"),
        (["--model", "nostage=x"], "--model 'nostage=x'"),
        (["--model", "mine", "--max-usd", "1"], "--max-usd needs a price for mine"),
        (["--dry-run"], "--dry-run cannot say"),
        (["--batch", "--no-journal"], "--batch without a journal"),
        (["--wait"], "say --batch as well"),
        (["--base-url", "http://127.0.0.1:99999"], "--base-url: not the address of a server"),
        (["--base-url", "no address"], "--base-url: not the address of a server"),
    ):
        assert main(["ingest", path, "--wiki", str(tmp_path / "w"), "--engine", "anthropic", *words]) == 2
        found = capsys.readouterr().err.splitlines()[-1]
        assert reason in found


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        asking = AskingOptions(base_url=server.base_url)
        with pytest.raises(UsageError):
            ingest(_recordings(tmp_path / "t"), tmp_path / "w", "anthropic", asking=asking, dry_run=True)
        assert server.received == []


def test_a_journal_that_cannot_be_written_ends_the_run_before_anything_is_sent(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    (wiki / ".wiki").mkdir(parents=True)
    (wiki / ".wiki" / "journal").write_text("in the way", encoding="utf-8")
    words = ["ingest", str(_recordings(tmp_path / "t", 1)[0]), "--wiki", str(wiki), "--engine", "anthropic"]
    with MessagesServer(says({})) as server:
        assert main([*words, "--base-url", server.base_url]) == 2
        assert server.received == []
        assert main([*words, "--base-url", server.base_url, "--no-journal"]) == 0
    assert (wiki / ".wiki" / "journal").read_text(encoding="utf-8") == "in the way"


@pytest.mark.long
def test_the_trajectories_of_one_file_are_asked_about_side_by_side(tmp_path: Path) -> None:
    one = tmp_path / "many.json"
    turns = [chat(f"s{at}", request=f"Fix cart {at}.")["messages"] for at in range(6)]
    trials = [
        {"task_id": at, "trial": 0, "reward": 1.0, "info": {}, "traj": messages} for at, messages in enumerate(turns)
    ]
    one.write_text(json.dumps(trials), encoding="utf-8")
    with MessagesServer(says({}), Endpoint(latency_seconds=0.1)) as server:
        report = _ask([one], tmp_path / "a", server, concurrency=1)
        assert (report.exit_code, report.sessions["mined"]) == (0, 6)
        assert server.ledger.most_in_flight == 1
    with MessagesServer(says({}), Endpoint(latency_seconds=0.1)) as server:
        _ask([one], tmp_path / "b", server, concurrency=4)
        assert 3 <= server.ledger.most_in_flight <= 4
    assert changed(tree(tmp_path / "a"), tree(tmp_path / "b")) == []


def test_the_cap_holds_for_what_the_server_billed_also_when_connections_are_lost(tmp_path: Path) -> None:
    """A dropped answer is billed and never seen: it counts at its worst case."""
    paths, wiki, cap = _recordings(tmp_path / "t", 6), tmp_path / "wiki", 0.02
    faults = [Fault(kind="drop-answered", probability=0.3), Fault(kind="drop-midway", probability=0.2)]
    price = read_models().prices["claude-haiku-5-5"]
    for attempt in range(3):
        with MessagesServer(says({}), faults=faults, seed=attempt) as server:
            report = _ask(paths, wiki, server, max_usd=cap, models=("claude-haiku-5-5",))
            billed = [cost_usd(each.usage.to_json("standard"), price) for each in server.ledger.billed]
        assert sum(billed) <= cap
        assert sum(billed) >= report.asked["total"]["cost_usd"] - 1e-6
