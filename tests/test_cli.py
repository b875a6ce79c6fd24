"""The command as a person types it: exit codes, JSON, one line for an error, and a quick start."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.groups import GROUPS
from tests.conftest import ROOT
from tests.processes import exit_codes, started
from tests.wikis import Script, chat, record, rule, tree

COMMANDS = [name for lines in GROUPS.values() for name in lines]
KEYS = {
    "archived", "asked", "batches", "bugs", "command", "coverage", "dropped_claims", "edited", "exit_code",
    "failed_on", "failures", "failures_unchanged", "files", "formats", "guidelines_contributed", "hygiene", "ignored",
    "is_dry_run", "left_out", "nothing_to_learn", "learnt", "pages", "pages_unchanged", "pages_waiting", "quarantined",
    "passed_over", "passed_over_unchanged", "recordings", "recordings_read", "recordings_unchanged",
    "recordings_waiting", "removed",
    "schema_version", "sessions", "set_aside", "skills_contributed",
    "signal", "stopped", "waiting", "warnings", "wiki", "written",
}  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> str:
    told = Script(tmp_path)
    told.says("", rules=[rule("Run the check before a change.")])
    return told.engine


@pytest.fixture
def arguments(tmp_path: Path, engine: str) -> list[str]:
    return ["--wiki", str(tmp_path / "wiki"), "--engine", engine, "--jobs", "1"]


def test_all_well_is_0_a_failed_unit_1_and_wrong_words_2(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = record(tmp_path, "a"), tmp_path / "bad.json"
    bad.write_bytes(b"{")
    assert main(["ingest", str(good), *arguments]) == 0
    assert main(["ingest", str(good), str(bad), *arguments]) == 1
    assert f"  {bad}:1: " in capsys.readouterr().out
    for words in (
        ["ingest", str(tmp_path / "none"), *arguments],
        ["ingest", str(good), "--engine", "nonesuch"],
        ["ingest", str(good), "--jobs", "0"],
        ["ingest"],
        ["nonesuch"],
        ["dump", "tasks"],
    ):
        assert main(words) == 2, words
        assert "Traceback" not in capsys.readouterr().err


def test_a_run_error_is_one_line_that_says_what_to_do(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wiki").write_text("a file", encoding="utf-8")
    assert main(["ingest", str(record(tmp_path, "a")), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("wiki: ")
    assert str(tmp_path / "wiki") in error


def test_a_usage_error_leaves_no_wiki_behind(tmp_path: Path) -> None:
    assert main(["ingest", str(record(tmp_path, "a")), "--engine", "x", "--wiki", str(tmp_path / "wiki")]) == 2
    assert main(["ingest", str(tmp_path / "none"), "--wiki", str(tmp_path / "wiki")]) == 2
    assert not (tmp_path / "wiki").exists()


def test_json_has_the_same_keys_whatever_happened(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_bytes(b"{")
    runs = (
        ["ingest", str(record(tmp_path, "a")), *arguments],
        ["ingest", str(tmp_path / "bad.json"), *arguments],
        ["summarize", str(tmp_path / "a.json"), *arguments, "--rewrite", "--dry-run"],
        ["catalog", "--wiki", str(tmp_path / "wiki")],
    )
    for words in runs:
        code = main([*words, "--json"])
        out, err = capsys.readouterr()
        told = json.loads(out)
        assert told.keys() == KEYS
        assert told["exit_code"] == code
        assert told["command"] == words[0]
        assert err == ""


def test_lines_name_what_was_read_written_and_learnt(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ingest", str(record(tmp_path, "a")), *arguments])
    out, err = capsys.readouterr()
    assert out.startswith(f"new in {tmp_path / 'wiki'}: 1 guideline\n  guideline  Run the check first\n")
    assert "read:  1 recording; sessions: 1 mined" in out
    assert "learnt: 1 guideline taught by sessions\n" in out
    assert "\x1b" not in out + err
    main(["ingest", str(record(tmp_path, "b")), *arguments, "--dry-run", "--rewrite"])
    assert "would be written" in capsys.readouterr().out


def test_dump_prints_the_pages_as_json(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ingest", str(record(tmp_path, "a")), *arguments])
    capsys.readouterr()
    for what, link in (("guidelines", "guidelines/run-the-check"), ("summaries", "summaries/a.md")):
        assert main(["dump", what, "--wiki", str(tmp_path / "wiki")]) == 0
        (entry,) = json.loads(capsys.readouterr().out)
        assert entry["link"].startswith(link)
        assert entry["title"]
    (tmp_path / "wiki" / "summaries" / "a.md").write_text("---\nx", encoding="utf-8")
    assert main(["dump", "summaries", "--wiki", str(tmp_path / "wiki")]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == []
    assert err.startswith("wiki: summaries/a.md:1: ")


def test_init_makes_an_empty_wiki_and_ejects_what_an_owner_may_change(
    tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = tmp_path / "wiki"
    assert main(["init", "--wiki", str(wiki)]) == 0
    assert {"AGENTS.md", "_config.yaml", "_index.jsonl", "index.md"} <= tree(wiki).keys()
    assert main(["init", "--wiki", str(wiki), "--eject"]) == 0
    template = wiki / "templates" / "guideline.md.j2"
    template.write_text(template.read_text(encoding="utf-8").replace("## Rationale", "## Why"), encoding="utf-8")
    assert main(["init", "--wiki", str(wiki), "--eject"]) == 0
    assert "## Why" in template.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["ingest", str(record(tmp_path, "a")), "--wiki", str(wiki), "--engine", engine, "--jobs", "1"]) == 0
    assert any(b"## Why\n" in content for path, content in tree(wiki).items() if path.startswith("guidelines/run"))


def test_an_edited_template_takes_effect_at_once_and_what_takes_none_is_named(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words, wiki = ["ingest", str(record(tmp_path, "a")), *arguments, "-v"], tmp_path / "wiki"
    assert main(words) == 0
    assert main(["init", "--wiki", str(wiki), "--eject"]) == 0
    template, prompt = wiki / "templates" / "guideline.md.j2", wiki / "prompts" / "summarize.md"
    template.write_text(template.read_text(encoding="utf-8").replace("## Rationale", "## Why"), encoding="utf-8")
    capsys.readouterr()
    assert main(words) == 0
    assert "without effect" not in capsys.readouterr().out
    assert any(b"## Why\n" in content for path, content in tree(wiki).items() if path.startswith("guidelines/run"))
    prompt.write_text(prompt.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    template.rename(template.with_name("guidelines.md.j2"))
    assert main([*words[:2], "--wiki", str(wiki), "--engine", "offline", "-v"]) == 0
    out = capsys.readouterr().out
    assert "  prompts/summarize.md: edited, but without effect: the embedded engine asks no model\n" in out
    assert "  templates/guidelines.md.j2: no effect, for there is no file of this name" in out
    assert "did you mean guideline.md.j2?" in out


@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize(
    ("damage", "jobs"),
    [
        ("{{ nonesuch }}", "1"),
        ("{% if %}", "1"),
        ("{{ 1 / 0 }}", "1"),
        ("{{ title.x.y }}", "1"),
        ("{{ title.x.y }}", "2"),
    ],
)
def test_a_broken_template_stops_the_run_with_its_name(
    tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str], damage: str, jobs: str
) -> None:
    wiki = tmp_path / "wiki"
    (wiki / "templates").mkdir(parents=True)
    (wiki / "templates" / "summary.md.j2").write_text(damage, encoding="utf-8")
    paths = [str(record(tmp_path, "a")), str(record(tmp_path, "b"))]
    assert main(["ingest", *paths, "--wiki", str(wiki), "--engine", engine, "--jobs", jobs]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("wiki: templates/summary.md.j2:")


def test_normalize_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["normalize", str(record(tmp_path, "a")), "--out", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.keys() == KEYS | {"trajectories"}
    assert [each["file"] for each in told["trajectories"]] == ["a.json"]
    assert (tmp_path / "out" / "a.json").exists()


@pytest.fixture
def nobodys() -> Iterator[Path]:
    """A folder that a process without rights can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _run_without_rights(*words: str, folder: Path, warm_up: Path) -> subprocess.CompletedProcess[str]:
    told = Script(folder)
    told.says("", rules=[rule("Run the check before a change.")])
    ended = warm_up.with_name("ended.json")
    common = ["--jobs", "1", "--engine", told.engine]
    warming = ["ingest", str(warm_up), "--wiki", str(warm_up) + "-wiki", *common]
    assert exit_codes(started(_without_rights, folder, ended, warming, [*words, *common])) == [0]
    return subprocess.CompletedProcess(words, *json.loads(ended.read_text(encoding="utf-8")))


