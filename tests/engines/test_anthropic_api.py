"""The engine that asks a model, against a server that speaks the Messages API on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.budget import Budget
from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.engine import Question, side_by_side
from agent_wiki.engines.anthropic_api import AnthropicEngine
from agent_wiki.engines.anthropic_api.request import MessageRequest, request_of
from agent_wiki.engines.anthropic_api.service import Service
from agent_wiki.engines.requests import Asking, Lifetime, Structure
from agent_wiki.errors import AnswerRejected, BudgetReached, NoAnswer, RunError, ServiceFailed, UsageError
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.stages.consolidate_clusters import ClusterQuestion
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion, extract_guidelines
from agent_wiki.stages.summarize import SummarizeQuestion, SummaryAnswer
from agent_wiki.stages.synthesize_skill import SkillQuestion
from agent_wiki.trajectory import Message, Source, Trajectory
from agent_wiki_testing import Endpoint, Fault, MessagesServer
from agent_wiki_testing.answers import Asked
from tests.engines.answering import engine_at, says, shaped
from tests.paid_runs import TWO_READERS
from tests.wikis import arc, rule, worked_session

SESSION = worked_session()
SUMMARY = SummaryAnswer.model_validate({"arcs": [arc()]})


def _long_session() -> Trajectory:
    return Trajectory(
        "long", Source("test"), [Message("user", "Go. " + "word " * 4_000), Message("assistant", "Done.")]
    )


def _answers(wiki: Path) -> list[dict[str, Any]]:
    return [record for record in records(journal_folder(wiki), []) if record["kind"] == "answer"]


def test_an_answer_comes_over_the_wire_and_is_in_the_journal(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server, engine_at(server, tmp_path) as engine:
        assert engine.answer(SummarizeQuestion(SESSION)).arcs[0].goal == "Fix the cart"
        (body,) = server.bodies()
    (record,) = _answers(tmp_path)
    assert record["stage"] == "summarize"
    assert record["model"] == body["model"] == "claude-haiku-5-5"
    assert record["stop_reason"] == "end_turn"
    assert record["usage"]["output_tokens"] > 0
    assert record["cost_usd"] > 0
    assert record["request"].startswith("sha256:")
    assert body["messages"][0]["content"][-1]["text"].endswith("the other fields of the schema are null.\n")


def test_an_answer_that_arrived_is_never_asked_for_again(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        for _ in range(2):
            with engine_at(server, tmp_path) as engine:
                assert engine.answer(SummarizeQuestion(SESSION)) == engine.answer(SummarizeQuestion(SESSION))
        assert len(server.bodies()) == 1
    with engine_at("http://127.0.0.1:9", tmp_path) as engine:  # no server, no key: the journal is enough
        assert engine.answer(SummarizeQuestion(SESSION)).arcs[0].goal == "Fix the cart"


def test_the_bytes_of_a_request_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, str]] = []

    def counted(asking: Asking, structure: Structure, lifetime: Lifetime) -> MessageRequest:
        made.append((id(asking), structure))
        return request_of(asking, structure, lifetime)

    monkeypatch.setattr("agent_wiki.engines.anthropic_api.request_of", counted)
    with MessagesServer(says({})) as server, engine_at(server, tmp_path) as engine:
        engine.answer(SummarizeQuestion(SESSION))
    assert len(made) == len(set(made)) > 0


def test_another_model_or_prompt_is_another_question(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server:
        for words in ((), ("claude-opus-5-5",), ("summarize=claude-sonnet-5-5",)):
            with engine_at(server, tmp_path, models=words) as engine:
                engine.answer(SummarizeQuestion(SESSION))
        assert [body["model"] for body in server.bodies()] == [
            "claude-haiku-5-5", "claude-opus-5-5", "claude-sonnet-5-5"
        ]  # fmt: skip


def test_without_a_journal_it_works_and_asks_again(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server, engine_at(server, tmp_path, is_journaled=False) as engine:
        engine.answer(SummarizeQuestion(SESSION))
        engine.answer(SummarizeQuestion(SESSION))
        assert len(server.bodies()) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_cannot_be_written_stops_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / ".wiki").write_text("in the way", encoding="utf-8")
    with MessagesServer(says({})) as server, engine_at(server, tmp_path) as engine:
        with pytest.raises(RunError, match="journal cannot be written"):
            engine.answer(SummarizeQuestion(SESSION))
        assert server.received == []


def test_the_three_questions_on_a_trajectory_write_it_once_and_read_it_twice(tmp_path: Path) -> None:
    session = _long_session()
    with (
        MessagesServer(says({"extract-guidelines": {}, "synthesize-skill": {}})) as server,
        engine_at(server, tmp_path, models=("claude-haiku-5-5",)) as engine,
    ):
        engine.answer(SummarizeQuestion(session))
        engine.answer(GuidelinesQuestion(session, SUMMARY))
        engine.answer(SkillQuestion(session, SUMMARY))
        first, second, third = (billed.usage for billed in server.ledger.billed)
    assert first.cache_creation_5m_tokens > 5_000
    assert second.cache_read_input_tokens == third.cache_read_input_tokens == first.cache_creation_5m_tokens
    assert second.written_tokens() == third.written_tokens() == 0


def test_no_mark_is_set_where_nobody_would_read_it(tmp_path: Path) -> None:
    with (
        MessagesServer(says({"synthesize-skill": {}})) as server,
        engine_at(server, tmp_path, models=TWO_READERS) as engine,
    ):
        engine.answer(SkillQuestion(_long_session(), SUMMARY))
        (body,) = server.bodies()
        assert not any("cache_control" in block for block in body["messages"][0]["content"])
        assert server.ledger.total().written_tokens() < 4_400, "but for what all trajectories share"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("refusal", "refused to answer"), ("truncation", "cut off at"), ("context-window", "does not fit the context")],
)
def test_a_model_that_stopped_early_gave_no_answer(tmp_path: Path, kind: Any, reason: str) -> None:
    with MessagesServer(says({}), faults=[Fault(kind=kind)]) as server:
        for _ in range(2):
            with engine_at(server, tmp_path) as engine, pytest.raises(NoAnswer, match=reason):
                engine.answer(SummarizeQuestion(SESSION))
        assert len(server.bodies()) == 1, "what was paid for is in the journal, also a refusal"


@pytest.mark.parametrize("kind", ["malformed", "schema-breaking"])
def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_the_reason(tmp_path: Path, kind: Any) -> None:
    faults = [Fault(kind=kind, requests=(2,))]
    with MessagesServer(says({}), faults=faults) as server, engine_at(server, tmp_path) as engine:
        engine.answer(SummarizeQuestion(SESSION))
        engine.answer(GuidelinesQuestion(SESSION, SUMMARY))
        _, broken, again = server.bodies()
    assert again["messages"][0] == broken["messages"][0]
    assert [message["role"] for message in again["messages"]] == ["user", "assistant", "user"]
    assert "does not fit" in again["messages"][2]["content"]


def test_an_answer_that_never_fits_is_rejected(tmp_path: Path) -> None:
    faults = [Fault(kind="schema-breaking", text="GuidelinesAnswer`")]
    with MessagesServer(says({}), faults=faults) as server, engine_at(server, tmp_path) as engine:
        engine.answer(SummarizeQuestion(SESSION))
        with pytest.raises(AnswerRejected, match=r"extract-guidelines: the answer of .* does not fit"):
            engine.answer(GuidelinesQuestion(SESSION, SUMMARY))
        assert len(server.bodies()) == 3


def test_a_fenced_answer_behind_prose_is_an_answer(tmp_path: Path) -> None:
    with MessagesServer(says({}), faults=[Fault(kind="fenced")]) as server, engine_at(server, tmp_path) as engine:
        assert engine.answer(SummarizeQuestion(SESSION)).arcs
        assert len(server.bodies()) == 1


def _misquoting(times: int) -> Any:
    def answer(asked: Asked) -> Any:
        has_misquoted = len(asked.body["messages"]) // 2
        quote = "never said" if has_misquoted < times else "make check"
        return {"guidelines": [rule("Run the check.", evidence=[{"turn": 2, "quote": quote}])]}

    return answer


@pytest.mark.parametrize(("times", "asked", "kept"), [(0, 1, 1), (1, 2, 1), (2, 3, 1), (9, 3, 0)])
def test_a_quote_that_is_not_there_goes_back_twice_and_is_then_dropped(
    tmp_path: Path, times: int, asked: int, kept: int
) -> None:
    answerer = says({"extract-guidelines": _misquoting(times)})
    with MessagesServer(answerer) as server, engine_at(server, tmp_path) as engine:
        contributed, dropped = extract_guidelines(SESSION, SUMMARY, engine)
        assert len(server.bodies()) == asked
        assert (len(contributed), bool(dropped)) == (kept, kept == 0)
        if asked > 1:
            assert "not verbatim in turn 2: 'never said'" in server.bodies()[1]["messages"][2]["content"]


def test_a_cluster_that_does_not_hold_goes_back_with_the_reason(tmp_path: Path) -> None:
    members = tuple(GuidelineView(name, "Run the check first", "Run make check.", sessions=(name,)) for name in "ab")
    wrong = {"slug": "x", "title": "X", "description": "D.", "takeaway": "T.", "members": ["a", "zz"], "tags": ["t"]}

    def answer(asked: Asked) -> Any:
        return {"clusters": [wrong | ({"members": ["a", "b"]} if len(asked.body["messages"]) > 1 else {})]}

    answerer = says({"consolidate-clusters": answer})
    with MessagesServer(answerer) as server, engine_at(server, tmp_path) as engine:
        (cluster,) = engine.answer(ClusterQuestion(members)).clusters
        assert "'zz' is not one of the guidelines" in server.bodies()[1]["messages"][2]["content"]
    assert cluster.members == ["a", "b"]


def test_the_answer_before_a_failed_re_ask_is_kept(tmp_path: Path) -> None:
    good, bad = {"turn": 2, "quote": "make check"}, {"turn": 2, "quote": "never said"}
    answerer = says({"extract-guidelines": {"guidelines": [rule("Run the check.", evidence=[good, bad])]}})
    faults = [Fault(kind="refusal", requests=(2,))]
    with MessagesServer(answerer, faults=faults) as server, engine_at(server, tmp_path) as engine:
        contributed, dropped = extract_guidelines(SESSION, SUMMARY, engine)
    assert (len(contributed), len(dropped)) == (1, 1)


@pytest.mark.parametrize(
    ("structured", "forced_tools", "structure", "requests"),
    [
        ("native", "refused", "native", 2),
        ("refused", "honoured", "tool", 3),
        ("ignored", "honoured", "tool", 3),
        ("refused", "refused", "prompt", 4),
        ("ignored", "ignored", "prompt", 4),
    ],
)
def test_how_structure_is_asked_for_is_found_out_once(
    tmp_path: Path, structured: Any, forced_tools: Any, structure: str, requests: int
) -> None:
    endpoint = Endpoint(structured=structured, forced_tools=forced_tools)
    with MessagesServer(says({}), endpoint) as server:
        questions: tuple[Question[Any], ...] = (SummarizeQuestion(SESSION), GuidelinesQuestion(SESSION, SUMMARY))
        for question in questions:
            with engine_at(server, tmp_path) as engine:
                engine.answer(question)
        assert len(server.bodies()) == requests
    told = [record["structure"] for record in records(journal_folder(tmp_path), []) if record["kind"] == "endpoint"]
    assert told == [structure]


def test_what_one_endpoint_answered_is_not_asked_of_another_that_gives_structure_in_another_way(tmp_path: Path) -> None:
    with MessagesServer(says({})) as first, MessagesServer(says({})) as second:
        with engine_at(first, tmp_path) as engine:
            engine.answer(SummarizeQuestion(SESSION))
            known = {"endpoint": second.base_url, "model": "claude-haiku-5-5", "structure": "prompt"}
            engine.journal.append({"kind": "endpoint", **known})
        with engine_at(second, tmp_path) as engine:
            engine.answer(SummarizeQuestion(SESSION))
            assert second.bodies() == []
            engine.answer(GuidelinesQuestion(SESSION, SUMMARY))
            assert len(second.bodies()) == 1


def test_an_endpoint_that_gives_no_structure_at_all_gives_no_answer(tmp_path: Path) -> None:
    with (
        MessagesServer(lambda _: "Lovely weather.") as server,
        engine_at(server, tmp_path) as engine,
        pytest.raises(AnswerRejected, match="does not fit: it is not one JSON object"),
    ):
        engine.answer(SummarizeQuestion(SESSION))


def test_the_clients_own_retries_carry_over_a_bad_moment(tmp_path: Path) -> None:
    faults = [
        Fault(kind="rate-limit", requests=(1,), seconds=0),
        Fault(kind="overloaded", requests=(2,)),
        Fault(kind="drop-read", requests=(3,)),
    ]
    with MessagesServer(says({}), faults=faults) as server, engine_at(server, tmp_path) as engine:
        assert engine.answer(SummarizeQuestion(SESSION)).arcs
        assert len(server.bodies()) == 4


def test_a_service_that_cannot_answer_now_is_a_failure_of_the_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_wiki.engines.anthropic_api.service._RETRIES", 0)
    faults = [Fault(kind="server-error", requests=(1,)), Fault(kind="drop-read", requests=(3,))]
    with MessagesServer(says({}), faults=faults) as server, engine_at(server, tmp_path) as engine:
        with pytest.raises(ServiceFailed, match="500"):
            engine.answer(SummarizeQuestion(SESSION))
        engine.answer(SummarizeQuestion(SESSION))
        with pytest.raises(ServiceFailed, match="connection lost"):
            engine.answer(GuidelinesQuestion(SESSION, SUMMARY))
    assert len(_answers(tmp_path)) == 1


def test_a_server_that_is_not_there_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_wiki.engines.anthropic_api.service._RETRIES", 0)
    with (
        engine_at("http://127.0.0.1:9", tmp_path) as engine,
        pytest.raises(RunError, match=r"http://127\.0\.0\.1:9 cannot be reached"),
    ):
        engine.answer(SummarizeQuestion(SESSION))


def test_a_wrong_key_stops_the_run(tmp_path: Path) -> None:
    with (
        MessagesServer(says({}), Endpoint(key="right")) as server,
        engine_at(server, tmp_path) as engine,
        pytest.raises(RunError, match="does not accept the key"),
    ):
        engine.answer(SummarizeQuestion(SESSION))


def test_a_prompt_that_is_too_long_is_a_failure_of_the_unit(tmp_path: Path) -> None:
    with (
        MessagesServer(says({}), Endpoint(context_tokens=100)) as server,
        engine_at(server, tmp_path) as engine,
        pytest.raises(NoAnswer, match="prompt is too long"),
    ):
        engine.answer(SummarizeQuestion(SESSION))


def test_no_test_can_reach_the_real_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    with (
        engine_at("https://api.anthropic.com", tmp_path) as engine,
        pytest.raises(RunError, match="not allowed here"),
    ):
        engine.answer(SummarizeQuestion(SESSION))


def test_without_a_key_and_without_a_server_the_run_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    with engine_at("", tmp_path) as engine, pytest.raises(RunError, match="set ANTHROPIC_API_KEY"):
        engine.answer(SummarizeQuestion(SESSION))


def test_the_cap_refuses_what_could_pass_it(tmp_path: Path) -> None:
    with MessagesServer(says({})) as server, engine_at(server, tmp_path, max_usd=0.000001) as engine:
        with pytest.raises(BudgetReached, match="--max-usd"):
            engine.answer(SummarizeQuestion(SESSION))
        assert server.received == []


def test_an_attempt_whose_connection_was_lost_counts_at_its_worst(tmp_path: Path) -> None:
    """The server billed it; the client knows nothing of that."""
    faults = [Fault(kind="drop-answered", requests=(1,))]
    with MessagesServer(says({}), faults=faults) as server, engine_at(server, tmp_path, max_usd=1.0) as engine:
        engine.answer(SummarizeQuestion(SESSION))
        assert len(server.ledger.billed) == 2
        (record,) = _answers(tmp_path)
        assert engine._service._budget.spent_usd > 2 * record["cost_usd"]


def test_a_model_without_a_price_refuses_a_cap_and_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="--max-usd needs a price for my-model"),
        engine_at("http://127.0.0.1:9", tmp_path, models=("my-model",), max_usd=1.0),
    ):
        pass
    with MessagesServer(says({})) as server, engine_at(server, tmp_path, models=("my-model",)) as engine:
        engine.answer(SummarizeQuestion(SESSION))
    assert "cost_usd" not in _answers(tmp_path)[0], "unknown is not zero"


@pytest.mark.parametrize("word", ["", "nostage=x", "summarize=", "=x"])
def test_a_model_that_names_no_stage_is_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match="--model"), engine_at("http://127.0.0.1:9", tmp_path, models=(word,)):
        pass


def test_versions_change_with_model_and_prompt_stage_by_stage(tmp_path: Path) -> None:
    def versions(wiki: Path, *models: str) -> AnthropicEngine:
        with engine_at("http://127.0.0.1:9", wiki, models=models) as engine:
            return engine

    (tmp_path / "own" / "prompts").mkdir(parents=True)
    own = "---\nversion: 1\nsystem: S\nmax_tokens: 9\n---\nAsk.\n"
    (tmp_path / "own" / "prompts" / "summarize.md").write_text(own, encoding="utf-8")
    base, other = versions(tmp_path), versions(tmp_path, "summarize=x")
    prompted = versions(tmp_path / "own")
    for changed in (other, prompted):
        assert changed.version != base.version
        differing = [name for name, made in changed.stage_versions.items() if made != base.stage_versions[name]]
        assert differing == ["summarize"]


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        ("http://user:secret@localhost:8080/v1/", "http://localhost:8080"),
        ("https://proxy.example/anthropic", "https://proxy.example/anthropic"),
    ],
)
def test_an_endpoint_is_named_without_what_may_be_secret(address: str, endpoint: str) -> None:
    assert Service(address, {}, Budget()).endpoint == endpoint


def test_questions_are_answered_in_their_order_however_many_at_a_time(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Any:
        return shaped(asked, {"arcs": [arc(goal=asked.text.split("Request number ")[1][0])]})

    sessions = [
        Trajectory(str(at), Source("test"), [Message("user", f"Request number {at}."), Message("assistant", "Done.")])
        for at in range(6)
    ]
    with (
        MessagesServer(answer, Endpoint(latency_seconds=0.05)) as server,
        engine_at(server, tmp_path, concurrency=3) as engine,
    ):
        answered = side_by_side(engine, [SummarizeQuestion(session) for session in sessions])
        assert [take().arcs[0].goal for take in answered] == list("012345")
        assert 2 <= server.ledger.most_in_flight <= 3
