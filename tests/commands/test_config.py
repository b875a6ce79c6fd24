"""`wiki config`: shows, sets and checks; an unknown key gets the nearest known one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.wiki.config_keys import KEYS
from tests.conftest import ROOT


@pytest.fixture
def wiki(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    capsys.readouterr()
    return str(tmp_path / "wiki")


def test_what_is_set_is_shown_in_overview_in_full_and_as_json(wiki: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "rules.ignore", "[paths/wrong-folder]", "--wiki", wiki]) == 0
    assert main(["config", "set", "tasks.photo.title", "Photo: read it", "--wiki", wiki]) == 0
    capsys.readouterr()
    assert main(["config", "--wiki", wiki]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:2] == ["rules.ignore", "paths/wrong-folder"] for line in lines)
    assert any(line.split()[:3] == ["tasks", "1", "entry"] for line in lines)
    assert any(line.split()[:2] == ["summaries", "pages"] for line in lines), "the default is shown"
    main(["config", "show", "tasks", "--wiki", wiki])
    assert capsys.readouterr().out == "tasks:\n  photo: {title: 'Photo: read it'}\n"
    main(["config", "--wiki", wiki, "--json"])
    assert json.loads(capsys.readouterr().out)["rules"] == {"ignore": ["paths/wrong-folder"]}
    assert main(["config", "set", "rules.ignore", "null", "--wiki", wiki]) == 0
    capsys.readouterr()
    main(["config", "show", "rules.ignore", "--wiki", wiki, "--json"])
    assert json.loads(capsys.readouterr().out) is None


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["set", "clusterz.x", "1"], "clusterz: no such key; did you mean clusters?"),
        (["set", "rules.ignor", "[]"], "rules.ignor: no such key; did you mean rules.ignore?"),
        (["show", "tag"], "tag: no such key; did you mean tags?"),
        (["set", "qqqqqq", "1"], "qqqqqq: no such key; there is schema_version, tags,"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(
    wiki: str, words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(wiki, "_config.yaml").read_bytes()
    assert main(["config", *words, "--wiki", wiki]) == 2
    assert nearest in capsys.readouterr().err
    assert Path(wiki, "_config.yaml").read_bytes() == before


def test_a_patch_with_an_unknown_key_changes_nothing_but_may_take_one_out(
    wiki: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, patch = Path(wiki, "_config.yaml"), tmp_path / "patch.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "cluters: {}\n", encoding="utf-8")
    patch.write_text("cluters: {a: {title: A}}\n", encoding="utf-8")
    assert main(["config", "patch", str(patch), "--wiki", wiki]) == 2
    assert "did you mean clusters?" in capsys.readouterr().err
    patch.write_text("cluters: null\n", encoding="utf-8")
    assert main(["config", "patch", str(patch), "--wiki", wiki]) == 0
    assert "cluters" not in config.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cluters: {a: 1}\n", "_config.yaml: cluters: no such key; did you mean clusters?"),
        ("kept: yes\n", "_config.yaml: kept: not a list"),
        ("clusters: {mine: [0123456789ab]}\n", "_config.yaml: clusters.mine: not a mapping"),
        ("session_family_overrides: {a: mine}\n", "_config.yaml: session_family_overrides.a: not a mapping"),
        ("released: {0123456789ab: we read it}\n", "_config.yaml: released.0123456789ab: not a mapping"),
        ("rules: {ignore: 3}\n", "_config.yaml: rules.ignore is not a list of ids; correct it and run again"),
        ("a: [\n", "_config.yaml:2: "),
    ],
)
def test_check_names_what_is_wrong(wiki: str, text: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "--wiki", wiki]) == 0
    capsys.readouterr()
    Path(wiki, "_config.yaml").write_text(text, encoding="utf-8")
    assert main(["config", "check", "--wiki", wiki, "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["problems"]
    assert found.startswith(problem)


def test_every_key_that_is_read_is_known() -> None:
    source = (ROOT / "src/agent_wiki/wiki/config.py").read_text(encoding="utf-8")
    read = {*re.findall(r'root\.get\("(\w+)"\)', source), *re.findall(r'^[A-Z]+: Section = \("(\w+)"', source, re.M)}
    assert read > {"kept", "tags", "rejected"}
    assert read <= KEYS.keys()
