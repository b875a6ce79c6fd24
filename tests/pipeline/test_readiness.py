"""An engine that nobody can answer for stops a run before it reads a recording, unless the wiki has answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.pipeline import on_ray
from tests.wikis import record

_NOBODY = [
    ("anthropic", "--engine anthropic needs a key: set ANTHROPIC_API_KEY, or name a server with --base-url"),
    ("command:'no-such-program'", "no-such-program: no such program on PATH; install it, or name another --engine"),
    ("codex", "codex: no such program on PATH; install it, or name another --engine"),
]


@pytest.fixture(autouse=True)
def _no_answerer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))


@pytest.mark.parametrize(("engine", "says"), _NOBODY)
def test_a_new_wiki_is_not_begun_where_nobody_can_answer(
    engine: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = record(tmp_path / "t", "a")
    assert main(["ingest", str(recording), "--wiki", str(tmp_path / "wiki"), "--engine", engine]) == 2
    assert capsys.readouterr().err == f"wiki: {says}\n"
    assert not (tmp_path / "wiki").exists()


@pytest.mark.parametrize(("engine", "says"), _NOBODY)
def test_a_wiki_that_may_hold_the_answers_is_read_without_anybody_to_ask(
    engine: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = record(tmp_path / "t", "a")
    (tmp_path / "wiki" / ".wiki" / "journal").mkdir(parents=True)
    assert main(["ingest", str(recording), "--wiki", str(tmp_path / "wiki"), "--engine", engine]) == 2
    assert capsys.readouterr().err.splitlines() == ["read and mine", f"wiki: {says}"]


def test_without_ray_nothing_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(on_ray, "find_spec", lambda _: None)
    recording = record(tmp_path / "t", "a")
    assert main(["ingest", str(recording), "--wiki", str(tmp_path / "wiki"), "--executor", "ray"]) == 2
    said = "wiki: --executor ray needs the extra `ray`: pip install 'agent-wiki[ray]'\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / "wiki").exists()