def _without_rights(folder: Path, ended: Path, warming: list[str], words: list[str]) -> None:
    """Run once with all rights, so that all is imported, then give them up."""
    os.chdir(folder)
    assert main(warming) == 0
    with ended.open("w", encoding="utf-8") as stream:
        if os.getuid() == 0:
            os.setegid(65534)
            os.seteuid(65534)
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = main(words)
        json.dump([code, out.getvalue(), err.getvalue()], stream)


def test_a_folder_that_may_not_be_written_is_one_line(tmp_path: Path, nobodys: Path) -> None:
    warm_up = record(tmp_path, "w")
    (nobodys / "a.json").write_text(json.dumps(chat("a")), encoding="utf-8")
    wiki = nobodys / "wiki"
    assert main(["init", "--wiki", str(wiki)]) == 0
    for path in [wiki, *wiki.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = _run_without_rights("ingest", "a.json", "--wiki", "wiki", folder=nobodys, warm_up=warm_up)
    assert done.returncode == 2, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("wiki: ")] == done.stderr.splitlines()[-1:]
    assert "Traceback" not in done.stderr
    done = _run_without_rights("ingest", "a.json", "--wiki", "new", folder=nobodys, warm_up=warm_up)
    assert done.returncode == 2
    assert "cannot make this folder" in done.stderr.splitlines()[-1]


