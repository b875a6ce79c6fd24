"""What is here and what is wrong: `wiki status`, `doctor`, `models` and `tail`."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.harness import doctor, follow
from tests.wikis import Script, record, rule, skill


def test_status_names_every_folder_to_read_and_pages_that_are_gone(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = next(wiki.parent.glob("answers-*.json"))
    words = ["--wiki", "wiki", "--engine", f"scripted:{engine}", "--jobs", "1"]
    record(wiki.parent / "my t", "c")
    assert main(["ingest", "my t", str(record(wiki.parent / "chosen", "e")), *words]) == 0
    capsys.readouterr()
    for folder in ("t", "my t", "chosen"):  # of which the last was not named, but one file in it
        record(wiki.parent / folder, "d")
    (page,) = wiki.glob("guidelines/*__*.md")
    page.unlink()
    lines = _printed(["status"], capsys).splitlines()
    assert lines[2:4] == [
        f"waits:   2 recordings to read: wiki ingest '{wiki.parent / 'my t'}' {wiki.parent / 't'}",
        "waits:   1 page gone from the folder: wiki catalog renders them again",
    ]
    assert main(["consult", "run the check"]) == 0
    assert capsys.readouterr() == ("", "nothing in the wiki applies\n"), "no path that leads nowhere"


@pytest.mark.parametrize("words", [["status"], ["consult", "run the check"]])
def test_a_wiki_whose_first_run_broke_off_is_unfinished_and_what_completes_it_is_named(
    words: list[str], wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (wiki / "_index.jsonl").unlink()  # as on a full disk, which records reached
    assert main([*words, "--wiki", "wiki"]) == 2
    said = capsys.readouterr().err
    assert "an unfinished wiki, with records of sessions and without an index; `wiki ingest PATH --wiki " in said
    assert "`wiki catalog --wiki " in said
    assert main(["catalog", "--wiki", "wiki"]) == 0
    assert main([*words, "--wiki", "wiki"]) == 0


def test_status_counts_an_agent_that_reads_anothers_file_as_not_connected(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["connect", "claude-code"]) == 0
    capsys.readouterr()
    assert wiki.is_dir()
    assert "agents:  claude-code" in _printed(["status"], capsys).splitlines()
    assert "opencode" not in _printed(["doctor"], capsys)


@pytest.fixture
def wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A wiki of one session in a project that no agent is connected to."""
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    monkeypatch.chdir(tmp_path)
    words = ["--wiki", "wiki", "--engine", script.engine, "--jobs", "1"]
    record(tmp_path / "t", "a")
    assert main(["ingest", "t", *words]) == 0
    capsys.readouterr()
    return tmp_path / "wiki"


