"""Runs that send their questions as batches: submitted, remembered, collected by a later run, to the same wiki."""

from __future__ import annotations

import json
import signal
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import anthropic
import pytest

from agent_wiki.asking.journal import Journal, journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import cost_usd, read_models
from agent_wiki.commands import main
from agent_wiki.engines.anthropic_api import AnthropicEngine, service
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.report import HIDDEN_FIELDS, Report
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from tests.engines.answering import is_together, says
from tests.paid_runs import TWO_READERS, dated_recordings, killed_run, undisturbed
from tests.processes import exit_codes, started_wiki
from tests.wikis import changed, ingest, record, rule, tree

HOUR = 3_600
_SLOW = Endpoint(batch_seconds=HOUR)


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, **options: Any) -> Report:
    asking = AskingOptions(base_url=server.base_url, is_batched=True, **{"models": TWO_READERS, **options})
    return ingest(paths, wiki, "anthropic", asking=asking)


def _recordings(folder: Path, number: int = 3) -> list[Path]:
    return dated_recordings(folder, number)


def _submitted(server: MessagesServer) -> Counter[str]:
    """How often each request was put into a batch."""
    return Counter(item["custom_id"] for body in server.bodies("batch-create") for item in body["requests"])


def _answered(wiki: Path) -> Counter[str]:
    return Counter(each["request"] for each in records(journal_folder(wiki), []) if each["kind"] == "answer")


