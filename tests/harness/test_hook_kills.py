"""A save or a hook that is killed anywhere, or runs out of room, loses nothing and saves nothing twice."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.harness import hooks
from agent_wiki.harness.hook_log import HookOutcome
from agent_wiki.harness.hook_memory import HookMemory
from tests.harness.hook_inputs import claude_input
from tests.processes import die_before, exit_codes, started
from tests.wikis import changed, record, tree

TEACHES = Path(__file__).parents[2] / "wiki-example" / "traces" / "claude-truncate.jsonl"
_WRITES = ("os.link", "os.replace", "pathlib.Path.replace", "pathlib.Path.unlink", "pathlib.Path.mkdir", "os.open")


@pytest.fixture(autouse=True)
def _no_run_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes any run long, after which hooks pause."""
    monkeypatch.delenv("EVOLVE_DIR", raising=False)
    monkeypatch.setattr(hooks, "_LONG_RUN_SECONDS", float("inf"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


def _stop(project: Path, transcript: Path = TEACHES) -> HookOutcome:
    return hooks.stop(json.dumps(claude_input(transcript, project)), Path("wiki"), project, {})


def _stop_and_die(project: Path, at: int) -> None:
    die_before(at, *_WRITES)
    _stop(project)


def _save_and_die(recording: Path, folder: Path, at: int) -> None:
    die_before(at, *_WRITES)
    main(["save", str(recording), "--out", str(folder)])


def _save_without_room(recording: Path, folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    raise SystemExit(main(["save", str(recording), "--out", str(folder)]))


def _sessions(project: Path) -> list[Path]:
    return sorted((project / ".evolve" / "trajectories").glob("[!.]*"))


def _wiki(project: Path) -> dict[str, bytes]:
    return {path: content for path, content in tree(project / "wiki").items() if path != "_audit.log"}


@pytest.mark.long
def test_a_session_whose_hook_is_killed_anywhere_is_saved_once_and_mined(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    (whole / ".git").mkdir(parents=True)
    assert _stop(whole).mined
    saved = _sessions(whole)[0].read_bytes()
    for at in (17, 18, 28, 52):
        each = tmp_path / f"killed-{at}"
        (each / ".git").mkdir(parents=True)
        assert exit_codes(started(_stop_and_die, each, at)) == [-signal.SIGKILL]
        assert _stop(each).problems == []
        assert [path.read_bytes() for path in _sessions(each)] == [saved], f"killed at {at}"
        assert (each / ".evolve" / ".gitignore").read_bytes() == (whole / ".evolve" / ".gitignore").read_bytes()
        assert changed(_wiki(whole), _wiki(each)) == [], f"killed at {at}"
        assert HookMemory(each / ".evolve" / "hook").pending() == {}


def test_a_turn_that_ends_while_its_session_is_mined_is_mined_afterwards(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = TEACHES.read_bytes().splitlines(keepends=True)
    transcript = tmp_path / TEACHES.name
    transcript.write_bytes(b"".join(lines[:-6]))
    mine, others = hooks._mine, list[HookOutcome]()

    def mine_while_a_turn_ends(*words: object) -> None:
        mine(*words)  # type: ignore[arg-type]
        if not others:
            transcript.write_bytes(b"".join(lines))
            monkeypatch.setattr(hooks, "_LOCK_TIMEOUT_SECONDS", 0.0)
            others.append(_stop(project, transcript))

    monkeypatch.setattr(hooks, "_mine", mine_while_a_turn_ends)
    first = _stop(project, transcript)
    assert [(len(each.saved), each.mined, each.postponed != "") for each in others] == [(1, [], True)]
    assert (len(first.without_lessons), len(first.mined), len(_sessions(project))) == (1, 1, 1)
    (tmp_path / "whole" / ".git").mkdir(parents=True)
    _stop(tmp_path / "whole", transcript)
    assert changed(_wiki(tmp_path / "whole"), _wiki(project)) == []


def test_no_empty_file_is_left_by_a_save_that_is_killed_or_has_no_room(tmp_path: Path) -> None:
    recording = record(tmp_path / "in", "s-1")
    for at in range(3, 8):
        folder = tmp_path / f"out-{at}"
        exit_codes(started(_save_and_die, recording, folder, at))
        assert [path.stat().st_size for path in folder.glob("[!.]*") if path.stat().st_size < 100] == [], at
    assert exit_codes(started(_save_without_room, recording, tmp_path / "full")) == [2]
    assert list((tmp_path / "full").iterdir()) == []


@pytest.mark.parametrize("content", [None, b""])
def test_a_list_of_ignored_files_that_was_not_written_is_made_again(content: bytes | None, project: Path) -> None:
    evolve = project / ".evolve"
    evolve.mkdir()
    if content is not None:
        (evolve / ".gitignore").write_bytes(content)
    _stop(project)
    assert b"/trajectories/\n" in (evolve / ".gitignore").read_bytes()
    (evolve / ".gitignore").unlink()  # as its owner may wish
    _stop(project)
    assert not (evolve / ".gitignore").exists()


def test_a_hook_without_room_says_so_in_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(*_words: object) -> None:
        raise OSError(28, "No space left on device", str(project / ".evolve" / "hook" / "sessions"))

    monkeypatch.setattr(HookMemory, "write", fill_up)
    (problem,) = _stop(project).problems
    assert problem == f"{project}/.evolve/hook/sessions: No space left on device"
