"""Answers that an agent gives again, in place of others, in any order, by several at once, or right before a kill."""

from __future__ import annotations

import json
import os
import random
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import Journal, journal_folder
from agent_wiki.commands import main
from agent_wiki.wiki.page import parse_page
from tests.pipeline.agents import (
    NO_GUIDELINES,
    ONE_RULE,
    STAGES,
    SUMMARY,
    Wiki,
    answer_file,
    answers,
    kept_answers,
    long_recording,
    open_questions,
)
from tests.processes import exit_codes, started, started_wiki
from tests.wikis import arc, changed, ingest, record, tree


def test_the_same_answer_again_changes_nothing(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    for _ in range(2):
        assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    before = tree(tmp_path / "wiki")
    code, told = wiki("apply", "summary", path, answer=SUMMARY)
    assert (code, told["written"], changed(before, tree(tmp_path / "wiki"))) == (0, [], [])
    assert len(kept_answers(tmp_path)) == 1


def test_another_answer_replaces_the_first_and_opens_again_what_rested_on_it(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    assert wiki("apply", "guidelines", path, answer=ONE_RULE)[0] == 0
    assert wiki("prompt", "summary", path)[1]["is_answered"]
    assert wiki("apply", "summary", path, answer={"arcs": [arc("Mend the cart", outcome="partial")]})[0] == 0
    page = parse_page((tmp_path / "wiki" / "summaries" / "a.md").read_text(encoding="utf-8"), "a.md")
    assert (page.fields["goal"], page.fields["outcome"]) == ("Mend the cart", "partial")
    assert open_questions(wiki) == [("extract-guidelines", "a")]
    assert wiki("apply", "guidelines", path, answer=NO_GUIDELINES)[0] == 0
    assert not [name for name in tree(tmp_path / "wiki") if name.startswith("guidelines/run")]
    assert open_questions(wiki) == []


def test_a_shorter_recording_of_a_known_session_is_not_asked_about(tmp_path: Path, wiki: Wiki) -> None:
    short, long = record(tmp_path / "1", "a"), record(tmp_path / "2", "a", more=1)
    assert wiki("apply", "summary", long, answer=SUMMARY)[0] == 0
    code, told = wiki("apply", "summary", short, answer=SUMMARY)
    assert code == 1
    assert "longer recording of this session" in told["problems"][0]["reason"]


def test_an_answer_that_was_kept_but_not_written_is_written_by_the_next(tmp_path: Path, wiki: Wiki) -> None:
    """As when a process is killed between its journal record and its pages."""
    path = record(tmp_path, "a")
    assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    before = tree(tmp_path / "wiki")
    (tmp_path / "wiki" / "summaries" / "a.md").unlink()
    assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    assert changed(before, tree(tmp_path / "wiki")) == []
    assert len(kept_answers(tmp_path)) == 1


@pytest.mark.long
def test_in_any_order_and_by_eight_processes_at_once_the_same_bytes(tmp_path: Path, wiki: Wiki) -> None:
    paths = answers(tmp_path, wiki, 3)
    for request in [each["request"] for each in wiki("worklist")[1]["questions"]]:
        stage = next(each["stage"] for each in wiki("worklist")[1]["questions"] if each["request"] == request)
        answer: dict[str, Any] = {"clusters": []}
        if stage == "discover-tasks":
            answer = {"title": "Mend a cart", "intro": "The cart is to add up.", "tags": ["cart"]}
        assert wiki("apply", stage, "--request", request, answer=answer)[0] == 0
    assert open_questions(wiki) == []
    envelopes = [{"request": each["request"], "answer": json.loads(each["answer"])} for each in kept_answers(tmp_path)]
    assert len(envelopes) >= 9
    other = tmp_path / "other"
    first, later = envelopes[::3][:3], [each for each in envelopes if each not in envelopes[::3][:3]]
    random.Random(3).shuffle(later)
    assert exit_codes(started_wiki("worklist", *paths, "--wiki", other)) == [0]
    for batch in (first, later):
        while batch:  # what rests on an answer that is not there yet is refused, and comes again
            done = _applied_at_once(other, batch)
            assert any(done)
            batch = [envelope for envelope, is_done in zip(batch, done, strict=True) if not is_done]
    assert changed(tree(tmp_path / "wiki"), tree(other)) == []
    rebuilt = tmp_path / "rebuilt"
    report = ingest(paths, rebuilt, f"recorded:{journal_folder(other)}")
    assert report.exit_code == 0, report.lines()
    assert changed(tree(rebuilt), tree(other)) == []


def _applied_at_once(wiki: Path, envelopes: list[dict[str, Any]]) -> list[bool]:
    """Whether each answer was taken, by up to eight processes at a time."""
    taken = []
    for start in range(0, len(envelopes), 8):
        outputs = [wiki.parent / f"said-{number}" for number, _ in enumerate(envelopes[start : start + 8])]
        processes = [
            started_wiki("apply", "--wiki", wiki, stdin=json.dumps(envelope), output=output)
            for envelope, output in zip(envelopes[start:], outputs, strict=False)
        ]
        codes = exit_codes(*processes)
        assert set(codes) <= {0, 1}
        assert not any("Traceback" in output.read_text(encoding="utf-8") for output in outputs)
        taken += [code == 0 for code in codes]
    return taken


def test_a_session_of_several_segments_is_answered_segment_by_segment_and_then_as_one(
    tmp_path: Path, wiki: Wiki
) -> None:
    path = long_recording(tmp_path)
    segments = [each["request"] for each in wiki("worklist", path)[1]["questions"]]
    assert len(segments) > 2
    code, refused = wiki("apply", "summary", path, answer=SUMMARY)
    assert (code, "name one by --request" in refused["problems"][0]["reason"]) == (1, True)
    last = wiki("prompt", "summary", "--request", segments[-1])[1]
    assert "[T44]" in last["message"]
    outside = {"arcs": [arc(last=44)]}
    problems = wiki("apply", answer={"request": segments[-1], "answer": outside})[1]["problems"]
    assert any("turn 1 is not among the turns" in each["reason"] for each in problems)
    for request in segments:
        turns = [int(each) for each in re.findall(r"^\[T(\d+)\]", _message(wiki, request), re.MULTILINE)]
        own: dict[str, Any] = {"outcome": "unknown", "outcome_turn": None, "outcome_quote": None}
        answer = {"arcs": [arc(first=min(turns), last=max(turns), **own)]}
        assert wiki("apply", answer={"request": request, "answer": answer})[0] == 0
        assert not (tmp_path / "wiki" / "summaries").is_dir() or not list(
            (tmp_path / "wiki" / "summaries").glob("a*.md")
        )
    (merging,) = wiki("worklist")[1]["questions"]
    assert merging["stage"] == "summarize"
    assert wiki("apply", "summary", path, answer={"arcs": [arc(last=44)]})[0] == 0
    assert (tmp_path / "wiki" / "summaries" / "a.md").is_file()
    assert wiki("prompt", "summary", path)[1]["request"] == merging["request"]


def _message(wiki: Wiki, request: str) -> str:
    return str(wiki("prompt", "summary", "--request", request)[1]["message"])


def test_killed_behind_its_journal_record_an_answer_is_not_lost(tmp_path: Path, wiki: Wiki) -> None:
    path, other = record(tmp_path, "a"), tmp_path / "other"
    words = ["apply", "summary", str(path), "--answer", str(answer_file(tmp_path, SUMMARY)), "--wiki", str(other)]
    assert exit_codes(started(_append_and_die, *words)) == [-signal.SIGKILL]
    assert _has_answer(other)
    assert ingest([path], other, "recorded", stages=("summarize", "catalog")).exit_code == 0
    assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    pages = ("summaries/a.md", "_config.yaml", "index.md")
    assert [tree(other)[page] for page in pages] == [tree(tmp_path / "wiki")[page] for page in pages]


def _append_and_die(*words: str) -> None:
    append = Journal.append

    def once(journal: Journal, record: dict[str, Any]) -> None:
        append(journal, record)
        if record["kind"] == "answer":
            os.kill(os.getpid(), signal.SIGKILL)

    pytest.MonkeyPatch().setattr(Journal, "append", once)
    main(list(words))


def _has_answer(wiki: Path) -> bool:
    return any(b'"kind": "answer"' in each.read_bytes() for each in journal_folder(wiki).glob("*.jsonl"))


def test_a_skill_is_asked_for_again_where_other_lessons_were_given(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    for stage, answer in zip(STAGES, (SUMMARY, ONE_RULE, {"skill": None, "reason": "no"}), strict=True):
        assert wiki("apply", stage, path, answer=answer)[0] == 0
    assert open_questions(wiki) == []
    assert wiki("apply", "guidelines", path, answer=NO_GUIDELINES)[0] == 0
    assert open_questions(wiki) == [("synthesize-skill", "a")]
