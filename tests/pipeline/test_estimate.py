"""What a run would come to, told before it: against what the loopback server then bills."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import pytest

from agent_wiki.asking.journal import Journal, journal_folder
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import read_models
from agent_wiki.asking.prompts import BYTES_PER_TOKEN, Prompt
from agent_wiki.commands import main
from agent_wiki.engine import Answer, AnswerType, BaseEngine, Question
from agent_wiki.engines.cache_forecast import pieces_of
from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.engines.prompting import Prompting
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.estimate import Estimate, StageEstimate, estimate, habits_of
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.token_counts import PROMPT_TOKENS
from agent_wiki.report import Report
from agent_wiki.stages.order import ALL_STAGES, stage_named
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from agent_wiki_testing.answers import Asked
from agent_wiki_testing.tokens import prompt_blocks
from tests.engines.answering import says, shaped, stage_of
from tests.paid_runs import TWO_READERS, dated_recordings
from tests.wikis import ingest, record

NOBODY = "http://127.0.0.1:9"
_Other = TypeVar("_Other", bound=Answer)


def _asking(**told: Any) -> AskingOptions:
    """One by one, and a skill of another model, unless something else is said."""
    return AskingOptions(**{"is_together": bool(told.get("is_batched")), "models": TWO_READERS, **told})


def _estimate(paths: Iterable[Path], wiki: Path, url: str = NOBODY, **told: Any) -> Estimate:
    stages = told.pop("stages", ALL_STAGES)
    report = Report("ingest", str(wiki))
    options = Options(wiki, stages, engine="anthropic", asking=_asking(base_url=url, is_estimate=True, **told))
    return estimate(options, report, lambda each: run(list(paths), each, report, lambda *_: None))


def _ask(paths: list[Path], wiki: Path, server: MessagesServer, **told: Any) -> Report:
    return ingest(paths, wiki, "anthropic", asking=_asking(base_url=server.base_url, concurrency=1, **told))


def _recordings(folder: Path, number: int = 3) -> list[Path]:
    return dated_recordings(folder, number)


def _input_tokens(sums: StageEstimate) -> int:
    return sum(getattr(sums, kind) for kind in PROMPT_TOKENS)


class _Rehearsed(BaseEngine):
    """The embedded engine's answers as a server's: by stage and by what the prompt shows. A dry run fills it."""

    name = version = "rehearsed"

    def __init__(self, wiki: Path) -> None:
        self._prompting = Prompting(wiki, Journal(journal_folder(wiki)), read_models(wiki).limits, is_kept=False)
        self._embedded = OfflineEngine()
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}
        self._lock = Lock()

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        answer = self._embedded.answer(question)

        def ask(prompt: Prompt, question: Question[_Other]) -> _Other:  # noqa: ARG001 - names are the protocol's
            with self._lock:
                shown = prompt.prefix or prompt.question
                self._answers[prompt.stage, _digest(shown)] = answer.model_dump(mode="json")
            return answer  # type: ignore[return-value] # no recording here is read in segments

        return self._prompting.answer(question, ask)

    def says(self, asked: Asked) -> Any:
        """The answer to a request, for the loopback server."""
        return shaped(asked, self._answers[stage_of(asked), _digest(asked.blocks[0])])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@pytest.fixture(scope="module")
def twenty(traces: Path) -> list[Path]:
    """Twenty real recordings of all formats and lengths that no model would read in segments."""
    files = [path for path in sorted(traces.rglob("*")) if path.suffix in (".json", ".jsonl", ".traj")]
    fit = [path for path in files if 5_000 < path.stat().st_size < 250_000 and path.name != "MANIFEST.jsonl"]
    return fit[:: len(fit) // 20][:20]


@pytest.fixture(scope="module")
def rehearsed(twenty: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Asked], Any]:
    """Answers on the twenty recordings, for the loopback server."""
    wiki = tmp_path_factory.mktemp("rehearsed") / "wiki"
    engine = _Rehearsed(wiki)
    run(twenty, Options(wiki, engine=engine, dry_run=True), Report("ingest", str(wiki)), lambda *_: None)
    return engine.says


def _off(made: Estimate, report: Report) -> tuple[float, float]:
    """The shares by which an estimate is off what was billed: of input tokens, and of the cost."""
    assert _calls(made) == {stage: told["calls"] for stage, told in report.asked["stages"].items() if told["calls"]}
    told, billed = made.total(), report.asked["total"]
    prompt = sum(billed[kind] for kind in PROMPT_TOKENS)
    assert told.cost_usd is not None
    assert told.most_cost_usd is not None
    assert billed["cost_usd"] < told.most_cost_usd
    return abs(_input_tokens(told) - prompt) / prompt, abs(told.cost_usd - billed["cost_usd"]) / billed["cost_usd"]


def _calls(made: Estimate) -> dict[str, int]:
    return {stage: sums.calls for stage, sums in made.stages.items() if sums.calls}


def test_twenty_real_recordings_cost_what_the_estimate_says(
    twenty: list[Path], rehearsed: Callable[[Asked], Any], tmp_path: Path
) -> None:
    wiki = tmp_path / "wiki"
    first, then = twenty[::2], twenty[1::2]
    with MessagesServer(rehearsed) as server:
        fresh = _estimate(first, wiki, server.base_url, is_exact=True)
        assert not server.bodies()
        billed = _ask(first, wiki, server)
        assert _off(fresh, billed)[0] == 0.0
        assert {kind: getattr(fresh.total(), kind) for kind in PROMPT_TOKENS}.items() <= billed.asked["total"].items()
        by_bytes = _estimate(then, wiki)
        exact = _estimate(then, wiki, server.base_url, is_exact=True)
        later = _ask(then, wiki, server)
    assert _off(by_bytes, later)[0] < 0.03
    assert _off(by_bytes, later)[1] < 0.1  # the cache is warm from the first ten, which an estimate cannot know
    assert _off(exact, later)[0] == 0.0
    assert _off(exact, later)[1] < 0.1


def test_questions_side_by_side_are_billed_as_estimated(
    twenty: list[Path], rehearsed: Callable[[Asked], Any], tmp_path: Path
) -> None:
    wiki = tmp_path / "wiki"
    with MessagesServer(rehearsed, Endpoint(latency_seconds=0.05)) as server:
        made = _estimate(twenty[::2], wiki, server.base_url, is_exact=True)
        asking = _asking(base_url=server.base_url, concurrency=16)
        billed = ingest(twenty[::2], wiki, "anthropic", asking=asking).asked["total"]
    assert {kind: getattr(made.total(), kind) for kind in ("calls", *PROMPT_TOKENS)}.items() <= billed.items()


def test_without_a_journal_bytes_are_given_as_a_guess_and_the_truth_is_within_it(
    twenty: list[Path], tmp_path: Path
) -> None:
    with MessagesServer() as server:
        exact = _estimate(twenty[::2], tmp_path / "wiki", server.base_url, is_exact=True)
    guessed = _estimate(twenty[::2], tmp_path / "wiki")
    assert any("by default; --exact counts them; ±30%" in line for line in guessed.lines())
    share = _input_tokens(exact.total()) / _input_tokens(guessed.total())
    assert share == pytest.approx(BYTES_PER_TOKEN / 4, rel=0.05)  # that server's tokens are four characters


def test_an_estimate_needs_no_key_sends_nothing_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_wiki.engines.anthropic_api.service._client", None)
    made = _estimate(_recordings(tmp_path / "t"), tmp_path / "wiki")
    assert _calls(made) == {"summarize": 3, "extract-guidelines": 3, "synthesize-skill": 3}
    assert (made.exit_code, made.total().answered) == (0, 0)
    assert not (tmp_path / "wiki").exists()


def test_an_estimate_leaves_a_wiki_that_is_there_as_it_is(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths[:1], wiki, server)
        before = {path: path.read_bytes() for path in sorted(wiki.rglob("*")) if path.is_file()}
        asked = len(server.bodies())
        _estimate(paths, wiki, server.base_url, is_exact=True)
        assert len(server.bodies()) == asked
    assert {path: path.read_bytes() for path in sorted(wiki.rglob("*")) if path.is_file()} == before


def test_a_finished_wiki_has_nothing_to_ask(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server)
    made = _estimate(paths, wiki)
    assert made.total().calls == 0
    assert "nothing to ask: it costs nothing" in made.lines()


def test_what_the_journal_answers_is_counted_apart_and_costs_nothing(tmp_path: Path) -> None:
    paths, wiki, other = _recordings(tmp_path / "t"), tmp_path / "wiki", tmp_path / "other"
    with MessagesServer(says({})) as server:
        _ask(paths[:2], wiki, server)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    made = _estimate(paths, other)
    assert {stage: (sums.answered, sums.calls) for stage, sums in made.stages.items()} == {
        "summarize": (2, 1),
        "extract-guidelines": (2, 1),
        "synthesize-skill": (2, 1),
    }
    assert _estimate(paths, other, is_journaled=False).total().answered == 0


def test_an_answer_of_another_model_is_none_of_this_one(tmp_path: Path) -> None:
    paths, wiki, other = _recordings(tmp_path / "t", 1), tmp_path / "wiki", tmp_path / "other"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    made = _estimate(paths, other, models=("extract-guidelines=claude-opus-5-5",))
    assert (made.stages["summarize"].answered, made.stages["extract-guidelines"].calls) == (1, 1)


def test_an_invalid_answer_fails_as_it_would_in_the_run(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 2), tmp_path / "wiki"
    with MessagesServer(says({}), faults=[Fault(kind="refusal", text="The cart of session-1")]) as server:
        report = _ask(paths, wiki, server)
        made = _estimate(paths, wiki)
        calls = len(server.bodies())
        assert _ask(paths, wiki, server).exit_code == report.exit_code == 1
        assert len(server.bodies()) - calls == made.total().calls == 0
    assert made.exit_code == 1
    assert made.report.failures[0].unit == "session-1"


def test_one_stage_alone_is_estimated_alone(tmp_path: Path) -> None:
    made = _estimate(_recordings(tmp_path / "t"), tmp_path / "wiki", stages=("summarize", "catalog"))
    assert _calls(made) == {"summarize": 3}
    assert made.total().possible_calls == 0


def test_a_skill_that_a_model_may_be_asked_for_counts_at_most(tmp_path: Path) -> None:
    paths = _recordings(tmp_path / "t")
    for path in paths:  # the embedded engine says `failure`, a model here `success`
        told = json.loads(path.read_text(encoding="utf-8"))
        told["messages"].append({"role": "user", "content": "No, that is wrong. The cart still does not add up."})
        path.write_text(json.dumps(told), encoding="utf-8")
    made = _estimate(paths, tmp_path / "wiki")
    skills = made.stages["synthesize-skill"]
    assert (skills.calls, skills.possible_calls, skills.cost_usd) == (0, 3, 0.0)
    assert skills.possible_cost_usd is not None
    assert skills.most_cost_usd is not None
    assert f"up to 3 more did (${skills.possible_cost_usd:.4f})" in "\n".join(made.lines())
    with MessagesServer(says({})) as server:
        report = _ask(paths, tmp_path / "wiki", server)
    assert report.asked["stages"]["synthesize-skill"]["calls"] == 3
    billed = report.asked["stages"]["synthesize-skill"]["cost_usd"]
    assert billed < skills.possible_cost_usd < skills.most_cost_usd


def test_a_long_session_is_counted_by_segments_and_what_makes_them_one(tmp_path: Path) -> None:
    path, wiki = record(tmp_path / "t", "long", more=400), tmp_path / "wiki"
    wiki.mkdir()
    (wiki / "models.yaml").write_text("limits: {segment_bytes: 20000}\n", encoding="utf-8")
    made = _estimate([path], wiki)
    calls = made.stages["summarize"].calls
    assert calls > 2
    with MessagesServer(_in_segments) as server:
        report = _ask([path], wiki, server, models=("claude-haiku-5-5",))
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
    made = _estimate(_recordings(tmp_path / "t"), tmp_path / "wiki", models=("summarize=my-own",))
    told = made.to_json()
    assert told["stages"]["summarize"]["input_tokens"] > 0
    assert told["stages"]["summarize"]["cost_usd"] is told["total"]["cost_usd"] is None
    assert told["stages"]["extract-guidelines"]["cost_usd"] > 0
    assert told["unpriced_models"] == ["my-own"]
    assert "no price for my-own: its cost is unknown" in told["notes"]
    assert any("unknown" in line for line in made.lines())


def test_a_cap_on_a_model_without_a_price_is_refused_as_in_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--max-usd needs a price for my-own"):
        _estimate(_recordings(tmp_path / "t"), tmp_path / "wiki", models=("my-own",), max_usd=1.0)


def test_where_the_endpoint_is_known_to_want_the_schema_in_the_prompt_it_is_counted_there(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 3), tmp_path / "wiki"
    stages = ("summarize", "catalog")
    with MessagesServer(says({}), Endpoint(structured="refused")) as server:
        asking = _asking(base_url=server.base_url, concurrency=1)
        ingest(paths[:1], wiki, "anthropic", stages=stages, asking=asking)
        made = _estimate(paths, wiki, server.base_url, is_exact=True, stages=stages)
        billed = ingest(paths, wiki, "anthropic", stages=stages, asking=asking).asked["total"]
    assert (made.total().calls, _input_tokens(made.total())) == (2, sum(billed[kind] for kind in PROMPT_TOKENS))


@pytest.mark.parametrize(
    ("max_usd", "code", "says_so"),
    [(0.0, 3, "does not fit"), (0.06, 0, "fits as expected"), (50.0, 0, "fits, at most as well")],
)
def test_with_a_cap_the_estimate_says_whether_the_run_fits(
    max_usd: float, code: int, says_so: str, tmp_path: Path
) -> None:
    made = _estimate(_recordings(tmp_path / "t"), tmp_path / "wiki", max_usd=max_usd)
    assert made.exit_code == code
    assert says_so in made.lines()[-1]


def test_what_a_batch_asks_in_one_request_is_counted_as_one_at_half_price(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 8), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths[:6], wiki, server, is_batched=True, is_waiting=True)
        server.clock.advance(7_200)  # nothing is kept of what that wrote
        made = _estimate(paths, wiki, server.base_url, is_batched=True, is_exact=True)
        report = _ask(paths, wiki, server, is_batched=True, is_waiting=True)
    assert made.stages["synthesize-skill"].calls == 2
    told, billed = made.stages["summarize+extract-guidelines"], report.asked["stages"]["summarize+extract-guidelines"]
    assert (told.calls, _input_tokens(told)) == (2, sum(billed[kind] for kind in PROMPT_TOKENS))
    assert told.cost_usd == pytest.approx(billed["cost_usd"], rel=0.02)
    assert "summarize" not in made.stages
    assert any("as batches, at 0.5 of the price" in line for line in made.lines())


def test_what_a_batch_has_answered_is_in_the_journal_for_each_of_its_questions(tmp_path: Path) -> None:
    paths, wiki, other = _recordings(tmp_path / "t", 2), tmp_path / "wiki", tmp_path / "other"
    with MessagesServer(says({})) as server:
        _ask(paths, wiki, server, is_batched=True, is_waiting=True)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    for is_batched in (False, True):
        assert _estimate(paths, other, is_batched=is_batched).total().calls == 0


def test_what_waits_in_a_batch_is_not_counted_again(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 3), tmp_path / "wiki"
    with MessagesServer(says({}), Endpoint(batch_seconds=3_600)) as server:
        _ask(paths[:2], wiki, server, is_batched=True)
        made = _estimate(paths, wiki, server.base_url, is_batched=True)
        assert "2 requests in batches that were sent before: not counted again" in made.all_notes()
        sums = made.stages["summarize+extract-guidelines"]
        assert (sums.calls, sums.waiting) == (1, 2)
        assert _estimate(paths, wiki, server.base_url).total().calls == 9, "without --batch they are asked again"


def test_a_server_that_does_not_count_is_reported_once_and_bytes_are_used(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer(endpoint=Endpoint(has_count_tokens=False)) as server:
        made = _estimate(paths, wiki, server.base_url, is_exact=True, concurrency=1)
        assert len(server.received) == 1
    assert not made.is_exact
    assert [note for note in made.all_notes() if "does not count tokens" in note] == made.all_notes()[:1]
    assert made.total() == _estimate(paths, wiki).total()


def test_counting_survives_what_a_service_does_when_it_is_busy(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t"), tmp_path / "wiki"
    with MessagesServer() as server:
        calm = _estimate(paths, wiki, server.base_url, is_exact=True)
        few = len(server.bodies("count-tokens"))
    faults = [Fault(kind="rate-limit", every=4, seconds=0, endpoint="count-tokens")]
    with MessagesServer(faults=faults) as server:
        assert _estimate(paths, wiki, server.base_url, is_exact=True).total() == calm.total()
    assert few == 2 + 3 * (2 + 3)  # a head a model; a session for each of two models, and its three questions


def test_a_key_that_is_not_accepted_ends_an_exact_estimate(tmp_path: Path) -> None:
    with (
        MessagesServer(endpoint=Endpoint(key="right")) as server,
        pytest.raises(RunError, match="does not accept the key"),
    ):
        _estimate(_recordings(tmp_path / "t"), tmp_path / "wiki", server.base_url, is_exact=True)


def test_an_engine_that_asks_no_model_has_no_estimate(tmp_path: Path) -> None:
    report = Report("ingest", "wiki")
    with pytest.raises(UsageError, match="asks no model and costs nothing; name --engine anthropic"):
        estimate(Options(tmp_path / "wiki"), report, lambda _: None)


def test_lengths_of_answers_are_those_of_the_journal_once_it_has_enough(tmp_path: Path) -> None:
    paths, wiki = _recordings(tmp_path / "t", 6), tmp_path / "wiki"
    with MessagesServer(says({})) as server:
        _ask(paths[:4], wiki, server)
        assert habits_of(wiki).output_tokens == {}
        _ask(paths[:5], wiki, server)
        spoken = [billed.usage.output_tokens for billed in server.ledger.billed]
    told = habits_of(wiki).output_tokens
    assert told.keys() == {"summarize", "extract-guidelines", "synthesize-skill"}
    assert set(told.values()) <= set(spoken)
    made = _estimate(paths, wiki)
    assert made.stages["summarize"].output_tokens == told["summarize"] != stage_named("summarize").output_tokens


def test_a_prompt_in_pieces_is_what_the_service_reads(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        _ask(_recordings(tmp_path / "t", 1), tmp_path / "wiki", server)
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
    assert _estimate(paths, wiki).to_json() == _estimate(paths[::-1], wiki).to_json()
