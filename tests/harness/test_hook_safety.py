"""No harness suffers from `wiki hook stop`, whatever it gives, breaks or takes long, whatever lies in the project."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from agent_wiki.commands import harness, main
from agent_wiki.harness import hooks
from agent_wiki.harness.saving import trajectories
from tests.harness.hook_inputs import claude_input
from tests.harness.hook_project import TEACHES, TRIVIAL, Stop, wiki_of
from tests.processes import exit_codes, started
from tests.wikis import tree

pytestmark = pytest.mark.usefixtures("no_run_is_long")

_JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=20),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=20), inner, max_size=3),
    max_leaves=6,
)
_FIELDS = ("session_id", "transcript_path", "cwd", "hook_event_name", "stop_hook_active", "type", "thread-id")


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.one_of(some.text(max_size=60), some.dictionaries(some.sampled_from(_FIELDS), _JSON).map(json.dumps)))
def test_whatever_a_harness_gives_nothing_is_raised(tmp_path: Path, text: str) -> None:
    outcome = hooks.stop(text, Path("wiki"), tmp_path, {"CODEX_HOME": str(tmp_path / "codex")})
    assert outcome.saved == []
    assert outcome.problems


def test_problems_go_to_the_log_and_not_to_the_harness(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    key = "sk-ant-api03-" + "Zx9" * 31 + "AA"
    (project / "bad.jsonl").write_text(f'{{"type": "x", "api_key": "{key}"', encoding="utf-8")
    for found in ("no JSON", json.dumps(claude_input(project / "bad.jsonl", project))):
        assert hooks.stop(found, None, project, {}).problems
    assert capfd.readouterr() == ("", "")
    log = (project / ".evolve" / "hook.log").read_text(encoding="utf-8")
    assert log.count(" PROBLEM ") == 2
    assert "bad.jsonl" in log
    assert "Zx9" not in log


def test_a_bug_is_logged_with_its_traceback(project: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(hooks, "_mine_pending", broken)
    assert len(stop(TEACHES).saved) == 1
    assert "ZeroDivisionError: a bug" in (project / ".evolve" / "hook.log").read_text(encoding="utf-8")


def test_a_link_in_the_project_is_not_followed(project: Path, stop: Stop, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (project / ".evolve").symlink_to(tmp_path / "public")
    outcome = stop(TEACHES)
    assert "link" in outcome.problems[0]
    assert list((tmp_path / "public").iterdir()) == []


@pytest.mark.parametrize("name", ["hook", "hook/sessions", "hook/saving.lock", "hook.log"])
def test_no_link_in_the_memory_is_followed(name: str, project: Path, stop: Stop, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("theirs", encoding="utf-8")
    link = project / ".evolve" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "outside" / "file" if "." in name else tmp_path / "outside")
    stop(TEACHES)
    assert tree(tmp_path / "outside") == {"file": b"theirs"}


@pytest.mark.parametrize("words", [["--unknown"], ["--wiki"], ["{}", "more"], ["--wiki=x", "-x", "{"]])
def test_no_words_make_the_hook_fail(words: list[str], project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2 would make Claude Code and Codex continue the turn."""
    monkeypatch.chdir(project)
    assert main(["hook", "stop", "--wait", *words, "no JSON"]) == 0


@pytest.mark.parametrize(
    ("words", "exit_code", "says"),
    [
        (["start", "--unknown"], 0, "wiki hook start: does not know --unknown\n"),
        (["start", "--agent", "gemini", "more\nwords"], 0, "wiki hook start: does not know more words\n"),
        (["start", "--wiki"], 0, ""),
        (["start", "--agent"], 0, ""),
        (["finish"], 1, "wiki hook: there is start and stop, and no finish\n"),
        (["--unknown"], 1, "wiki hook: there is start and stop, and no --unknown\n"),
    ],
)
def test_no_words_of_any_hook_block_an_agent(
    words: list[str],
    exit_code: int,
    says: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2 of a hook at a session's start would keep some agents from beginning it."""
    monkeypatch.chdir(project)
    assert main(["hook", *words]) == exit_code
    assert capsys.readouterr() == ("", says)


def test_the_arguments_of_the_hook_are_distinguished() -> None:
    assert harness.words_of(["--wiki", "w", "--wait", "{}"]) == harness.Words("{}", Path("w"), is_waiting=True)
    assert harness.words_of(["--wiki=w"]) == harness.Words(None, Path("w"))
    assert harness.words_of(["--agent", "gemini", "-x", "--wiki"]) == harness.Words(agent="gemini", unknown=("-x",))
    assert harness.is_hook(["hook", "stop", "--wiki", "w"])
    assert not any(map(harness.is_hook, (["hook", "stop", "--help"], ["hook", "start", "-h"], ["hook"], ["lock"], [])))


@pytest.mark.long
def test_a_harness_is_released_without_output_while_the_work_continues(project: Path) -> None:
    command = [sys.executable, "-m", "agent_wiki", "hook", "stop", "--wiki", "wiki"]
    found = json.dumps(claude_input(TEACHES, project)).encode()
    ended, held = os.pipe()
    done = subprocess.run(command, input=found, capture_output=True, check=False, cwd=project, pass_fds=[held])
    os.close(held)
    with os.fdopen(ended, "rb") as stream:
        assert stream.read() == b"", "it ends when nobody has the other end any more"
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "mined: 1" in (project / ".evolve" / "hook.log").read_text(encoding="utf-8")
    assert any(path.startswith("guidelines/") for path in wiki_of(project))


def test_a_harness_is_not_held_by_work_that_takes_long(project: Path, stop: Stop) -> None:
    stop(TRIVIAL)
    ended, held = Pipe(duplex=False)
    with FileLock(project / ".evolve" / "hook" / "saving.lock"):
        process = started(_hook_stop, project, held)
        assert exit_codes(process) == [0], "it waits for the lock on its own"
    held.close()
    with pytest.raises(EOFError):
        ended.recv()  # nobody has the other end any more
    assert "mined: 1" in (project / ".evolve" / "hook.log").read_text(encoding="utf-8")


def _hook_stop(project: Path, _held: Connection) -> None:
    os.chdir(project)
    hooks._SAVE_TIMEOUT_SECONDS = 600.0
    harness._HELD_SECONDS = 0.0
    found = json.dumps(claude_input(TEACHES, project)).encode()
    sys.stdin = io.TextIOWrapper(io.BytesIO(found), encoding="utf-8")
    sys.exit(main(["hook", "stop", "--wiki", "wiki"]))


def test_the_memory_may_be_damaged_or_deleted(project: Path, stop: Stop) -> None:
    stop(TEACHES)
    for kept in (project / ".evolve" / "hook").rglob("*.json"):
        kept.write_bytes(b"\xff{")
    outcome = stop(TEACHES)
    assert (outcome.problems, len(outcome.saved)) == ([], 1)
    assert trajectories(outcome.saved[0], "saved", [])[0].messages


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
@pytest.mark.parametrize("words", [["hook", "stop", "--wait"], ["hook", "start"]])
def test_a_folder_that_was_removed_meanwhile_is_no_traceback(tmp_path: Path, words: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os, sys; os.rmdir({str(gone)!r}); from agent_wiki.commands import main; sys.exit(main({words!r}))"
    done = subprocess.run([sys.executable, "-c", code], input=b"{}", capture_output=True, check=False, cwd=gone)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
