"""Twenty real recordings cost what the estimate says: the loopback server bills them, the embedded engine answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import pytest

from agent_wiki.asking.journal import Journal, journal_folder
from agent_wiki.asking.prices import read_models
from agent_wiki.asking.prompts import BYTES_PER_TOKEN, Prompt
from agent_wiki.engine import Answer, AnswerType, BaseEngine, Question
from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.engines.prompting import Prompting
from agent_wiki.pipeline.estimate import Estimate
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.token_counts import PROMPT_TOKENS
from agent_wiki.stages.summarize import MOST_TITLE_WORDS, SummaryAnswer
from agent_wiki_testing import Endpoint, MessagesServer
from agent_wiki_testing.answers import Asked
from tests.engines.answering import shaped, stage_of
from tests.pipeline.estimates import asking_options, billed_run, calls_of, estimated, input_tokens
from tests.wikis import ingest

pytestmark = pytest.mark.long

_Other = TypeVar("_Other", bound=Answer)


class _Rehearsed(BaseEngine):
    """The embedded engine's answers as a server's: by stage and by what the prompt shows. A dry run fills it."""

    name = version = "rehearsed"

    def __init__(self, wiki: Path) -> None:
        self._prompting = Prompting(wiki, Journal(journal_folder(wiki)), read_models(wiki).limits, is_kept=False)
        self._embedded = OfflineEngine()
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}
        self._lock = Lock()

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        answer = _as_asked_for(self._embedded.answer(question))

        def ask(prompt: Prompt, question: Question[_Other]) -> _Other:  # noqa: ARG001 - names are the protocol's
            with self._lock:
                shown = prompt.prefix or prompt.question
                self._answers[prompt.stage, _digest(shown)] = answer.model_dump(mode="json")
            return answer  # type: ignore[return-value] # no recording here is read in segments

        return self._prompting.answer(question, ask)

    def says(self, asked: Asked) -> Any:
        """The answer to a request, for the loopback server."""
        return shaped(asked, self._answers[stage_of(asked), _digest(asked.blocks[0])])


def _as_asked_for(answer: AnswerType) -> AnswerType:
    """The answer with titles as short as a prompt wants them, so that the server is not asked again."""
    if not isinstance(answer, SummaryAnswer):
        return answer
    arcs = [each.model_copy(update={"title": " ".join(each.title.split()[:MOST_TITLE_WORDS])}) for each in answer.arcs]
    return answer.model_copy(update={"arcs": arcs})


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


@pytest.fixture(scope="module")
def fresh(twenty: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Estimate:
    """What the first ten come to where there is no wiki yet, by the tokens that the loopback server counts."""
    wiki = tmp_path_factory.mktemp("fresh") / "wiki"
    with MessagesServer() as server:
        made = estimated(twenty[::2], wiki, server.base_url, is_exact=True)
        assert not server.bodies()
    return made


def _off(made: Estimate, report: Report) -> tuple[float, float]:
    """The shares by which an estimate is off what was billed: of input tokens, and of the cost."""
    assert calls_of(made) == {stage: told["calls"] for stage, told in report.asked["stages"].items() if told["calls"]}
    told, billed = made.total(), report.asked["total"]
    prompt = sum(billed[kind] for kind in PROMPT_TOKENS)
    assert told.cost_usd is not None
    assert told.most_cost_usd is not None
    assert billed["cost_usd"] < told.most_cost_usd
    return abs(input_tokens(told) - prompt) / prompt, abs(told.cost_usd - billed["cost_usd"]) / billed["cost_usd"]


def test_twenty_real_recordings_cost_what_the_estimate_says(
    twenty: list[Path], rehearsed: Callable[[Asked], Any], fresh: Estimate, tmp_path: Path
) -> None:
    wiki = tmp_path / "wiki"
    first, then = twenty[::2], twenty[1::2]
    with MessagesServer(rehearsed) as server:
        billed = billed_run(first, wiki, server)
        assert _off(fresh, billed)[0] == 0.0
        assert {kind: getattr(fresh.total(), kind) for kind in PROMPT_TOKENS}.items() <= billed.asked["total"].items()
        by_bytes = estimated(then, wiki)
        exact = estimated(then, wiki, server.base_url, is_exact=True)
        later = billed_run(then, wiki, server)
    assert _off(by_bytes, later)[0] < 0.03
    assert _off(by_bytes, later)[1] < 0.1  # the cache is warm from the first ten, which an estimate cannot know
    assert _off(exact, later)[0] == 0.0
    assert _off(exact, later)[1] < 0.1


def test_questions_side_by_side_are_billed_as_estimated(
    twenty: list[Path], rehearsed: Callable[[Asked], Any], fresh: Estimate, tmp_path: Path
) -> None:
    wiki = tmp_path / "wiki"
    with MessagesServer(rehearsed, Endpoint(latency_seconds=0.05)) as server:
        asking = asking_options(base_url=server.base_url, concurrency=16)
        billed = ingest(twenty[::2], wiki, "anthropic", asking=asking).asked["total"]
    assert {kind: getattr(fresh.total(), kind) for kind in ("calls", *PROMPT_TOKENS)}.items() <= billed.items()


def test_without_a_journal_bytes_are_given_as_a_guess_and_the_truth_is_within_it(
    twenty: list[Path], fresh: Estimate, tmp_path: Path
) -> None:
    guessed = estimated(twenty[::2], tmp_path / "wiki")
    assert any("by default; --exact counts them; ±30%" in line for line in guessed.lines())
    share = input_tokens(fresh.total()) / input_tokens(guessed.total())
    assert share == pytest.approx(BYTES_PER_TOKEN / 4, rel=0.05)  # that server's tokens are four characters