def _printed(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    assert main(words) == code
    return capsys.readouterr().out


def test_status_says_what_is_here_what_changed_and_what_settles_it(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _printed(["status"], capsys).splitlines() == [
        "wiki:    wiki: 1 session; 1 guideline",
        "read:    1 recording on this machine; nothing changed since",
        "waits:   nothing",
        "agents:  none is connected: wiki connect --list",
        "cost:    no model was asked; what rules read costs nothing",
    ]
    record(wiki.parent / "t", "b")
    (page,) = wiki.glob("guidelines/*__*.md")
    page.write_text(page.read_text(encoding="utf-8").replace("## ", "## My "), encoding="utf-8")
    lines = _printed(["status"], capsys).splitlines()
    assert lines[1].endswith("; since then 1 new")
    assert lines[2] == f"waits:   1 recording to read: wiki ingest {wiki.parent / 't'}"
    assert lines[3] == "waits:   1 page edited by a person: wiki review"


def test_status_after_a_merge_says_that_pages_are_to_be_rendered_again(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = next(wiki.parent.glob("answers-*.json"))
    words = ["--wiki", "other", "--engine", f"scripted:{engine}", "--jobs", "1"]
    assert main(["ingest", str(record(wiki.parent / "u", "b", "2026-02-02")), *words]) == 0
    for name in ("_sessions/b.json", "summaries/b.md"):  # as git merges a branch: no page says what both do
        shutil.copy(wiki.parent / "other" / name, wiki / name)
    assert main(["check"]) == 1
    capsys.readouterr()
    waits = _printed(["status"], capsys).splitlines()[2]
    outdated = json.loads(_printed(["status", "--json"], capsys))["outdated"]
    assert waits == f"waits:   {len(outdated)} generated files not as the records render them: wiki catalog"
    assert {"_index.jsonl", "summaries/index.md"} <= set(outdated)
    assert main(["catalog"]) == 0
    capsys.readouterr()
    assert _printed(["status"], capsys).splitlines()[2] == "waits:   nothing"


def test_status_of_a_fresh_clone_finds_nothing_outdated(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(wiki / ".wiki")
    assert json.loads(_printed(["status", "--json"], capsys))["outdated"] == []


@pytest.mark.parametrize("is_kept", [True, False])
def test_status_calls_no_page_outdated_that_the_last_run_kept_though_a_skill_covers_it(
    is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(tmp_path)
    said = "Run the check each time before a change."
    script.says("", rules=[rule(said)], skill=skill("check-it", overview=said, trigger="before a change"))
    monkeypatch.chdir(tmp_path)
    words = ["ingest", str(record(tmp_path / "t", "a")), "--wiki", "wiki", "--engine", script.engine, "--jobs", "1"]
    assert main([*words, *(["--keep-covered"] if is_kept else [])]) == 0
    archived = [*(tmp_path / "wiki" / "_archived").glob("*.md")]
    assert len(archived) == (0 if is_kept else 1)
    (tmp_path / "wiki" / "guidelines" / "mine.md").write_text("# Mine\n\nMy own rule.\n", encoding="utf-8")
    capsys.readouterr()
    outdated = json.loads(_printed(["status", "--json"], capsys))["outdated"]
    assert "_index.jsonl" in outdated
    assert not any(path.startswith("_archived/") or "__" in path for path in outdated), outdated


def test_status_does_not_offer_the_recording_of_a_forgotten_session(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(wiki.parent / "t", "b")
    engine = next(wiki.parent.glob("answers-*.json"))
    assert main(["ingest", "t", "--wiki", "wiki", "--engine", f"scripted:{engine}", "--jobs", "1"]) == 0
    assert main(["forget", "b"]) == 0
    capsys.readouterr()
    assert _printed(["status"], capsys).splitlines()[1:3] == [
        "read:    1 recording on this machine; nothing changed since; 1 of forgotten sessions still there",
        "waits:   nothing",
    ]
    assert str(wiki.parent) not in (wiki / ".wiki" / "forgotten.json").read_text(encoding="utf-8")


def test_status_of_a_wiki_from_a_bucket_says_what_was_read_what_waits_and_what_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    monkeypatch.chdir(tmp_path)
    record(tmp_path / "bucket", "a")
    (tmp_path / "bucket" / "bad.json").write_text('{"messages": [', encoding="utf-8")
    words = ["ingest", f"file://{tmp_path}/bucket", "--wiki", "wiki", "--engine", script.engine, "--jobs", "1"]
    for night in range(4):
        assert main([*words, "--max-new-pages", "0"]) == (1 if night < 3 else 0)
    capsys.readouterr()
    read = "read:    1 recording in buckets, where only a run looks what is new"
    assert _printed(["status"], capsys).splitlines()[1:4] == [
        read,
        "waits:   1 new page to publish: wiki catalog, or nights of --max-new-pages N",
        "waits:   1 object set aside after three failed runs: wiki ingest ADDRESS --retry-set-aside reads it again",
    ]
    shutil.rmtree(tmp_path / "wiki" / ".wiki")  # as in a fresh clone
    assert _printed(["status"], capsys).splitlines()[1] == read
    assert main(["catalog", "--wiki", "wiki"]) == 0
    capsys.readouterr()
    assert "to publish" not in _printed(["status"], capsys)


def test_doctor_names_each_problem_with_the_line_that_mends_it(
    wiki: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(wiki.parent))
    shown = _printed(["doctor"], capsys)
    assert "note     agents       no agent is connected to this project\n" in shown
    assert "→ wiki connect --list\n" in shown
    assert "note     command      `wiki` is not on the path\n" in shown
    with (wiki / "_config.yaml").open("a", encoding="utf-8") as stream:
        stream.write("cluters: {}\n")
    (wiki / ".wiki" / "journal").mkdir(exist_ok=True)
    (wiki / ".wiki" / "journal" / "run.jsonl").write_text("{torn", encoding="utf-8")
    (wiki.parent / "CLAUDE.md").write_text("# Project\n", encoding="utf-8")
    checks = {each["name"]: each for each in json.loads(_printed(["doctor", "--json"], capsys, 1))["checks"]}
    assert checks["config"]["state"] == "problem"
    assert checks["config"]["cure"] == "edit wiki/_config.yaml, then: wiki config check"
    assert checks["journal"]["found"].startswith("journal/run.jsonl:1: a torn last line")
    assert checks["claude-code"]["cure"] == "wiki connect claude-code"
    assert "endpoint" not in checks, "nothing is asked of a network"


def test_doctor_knows_every_extra_that_a_user_installs() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert list(doctor._EXTRAS) == sorted(project["optional-dependencies"].keys() - {"browser", "dev"})


def test_doctor_asks_an_endpoint_only_when_told_to(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["doctor", "--wiki", str(wiki), "--online", "--base-url", "http://127.0.0.1:9", "--json"]
    checks = json.loads(_printed(words, capsys, 1))["checks"]
    assert (checks[-1]["name"], checks[-1]["state"]) == ("endpoint", "problem")


def test_models_shows_prices_and_no_price_for_one_that_has_none(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wiki / "models.yaml").write_text("stages: {summarize: local-llama}\n", encoding="utf-8")
    rows = [line.split() for line in _printed(["models"], capsys).splitlines()]
    assert ["local-llama", "no", "price", "summarize"] in rows
    assert any(row[:3] == ["claude-haiku-5-5", "0.1", "0.5"] for row in rows)
    listed = {each["model"]: each for each in json.loads(_printed(["models", "--json"], capsys))["models"]}
    assert listed["local-llama"]["price"] is None


def test_tail_begins_with_the_last_lines_of_both_logs(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tail", "--no-follow", "--wiki", str(wiki)]) == 2
    assert "hooks write one" in capsys.readouterr().err
    (wiki.parent / ".evolve").mkdir()
    (wiki.parent / ".evolve" / "hook.log").write_text("one\ntwo\x1b[2J\nthree\n", encoding="utf-8")
    entry = {"action": "archive", "ts": "2026-01-01T00:00:00Z", "id": "g1\u2028g2"}
    (wiki / "_audit.log").write_text(json.dumps(entry, ensure_ascii=False) + "\n", encoding="utf-8")
    assert _printed(["tail", "--no-follow", "-n", "2"], capsys).splitlines() == [
        "hook  two␛[2J",
        "hook  three",
        "run   2026-01-01T00:00:00Z archive id=g1\\u2028g2",
    ]


def _noted(lines: Iterator[str], seen: list[str]) -> Iterator[str]:
    """Note each line as it comes: what follows a log ends with an interrupt."""
    for line in lines:
        seen.append(line)
        yield from ()


def test_tail_shows_what_is_written_meanwhile_and_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "hook.log"
    log.write_text("old\n", encoding="utf-8")
    texts = iter(["new\nhal", "f\n", ""])

    def write(_seconds: float) -> None:
        text = next(texts)
        if not text:
            raise KeyboardInterrupt
        with log.open("a", encoding="utf-8") as stream:
            stream.write(text)

    monkeypatch.setattr("time.sleep", write)
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(_noted(follow.followed([log], 5, is_following=True), seen))
    assert seen == ["hook  old", "hook  new", "hook  half"]


def test_doctor_names_the_engines_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("parrot", "birds:Parrot", "agent_wiki.engines")
    monkeypatch.setattr(doctor, "extensions", lambda _group: {"parrot": entry})
    found = {each.name: each for each in doctor.checkups(Path("none"), Path(), {"PATH": ""})}["engines"]
    assert (found.state, found.found) == ("ok", "offline, and parrot (of a package (birds:Parrot))")
