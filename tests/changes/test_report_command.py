"""`wiki report` as a night calls it, in real git repositories."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.changes.revision import revision_of
from agent_wiki.commands import main
from agent_wiki.pipeline.new_pages import AtMost
from tests.repositories import Repository
from tests.wikis import Script, ingest, record, rule, skill, tree

FIRST, SECOND = "Run the check before a change.", "Ask for the currency first."


class Nights:
    """A repository whose wiki holds one session with one lesson, committed, and what further nights add.

    In a folder where that lies already, as in a copy, it is not made anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = Script(folder)
        self.script.says("a", rules=[rule(FIRST)])
        is_new = not (folder / "repository").exists()
        self.repository = Repository(folder / "repository")
        if is_new:
            self.night("a")
            self.repository.commit()

    @property
    def wiki(self) -> Path:
        return self.repository.wiki

    def night(self, session: str, **said: Any) -> None:
        if said:
            self.script.says(session, **said)
        ingest([record(self.folder / "traces", session)], self.wiki, self.script.engine)

    def report(self, *words: str) -> tuple[int, dict[str, Any], str]:
        """Exit code, JSON and body."""
        body = self.folder / "body.md"
        code = main(["report", "--wiki", str(self.wiki), "--pr", str(body), *words])
        return code, json.loads(body.with_suffix(".json").read_text("utf-8")), body.read_text("utf-8")


@pytest.fixture(scope="module")
def _first_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Nights(tmp_path_factory.mktemp("first-night")).folder


@pytest.fixture
def nights(_first_night: Path, tmp_path: Path) -> Nights:
    return Nights(shutil.copytree(_first_night, tmp_path, symlinks=True, dirs_exist_ok=True))


def test_a_new_lesson_is_one_line_with_its_page_and_turn(nights: Nights) -> None:
    nights.night("b", rules=[rule(SECOND, title="Ask for it first"), rule("Round at the end.", title="Round it once")])
    code, values, body = nights.report("--link-base", "https://example.org/o/r/blob/main", "--exit-code")
    assert (code, values["news"], values["title"]) == (0, True, "Wiki: 2 new, from 1 session")
    (line,) = (each for each in body.splitlines() if each.startswith(f"- **guideline** Ask for it first: {SECOND} ("))
    (page,) = (each["link"] for each in values["pages"]["new"] if each["title"] == "Ask for it first")
    assert f"[page](https://example.org/o/r/blob/main/wiki/{page})" in line
    assert "[T2](https://example.org/o/r/blob/main/wiki/summaries/b.md) of b" in line
    assert all(check["passed"] for check in values["checks"])


