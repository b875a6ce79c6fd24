"""`--fail-on`: what makes the job of a night red, and what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.changes.checks import checks_of
from agent_wiki.changes.fail_on import conditions_of, reasons_to_fail
from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.report import Failure, Note, Report
from agent_wiki.spending import Totals
from agent_wiki.wiki.layout import content_id
from tests.wikis import Script, arc, changed, record, rule, tree

DROPPED = [Note("s", "not verbatim")]


def _report(failed: int = 0, of: int = 0, **fields: object) -> Report:
    report = Report("ingest", "wiki", recordings=of, recordings_read=of)
    report.failures = [Failure("recording", f"{each}.json", "not JSON") for each in range(failed)]
    for name, value in fields.items():
        setattr(report, name, value)
    return report


def _cost(**totals: float) -> dict[str, object]:
    return {"total": {**Totals().to_json(), **totals}}


@pytest.mark.parametrize(
    ("condition", "report", "reason"),
    [
        ("failed", _report(), ""),
        ("failed", _report(1, 40), "failed: 1 (2.5% of 40 recordings), more than 0"),
        ("failed=5%", _report(2, 40), ""),
        ("failed=5%", _report(3, 40), "failed: 3 (7.5% of 40 recordings), more than 5%"),
        ("failed=99%", _report(1, 0), "failed: 1 (100.0% of 1 recording), more than 99%"),
        ("failed=20%", _report(6, 36, recordings_unchanged=30), "failed: 6 (100.0% of 6 recordings), more than 20%"),
        ("failed=20%", _report(1, 9000, recordings=10000, recordings_unchanged=8995), ""),
        ("failed=20%", _report(6, 36, recordings_unchanged=36, failed_before=6), ""),
        ("failed=20%", _report(2, 46, recordings_unchanged=38, failed_again=2), ""),
        ("failed=20%", _report(3, 46, recordings_unchanged=38, failed_again=3),
         "failed: 3 (27.3% of 11 recordings), more than 20%"),
        ("failed=20%", _report(7, 46, recordings_unchanged=36, failed_before=6), ""),
        ("failed=20%", _report(9, 46, recordings_unchanged=36, failed_before=6),
         "failed: 3 (30.0% of 10 recordings), more than 20%"),
        ("failed=3", _report(3, 3), ""),
        ("failed=3", _report(4, 40), "failed: 4 (10.0% of 40 recordings), more than 3"),
        ("failed", _report(failures=[Failure("page", "guidelines/a.md", "not YAML")]), ""),
        ("failed=1", _report(failures=[Failure("answer", s, "no", recording="a.json") for s in ("s", "t")]), ""),
        ("quarantine", _report(dropped_claims=DROPPED), "quarantine: 0 files, 1 claim dropped by a check, more than 0"),
        ("quarantine=1", _report(dropped_claims=DROPPED), ""),
        ("cost=5", _report(), ""),
        ("cost=5", _report(asked=_cost(cost_usd=5.0)), ""),
        ("cost=0.5", _report(asked=_cost(cost_usd=0.75)), "cost: $0.75, more than $0.5"),
        ("cost=5", _report(asked=_cost(cost_usd=1.0, unpriced=2)), "cost: unknown, for 2 answers have no price"),
    ],
)  # fmt: skip
def test_a_condition_is_met_beyond_its_limit(condition: str, report: Report, reason: str, tmp_path: Path) -> None:
    assert reasons_to_fail(conditions_of([condition]), report, Options(tmp_path)) == [reason] * bool(reason)


def test_a_bug_is_always_a_reason(tmp_path: Path) -> None:
    assert reasons_to_fail((), _report(bugs=["Traceback"]), Options(tmp_path)) == ["bug: 1 bug of this program"]


@pytest.mark.parametrize(
    "words",
    [
        "nonsense",
        "failed=x",
        "failed=-1",
        "cost",
        "cost=5%",
        "quarantine=5%",
        "check=1",
        "failed 5",
        "failed=150%",
        "failed=100.1%",
        "",
        " ",
    ],
)
def test_words_that_name_no_condition_are_refused(words: str) -> None:
    with pytest.raises(UsageError, match="--fail-on"):
        conditions_of([f"failed,{words}"])


def test_the_exit_code_follows_the_conditions_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Script(tmp_path)
    told.says("", rules=[rule("Run the check before a change.")])
    for session in ("a", "b", "c"):
        record(tmp_path / "traces", session)
    (tmp_path / "traces" / "bad.json").write_text("{", encoding="utf-8")
    words = ["ingest", str(tmp_path / "traces"), "--wiki", str(tmp_path / "wiki"), "--engine", told.engine, "--jobs=1"]
    assert main(words) == 1
    assert main([*words, "--rewrite", "--fail-on", "failed=25%,check", "--fail-on=cost=1"]) == 0
    assert "FAILED (1):" in capsys.readouterr().out
    assert main([*words, "--rewrite", "--fail-on", "failed=20%", "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert values["failed_on"] == ["failed: 1 (25.0% of 4 recordings), more than 20%"]
    assert values["exit_code"] == 1
    assert main([*words, "--fail-on", "often"]) == 2


def test_what_failed_once_and_is_not_read_again_is_no_share_of_a_later_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces, engine = tmp_path / "traces", Script(tmp_path).engine
    words = ["ingest", str(traces), "--wiki", str(tmp_path / "wiki"), "--engine", engine, "--jobs=1"]
    words += ["--fail-on", "failed=20%"]
    record(traces, "a")
    (traces / "bad.json").write_text("{", encoding="utf-8")
    assert main(words) == 1
    assert main(words) == 0
    record(traces, "b")
    assert main(words) == 0
    assert "FAILED (1):" in capsys.readouterr().out
    assert main([*words, "--fail-on", "failed"]) == 1


@pytest.mark.parametrize("known", [0, 30])
def test_a_night_in_which_all_new_objects_fail_is_red_until_they_are_set_aside(known: int, tmp_path: Path) -> None:
    bucket, engine = tmp_path / "bucket", Script(tmp_path).engine
    words = ["ingest", f"file://{bucket}", "--wiki", str(tmp_path / "wiki"), "--engine", engine, "--jobs=1"]
    words += ["--fail-on", "failed=20%,check"]
    bucket.mkdir()
    for number in range(known):
        record(bucket, f"s{number}")
    if known:
        assert main(words) == 0
    for number in range(6):
        (bucket / f"bad{number}.json").write_text('{"messages": [', encoding="utf-8")
    assert [main(words) for _ in range(2)] == [1, 1]
    for number in range(30):
        record(bucket, f"t{number}")
    assert main(words) == 0
    assert main([*words, "--fail-on", "failed"]) == 0, "they are set aside"


def test_a_damaged_wiki_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Script(tmp_path)
    told.says("", rules=[rule("Run the check before a change.")])
    words = ["--wiki", str(tmp_path / "wiki"), "--engine", told.engine, "--jobs=1", "--fail-on=check"]
    assert main(["ingest", str(record(tmp_path, "a")), *words]) == 0
    (tmp_path / "wiki" / "_sessions" / "a.json").write_text("{}", encoding="utf-8")
    assert main(["ingest", str(record(tmp_path, "b")), *words]) == 1
    assert "RED: check: _sessions/a.json: " in capsys.readouterr().out


FIRST, ALWAYS = "Run the check before a change of the cart.", "Run the check always before a change of the cart."
_CONFIG = f"""\
clusters:
  check-first:
    {{title: Check first, takeaway: Check first., members: [{content_id(FIRST)}, {content_id(ALWAYS)}]}}
