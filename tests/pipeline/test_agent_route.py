"""An agent builds the wiki: it sees what is open, reads each question, answers, and the pages are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import main
from agent_wiki.wiki.page import parse_page
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.pipeline.agents import (
    NO_GUIDELINES,
    ONE_RULE,
    STAGES,
    SUMMARY,
    Wiki,
    answer_file,
    kept_answers,
    open_questions,
)
from tests.wikis import arc, changed, chat, ingest, record, rule, skill, tree


def test_the_worklist_grows_with_the_summaries_and_ends_empty(tmp_path: Path, wiki: Wiki) -> None:
    paths = [record(tmp_path, "a"), record(tmp_path, "b")]
    assert open_questions(wiki, *paths) == [("summarize", "a"), ("summarize", "b")]
    assert wiki("apply", "summarize", paths[0], answer=SUMMARY)[0] == 0
    assert open_questions(wiki) == [("summarize", "b"), ("extract-guidelines", "a")]
    for path in paths:
        for stage, answer in zip(STAGES, (SUMMARY, NO_GUIDELINES, {"skill": None, "reason": "no"}), strict=True):
            assert wiki("apply", stage, path, answer=answer)[0] == 0
    assert open_questions(wiki) == []


def test_the_worklist_names_each_recording_and_what_cannot_be_read(tmp_path: Path, wiki: Wiki) -> None:
    paths = [record(tmp_path / "one", "a", name="same.json"), record(tmp_path / "two", "b", name="same.json")]
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    code, told = wiki("worklist", *paths, bad)
    assert {each["about"][0]: each["recording"] for each in told["questions"]} == {
        "a": str(paths[0]),
        "b": str(paths[1]),
    }
    assert code == 1
    assert [(each["unit"], each["place"]) for each in told["problems"]] == [(str(bad), 1)]


def test_a_torn_recording_is_reported_whatever_its_name_says(
    tmp_path: Path, wiki: Wiki, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = tmp_path / "answers to sha256:aaaaaaaaaaaa.jsonl"
    torn.write_text("{", encoding="utf-8")
    code, told = wiki("worklist", torn)
    (problem,) = told["problems"]
    assert (code, problem["kind"], problem["unit"], problem["place"]) == (1, "recording", str(torn), 1)
    assert main(["worklist", str(torn), "--wiki", str(tmp_path / "wiki")]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.startswith(f"{torn}:1: ")) == ("no open questions\n", True)


def test_nothing_but_machinery_is_written_before_an_answer_is_applied(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    assert wiki("worklist", path)[0] == 0
    assert wiki("prompt", "summary", path)[0] == 0
    assert tree(tmp_path / "wiki") == {}


def test_a_printed_prompt_is_what_the_engine_sends(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    _, summary = wiki("prompt", "summary", path)
    assert wiki("apply", "summary", path, answer={"arcs": [arc()]})[0] == 0
    _, guidelines = wiki("prompt", "extract-guidelines", path)
    _, together = wiki("prompt", "together", path)
    with MessagesServer(says({})) as server:
        for is_together in (False, True):
            asking = AskingOptions(base_url=server.base_url, concurrency=1, is_together=is_together)
            ingest([path], tmp_path / str(is_together), "anthropic", asking=asking)
        sent = server.bodies()
    messages = {"".join(part["text"] for part in body["messages"][0]["content"]): body for body in sent}
    for printed in (summary, guidelines, together):
        (body,) = (body for message, body in messages.items() if message.startswith(printed["message"]))
        system = body["system"] if isinstance(body["system"], str) else body["system"][0]["text"]
        assert (system, body["max_tokens"]) == (printed["system"], printed["max_tokens"])
    assert summary["schema"]["properties"].keys() == {"arcs"}


def test_the_text_of_a_prompt_is_exact_under_headings_that_no_recording_can_hold(
    tmp_path: Path, wiki: Wiki, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path, "a")
    _, told = wiki("prompt", "summary", path)
    assert main(["prompt", "summary", str(path), "--wiki", str(tmp_path / "wiki")]) == 0
    text = capsys.readouterr().out
    mark = told["request"][7:19]
    for heading, part in (("system", told["system"]), ("message", told["message"])):
        assert f"\n===== {heading} {mark} =====\n{part}\n" in text
    assert json.loads(text.partition(f"===== JSON schema of the answer {mark} =====\n")[2]) == told["schema"]


def test_an_answer_becomes_pages_and_is_reported(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    code, told = wiki("apply", "summary", path, answer=SUMMARY)
    assert (code, told["ok"], told["problems"]) == (0, True, [])
    assert "summaries/a.md" in told["written"]
    page = parse_page((tmp_path / "wiki" / "summaries" / "a.md").read_text(encoding="utf-8"), "a.md")
    assert ", shown by T3: “2 checks failed”" in page.lead
    assert page.fields["made_by"] == "agent"


def test_pages_and_records_name_the_model_that_answered_and_the_question_of_the_worklist(
    tmp_path: Path, wiki: Wiki
) -> None:
    path = record(tmp_path, "a")
    made = {}
    no_skill = {"skill": None, "reason": "no"}
    for stage, answer, model in zip(STAGES, (SUMMARY, ONE_RULE, no_skill), ("m-1", "m-2", "m-3"), strict=True):
        (question,) = wiki("worklist", path)[1]["questions"]
        assert wiki("apply", stage, path, "--model", model, answer=answer)[0] == 0
        made[stage] = (model, question["request"])
    kept = json.loads((tmp_path / "wiki" / "_sessions" / "a.json").read_text(encoding="utf-8"))["stages"]
    assert {stage: (each["made_by"]["model"], each["made_by"]["question"]) for stage, each in kept.items()} == made
    (page,) = (tmp_path / "wiki" / "guidelines").glob("*__*.md")
    assert "\nmade_by: m-2\n" in page.read_text(encoding="utf-8")
    before = tree(tmp_path / "wiki")
    assert ingest([path], tmp_path / "wiki", "recorded").sessions["unchanged"] == 1
    assert changed(before, tree(tmp_path / "wiki")) == []


_NOT_STANDING: list[tuple[str, Any, str]] = [
    ("summary", "{", "line 1, column 2: "),
    ("summary", {"arcs": [], "more": 1}, "arcs: "),
    ("summary", {"arcs": [arc(outcome_turn=9, outcome_quote="x")]}, "arcs.0.outcome_turn: turn 9 is not there"),
    ("summary", {"arcs": [arc(outcome_turn=3, outcome_quote="x y")]}, "arcs.0.outcome_quote: not verbatim in turn 3"),
    ("summary", {"arcs": [arc(key_turns=[{"turn": 7, "text": "x"}])]}, "arcs.0.key_turns.0.turn: turn 7 is not there"),
    ("guidelines", {"guidelines": [rule("x", tags=[])]}, "guidelines.0.tags: "),
    (
        "guidelines",
        {"guidelines": [rule("x", evidence=[{"turn": 2, "quote": "never"}])]},
        "guidelines.0.evidence.0.quote: not verbatim in turn 2: 'never'",
    ),
    ("guidelines", {"guidelines": [rule("x", title="Short")]}, "Short: title has 1 words"),
    ("skill", skill("x", steps=[{"text": "a"}, {"text": "b"}, {"text": ""}]), "skill.steps.2.text: "),
]


@pytest.mark.parametrize(("kind", "answer", "problem"), _NOT_STANDING)
def test_an_invalid_answer_is_reported_by_field_and_writes_nothing(
    tmp_path: Path, wiki: Wiki, kind: str, answer: Any, problem: str
) -> None:
    path = record(tmp_path, "a")
    if kind != "summary":
        assert wiki("apply", "summary", path, answer={"arcs": [arc()]})[0] == 0
    before, asked = tree(tmp_path / "wiki"), kept_answers(tmp_path)
    code, told = wiki("apply", kind, path, answer=answer)
    assert (code, told["ok"], told["written"]) == (1, False, [])
    assert any(each.startswith(problem) for each in _lines(told["problems"])), told["problems"]
    assert (changed(before, tree(tmp_path / "wiki")), kept_answers(tmp_path)) == ([], asked)


def _lines(problems: list[dict[str, str]]) -> list[str]:
    return [f"{each['place']}: {each['reason']}" for each in problems]


def test_a_question_that_is_not_asked_yet_is_reported(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    code, told = wiki("apply", "guidelines", path, answer=NO_GUIDELINES)
    assert code == 1
    assert "no summary page yet: that question comes first (summarize)" in told["problems"][0]["reason"]
    assert wiki("apply", "cluster", answer={"clusters": []})[1]["problems"] == [
        {"place": "", "reason": "cluster: no question is open; an answered one is named by --request"}
    ]
    assert "no question is open" in wiki("prompt", "cluster")[1]
    wiki("apply", "summary", path, answer={"arcs": [arc(outcome="failure")]})
    assert "only sessions of which a part succeeded" in wiki("prompt", "skill", path)[1]
    (tmp_path / "unread.json").write_text(
        json.dumps({**chat("b"), "messages": chat("b")["messages"][:1]}), encoding="utf-8"
    )
    wiki("worklist", path, tmp_path / "unread.json")
    assert (
        "skill: no question on session a: nothing is asked there; only" in wiki("prompt", "skill", "--session", "a")[1]
    )


def test_words_that_do_not_fit_are_usage_errors(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    for words in (
        ("prompt", "sumary", path),
        ("prompt", "summary", tmp_path / "none.json"),
        ("apply", "summary", path, "--answer", tmp_path / "none.json"),
        ("apply", "summary", path, "--archive-members", "--answer", answer_file(tmp_path, SUMMARY)),
        ("apply", "--answer", answer_file(tmp_path, SUMMARY)),
    ):
        assert wiki(*words)[0] == 2, words
    assert tree(tmp_path / "wiki") == {}


def test_an_envelope_names_its_question_and_the_digest_may_be_short(tmp_path: Path, wiki: Wiki) -> None:
    path = record(tmp_path, "a")
    request = wiki("worklist", path)[1]["questions"][0]["request"]
    assert wiki("prompt", "summary", "--request", request[:15])[1]["request"] == request
    assert wiki("apply", answer={"request": request, "answer": SUMMARY, "model": "m-2"})[0] == 0
    assert (tmp_path / "wiki" / "summaries" / "a.md").is_file()
    assert [(each["request"], each["model"]) for each in kept_answers(tmp_path)] == [(request, "m-2")]
    assert wiki("apply", "summary", path, answer={"answer": {"arcs": [arc("Mend it")]}, "model": "m-3"})[0] == 0
    assert kept_answers(tmp_path)[-1]["model"] == "m-3"
    assert wiki("apply", "summary", path, answer={"answer": SUMMARY, "model": 3})[0] == 1
    code, told = wiki("apply", answer={"request": "sha256:0123456789", "answer": SUMMARY})
    assert (code, "sha256:0123456789" in told["problems"][0]["reason"]) == (1, True)


def test_one_recording_of_several_sessions_needs_the_session_named(tmp_path: Path, wiki: Wiki) -> None:
    path = tmp_path / "both.json"
    path.write_text(json.dumps([chat("a"), chat("b")]), encoding="utf-8")
    code, told = wiki("apply", "summary", path, answer=SUMMARY)
    assert code == 1
    assert "choose one with --session: a, b" in told["problems"][0]["reason"]
    assert wiki("apply", "summary", path, "--session", "b", answer=SUMMARY)[0] == 0
    assert open_questions(wiki, path) == [("summarize", "a"), ("extract-guidelines", "b")]


def test_a_prompt_of_which_several_sessions_have_one_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "both.json"
    path.write_text(json.dumps([chat("a"), chat("b")]), encoding="utf-8")
    words = ["prompt", "summarize", str(path), "--wiki", str(tmp_path / "wiki")]
    assert main(words) == 2
    assert "summarize: it is asked of 2 sessions; choose one with --session: a, b\n" in capsys.readouterr().err
    assert main([*words, "--session", "c"]) == 1, "there is no such question"
    assert main([*words, "--session", "b"]) == 0


def test_a_path_that_holds_a_secret_is_not_written_down(tmp_path: Path, wiki: Wiki) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    path = record(tmp_path / token, "a")
    assert wiki("worklist", path)[0] == 0
    assert wiki("prompt", "summary", path)[0] == 0
    kept = (tmp_path / "wiki" / ".wiki" / "asked.json").read_text(encoding="utf-8")
    assert token not in kept
    assert wiki("apply", "summary", path, answer=SUMMARY)[0] == 0
    for file in (tmp_path / "wiki").rglob("*"):
        assert not file.is_file() or token.encode() not in file.read_bytes(), file


def test_a_long_result_is_previewed_as_it_was_printed(tmp_path: Path, wiki: Wiki) -> None:
    path = tmp_path / "a.json"
    told = chat("a")
    told["messages"][2]["content"] = "2 checks failed\n" + "".join(
        f"line {number} of the log\n" for number in range(40_000)
    )
    path.write_text(json.dumps(told), encoding="utf-8")
    request = wiki("worklist", path)[1]["questions"][0]["request"]
    _, printed = wiki("prompt", "summary", path)
    assert printed["request"] == request
    assert ".wiki/tool-results/" in printed["message"]
    assert len(list((tmp_path / "wiki" / ".wiki" / "tool-results").glob("*.txt"))) == 1
    code, applied = wiki("apply", answer={"request": request, "answer": SUMMARY})
    assert (code, applied["problems"]) == (0, [])
