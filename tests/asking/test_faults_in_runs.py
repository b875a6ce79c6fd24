"""All that the test server can do wrong, met by whole runs: nothing that arrived is lost, and the wiki is the same."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.errors import RunError
from agent_wiki.pipeline.report import Report
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from agent_wiki_testing.faults import ANSWER_KINDS, STATUS_KINDS, ConnectionKind
from tests.engines.answering import says
from tests.paid_runs import TWO_READERS, dated_recordings, digests, killed_run, undisturbed
from tests.wikis import changed, ingest, tree

_ONE_BY_ONE: dict[str, Any] = {"is_together": False, "models": TWO_READERS}
_PASSING = (*get_args(ConnectionKind), *STATUS_KINDS, "latency", "fenced")
_ENDINGS = {
    "refusal": "refused to answer",
    "truncation": "was cut off at",
    "context-window": "does not fit the context window",
}


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, **options: Any) -> Report:
    asking = AskingOptions(base_url=server.base_url, **{"concurrency": 3, **_ONE_BY_ONE, **options})
    return ingest(paths, wiki, "anthropic", asking=asking)


def _recordings(folder: Path, number: int = 3) -> list[Path]:
    return dated_recordings(folder, number)


def _answers(wiki: Path) -> list[dict[str, Any]]:
    return [each for each in records(journal_folder(wiki), []) if each["kind"] == "answer"]


def test_every_kind_of_fault_is_met_by_a_test_of_this_file() -> None:
    assert {*_PASSING, *_ENDINGS, "malformed", "schema-breaking"} == {
        *get_args(ConnectionKind), *STATUS_KINDS, *ANSWER_KINDS, "latency"
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", _PASSING)
def test_what_passes_changes_nothing(tmp_path: Path, kind: Any) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    faults = [Fault(kind=kind, every=3, attempts=() if kind in ("latency", "fenced") else (1,), seconds=0)]
    with MessagesServer(says({}), Endpoint(latency_seconds=0.005), faults=faults) as server:
        report = _ask(paths, wiki, server)
        assert report.exit_code == 0, report.lines()
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


@pytest.mark.parametrize("kind", ["malformed", "schema-breaking"])
def test_what_does_not_fit_is_asked_for_once_more_and_then_fits(tmp_path: Path, kind: Any) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({}), faults=[Fault(kind=kind, requests=(4, 6))]) as server:
        report = _ask(paths, wiki, server, concurrency=1)
        assert (report.exit_code, len(server.bodies())) == (0, 11)
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


@pytest.mark.parametrize("kind", _ENDINGS)
def test_what_ends_without_an_answer_fails_that_question_with_its_reason_and_no_other(
    tmp_path: Path, kind: Any
) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    faults = [Fault(kind=kind, text="Give the answer as `GuidelinesAnswer`", requests=(2, 5, 8))]
    with MessagesServer(says({}), faults=faults) as server:
        report = _ask(paths, wiki, server, concurrency=1)
    assert report.exit_code == 1
    assert 1 <= len(report.failures) <= 3
    assert all(_ENDINGS[kind] in str(failure) and "extract-guidelines" in str(failure) for failure in report.failures)
    assert report.pages["summary pages"] == 3, "the summaries that were paid for stand"
    assert report.skills_contributed == 3


def test_all_of_it_at_once_and_run_again_until_it_is_done(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 2), tmp_path / "wiki"
    kinds: list[Any] = [*get_args(ConnectionKind), "server-error"]
    faults = [Fault(kind=kind, probability=0.15) for kind in kinds]
    with MessagesServer(says({}), Endpoint(latency_seconds=0.005), faults=faults, seed=7) as server:
        for _ in range(30):
            try:
                report = _ask(paths, wiki, server)
            except RunError:  # an unreachable server ends a run
                continue
            if report.exit_code == 0:
                break
        assert report.exit_code == 0, report.lines()
    assert set(Counter(each["request"] for each in _answers(wiki)).values()) == {1}
    assert changed(undisturbed(len(paths)), tree(wiki)) == []


@pytest.mark.long
@pytest.mark.parametrize("asking", [_ONE_BY_ONE, {"is_together": True, "models": ()}], ids=["one by one", "together"])
def test_killed_before_one_record_after_the_other_the_next_run_asks_only_what_was_in_flight(
    tmp_path: Path, asking: dict[str, Any]
) -> None:
    paths = _recordings(tmp_path / "t", 3)
    with MessagesServer(says({})) as server:
        assert _ask(paths, tmp_path / "clean", server, **asking).exit_code == 0
        prompts = set(digests(server))
    wanted = tree(tmp_path / "clean")
    for at in (0, 1, 3, 5, 7, 9, 10, 12):
        wiki = tmp_path / f"killed-{at}"
        with MessagesServer(says({}), Endpoint(latency_seconds=0.01)) as server:
            ended = killed_run(paths, wiki, server, at, concurrency=3, **asking)
            if ended == 0:
                break
            assert ended == -signal.SIGKILL
        journaled = {each["request"] for each in _answers(wiki)}
        # of another server: what the killed run had sent may arrive at its own when the next run has begun
        with MessagesServer(says({}), Endpoint(latency_seconds=0.01)) as then:
            report = _ask(paths, wiki, then, **asking)
            assert report.exit_code == 0, report.lines()
            assert {*digests(server), *digests(then)} == prompts, "the same prompts on the wire, before and after"
            assert len(then.bodies()) == len(prompts - journaled), f"killed at {at}"
        assert set(Counter(each["request"] for each in _answers(wiki)).values()) == {1}
        assert changed(wanted, tree(wiki)) == [], f"killed at {at}"
    assert at >= 9, "up to the last answer"
