"""`--executor ray`: the bytes of a local run, whatever happens to workers. Most of these tests need the extra `ray`."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.engine import no_progress
from agent_wiki.pipeline import on_ray
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.mine import Assignment, Mined
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.workers import RayOptions

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
_PLACE, _VICTIMS = "AGENT_WIKI_TEST_TRIES", "AGENT_WIKI_TEST_VICTIMS"

_mined_there = on_ray._mined_there


def killed_at_first(assignment: Assignment, held: list[Any], version: str) -> Mined:
    """The work of a task in a worker that is killed before, as often as the environment says for a recording."""
    name = Path(assignment.name).name
    tries = Path(os.environ[_PLACE], name)
    with tries.open("ab") as stream:
        stream.write(b".")
    if tries.stat().st_size <= json.loads(os.environ[_VICTIMS]).get(name, 0):
        os.kill(os.getpid(), signal.SIGKILL)
    return _mined_there(assignment, held, version)


@pytest.fixture
def _ray_finds_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="ray is not installed (the extra `ray`)")
    root = EXAMPLE.parent
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # its token lies at home, and each test has another home
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(root), str(root / "src"))))


def _built(wiki: Path, **task: Any) -> Report:
    options = Options(wiki, jobs=2, ray=RayOptions(task=task))
    return run([EXAMPLE / "traces"], options, Report("ingest", str(wiki)), no_progress)


def _files(wiki: Path) -> dict[str, bytes]:
    paths = (path for path in wiki.rglob("*") if path.is_file() and path.name != "_audit.log")
    named = {path.relative_to(wiki).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in named.items() if not name.startswith(".wiki/")}


@pytest.mark.usefixtures("_ray_finds_the_tests")
def test_workers_that_are_killed_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victims = {"claude-truncate.jsonl": 1, "codex-titlecase.jsonl": 2, "mini-slug-accents-2.traj.json": 1}
    monkeypatch.setenv(_PLACE, str(tmp_path))
    monkeypatch.setenv(_VICTIMS, json.dumps(victims))
    monkeypatch.setattr(on_ray, "_mined_there", killed_at_first)
    report = _built(tmp_path / "wiki")
    assert report.exit_code == 0, report.lines()
    assert {name: (tmp_path / name).stat().st_size for name in victims} == {
        name: times + 1 for name, times in victims.items()
    }
    assert _files(tmp_path / "wiki") == _files(EXAMPLE / "wiki")


@pytest.mark.usefixtures("_ray_finds_the_tests")
def test_a_recording_that_kills_each_worker_is_one_failure_and_read_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(_PLACE, str(tmp_path))
    monkeypatch.setenv(_VICTIMS, json.dumps({"claude-truncate.jsonl": 2}))
    with monkeypatch.context() as patched:
        patched.setattr(on_ray, "_mined_there", killed_at_first)
        report = _built(tmp_path / "wiki", max_retries=1)
    (failure,) = report.failures
    assert Path(failure.unit).name == "claude-truncate.jsonl"
    assert "its worker was lost each time Ray tried it (WorkerCrashedError" in failure.reason
    assert report.sessions["mined"] == len(_files(EXAMPLE / "traces")) - 1
    assert _built(tmp_path / "wiki").sessions["mined"] == 1
    assert _files(tmp_path / "wiki") == _files(EXAMPLE / "wiki")


def elsewhere(assignment: Assignment, held: list[Any], version: str) -> Mined:
    """The work of a task on a machine that has not the folder of this one."""
    return _mined_there(replace(assignment, path=Path("/elsewhere") / assignment.path.name), held, version)


@pytest.mark.usefixtures("_ray_finds_the_tests")
def test_a_folder_that_only_this_machine_has_is_said_to_be_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray, "_mined_there", elsewhere)
    report = _built(tmp_path / "wiki")
    reasons = {failure.reason for failure in report.failures}
    assert reasons == {f"No such file or directory on a worker: {on_ray._SHARED}"}


@pytest.mark.usefixtures("_ray_finds_the_tests")
def test_an_option_that_ray_refuses_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ingest", str(EXAMPLE / "traces"), "--wiki", str(tmp_path / "wiki"), "--executor", "ray"]
    assert main([*words, "--ray-option", "max_retries=-7"]) == 2
    assert "wiki: --ray-option: " in capsys.readouterr().err


def test_without_ray_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(on_ray, "find_spec", lambda _: None)
    words = ["ingest", str(EXAMPLE / "traces"), "--wiki", str(tmp_path / "wiki"), "--executor", "ray"]
    assert main(words) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("needs the extra `ray`: pip install 'agent-wiki[ray]'")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--executor", "spark"), "--executor spark: there is local and ray"),
        (("--ray-option", "num_cpus=2"), "--ray-address and --ray-option need --executor ray"),
        (("--executor", "ray", "--ray-option", "cpus=2"), "--ray-option cpus=2: give NAME=VALUE; there is num_cpus,"),
        (("--executor", "ray", "--engine", "recorded"), "--executor ray is for an engine that waits for no model"),
    ],
)
def test_what_ray_cannot_do_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert main(["ingest", str(EXAMPLE / "traces"), "--wiki", str(tmp_path / "wiki"), *words]) == 2
    assert said in capsys.readouterr().err
