"""Long sessions over the wire: previews that are on disk first, segments, one answer of several, and coverage."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import BaseModel

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.transcript import Segment
from agent_wiki.commands import main
from agent_wiki.engine import Problem
from agent_wiki.engines.prompting import SegmentQuestion
from agent_wiki.pipeline.report import Report
from agent_wiki.trajectory import Message, Source, Trajectory
from agent_wiki.wiki.page import parse_page
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from agent_wiki_testing.answers import Asked
from tests.engines.answering import engine_at, says
from tests.engines.long_sessions import SMALL, small_limits
from tests.paid_runs import TWO_READERS, digests, killed_run
from tests.wikis import arc, changed, ingest, rule, tree

_PORTS = ("8080", "9090")
_SHOWN = re.compile(r"^shown: turns (\d+) to (\d+)$", re.MULTILINE)
_LABEL = re.compile(r"^\[T(\d+)\] ", re.MULTILINE)
_WHOLE = re.compile(r"the whole is (\.wiki/tool-results/[0-9a-f]{32}\.txt) of the wiki")


def _record(folder: Path, name: str = "long", turns: int = 60, result: str = "fine") -> Path:
    """A session of words: about 1,000 bytes a turn, and one result."""
    call = {"id": f"{name}-1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Which port does the server listen on?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"{name}-1", "content": result},
    ]
    for at in range(4, turns + 1):
        role = "assistant" if at % 2 else "user"
        messages.append({"role": role, "content": f"{name}, turn {at}: the port is {_PORTS[at > turns // 2]}. " * 24})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    envelope = {"model": "m", "timestamp": "2026-01-01T10:00:00Z", "session_id": name, "messages": messages}
    path.write_text(json.dumps(envelope), encoding="utf-8")
    return path


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, **options: Any) -> Report:
    asking = AskingOptions(base_url=server.base_url, **{"is_together": False, "models": TWO_READERS, **options})
    return ingest(paths, wiki, "anthropic", asking=asking)


def _span(text: str) -> tuple[int, int] | None:
    found = _SHOWN.search(text)
    return (int(found[1]), int(found[2])) if found else None


def _is_merging(asked: Asked) -> bool:
    return "Below are the answers to the" in asked.text


def _summary(asked: Asked) -> Any:
    """Of a segment, the state as its last turn tells it; of several answers, the last one's."""
    if _is_merging(asked):
        parts = [json.loads(line) for line in asked.text.splitlines() if line.startswith('{"arcs"')]
        assert len(parts) >= 2
        return {"arcs": [{**parts[-1]["arcs"][0], "first_turn": parts[0]["arcs"][0]["first_turn"]}]}
    first, last = _span(asked.text) or (1, max(map(int, _LABEL.findall(asked.text))))
    turns = asked.text.split(f"\n[T{last}] ")[-1]
    port = next(port for port in _PORTS if port in turns)
    notes = [{"turn": last, "text": f"The port is {port}."}]
    return {"arcs": [arc(f"Find the port ({port})", first, last, narrative=f"It is {port}.", key_turns=notes)]}


ANSWERS = {"summarize": _summary, "extract-guidelines": {"guidelines": []}, "synthesize-skill": {"skill": None}}


def _first_block(body: Any) -> str:
    return str(body["messages"][0]["content"][0]["text"])


