"""Runs that ask all questions on a trajectory in one request: what is read, asked again, kept and made."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import journal_folder
from agent_wiki.asking.options import AskingOptions
from agent_wiki.pipeline.report import Report
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from tests.engines.answering import is_together, says
from tests.paid_runs import TWO_READERS, dated_recordings, digests
from tests.pipeline.agents import long_recording
from tests.wikis import arc, changed, ingest, rule, tree

_ALL = "summarize+extract-guidelines+synthesize-skill"


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, **options: Any) -> Report:
    asking = AskingOptions(base_url=server.base_url, **{"is_together": True, **options})
    return ingest(paths, wiki, "anthropic", asking=asking)


def _calls(report: Report) -> dict[str, int]:
    """The calls of each stage that made any."""
    return {stage: each["calls"] for stage, each in report.asked["stages"].items() if each["calls"]}


def test_a_recording_is_read_once_and_the_wiki_is_that_of_questions_one_by_one(tmp_path: Path) -> None:
    paths = dated_recordings(tmp_path / "t", 3)
    with MessagesServer(says({})) as server:
        assert _calls(_ask(paths, tmp_path / "wiki", server)) == {_ALL: 3}
        thorough = _ask(paths, tmp_path / "thorough", server, is_together=False)
    assert _calls(thorough) == {"summarize": 3, "extract-guidelines": 3, "synthesize-skill": 3}
    assert changed(tree(tmp_path / "thorough"), tree(tmp_path / "wiki")) == []
    journal = journal_folder(tmp_path / "wiki")
    assert ingest(paths, tmp_path / "replayed", f"recorded:{journal}").exit_code == 0


def test_what_was_asked_one_way_is_not_asked_again_the_other_way(tmp_path: Path) -> None:
    paths = dated_recordings(tmp_path / "t", 2)
    for first in (False, True):
        wiki = tmp_path / f"{first}"
        with MessagesServer(says({})) as server:
            _ask(paths, wiki, server, is_together=first)
            asked = len(server.bodies())
            for rewrite in (False, True):
                asking = AskingOptions(base_url=server.base_url, is_together=not first)
                assert ingest(paths, wiki, "anthropic", asking=asking, rewrite=rewrite).exit_code == 0
            assert len(server.bodies()) == asked


def test_only_the_part_that_does_not_stand_is_asked_for_again_and_alone(tmp_path: Path) -> None:
    invented = rule("Run the check before a change.", evidence=[{"turn": 2, "quote": "never said"}])

    def lessons(asked: Any) -> Any:
        return {"guidelines": [invented if is_together(asked) else rule("Run the check before a change.")]}

    with MessagesServer(says({"extract-guidelines": lessons})) as server:
        report = _ask(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
        again = server.bodies()[1]
    assert _calls(report) == {_ALL: 1, "extract-guidelines": 1}
    assert (report.guidelines_contributed, report.dropped_claims) == (1, [])
    question = again["messages"][0]["content"][-1]["text"]
    assert "Give the answer as `GuidelinesAnswer`" in question
    assert "never said" in json.dumps(again["messages"][2])


@pytest.mark.parametrize("missing", ["summarize", "extract-guidelines", "synthesize-skill"])
def test_a_part_that_is_missing_is_asked_for_by_its_own_question(tmp_path: Path, missing: str) -> None:
    own = {"summarize": {"arcs": [arc()]}, "extract-guidelines": {"guidelines": []}, "synthesize-skill": {}}[missing]
    with MessagesServer(says({missing: lambda asked: None if is_together(asked) else own})) as server:
        report = _ask(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
    assert report.exit_code == 0
    assert _calls(report)[missing] == 1


def test_where_no_answer_to_all_is_to_be_had_each_question_is_put_alone(tmp_path: Path) -> None:
    faults = [Fault(kind="truncation", text="questions are asked about the session above")]
    with MessagesServer(says({}), faults=faults) as server:
        report = _ask(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
    assert report.exit_code == 0, report.lines()
    assert _calls(report) == {_ALL: 1, "summarize": 1, "extract-guidelines": 1, "synthesize-skill": 1}


@pytest.mark.parametrize(("native", "tool", "requests"), [("refused", "honoured", 2), ("ignored", "refused", 3)])
def test_how_structure_is_asked_for_is_found_out_by_the_first_request(
    tmp_path: Path, native: Any, tool: Any, requests: int
) -> None:
    paths = dated_recordings(tmp_path / "t", 3)
    with MessagesServer(says({}), Endpoint(structured=native, forced_tools=tool)) as server:
        assert _ask(paths, tmp_path / "wiki", server, concurrency=1).exit_code == 0
        assert len(server.bodies()) == requests + 2


def test_a_stage_of_another_model_is_asked_for_itself(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        report = _ask(dated_recordings(tmp_path / "t", 2), tmp_path / "wiki", server, models=TWO_READERS)
    assert _calls(report) == {"summarize+extract-guidelines": 2, "synthesize-skill": 2}


def test_a_cap_stops_before_the_request_and_the_next_run_goes_on(tmp_path: Path) -> None:
    paths, wiki = dated_recordings(tmp_path / "t", 3), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        assert _ask(paths, wiki, server, max_usd=0.001).exit_code == 3
        assert server.bodies() == []
        assert _ask(paths, wiki, server, max_usd=0.1).exit_code == 0
        assert set(digests(server).values()) == {1}


def test_each_segment_of_a_long_session_is_read_once(tmp_path: Path) -> None:
    path = long_recording(tmp_path)
    unknown = {"summarize": {"arcs": [arc(outcome="unknown", outcome_turn=None)]}, "synthesize-skill": {"skill": None},
               "extract-guidelines": {"guidelines": []}}  # fmt: skip
    with MessagesServer(says(unknown)) as server:
        report = _ask([path], tmp_path / "wiki", server)
        first = Counter(
            body["messages"][0]["content"][0]["text"]
            for body in server.bodies()
            if len(body["messages"]) == 1 and len(body["messages"][0]["content"]) > 1
        )
    assert report.exit_code == 0, report.lines()
    assert len(first) == _calls(report)[_ALL] > 2


def test_of_a_segment_each_answer_is_wanted_so_that_none_is_asked_for_alone(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        _ask([long_recording(tmp_path)], tmp_path / "wiki", server)
        asked = [str(body["messages"][0]["content"][-1]["text"]) for body in server.bodies()]
    together = [text for text in asked if "# `SkillsAnswer`" in text]
    assert together
    assert all("`SkillsAnswer` has no skill, and the reason" in text for text in together)
    assert not any("`SkillsAnswer` is null" in text for text in together)
