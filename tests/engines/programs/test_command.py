"""Whole runs with `--engine command:'…'`: the same questions, checks, journal, limits and ledger as any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.asking.journal import journal_folder
from agent_wiki.asking.ledger import cost_report
from agent_wiki.commands import main
from agent_wiki.engines import programs
from agent_wiki.errors import RunError, UsageError
from tests.engines.programs.fakes import TOGETHER, asked_of, calls_of, program, saying
from tests.paid_runs import dated_recordings
from tests.wikis import arc, changed, tree


def test_a_command_makes_a_wiki_and_its_tokens_are_unknown_and_not_zero(tmp_path: Path) -> None:
    paths, wiki = dated_recordings(tmp_path / "t", 2), tmp_path / "wiki"
    report = asked_of(paths, wiki, saying(tmp_path))
    assert report.exit_code == 0, report.lines()
    assert report.pages == {"summary pages": 2, "guideline pages": 1, "skill pages": 1}
    total = report.asked["total"]
    assert [total[name] for name in ("calls", "uncounted", "unpriced", "output_tokens")] == [2, 2, 2, 0]
    assert "asked: 2 calls, 2 answers whose tokens nobody reported, no price" in report.lines()
    made = json.loads((wiki / "_sessions" / "session-0.json").read_text())["stages"]["summarize"]["made_by"]
    assert (made["engine"], made.get("model")) == ("command", None)
    assert set(cost_report(wiki).models) == {"command"}
    assert asked_of(paths, wiki, saying(tmp_path)).written == []
    assert calls_of(tmp_path, "fake-model") == 2


def test_the_prompt_holds_all_that_an_answer_needs(tmp_path: Path) -> None:
    asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", saying(tmp_path))
    prompt = (tmp_path / "prompt").read_text(encoding="utf-8")
    assert "agent-wiki mining request" in prompt
    assert "make check" in prompt
    assert '"GuidelinesAnswer"' in prompt
    assert (tmp_path / "fake-model.words").read_text() == "-m m-1\n"


def test_from_the_journal_alone_the_same_wiki_is_built(tmp_path: Path) -> None:
    paths, wiki, other = dated_recordings(tmp_path / "t", 2), tmp_path / "wiki", tmp_path / "other"
    engine = saying(tmp_path)
    asked_of(paths, wiki, engine)
    journal_folder(other).parent.mkdir(parents=True)
    journal_folder(wiki).rename(journal_folder(other))
    report = asked_of(paths, other, engine)
    assert (report.asked["total"]["calls"], report.asked["total"]["replayed"]) == (0, 6)
    assert changed(tree(wiki), tree(other)) == []


def test_an_answer_that_does_not_fit_is_asked_for_again_with_the_reason(tmp_path: Path) -> None:
    engine = saying(tmp_path, {"arcs": [arc(title=7)]})
    report = asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", engine, is_together=False)
    assert "the answer of command does not fit: arcs.0.title" in report.failures[0].reason
    assert calls_of(tmp_path, "fake-model") == 2
    prompt = (tmp_path / "prompt").read_text(encoding="utf-8")
    assert "Your answer to this was:" in prompt
    assert "That answer does not fit: arcs.0.title" in prompt


def test_calls_are_capped_and_the_next_run_goes_on(tmp_path: Path) -> None:
    paths, wiki, engine = dated_recordings(tmp_path / "t", 3), tmp_path / "wiki", saying(tmp_path)
    report = asked_of(paths, wiki, engine, max_calls=2, concurrency=1)
    assert report.exit_code == 3
    assert any("--max-calls 2 is reached" in line for line in report.lines())
    assert asked_of(paths, wiki, engine, max_calls=2).exit_code == 0
    assert calls_of(tmp_path, "fake-model") == 3


def test_a_shard_to_which_no_call_is_left_asks_nothing_and_says_why(tmp_path: Path) -> None:
    paths, engine = dated_recordings(tmp_path / "t", 1), saying(tmp_path)
    report = asked_of(paths, tmp_path / "wiki", engine, max_calls=0)
    assert report.exit_code == 3
    assert any("--max-calls is less than there are shards" in line for line in report.lines())
    assert calls_of(tmp_path, "fake-model") == 0


def test_a_cap_in_dollars_needs_a_price(tmp_path: Path) -> None:
    paths, wiki = dated_recordings(tmp_path / "t", 1), tmp_path / "wiki"
    with pytest.raises(UsageError, match=r"--max-usd needs a price for the default of --engine command.*--max-calls"):
        asked_of(paths, wiki, saying(tmp_path), max_usd=1.0)
    assert calls_of(tmp_path, "fake-model") == 0


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_PAUSES_SECONDS", (0.0, 0.0))


@pytest.mark.usefixtures("_no_pauses")
def test_a_service_without_time_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(TOGETHER), encoding="utf-8")
    busy = f"cd {tmp_path}; test -e tried && exec cat answer.json; touch tried; echo '429 slow' >&2; exit 1"
    engine = f"command:{program(tmp_path, 'fake-model', busy)}"
    assert asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", engine).exit_code == 0
    assert calls_of(tmp_path, "fake-model") == 2


@pytest.mark.usefixtures("_no_pauses")
def test_a_service_that_never_has_time_fails_its_session_and_the_next_run_asks_again(tmp_path: Path) -> None:
    engine = f"command:{program(tmp_path, 'fake-model', 'echo overloaded >&2; exit 1')}"
    report = asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", engine)
    assert [(each.kind, each.reason) for each in report.failures] == [
        ("service", "fake-model: exit code 1: overloaded")
    ]
    assert calls_of(tmp_path, "fake-model") == 3


@pytest.mark.usefixtures("_no_pauses")
def test_a_program_that_fails_without_a_word_is_told_once_with_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = f"command:{program(tmp_path, 'fake-model', 'exit 3')}"
    (recording,) = dated_recordings(tmp_path / "t", 1)
    main(["ingest", str(recording), "--wiki", str(tmp_path / "wiki"), "--engine", engine])
    shown = capsys.readouterr()
    assert "fake-model: exit code 3, without a word" in shown.out + shown.err


def test_a_wrong_login_ends_the_run_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = f"command:{program(tmp_path, 'fake-model', 'echo 401 Unauthorized >&2; exit 1')}"
    words = [
        "ingest",
        str(dated_recordings(tmp_path / "t", 1)[0]),
        "--wiki",
        str(tmp_path / "wiki"),
        "--engine",
        engine,
    ]
    assert main(words) == 2
    assert "fake-model is not logged in (exit code 1: 401 Unauthorized)" in capsys.readouterr().err
    assert calls_of(tmp_path, "fake-model") == 1


def test_an_estimate_runs_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = dated_recordings(tmp_path / "t", 2)
    words = ["ingest", str(paths[0].parent), "--wiki", str(tmp_path / "wiki"), "--engine", saying(tmp_path)]
    assert main([*words, "--estimate", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not any("--exact" in note for note in told["notes"])
    assert "what command puts around each prompt is not counted before its first answers" in told["notes"]
    assert (told["total"]["calls"], told["total"]["cost_usd"], told["unpriced_models"]) == (2, None, ["command"])
    assert calls_of(tmp_path, "fake-model") == 0
    assert main([*words, "--estimate", "--exact"]) == 2


@pytest.mark.parametrize("command", ["", "'unclosed"])
def test_a_command_that_is_none_is_a_usage_error(tmp_path: Path, command: str) -> None:
    with pytest.raises(UsageError, match="--engine command:"):
        asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", f"command:{command}")


def test_words_may_name_the_schema_and_the_model(tmp_path: Path) -> None:
    script = f"cat > /dev/null; cp $2 {tmp_path}/schema; echo '{{}}'"
    engine = f"command:{program(tmp_path, 'fake-model', script)} {{model}} {{schema}}"
    asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", engine, models=("m-7",))
    assert (tmp_path / "fake-model.words").read_text().startswith("m-7 /")
    assert json.loads((tmp_path / "schema").read_text())["type"] == "object"


def test_a_program_that_never_answers_ends_the_run(tmp_path: Path) -> None:
    engine = f"command:{program(tmp_path, 'fake-model', 'echo no such model >&2; exit 1')}"
    with pytest.raises(RunError, match="no such model; it has answered nothing, so the run ends"):
        asked_of(dated_recordings(tmp_path / "t", 5), tmp_path / "wiki", engine, concurrency=1)
    assert calls_of(tmp_path, "fake-model") == 3


def test_a_program_may_be_named_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert asked_of(dated_recordings(tmp_path / "t", 1), tmp_path / "wiki", "command:bin/fake-model").exit_code == 0