def test_a_state_that_was_superseded_does_not_survive_beside_the_final_one(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t")], small_limits(tmp_path / "wiki")
    with MessagesServer(says(ANSWERS)) as server:
        report = _ask(paths, wiki, server)
        assert report.exit_code == 0, report.lines()
        merging = [body for body in server.bodies() if "Below are the answers" in _first_block(body)]
    page = (wiki / "summaries" / "long.md").read_text(encoding="utf-8")
    assert "(9090)" in page
    assert "It is 9090." in page
    assert "(8080)" not in page
    assert "It is 8080." not in page
    told = _first_block(merging[0])
    assert all(f"Find the port ({port})" in told for port in _PORTS), "the merging question shows both"
    assert "does not stand beside" in told
    assert "You make one answer of these." in json.dumps(merging[0]["system"])


def test_every_turn_is_sent_in_segments_that_share_a_turn_and_nothing_is_elided(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t")], small_limits(tmp_path / "wiki")
    with MessagesServer(says(ANSWERS)) as server:
        report = _ask(paths, wiki, server)
        summaries = [
            body for body in server.bodies() if "`SummaryAnswer`" in body["messages"][0]["content"][-1]["text"]
        ]
        shown = {span: text for body in summaries if (span := _span(text := _first_block(body)))}
    spans = sorted(shown)
    assert (spans[0][0], spans[-1][1]) == (1, 60)
    assert [after[0] for after in spans[1:]] == [before[1] for before in spans[:-1]]
    for (first, last), text in shown.items():
        assert sorted(set(map(int, _LABEL.findall(text)))) == list(range(first, last + 1))
        assert len(text.encode()) <= SMALL["segment_bytes"] + 2_000
    assert report.coverage["elided_characters"] == 0
    assert report.coverage["seen_characters"] == report.coverage["trajectory_characters"] > 40_000


def test_all_questions_send_each_segment_with_the_same_bytes_first(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t", result="r" * 9_000)], small_limits(tmp_path / "wiki")
    with MessagesServer(says(ANSWERS)) as server:
        _ask(paths, wiki, server, models=("claude-haiku-5-5",))
        prefixes = Counter(_first_block(body) for body in server.bodies() if _span(_first_block(body)))
        billed = [each.usage for each in server.ledger.billed]
    assert len(prefixes) >= 3
    assert len(set(prefixes.values())) == 1, "as often as questions are put on the session"
    assert prefixes.total() >= 2 * len(prefixes)
    assert sum(each.cache_read_input_tokens for each in billed) > 0.9 * sum(each.written_tokens() for each in billed)


def test_the_whole_is_on_disk_and_recorded_before_a_request_shows_a_preview(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t", turns=6, result="r\n" * 9_000)], small_limits(tmp_path / "wiki")
    seen: list[str] = []

    def looking(asked: Asked) -> Any:
        place = _WHOLE.search(asked.text)
        assert place is not None
        assert (wiki / place[1]).read_text(encoding="utf-8") == "r\n" * 9_000
        (record,) = [each for each in records(journal_folder(wiki), []) if each["kind"] == "tool-result"]
        assert record["toolUseId"] == "long-1"
        assert f"[T3] result of #1 Bash: {record['replacement']}\n[T4] " in asked.text
        seen.append(asked.digest)
        return _summary(asked)

    with MessagesServer(says({**ANSWERS, "summarize": looking})) as server:
        report = _ask(paths, wiki, server)
    assert (report.exit_code, len(seen)) == (0, 1)
    page = parse_page((wiki / "summaries" / "long.md").read_text(encoding="utf-8"), "page")
    told = page.fields["coverage"]
    assert told["seen_characters"] + told["elided_characters"] == told["trajectory_characters"]
    assert told["elided_characters"] > 10_000
    assert dict(report.coverage) == told
    assert report.to_json()["coverage"] == told
    (line,) = [line for line in report.lines() if line.startswith("seen:")]
    assert f"{told['elided_characters']:,} elided" in line


def test_an_answer_outside_of_its_segment_goes_back_with_the_reason(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t")], small_limits(tmp_path / "wiki")

    def straying(asked: Asked) -> Any:
        span = _span(asked.text)
        if span and span[0] > 1 and "does not stand" not in asked.question:
            return {"arcs": [arc(first=1, last=span[1])]}
        return _summary(asked)

    with MessagesServer(says({**ANSWERS, "summarize": straying})) as server:
        report = _ask(paths, wiki, server)
        complaints = [body["messages"][-1]["content"] for body in server.bodies() if len(body["messages"]) > 1]
        segments = [span for body in server.bodies() if (span := _span(_first_block(body)))]
    assert report.exit_code == 0
    first, last = sorted(set(segments))[1]
    assert any(f"turn 1 is not among the turns {first} to {last} that were shown" in each for each in complaints)
    assert len(complaints) == len(set(segments)) - 1
    assert "9090" in (wiki / "summaries" / "long.md").read_text(encoding="utf-8")


def test_a_batch_has_every_segment_at_once(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t")], small_limits(tmp_path / "wiki")
    with MessagesServer(says(ANSWERS)) as server:
        for _ in range(6):  # structure found out, segments, merging; twice
            report = _ask(paths, wiki, server, is_batched=True)
            if report.exit_code == 0 and not report.waiting:
                break
        batches = [batch["requests"] for batch in server.bodies("batch-create")]
    spans = [[_span(_first_block(each["params"])) for each in requests] for requests in batches]
    first = next(each for each in spans if None not in each)
    assert len(first) == len(set(first)) == 3
    assert "(9090)" in (wiki / "summaries" / "long.md").read_text(encoding="utf-8")


def test_a_segment_without_an_answer_fails_the_session_and_the_others_are_kept(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t")], small_limits(tmp_path / "wiki")
    refusal = Fault(kind="refusal", text="shown: turns 1 to")
    with MessagesServer(says(ANSWERS), faults=[refusal]) as server:
        report = _ask(paths, wiki, server)
        assert report.exit_code == 1
        assert (report.failures[0].unit, report.failures[0].stage) == ("long", "summarize")
        assert not (wiki / "summaries" / "long.md").exists()


@pytest.mark.long
def test_whatever_order_and_concurrency_the_wiki_is_the_same(tmp_path: Path) -> None:
    paths = [_record(tmp_path / "t", name, turns, "r" * 9_000) for name, turns in (("a", 60), ("b", 90), ("c", 8))]
    trees = []
    for name, ordered, concurrency in (("x", paths, 1), ("y", paths[::-1], 8)):
        wiki = small_limits(tmp_path / name)
        with MessagesServer(says(ANSWERS)) as server:
            assert _ask(ordered, wiki, server, concurrency=concurrency).exit_code == 0
        trees.append(tree(wiki))
        kept = sorted(path.name for path in (wiki / ".wiki" / "tool-results").iterdir())
        assert len(kept) == 1, "one text under three ids"
    assert changed(trees[0], trees[1]) == []


def test_too_small_a_coverage_fails_a_session_before_anything_is_asked_about_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [_record(tmp_path / "t", "elided", 4, "r" * 30_000), _record(tmp_path / "t", "whole", 20)]
    wiki = small_limits(tmp_path / "wiki")
    words = ["ingest", *map(str, paths), "--wiki", str(wiki), "--engine", "anthropic"]
    with MessagesServer(says(ANSWERS)) as server:
        words += ["--base-url", server.base_url, "--min-coverage", "0.9"]
        assert main([*words, "--json"]) == 1
        assert not any("elided" in _first_block(body) for body in server.bodies())
        assert server.bodies()
        told = json.loads(capsys.readouterr().out)
        assert main([*words[:-1], "0"]) == 0
    (failure,) = told["failures"]
    assert failure["unit"] == "elided"
    assert re.search(
        r"^a model would see [\d,]+ of [\d,]+ characters \(\d+\.\d%\), less than --min-cov", failure["reason"]
    )
    assert told["sessions"] == {"failed": 1, "mined": 1}
    assert told["coverage"]["elided_characters"] == 0
    assert "seen:  " in capsys.readouterr().out
    assert {path.stem for path in (wiki / "summaries").glob("*.md")} == {"elided", "index", "whole"}


def test_a_place_for_results_that_cannot_be_used_ends_the_run_before_a_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _record(tmp_path / "t", result="r" * 9_000)
    (tmp_path / "outside").mkdir()
    with MessagesServer(says(ANSWERS)) as server:
        for name, told in (("file", "a long tool result cannot be kept"), ("link", "could lead out of it")):
            wiki = small_limits(tmp_path / name)
            place = wiki / ".wiki" / "tool-results"
            place.parent.mkdir()
            if name == "file":
                place.write_text("in the way", encoding="utf-8")
            else:
                place.symlink_to(tmp_path / "outside")
            words = ["ingest", str(path), "--wiki", str(wiki), "--engine", "anthropic", "--base-url", server.base_url]
            assert main(words) == 2
            assert told in capsys.readouterr().err
            assert server.received == []
        assert main([*words, "--no-journal"]) == 0
    assert list((tmp_path / "outside").iterdir()) == []
    assert not (tmp_path / "link" / ".wiki" / "journal").exists()


@pytest.mark.long
@pytest.mark.parametrize("at", [1, 3, 10, 15])
def test_killed_anywhere_and_with_other_limits_the_same_bytes_go_on_the_wire(tmp_path: Path, at: int) -> None:
    paths = [_record(tmp_path / "t", name, 40, f"{name}\n" * 5_000) for name in "ab"]
    with MessagesServer(says(ANSWERS)) as server:
        _ask(paths, small_limits(tmp_path / "whole"), server)
        wanted = set(digests(server))
    wiki = small_limits(tmp_path / "wiki")
    with MessagesServer(says(ANSWERS)) as server:
        options = {"is_together": False, "models": TWO_READERS}
        assert killed_run(paths, wiki, server, at, concurrency=2, **options) == -signal.SIGKILL
        journaled = [each for each in records(journal_folder(wiki), []) if each["kind"] == "answer"]
        shown = [each for each in records(journal_folder(wiki), []) if each["kind"] == "segments"]
        if len(shown) == 2:  # else what was not decided goes by the limits of its day
            small_limits(wiki, result_characters=100_000, turn_characters=500_000, segment_bytes=500_000)
        _ask(paths, wiki, server)
        after = digests(server)
    assert set(after) == wanted, "the same requests, before and after"
    assert all(after[each["request"]] == 1 for each in journaled)
    assert changed(tree(tmp_path / "whole"), tree(wiki)) == ([] if len(shown) < 2 else ["models.yaml"])


def test_rules_of_all_segments_reach_the_question_that_makes_them_one(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t")], small_limits(tmp_path / "wiki")

    def learns(asked: Asked) -> Any:
        if _is_merging(asked):
            assert "Rule of 1." in asked.text
            return {"guidelines": [rule("The rule of all.", evidence=[{"turn": 1, "quote": "Which port"}])]}
        first, _ = _span(asked.text) or (0, 0)
        return {"guidelines": [rule(f"Rule of {first}.", evidence=[{"turn": first, "quote": "port"}])]}

    with MessagesServer(says({**ANSWERS, "extract-guidelines": learns})) as server:
        report = _ask(paths, wiki, server)
    assert report.pages["guideline pages"] == 1
    (page,) = [each for each in (wiki / "guidelines").glob("*.md") if not each.name.startswith(("_", "index"))]
    assert "The rule of all." in page.read_text(encoding="utf-8")


def test_with_a_given_engine_its_coverage_is_reported(tmp_path: Path) -> None:
    small_limits(tmp_path)
    trajectory = Trajectory("s", Source("test"), [Message("tool", "r" * 9_000, tool_call_id="c")])
    with MessagesServer(says(ANSWERS)) as server, engine_at(server, tmp_path) as engine:
        coverage = engine.coverage(trajectory)
        assert server.received == []
    assert coverage.trajectory_characters == 9_000
    assert 7_000 < coverage.elided_characters < 9_000


@pytest.mark.long
def test_the_segments_of_one_session_are_read_side_by_side(tmp_path: Path) -> None:
    paths, wiki = [_record(tmp_path / "t", turns=90)], small_limits(tmp_path / "wiki")
    with MessagesServer(says(ANSWERS), Endpoint(latency_seconds=0.1)) as server:
        assert _ask(paths, wiki, server, concurrency=3).exit_code == 0
        assert 2 <= server.ledger.most_in_flight <= 3


def test_that_nobody_says_why_is_no_turn_outside_of_the_segment() -> None:
    class Answer(BaseModel):
        reason_turn: int

    class Whole:
        answer_type = Answer
        stage = "extract-guidelines"

        def fields(self) -> dict[str, Any]:
            return {}

        def problems(self, answer: Answer) -> list[Problem]:  # noqa: ARG002
            return []

    question: Any = SegmentQuestion(cast(Any, Whole()), Segment(9, 20, 2, 3))
    assert question.problems(Answer(reason_turn=0)) == []
    assert [each.reason for each in question.problems(Answer(reason_turn=8))] == [
        "turn 8 is not among the turns 9 to 20 that were shown"
    ]