def test_a_batch_is_sent_remembered_and_collected_by_later_runs(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({}), _SLOW) as server:
        first = _ask(paths, wiki, server)
        assert (first.exit_code, first.sessions["waiting"], len(first.waiting)) == (0, 3, 3)
        assert [line.split(": ")[1] for line in first.batches] == ["3 requests"]
        assert "run again to collect it" in "\n".join(first.lines())
        again = _ask(paths, wiki, server)
        assert again.sessions["waiting"] == 3
        assert len(server.bodies("batch-create")) == 1, "what is under way is not sent again"
        server.clock.advance(HOUR)
        second = _ask(paths, wiki, server)
        found = (second.pages["summary pages"], second.pages["guideline pages"], second.sessions["waiting"])
        assert found == (3, 1, 3), "what another model is asked does not hold up the rest"
        server.clock.advance(HOUR)
        last = _ask(paths, wiki, server)
        assert (last.exit_code, last.sessions["mined"], last.batches, last.waiting) == (0, 3, [], [])
        assert server.bodies() == [], "nothing was asked one by one"
        assert set(_submitted(server).values()) == {1}
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_waiting_does_all_rounds_in_one_run_at_half_price(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        report = _ask(paths, wiki, server, is_waiting=True)
        assert (report.exit_code, report.waiting, report.sessions["mined"]) == (0, [], 3)
        assert report.asked["total"]["calls"] == sum(_submitted(server).values()) == 6
        assert report.asked["total"]["replayed"] == 0, "what this run paid for"
    prices = read_models().prices
    for each in records(journal_folder(wiki), []):
        if each["kind"] == "answer" and "of" not in each:
            assert each["cost_usd"] == pytest.approx(cost_usd(each["usage"], prices[each["model"]]) / 2)
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_what_was_shown_is_reported_once_however_many_rounds_it_took(tmp_path: Path) -> None:
    invented = {"guidelines": [rule("Run the check.", evidence=[{"turn": 2, "quote": "never said"}])]}
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    only_first = {"extract-guidelines": lambda asked: invented if "session-0" in asked.text else {"guidelines": []}}
    with MessagesServer(says(only_first)) as server:
        report = _ask(paths, wiki, server, is_waiting=True, models=("claude-haiku-5-5",))
    assert report.sessions == {"mined": 1, "unchanged": 2}, "the last round is about one session"
    with MessagesServer(says(only_first)) as server:
        asking = AskingOptions(base_url=server.base_url, models=("claude-haiku-5-5",))
        direct = ingest(paths, tmp_path / "direct", "anthropic", asking=asking)
    assert report.coverage == direct.coverage
    shown = {each.name for each in fields(Report)} - set(HIDDEN_FIELDS) | {
        "schema_version",
        "failures_unchanged",
        "files",
    }
    assert report.to_json().keys() == shown | {"exit_code"}


def test_a_batch_reads_a_trajectory_once_for_all_questions_of_a_model(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        report = _ask(paths, wiki, server, is_waiting=True, models=("claude-haiku-5-5",))
        assert report.asked["total"]["calls"] == sum(_submitted(server).values()) == 3
        assert set(report.asked["stages"]) == {"summarize+extract-guidelines+synthesize-skill"}
    with MessagesServer(says({})) as server:
        asking = AskingOptions(base_url=server.base_url, models=("claude-haiku-5-5",), is_together=False)
        again = ingest(paths, tmp_path / "direct", "anthropic", asking=asking)
        assert again.asked["total"]["calls"] == 9
        assert changed(tree(tmp_path / "direct"), tree(wiki)) == []
    replayed = ingest(paths, tmp_path / "replayed", f"recorded:{journal_folder(wiki)}")
    assert replayed.exit_code == 0, "a part is an answer like any other"
    assert main(["cost", "--wiki", str(wiki)]) == 0


def test_a_part_that_is_missing_is_asked_for_itself(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 1), tmp_path / "wiki"
    with MessagesServer(says({"extract-guidelines": lambda asked: None if is_together(asked) else {}})) as server:
        report = _ask(paths, wiki, server, is_waiting=True, models=("claude-haiku-5-5",))
        assert (report.exit_code, report.asked["total"]["calls"]) == (0, 2)
        assert report.asked["stages"]["extract-guidelines"]["calls"] == 1


def test_an_invalid_part_is_asked_for_again_in_the_next_batch(tmp_path: Path) -> None:
    invented = {"guidelines": [rule("Run the check before a change.", evidence=[{"turn": 2, "quote": "never said"}])]}
    paths, wiki = _recordings(tmp_path / "t", 1), tmp_path / "wiki"
    with MessagesServer(says({"extract-guidelines": invented})) as server:
        report = _ask(paths, wiki, server, is_waiting=True, models=("claude-haiku-5-5",))
        assert report.asked["stages"]["extract-guidelines"]["calls"] == 2, "twice at most"
    assert (report.exit_code, report.guidelines_contributed) == (0, 0)
    assert any("never said" in claim.reason for claim in report.dropped_claims)


def test_a_run_without_batches_uses_answers_of_a_batch_and_reports_what_is_missing(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({}), _SLOW) as server:
        asking = AskingOptions(base_url=server.base_url, is_together=False, models=TWO_READERS)
        _ask(paths[:2], wiki, server)
        server.clock.advance(HOUR)
        _ask(paths[2:], wiki, server)
        report = ingest(paths, wiki, "anthropic", asking=asking)
        stages = {stage: found["calls"] for stage, found in report.asked["stages"].items() if found["calls"]}
        assert stages == {"summarize": 1, "extract-guidelines": 1, "synthesize-skill": 3}
        assert [line for line in report.warnings if "msgbatch_000002: 1 request under way: what this run asks" in line]
        server.clock.advance(HOUR)
        report = _ask(paths, wiki, server)
        assert (report.exit_code, report.waiting, report.warnings, report.sessions["unchanged"]) == (0, [], [], 3)
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_marks_in_a_batch_live_for_an_hour(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        _ask(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
        params = server.bodies("batch-create")[0]["requests"][0]["params"]
    marked = [*params["system"], *params["messages"][0]["content"]]
    assert {block["cache_control"]["ttl"] for block in marked if "cache_control" in block} == {"1h"}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["batch-expired", "batch-errored", "batch-canceled"])
def test_what_expired_or_failed_is_sent_again_and_only_that(tmp_path: Path, kind: Any) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({}), faults=[Fault(kind=kind, requests=(2,), attempts=(1,))]) as server:
        for _ in range(7):
            report = _ask(paths, wiki, server)
        assert (report.exit_code, report.waiting) == (0, [])
        again = {name for name, times in _submitted(server).items() if times == 2}
        batches = [[item["custom_id"] for item in body["requests"]] for body in server.bodies("batch-create")]
        assert batches[0][1] in again
        assert again == {batch[1] for batch in batches if len(batch) > 1}, "the second of each batch"
        assert set(_submitted(server).values()) == {1, 2}
    assert set(_answered(wiki).values()) == {1}
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_a_request_that_never_gets_an_answer_ends_as_a_failure(tmp_path: Path) -> None:
    faults = [Fault(kind="batch-expired", text="session-1")]
    with MessagesServer(says({}), faults=faults) as server:
        report = _ask(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server, is_waiting=True)
        assert report.exit_code == 0
        path = record(tmp_path / "t", "session-1")
        path.write_text(path.read_text(encoding="utf-8").replace("cart", "session-1"), encoding="utf-8")
        report = _ask([path], tmp_path / "wiki", server, is_waiting=True)
    assert report.exit_code == 1
    assert "no answer in 3 batches" in report.failures[0].reason


def test_what_the_service_refuses_is_reported_and_not_sent_again(tmp_path: Path) -> None:
    endpoint = Endpoint(structured="refused")
    with MessagesServer(says({}), endpoint) as server:
        report = _ask(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server, is_waiting=True)
        assert list(_submitted(server).values()) == [1, 1], "together, then alone"
    assert report.exit_code == 1
    assert "the request was not taken" in report.failures[0].reason


def test_a_service_without_batches_is_reported_in_one_line(tmp_path: Path) -> None:
    with (
        MessagesServer(says({}), Endpoint(has_batches=False)) as server,
        pytest.raises(RunError, match=r"does not do this batch .* is --batch right for it\?$"),
    ):
        _ask(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)


def test_the_worst_case_of_all_that_is_queued_stays_below_the_cap(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 6), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        report = _ask(paths, wiki, server, max_usd=0.012, models=("claude-haiku-5-5",))
        assert report.exit_code == 3
        sent = sum(_submitted(server).values())
        assert 0 < sent < 6, "what there was room for is sent"
        server.clock.advance(HOUR)
        for _ in range(4):
            report = _ask(paths, wiki, server, models=("claude-haiku-5-5",))
        assert (report.exit_code, report.waiting) == (0, [])
        assert set(_submitted(server).values()) == {1}


def test_a_batch_whose_connection_was_lost_is_found_again_and_not_paid_twice(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    faults = [Fault(kind="drop-answered", endpoint="batch-create", requests=(1,))]
    with MessagesServer(says({}), faults=faults) as server:
        report = _ask(paths, wiki, server, is_waiting=True)
        assert report.exit_code == 0
        assert set(_submitted(server).values()) == {1}
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_a_batch_that_never_arrived_is_sent_by_the_next_run(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    faults = [Fault(kind="drop-read", endpoint="batch-create", requests=(1,))]
    with MessagesServer(says({}), faults=faults) as server:
        with pytest.raises(RunError, match=r"connection lost while a batch was sent .*; run again to go on$"):
            _ask(paths, wiki, server)
        assert _ask(paths, wiki, server, is_waiting=True).exit_code == 0
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_results_that_end_midway_are_read_on_by_the_next_run(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    faults = [Fault(kind="drop-midway", endpoint="batch-results", requests=(1,))]
    with MessagesServer(says({}), faults=faults) as server:
        for _ in range(6):
            report = _ask(paths, wiki, server)
        assert (report.exit_code, report.waiting) == (0, [])
        assert set(_submitted(server).values()) == {1}
        assert set(_answered(wiki).values()) == {1}
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_a_batch_that_nobody_takes_is_one_line_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_RETRIES", 0)
    paths, wiki = _recordings(tmp_path / "t", 1), str(tmp_path / "wiki")
    with MessagesServer(says({}), faults=[Fault(kind="overloaded", endpoint="batch-create")]) as server:
        words = ["--wiki", wiki, "--engine", "anthropic", "--base-url", server.base_url, "--batch", "--json"]
        assert main(["ingest", *map(str, paths), *words]) == 2
    found = capsys.readouterr().err.splitlines()
    assert len(found) == 1
    assert found[0].endswith("; run again to go on")


def test_results_that_can_never_be_read_end_the_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_RETRIES", 0)
    faults = [Fault(kind="server-error", endpoint="batch-results")]
    paths, wiki = _recordings(tmp_path / "t", 1), tmp_path / "wiki"
    with MessagesServer(says({}), faults=faults) as server:
        with pytest.raises(RunError, match=r"500.*; run again to go on$"):
            _ask(paths, wiki, server, is_waiting=True)
        [found] = _ask(paths, wiki, server).batches
        assert "1 request (results not read: " in found
        assert set(_submitted(server).values()) == {1}


def test_a_batch_that_the_service_no_longer_has_is_reported_and_sent_again(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        [line] = _ask(paths, wiki, server).batches
        batches = anthropic.Anthropic(base_url=server.base_url, api_key="any").messages.batches
        batch_id = line.split(":")[0]
        assert batches.retrieve(batch_id).processing_status == "ended"
        batches.delete(batch_id)
        report = _ask(paths, wiki, server)
        assert [each for each in report.warnings if f"does not have {batch_id} any more; its 3 requests" in each]
        report = _ask(paths, wiki, server, is_waiting=True)
        assert (report.exit_code, report.waiting, report.warnings) == (0, [], [])
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_that_a_batch_has_ended_counts_also_from_the_file_of_a_run_that_began_before(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 1), tmp_path / "wiki"
    with MessagesServer(says({}), _SLOW) as server:
        _ask(paths, wiki, server)
        [noted] = [each for each in records(journal_folder(wiki), []) if each["kind"] == "batch"]
        ended = {"kind": "batch-ended", "batch": noted["batch"]}
        for endpoint, left in (("http://elsewhere", 1), (noted["endpoint"], 0)):
            earlier = json.dumps({**ended, "endpoint": endpoint}) + "\n"
            (journal_folder(wiki) / "20000101T000000.000000Z-1.jsonl").write_text(earlier, encoding="utf-8")
            queue = AnthropicEngine(wiki, AskingOptions(base_url=server.base_url, is_batched=True))
            queue.begin_round()
            assert len(queue.account().batches) == left, endpoint
            queue.close()


def test_an_endpoint_known_to_give_no_structure_is_asked_once_for_all_parts(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        journal = Journal(journal_folder(wiki))
        for model in ("claude-haiku-5-5", "claude-sonnet-5-5"):
            known = {"endpoint": server.base_url, "model": model, "structure": "prompt"}
            journal.append({"kind": "endpoint", **known})
        journal.close()
        report = _ask(paths, wiki, server, is_waiting=True)
        assert (report.exit_code, report.asked["total"]["calls"]) == (0, 6)
        bodies = [each["params"] for body in server.bodies("batch-create") for each in body["requests"]]
        assert not any("output_config" in body for body in bodies)


@pytest.mark.long
def test_a_batched_run_killed_before_any_record_continues_and_pays_nothing_twice(tmp_path: Path) -> None:
    paths = _recordings(tmp_path / "t", 2)
    wanted = undisturbed(len(paths))
    for at in range(0, 12, 2):
        wiki = tmp_path / f"killed-{at}"
        with MessagesServer(says({})) as server:
            ended = killed_run(paths, wiki, server, at, is_batched=True, is_waiting=True)
            report = _ask(paths, wiki, server, is_waiting=True)
            assert report.exit_code == 0, report.lines()
            assert ended == -signal.SIGKILL, f"not killed at {at}"
            assert set(_submitted(server).values()) == {1}, f"killed at {at}"
            assert set(_answered(wiki).values()) == {1}, f"killed at {at}"
        assert changed(wanted, tree(wiki)) == [], f"killed at {at}"


def test_two_processes_collect_a_batch_once(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server)
        words = ("ingest", "--wiki", wiki, "--engine", "anthropic", "--base-url", server.base_url, "--batch", "--wait")
        assert exit_codes(*[started_wiki(*words, "--model", *TWO_READERS, *paths) for _ in range(2)]) == [0, 0]
        assert set(_submitted(server).values()) == {1}
    assert set(_answered(wiki).values()) == {1}
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


def test_the_command_line_says_what_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths, wiki = _recordings(tmp_path / "t", 1), str(tmp_path / "wiki")
    with MessagesServer(says({}), _SLOW) as server:
        words = ["--wiki", wiki, "--engine", "anthropic", "--base-url", server.base_url, "--batch"]
        assert main(["ingest", *map(str, paths), *words]) == 0
        out = capsys.readouterr().out
    assert "batch: msgbatch_000001: 1 request under way; run again to collect it" in out
    assert "waiting: 1 question for a batch" in out


@pytest.mark.parametrize("engine", ["offline", "recorded"])
def test_an_engine_that_asks_nobody_refuses_batches(tmp_path: Path, engine: str) -> None:
    paths = _recordings(tmp_path / "t", 1)
    with pytest.raises(UsageError, match=f"--batch is for --engine anthropic: {engine} takes no batches"):
        ingest(paths, tmp_path / "wiki", engine, asking=AskingOptions(is_batched=True))
