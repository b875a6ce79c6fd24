"""What a run would come to, told before it: against what the loopback server then bills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.journal import journal_folder
from agent_wiki.commands import main
from agent_wiki.engines.cache_forecast import pieces_of
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.estimate import estimate, habits_of
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.token_counts import PROMPT_TOKENS
from agent_wiki.stages.order import stage_named
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from agent_wiki_testing.answers import Asked
from agent_wiki_testing.tokens import prompt_blocks
from tests.engines.answering import says, shaped, stage_of
from tests.paid_runs import dated_recordings
from tests.pipeline.estimates import asking_options, billed_run, calls_of, estimated, input_tokens
from tests.wikis import ingest, record


def _recordings(folder: Path, number: int = 3) -> list[Path]:
    return dated_recordings(folder, number)


def test_an_estimate_needs_no_key_sends_nothing_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_wiki.engines.anthropic_api.service._client", None)
    made = estimated(_recordings(tmp_path / "t"), tmp_path / "wiki")
    assert calls_of(made) == {"summarize": 3, "extract-guidelines": 3, "synthesize-skill": 3}
    assert (made.exit_code, made.total().answered) == (0, 0)
    assert not (tmp_path / "wiki").exists()


def test_an_estimate_leaves_a_wiki_that_is_there_as_it_is(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        billed_run(paths[:1], wiki, server)
        before = {path: path.read_bytes() for path in sorted(wiki.rglob("*")) if path.is_file()}
        asked = len(server.bodies())
        estimated(paths, wiki, server.base_url, is_exact=True)
        assert len(server.bodies()) == asked
    assert {path: path.read_bytes() for path in sorted(wiki.rglob("*")) if path.is_file()} == before


def test_a_finished_wiki_has_nothing_to_ask(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        billed_run(paths, wiki, server)
    made = estimated(paths, wiki)
    assert made.total().calls == 0
    assert "nothing to ask: it costs nothing" in made.lines()


def test_what_the_journal_answers_is_counted_apart_and_costs_nothing(tmp_path: Path) -> None:
    paths, wiki, other = _recordings(tmp_path / "t"), tmp_path / "wiki", tmp_path / "other"
    with MessagesServer(says({})) as server:
        billed_run(paths[:2], wiki, server)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    made = estimated(paths, other)
    assert {stage: (sums.answered, sums.calls) for stage, sums in made.stages.items()} == {
        "summarize": (2, 1),
        "extract-guidelines": (2, 1),
        "synthesize-skill": (2, 1),
    }
    assert estimated(paths, other, is_journaled=False).total().answered == 0


def test_an_answer_of_another_model_is_none_of_this_one(tmp_path: Path) -> None:
    paths, wiki, other = _recordings(tmp_path / "t", 1), tmp_path / "wiki", tmp_path / "other"
    with MessagesServer(says({})) as server:
        billed_run(paths, wiki, server)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    made = estimated(paths, other, models=("extract-guidelines=claude-opus-5-5",))
    assert (made.stages["summarize"].answered, made.stages["extract-guidelines"].calls) == (1, 1)


def test_an_invalid_answer_fails_as_it_would_in_the_run(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 2), tmp_path / "wiki"
    with MessagesServer(says({}), faults=[Fault(kind="refusal", text="The cart of session-1")]) as server:
        report = billed_run(paths, wiki, server)
        made = estimated(paths, wiki)
        calls = len(server.bodies())
        assert billed_run(paths, wiki, server).exit_code == report.exit_code == 1
        assert len(server.bodies()) - calls == made.total().calls == 0
    assert made.exit_code == 1
    assert made.report.failures[0].unit == "session-1"


def test_one_stage_alone_is_estimated_alone(tmp_path: Path) -> None:
    made = estimated(_recordings(tmp_path / "t"), tmp_path / "wiki", stages=("summarize", "catalog"))
    assert calls_of(made) == {"summarize": 3}
    assert made.total().possible_calls == 0


def test_a_skill_that_a_model_may_be_asked_for_counts_at_most(tmp_path: Path) -> None:
    paths = _recordings(tmp_path / "t")
    for path in paths:  # the embedded engine says `failure`, a model here `success`
        told = json.loads(path.read_text(encoding="utf-8"))
        told["messages"].append({"role": "user", "content": "No, that is wrong. The cart still does not add up."})
        path.write_text(json.dumps(told), encoding="utf-8")
    made = estimated(paths, tmp_path / "wiki")
    skills = made.stages["synthesize-skill"]
    assert (skills.calls, skills.possible_calls, skills.cost_usd) == (0, 3, 0.0)
    assert skills.possible_cost_usd is not None
    assert skills.most_cost_usd is not None
    assert f"up to 3 more did (${skills.possible_cost_usd:.4f})" in "\n".join(made.lines())
    with MessagesServer(says({})) as server:
        report = billed_run(paths, tmp_path / "wiki", server)
    assert report.asked["stages"]["synthesize-skill"]["calls"] == 3
    billed = report.asked["stages"]["synthesize-skill"]["cost_usd"]
    assert billed < skills.possible_cost_usd < skills.most_cost_usd


def test_a_long_session_is_counted_by_segments_and_what_makes_them_one(tmp_path: Path) -> None:
    path, wiki = record(tmp_path / "t", "long", more=400), tmp_path / "wiki"
    wiki.mkdir()
    (wiki / "models.yaml").write_text("limits: {segment_bytes: 20000}\n", encoding="utf-8")
    made = estimated([path], wiki)
    calls = made.stages["summarize"].calls
    assert calls > 2
    with MessagesServer(_in_segments) as server:
        report = billed_run([path], wiki, server, models=("claude-haiku-5-5",))
        stages = report.asked["stages"]
    assert stages["summarize"]["calls"] == calls == made.stages["extract-guidelines"].calls
    assert stages["extract-guidelines"]["calls"] == calls - 1, "segments without a lesson are one answer by themselves"


def _in_segments(asked: Asked) -> Any:
    """Answers that stand in whatever turns are shown."""
    stage = stage_of(asked)
    if stage != "summarize":
        return shaped(asked, {"guidelines": []} if stage == "extract-guidelines" else {"skill": None, "reason": "x"})
    turns = [int(line[2 : line.index("]")]) for line in asked.text.splitlines() if line.startswith("[T")]
    told = {"slug": "", "goal": "g", "outcome": "unknown", "narrative": "n", "key_turns": []}
    first, last = (turns[0], turns[-1]) if turns else (1, 804)
    return shaped(asked, {"arcs": [{**told, "first_turn": first, "last_turn": last}]})


def test_a_model_without_a_price_has_tokens_and_no_cost(tmp_path: Path) -> None:
    made = estimated(_recordings(tmp_path / "t"), tmp_path / "wiki", models=("summarize=my-own",))
    told = made.to_json()
    assert told["stages"]["summarize"]["input_tokens"] > 0
    assert told["stages"]["summarize"]["cost_usd"] is told["total"]["cost_usd"] is None
    assert told["stages"]["extract-guidelines"]["cost_usd"] > 0
    assert told["unpriced_models"] == ["my-own"]
    assert "no price for my-own: its cost is unknown" in told["notes"]
    assert any("unknown" in line for line in made.lines())


def test_a_cap_on_a_model_without_a_price_is_refused_as_in_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--max-usd needs a price for my-own"):
        estimated(_recordings(tmp_path / "t"), tmp_path / "wiki", models=("my-own",), max_usd=1.0)


def test_where_the_endpoint_is_known_to_want_the_schema_in_the_prompt_it_is_counted_there(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 3), tmp_path / "wiki"
    stages = ("summarize", "catalog")
    with MessagesServer(says({}), Endpoint(structured="refused")) as server:
        asking = asking_options(base_url=server.base_url, concurrency=1)
        ingest(paths[:1], wiki, "anthropic", stages=stages, asking=asking)
        made = estimated(paths, wiki, server.base_url, is_exact=True, stages=stages)
        billed = ingest(paths, wiki, "anthropic", stages=stages, asking=asking).asked["total"]
    assert (made.total().calls, input_tokens(made.total())) == (2, sum(billed[kind] for kind in PROMPT_TOKENS))


@pytest.mark.parametrize(
    ("max_usd", "code", "says_so"),
    [(0.0, 3, "does not fit"), (0.06, 0, "fits as expected"), (50.0, 0, "fits, at most as well")],
)
def test_with_a_cap_the_estimate_says_whether_the_run_fits(
    max_usd: float, code: int, says_so: str, tmp_path: Path
) -> None:
    made = estimated(_recordings(tmp_path / "t"), tmp_path / "wiki", max_usd=max_usd)
    assert made.exit_code == code
    assert says_so in made.lines()[-1]


def test_what_a_batch_asks_in_one_request_is_counted_as_one_at_half_price(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 8), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        billed_run(paths[:6], wiki, server, is_batched=True, is_waiting=True)
        server.clock.advance(7_200)  # nothing is kept of what that wrote
        made = estimated(paths, wiki, server.base_url, is_batched=True, is_exact=True)
        report = billed_run(paths, wiki, server, is_batched=True, is_waiting=True)
    assert made.stages["synthesize-skill"].calls == 2
    told, billed = made.stages["summarize+extract-guidelines"], report.asked["stages"]["summarize+extract-guidelines"]
    assert (told.calls, input_tokens(told)) == (2, sum(billed[kind] for kind in PROMPT_TOKENS))
    assert told.cost_usd == pytest.approx(billed["cost_usd"], rel=0.02)
    assert "summarize" not in made.stages
    assert any("as batches, at 0.5 of the price" in line for line in made.lines())


def test_what_a_batch_has_answered_is_in_the_journal_for_each_of_its_questions(tmp_path: Path) -> None:
    paths, wiki, other = _recordings(tmp_path / "t", 2), tmp_path / "wiki", tmp_path / "other"
    with MessagesServer(says({})) as server:
        billed_run(paths, wiki, server, is_batched=True, is_waiting=True)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    for is_batched in (False, True):
        assert estimated(paths, other, is_batched=is_batched).total().calls == 0


def test_what_waits_in_a_batch_is_not_counted_again(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 3), tmp_path / "wiki"
    with MessagesServer(says({}), Endpoint(batch_seconds=3_600)) as server:
        billed_run(paths[:2], wiki, server, is_batched=True)
        made = estimated(paths, wiki, server.base_url, is_batched=True)
        assert "2 requests in batches that were sent before: not counted again" in made.all_notes()
        sums = made.stages["summarize+extract-guidelines"]
        assert (sums.calls, sums.waiting) == (1, 2)
        assert estimated(paths, wiki, server.base_url).total().calls == 9, "without --batch they are asked again"


def test_a_server_that_does_not_count_is_reported_once_and_bytes_are_used(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(endpoint=Endpoint(has_count_tokens=False)) as server:
        made = estimated(paths, wiki, server.base_url, is_exact=True, concurrency=1)
        assert len(server.received) == 1
    assert not made.is_exact
    assert [note for note in made.all_notes() if "does not count tokens" in note] == made.all_notes()[:1]
    assert made.total() == estimated(paths, wiki).total()


def test_counting_survives_what_a_service_does_when_it_is_busy(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer() as server:
        calm = estimated(paths, wiki, server.base_url, is_exact=True)
        few = len(server.bodies("count-tokens"))
    faults = [Fault(kind="rate-limit", every=4, seconds=0, endpoint="count-tokens")]
    with MessagesServer(faults=faults) as server:
        assert estimated(paths, wiki, server.base_url, is_exact=True).total() == calm.total()
    assert few == 2 + 3 * (2 + 3)  # a head a model; a session for each of two models, and its three questions


def test_a_key_that_is_not_accepted_ends_an_exact_estimate(tmp_path: Path) -> None:
    with (
        MessagesServer(endpoint=Endpoint(key="right")) as server,
        pytest.raises(RunError, match="does not accept the key"),
    ):
        estimated(_recordings(tmp_path / "t"), tmp_path / "wiki", server.base_url, is_exact=True)


def test_an_engine_that_asks_no_model_has_no_estimate(tmp_path: Path) -> None:
    report = Report("ingest", "wiki")
    with pytest.raises(UsageError, match="asks no model and costs nothing; name --engine anthropic"):
        estimate(Options(tmp_path / "wiki"), report, lambda _: None)


def test_lengths_of_answers_are_those_of_the_journal_once_it_has_enough(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 6), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        billed_run(paths[:4], wiki, server)
        assert habits_of(wiki).output_tokens == {}
        billed_run(paths[:5], wiki, server)
        spoken = [billed.usage.output_tokens for billed in server.ledger.billed]
    told = habits_of(wiki).output_tokens
    assert told.keys() == {"summarize", "extract-guidelines", "synthesize-skill"}
    assert set(told.values()) <= set(spoken)
    made = estimated(paths, wiki)
    assert made.stages["summarize"].output_tokens == told["summarize"] != stage_named("summarize").output_tokens


def test_a_prompt_in_pieces_is_what_the_service_reads(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        billed_run(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
        for body in server.bodies():
            texts = "".join(piece.text for piece in pieces_of(body))
            blocks = prompt_blocks(body, body["output_config"]["format"]["schema"])
            assert len(texts) / 4 == pytest.approx(sum(block.tokens for block in blocks), rel=0.01)


def _wiki(*arguments: str) -> int:
    return main(list(arguments))


def test_the_command_prints_a_table_or_json_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(path) for path in _recordings(tmp_path / "t")]
    common = [*paths, "--wiki", str(tmp_path / "wiki"), "--engine", "anthropic", "--estimate"]
    assert _wiki("ingest", *common) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith("sessions: 3 to mine")
    assert shown[1].split() == ["stage", "model", "calls", "answered", "input", "to", "cache", "from", "cache",
                                "output", "expected", "at", "most"]  # fmt: skip
    assert _wiki("ingest", *common, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["total"]["calls"], told["exit_code"], told["fits"]) == (3, 0, None)
    assert _wiki("ingest", *common, "--thorough", "--json") == 0
    assert json.loads(capsys.readouterr().out)["total"]["calls"] == 9
    assert _wiki("summarize", *common, "--max-usd", "0.0001", "--json") == 3
    assert json.loads(capsys.readouterr().out)["fits"] is False
    assert not (tmp_path / "wiki").exists()


def test_join_is_estimated_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ingest(_recordings(tmp_path / "t"), tmp_path / "other", "offline")
    common = ("--wiki", str(tmp_path / "wiki"), "--engine", "anthropic", "--estimate", "--json")
    assert _wiki("join", str(tmp_path / "other"), *common) == 0
    assert "total" in json.loads(capsys.readouterr().out)
    assert not (tmp_path / "wiki").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("--estimate",), "the engine offline asks no model"), (("--exact",), "--exact needs --estimate")],
)
def test_words_that_mean_nothing_are_refused(
    words: tuple[str, ...], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(path) for path in _recordings(tmp_path / "t", 1)]
    assert _wiki("ingest", *paths, "--wiki", str(tmp_path / "wiki"), *words) == 2
    assert reason in capsys.readouterr().err


def test_the_order_of_the_recordings_changes_nothing(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 4), tmp_path / "wiki"
    assert estimated(paths, wiki).to_json() == estimated(paths[::-1], wiki).to_json()
