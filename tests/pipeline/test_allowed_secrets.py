"""What only looks like a secret, and an owner says so: it passes the gate, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.allowed_secrets import allow_secrets
from agent_wiki.pipeline.leaks import leaks, leaks_report, refuse_leaks
from agent_wiki.wiki.config import parse_config
from tests.planted import given_secrets, vendor_keys
from tests.wikis import Script, ingest, record, rule

KEY = vendor_keys()["github"]
OTHER = vendor_keys()["stripe"]
LINE, PASSWORD = given_secrets()[0]


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    ingest([record(tmp_path / "t", "a")], tmp_path / "wiki", script.engine)
    (tmp_path / "wiki" / "notes.md").write_text(f"one\nUse {KEY}.\nAnd {KEY} or {OTHER}.\n", encoding="utf-8")
    return tmp_path / "wiki"


def _found(wiki: Path) -> list[tuple[int | None, str]]:
    return [(each.line, each.kind) for each in leaks(wiki)]


def test_what_is_allowed_passes_wherever_it_stands_and_every_other_value_is_found(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [line for line, _ in _found(wiki)] == [2, 3, 3]
    words = ["secrets", "--wiki", str(wiki), "--allow", "notes.md:2", "--why", "a made-up key", "--json"]
    assert main(words) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(each["line"], each["why"]) for each in report["allowed"]] == [(2, "a made-up key"), (3, "a made-up key")]
    assert [each["line"] for each in report["secrets"]] == [3]
    assert main(["secrets", "--wiki", str(wiki), "--allow", "notes.md:3:1", "--why", "x"]) == 2
    capsys.readouterr()
    with pytest.raises(RunError, match=r"notes.md \(stripe"):
        refuse_leaks(wiki, "nothing is pushed")
    (wiki / "notes.md").write_text(f"Use {KEY}.\n", encoding="utf-8")
    assert refuse_leaks(wiki, "nothing is pushed") == {"notes.md"}
    assert main(["check", "--wiki", str(wiki), "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert checked["exceptions"] == {"allowed_secrets": 1, "released": 0}
    assert main(["review", "--wiki", str(wiki)]) == 0
    assert "allowed_secrets" in (shown := capsys.readouterr().out)
    assert "a made-up key" in shown


def test_an_exception_is_a_line_of_the_configuration_without_the_value_and_ends_with_it(wiki: Path) -> None:
    before = (wiki / "_config.yaml").read_text(encoding="utf-8")
    allow_secrets(wiki, ["notes.md:2"], f"ours, not {OTHER}")
    text = (wiki / "_config.yaml").read_text(encoding="utf-8")
    ((digest, made),) = parse_config(text).allowed_secrets.items()
    assert (len(digest), made.kind, made.why) == (16, "github-token", "ours, not [REDACTED:stripe-key]")
    assert KEY not in text
    assert [(each.file, each.line) for each in leaks(wiki)] == [("notes.md", 3)]  # none in _config.yaml
    assert '"allow-secret"' in (wiki / "_audit.log").read_text(encoding="utf-8")
    (wiki / "_config.yaml").write_text(before, encoding="utf-8")
    assert len(leaks(wiki)) == 3
    (wiki / "_config.yaml").write_text(f"{text}broken: [", encoding="utf-8")
    assert len([each for each in leaks(wiki) if each.file == "notes.md"]) == 3


def test_a_place_without_a_finding_or_with_several_is_refused(wiki: Path) -> None:
    before = (wiki / "_config.yaml").read_bytes()
    refused = [
        ("notes.md:1", "x", "nothing that looks like a secret"),
        ("notes.md:3", "x", "2 are there"),
        ("notes.md:2", " ", "--why"),
    ]
    for place, why, says in refused:
        with pytest.raises(UsageError, match=says):
            allow_secrets(wiki, [place], why)
    assert (wiki / "_config.yaml").read_bytes() == before


def test_recordings_have_no_exceptions(wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allow_secrets(wiki, ["notes.md:2"], "made up")
    path = record(tmp_path / "more", "b", request=f"Use {KEY}.")
    assert main(["secrets", str(path)]) == 1
    assert main(["secrets", str(path), "--allow", "b.json:1", "--why", "x"]) == 2
    capsys.readouterr()


def test_a_value_of_a_name_and_a_files_name_can_be_allowed(wiki: Path) -> None:
    (wiki / "notes.md").write_text(f"{LINE}\n", encoding="utf-8")
    (wiki / f"for {OTHER}.md").write_text("x\n", encoding="utf-8")
    places = [str(each).partition(": ")[0] for each in leaks_report(wiki).found]
    allow_secrets(wiki, places, "made up")
    assert leaks(wiki) == []
    assert len(leaks_report(wiki).allowed) == 2