tasks:
  mend-cart:
    {{title: Mend the cart, family_match: {{goal_substring: [mend the cart]}}}}
"""


class Shop:
    """Two sessions at one task, which teach nothing, and two that teach a rule each of one cluster: four pages."""

    def __init__(self, folder: Path) -> None:
        self.wiki, script = folder / "wiki", Script(folder)
        for name in "ab":
            script.says(name, arcs=[arc("Mend the cart")])
        script.says("d", rules=[rule(FIRST)])
        script.says("e", rules=[rule(ALWAYS, title="Check it first")])
        self.traces = str(record(folder / "traces", "a").parent)
        for name in "bde":
            record(folder / "traces", name)
        self.wiki.mkdir()
        (self.wiki / "_config.yaml").write_text(_CONFIG, encoding="utf-8")
        self.words = ["--wiki", str(self.wiki), "--engine", script.engine]

    def waiting(self) -> list[str]:
        return (self.wiki / "_waiting.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("most", range(4))
def test_a_wiki_in_which_pages_wait_is_as_it_would_be_rendered(
    most: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path)
    words = ["ingest", shop.traces, *shop.words, "--jobs=1", "--max-new-pages", str(most)]
    assert main([*words, "--fail-on", "check"]) == 0, capsys.readouterr().out
    assert len(shop.waiting()) == 4 - most
    made = tree(shop.wiki)
    assert main(["catalog", "--wiki", str(shop.wiki), "--max-new-pages", "0"]) == 0
    assert "no session matches it" not in capsys.readouterr().out
    assert changed(made, tree(shop.wiki)) == []


def test_a_join_after_which_pages_wait_is_as_it_would_be_rendered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path)
    for number in (1, 2):
        words = ["ingest", shop.traces, *shop.words, "--jobs=1", "--shard", f"{number}/2"]
        assert main([*words, "--out", str(tmp_path / "shards")]) == 0
    joining = ["join", str(tmp_path / "shards"), *shop.words, "--max-new-pages", "1", "--fail-on", "check"]
    assert main(joining) == 0, capsys.readouterr().out
    assert len(shop.waiting()) == 3


def test_a_shard_says_that_its_files_are_no_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = Shop(tmp_path)
    words = ["ingest", shop.traces, *shop.words, "--jobs=1", "--shard", "1/1", "--out", str(tmp_path / "shards")]
    assert main(words) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "written" in line]
    assert [line.split(": ")[0] for line in said] == ["shard"]
    assert "no page" in said[0]


def test_a_shard_renders_no_pages_and_is_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = Shop(tmp_path)
    mining = ["ingest", shop.traces, *shop.words, "--jobs=1", "--out", str(tmp_path / "shards")]
    mining += ["--fail-on", "failed=20%,check", "--fail-on", "check"]
    assert main([*mining, "--shard", "1/2"]) == 0
    printed = capsys.readouterr().out
    assert "RED" not in printed
    assert printed.count("--fail-on check: a shard renders no pages") == 1
    (tmp_path / "traces" / "bad.json").write_text("{", encoding="utf-8")
    assert 1 in [main([*mining, "--shard", f"{number}/2"]) for number in (1, 2)], "other conditions count"
    assert "RED: failed: 1 " in capsys.readouterr().out


def test_what_mends_a_wiki_in_which_pages_wait_publishes_none_of_them(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    assert main(["ingest", shop.traces, *shop.words, "--jobs=1", "--max-new-pages", "1"]) == 0
    made = tree(shop.wiki)
    (shop.wiki / "index.md").unlink()
    problems = checks_of(shop.wiki, [], archive_covered=True)[0].problems
    assert problems == ("index.md: not as it would be rendered; run `wiki catalog --max-new-pages 0`",)
    assert main(["catalog", "--wiki", str(shop.wiki), "--max-new-pages", "0"]) == 0
    assert changed(made, tree(shop.wiki)) == []