def test_a_recording_that_may_not_be_read_is_one_line_and_tried_again(tmp_path: Path, nobodys: Path) -> None:
    warm_up = record(tmp_path, "w")
    for name in ("a", "b"):
        (nobodys / f"{name}.json").write_text(json.dumps(chat(name)), encoding="utf-8")
    closed = nobodys / "closed"
    closed.mkdir(mode=0o700)
    closed.chmod(0o000)
    (nobodys / "b.json").chmod(0o000)
    home = nobodys / "home"
    home.mkdir()
    home.chmod(0o777)
    words = ("ingest", ".", "--wiki", "home/wiki", "--json")
    done = _run_without_rights(*words, folder=nobodys, warm_up=warm_up)
    told = json.loads(done.stdout)
    assert (done.returncode, told["sessions"]) == (1, {"mined": 1})
    assert [each["unit"] for each in told["failures"]] == ["b.json", "closed"]
    (nobodys / "b.json").chmod(0o644)
    closed.chmod(0o755)
    done = _run_without_rights(*words, folder=nobodys, warm_up=warm_up)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["failures"], told["sessions"]) == ([], {"mined": 1, "unchanged": 1})


def test_help_does_not_import_what_is_heavy() -> None:
    heavy = ("pydantic", "anthropic", "jinja2", "rich", "yaml", "zstandard", "frontmatter", "multiprocessing")
    code = f"import sys, agent_wiki.commands.app; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_is_in_the_readme(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"wiki {command}" in capsys.readouterr().out
    assert f"wiki {command}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("agent-wiki ")


def test_options_that_name_a_model_are_said_to_have_no_effect_where_none_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ingest", str(record(tmp_path, "a")), "--wiki", str(tmp_path / "wiki"), "--max-usd", "3"]
    assert main(words) == 0
    assert "no effect" not in capsys.readouterr().out
    assert main([*words, "--model", "some-model", "--provider", "bedrock"]) == 0
    assert "warning: --model, --provider: no effect, for the embedded engine asks no model" in capsys.readouterr().out