def test_a_wiki_that_git_ignores_is_new_with_its_sessions(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    (repository.root / ".gitignore").write_text("/wiki/\n", encoding="utf-8")
    repository.commit()
    ingest([record(tmp_path / "traces", "a")], repository.wiki, Script(tmp_path).engine)
    revision = revision_of(repository.wiki)
    assert revision.changed_files().keys() == tree(repository.wiki).keys()
    assert main(["report", "--wiki", str(repository.wiki), "--pr", str(tmp_path / "body.md")]) == 0
    assert json.loads((tmp_path / "body.json").read_text("utf-8"))["title"].endswith(", from 1 session")


def test_without_a_change_nothing_is_new(nights: Nights, capsys: pytest.CaptureFixture[str]) -> None:
    assert nights.report("--exit-code")[:2] == (3, nights.report()[1])
    assert nights.report()[1]["news"] is False
    assert capsys.readouterr().out.startswith("Wiki: nothing new: ")


def test_a_session_that_taught_nothing_is_news_and_says_so(nights: Nights) -> None:
    nights.night("b", rules=[])
    _, values, body = nights.report()
    assert values["title"] == "Wiki: no page changed, from 1 session"
    assert "1 had nothing to learn" in body


def test_a_session_that_taught_only_a_workflow_taught_something_for_the_run_and_for_the_body(nights: Nights) -> None:
    nights.script.says("b", rules=[], skill=skill("check-first"))
    nights.script.says("c", rules=[])
    paths = [record(nights.folder / "traces", name) for name in "bc"]
    report = ingest(paths, nights.wiki, nights.script.engine)
    assert "learnt: 1 skill taught by sessions; 1 session had nothing to teach" in report.lines()
    _, values, _ = nights.report()
    assert report.nothing_to_learn == values["sessions"]["nothing_to_learn"] == 1


def test_more_support_is_no_change_and_other_words_are(nights: Nights) -> None:
    nights.night("b", rules=[rule(FIRST)])
    _, values, _ = nights.report()
    assert (values["pages"]["changed"], values["pages"]["minor"]) == ([], 1)
    nights.night("a", rules=[rule(FIRST, rationale="Because it says what is wrong.")])
    _, values, _ = nights.report()
    assert [page["why"] for page in values["pages"]["changed"]] == [["text"]]


def test_what_was_not_there_when_somebody_looked_is_marked_and_comes_first(nights: Nights) -> None:
    nights.repository.git("branch", "base")
    nights.night("b", rules=[rule(SECOND, title="Ask for it first")])
    nights.repository.commit()
    nights.night("c", rules=[rule("Round at the end.", title="Round it once")])
    _, values, body = nights.report("--base", "base", "--seen", "HEAD")
    assert [(page["title"], page["is_unseen"]) for page in values["pages"]["new"]] == [
        ("Round it once", True),
        ("Ask for it first", False),
    ]
    assert "- **unseen** guideline Round it once" in body
    assert f"Since the last update (`{values['seen'][:12]}`): 1 new, marked **unseen**" in body
    assert "unseen" not in nights.report("--base", "base")[2]
    nights.repository.commit()
    assert "): no page is new, changed or retired." in nights.report("--base", "base", "--seen", "HEAD")[2]


def test_what_no_session_supports_and_what_its_owner_rejected_is_retired(nights: Nights) -> None:
    nights.night("b", rules=[rule(SECOND)])
    nights.repository.commit()
    pages = {each.read_text("utf-8"): each.name for each in (nights.wiki / "guidelines").glob("*__*.md")}
    (rejected,) = (name for text, name in pages.items() if SECOND in text)
    assert main(["reject", rejected, "--wiki", str(nights.wiki), "--why", "Not @here"]) == 0
    nights.night("a", rules=[])
    _, values, body = nights.report()
    assert sorted(why for page in values["pages"]["retired"] for why in page["why"]) == [
        "no session supports it any more",
        "retired by its owner: Not @here",
    ]
    assert "@here" not in body


def test_a_base_without_a_wiki_makes_everything_new(nights: Nights) -> None:
    nights.repository.git("checkout", "--quiet", "--orphan", "empty")
    nights.repository.git("rm", "-r", "--cached", "--quiet", ".")
    nights.repository.git("commit", "--quiet", "--allow-empty", "--message=Nothing")
    _, values, _ = nights.report("--base", "empty")
    assert len(values["pages"]["new"]) == 1
    assert values["sessions"]["new"] == 1


def test_a_repository_without_a_commit_has_nothing_to_compare_with(tmp_path: Path, nights: Nights) -> None:
    fresh = Repository(tmp_path / "fresh")
    shutil.copytree(nights.wiki, fresh.wiki)
    assert main(["report", "--wiki", str(fresh.wiki), "--pr", str(tmp_path / "body.md")]) == 0
    assert "Compared with nothing: no commit yet." in (tmp_path / "body.md").read_text("utf-8")


def test_another_branch_is_compared_where_the_own_left_it_also_with_a_detached_head(nights: Nights) -> None:
    nights.repository.branch("nightly")
    nights.repository.git("checkout", "--quiet", "main")
    nights.night("c", rules=[rule(SECOND)])
    nights.repository.commit()
    nights.repository.git("checkout", "--quiet", "--detach", "nightly")
    _, values, _ = nights.report("--base", "main")
    assert values["news"] is False


@pytest.mark.parametrize(
    ("base", "said"),
    [("nonesuch", "--base nonesuch: no such revision here"), ("--output=x", "--base --output=x: no such")],
)
def test_a_revision_that_is_not_there_is_one_line(
    nights: Nights, base: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--wiki", str(nights.wiki), f"--base={base}"]) == 2
    assert said in capsys.readouterr().err
    assert main(["report", "--wiki", str(nights.wiki), f"--seen={base}"]) == 2
    assert said.replace("--base ", "--seen ") in capsys.readouterr().err


def test_a_shallow_clone_says_that_it_is_one(
    nights: Nights, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nights.repository.commit()
    nights.repository.git("clone", "--quiet", "--depth=1", f"file://{nights.repository.root}", str(tmp_path / "clone"))
    words = ["report", "--wiki", str(tmp_path / "clone" / "wiki")]
    assert main([*words, "--base=HEAD~1"]) == 2
    assert "this clone is shallow" in capsys.readouterr().err
    assert main([*words, "--exit-code"]) == 3


def test_no_repository_is_one_line(nights: Nights, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(nights.wiki, tmp_path / "alone")
    assert main(["report", "--wiki", str(tmp_path / "alone")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "it lies in no git work tree" in line


def test_the_body_says_what_the_night_read_since_the_last_update(nights: Nights, tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    night = {"sessions": {"left-out": 1, "mined": 2, "older": 3}, "failures": [], "recordings": 6}
    run.write_text(json.dumps(night), encoding="utf-8")
    nights.repository.commit()
    body = nights.report("--seen", "HEAD", f"--run={run}")[2]
    assert "): no page is new, changed or retired; 2 sessions mined." in body
    assert "- Sessions in them: 2 mined, 4 left out (3 as the wiki holds a longer recording)." in body


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([(["a"], 1)], "1 failed (in an earlier run; unchanged, so not tried again), "),
        ([(["a", "b"], 1)], "2 failed (1 of them in an earlier run; unchanged, so not tried again), "),
        ([(["a"], 0), (["a"], 1)], "1 failed, "),
        ([(["a"], 0)], "1 failed, "),
    ],
)
def test_a_failure_that_no_run_of_the_night_met_is_said_to_be_an_earlier_one(
    runs: list[tuple[list[str], int]], said: str, nights: Nights, tmp_path: Path
) -> None:
    words = []
    for number, (names, unchanged) in enumerate(runs):
        failures = [{"kind": "recording", "unit": name, "reason": "not JSON"} for name in names]
        night = {"failures": failures, "failures_unchanged": unchanged, "recordings": 3, "recordings_unchanged": 3}
        (tmp_path / f"{number}.json").write_text(json.dumps(night), encoding="utf-8")
        words.append(f"--run={tmp_path / str(number)}.json")
    assert f"of them unchanged and not read; {said}" in nights.report(*words)[2]


def test_reports_of_runs_are_added_up_and_a_damaged_one_is_named(nights: Nights, tmp_path: Path) -> None:
    night = {"failures": [{"kind": "recording", "unit": "bad.json", "reason": "not JSON", "place": 1}], "recordings": 2,
             "recordings_read": 1, "sessions": {"mined": 1}, "warnings": ["empty.json: empty file"], "set_aside": [],
             "stopped": "", "asked": {"total": {"calls": 2, "cost_usd": 0.25, "input_tokens": 1000}}}  # fmt: skip
    for name, text in (("one.json", json.dumps(night)), ("two.json", json.dumps(night)), ("three.json", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    _, values, body = nights.report(*(f"--run={tmp_path / name}.json" for name in ("one", "two", "three")))
    assert values["run"]["recordings"] == 4
    assert values["run"]["failures"] == ["bad.json:1: not JSON"]
    assert values["run"]["asked"]["cost_usd"] == 0.5
    assert "three.json is no report of a run" in body
    assert "- Read in 3 runs: 2 files, 0 of them unchanged and not read, 2 left for a later run; 1 failed" in body
    assert main(["report", "--wiki", str(nights.wiki), "--run", str(tmp_path / "none.json")]) == 2


def test_edits_of_people_and_broken_pages_are_shown(nights: Nights) -> None:
    (page,) = (each for each in (nights.wiki / "guidelines").glob("*__*.md"))
    page.write_text(page.read_text("utf-8").replace(FIRST, "Our own words, see [this](nowhere.md)."), encoding="utf-8")
    next((nights.wiki / "summaries").glob("a.md")).unlink()
    _, values, body = nights.report()
    assert values["edited"] == [f"guidelines/{page.name}"]
    failed = {check["name"]: check["problems"] for check in values["checks"] if not check["passed"]}
    assert "pages" in failed
    assert any("nowhere.md" in problem for problem in failed["links"])
    assert f"- edited: `wiki/guidelines/{page.name}`" in body


def test_pages_that_wait_are_named_and_no_damage(nights: Nights) -> None:
    nights.script.says("b", rules=[rule(SECOND, title="Ask for it first")])
    ingest([record(nights.folder / "traces", "b")], nights.wiki, nights.script.engine, new_pages=AtMost(0))
    _, values, body = nights.report()
    assert [page["title"] for page in values["waiting"]] == ["Ask for it first"]
    assert "### Waiting for a later run (1)\n\n- **guideline** Ask for it first\n" in body
    assert values["pages"]["new"] == []
    assert all(check["passed"] for check in values["checks"])


def _packed_night(nights: Nights, session: str) -> dict[str, Any]:
    nights.script.says(session, rules=[rule(f"Look at {session} first.", title=f"Look at {session} first")])
    paths = [record(nights.folder / "traces", session)]
    ingest(paths, nights.wiki, nights.script.engine, summaries="sidecar:../../packs")
    return nights.report()[1]


def test_sessions_whose_records_are_not_in_git_are_counted_too(nights: Nights) -> None:
    values = _packed_night(nights, "b")
    assert (values["sessions"]["new"], values["sessions"]["gone"], values["title"]) == (
        1,
        0,
        "Wiki: 1 new, from 1 session",
    )
    nights.repository.git("rm", "-r", "-q", "--cached", "wiki/_sessions", "wiki/summaries")
    nights.repository.commit()
    assert nights.report("--exit-code")[0] == 3
    values = _packed_night(nights, "c")
    assert (values["sessions"]["new"], values["sessions"]["changed"], values["sessions"]["gone"]) == (1, 0, 0)
    (page,) = values["pages"]["new"]
    assert page["cited"]["summary"] == ""


def test_a_pack_of_the_base_that_is_gone_is_a_problem_and_no_end(nights: Nights) -> None:
    _packed_night(nights, "b")
    nights.repository.git("rm", "-r", "-q", "--cached", "wiki/_sessions", "wiki/summaries")
    nights.repository.commit()
    (nights.wiki / "_sidecar.jsonl").unlink()
    for pack in (nights.folder / "packs").iterdir():
        pack.unlink()
    _, values, _ = nights.report()
    (check,) = (each for each in values["checks"] if each["name"] == "sessions")
    assert "this pack of records is not in the sidecar" in check["problems"][0]
