"""`wiki save`: a session of any format becomes a private file of the project, or is refused with the reason."""

from __future__ import annotations

import io
import json
import re
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent_wiki.commands import main
from agent_wiki.errors import RunError, UnreadableRecording, UnsafePath
from agent_wiki.harness import saving
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, digest
from tests.conftest import TRACES
from tests.processes import exit_codes, started_wiki
from tests.wikis import chat, record

_NAME = re.compile(r"trajectory_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(_[A-Za-z0-9._-]+)?\.json")
_MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_KEY = "sk-ant-api03-" + "Zx9" * 31 + "AA"
_FORMATS = ("atif", "claude_code", "codex", "gemini_cli", "inspect", "mini_swe_agent", "openai_messages",
            "stream_json", "swe_agent", "tau2_bench", "tau_bench", "who_and_when")  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder in it that is the current one."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "project" / "src")
    monkeypatch.delenv("EVOLVE_DIR", raising=False)
    return tmp_path / "project"


def _saved(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    exit_code = main(["save", "--json", *map(str, arguments)])
    reported: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert reported["exit_code"] == exit_code
    return reported


def _read(path: Path) -> Trajectory:
    recording = Recording(path, path.name)
    found: list[Trajectory] = list(trajectories_of(recording, recording.sha256()))
    assert len(found) == 1
    return found[0]


def _give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


def test_a_file_is_saved_in_the_project_and_its_path_and_length_are_reported(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["save", str(record(tmp_path, "s-1"))]) == 0
    printed = capsys.readouterr().out
    (saved,) = (project / ".evolve" / "trajectories").iterdir()
    assert printed == f"{saved}: 4 messages\n"
    assert _NAME.fullmatch(saved.name)
    assert saved.name.endswith("_s-1.json")


def test_standard_input_is_saved_as_a_file_is(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _give(monkeypatch, json.dumps(chat("s-2")).encode())
    reported = _saved(capsys)
    assert [(each["session_id"], each["messages"]) for each in reported["saved"]] == [("s-2", 4)]
    assert Path(reported["saved"][0]["path"]).parent == project / ".evolve" / "trajectories"


def test_what_is_saved_is_for_its_owner_alone(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = Path(_saved(capsys, record(tmp_path, "s-1"))["saved"][0]["path"])
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (saved, saved.parent, saved.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    ignored = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "init", "--quiet", str(project)], check=False, capture_output=True
    )
    if ignored.returncode == 0:
        status = subprocess.run(["git", "-C", str(project), "status", "--short"], check=True, capture_output=True)
        assert b".evolve" not in status.stdout


def test_evolve_dir_and_out_name_other_folders(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = record(tmp_path, "s-1")
    monkeypatch.setenv("EVOLVE_DIR", "kept")
    assert Path(_saved(capsys, recording)["saved"][0]["path"]).parent == project / "kept" / "trajectories"
    monkeypatch.setenv("EVOLVE_DIR", str(tmp_path / "elsewhere"))
    assert Path(_saved(capsys, recording)["saved"][0]["path"]).parent == tmp_path / "elsewhere" / "trajectories"
    reported = _saved(capsys, recording, "--out", tmp_path / "out" / "deep")
    assert Path(reported["saved"][0]["path"]).parent == tmp_path / "out" / "deep"


def test_without_a_repository_the_current_folder_is_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVOLVE_DIR", raising=False)
    reported = _saved(capsys, record(tmp_path / "in", "s-1"))
    assert Path(reported["saved"][0]["path"]).parent == tmp_path / ".evolve" / "trajectories"


def test_two_saves_of_one_second_both_survive(tmp_path: Path) -> None:
    trajectory = saving.trajectories(record(tmp_path, "s-1"), "s-1.json", [])[0]
    first, second = (saving.write_new(tmp_path, trajectory, _MOMENT) for _ in range(2))
    assert (first.name, second.name) == (
        "trajectory_2026-01-02T03-04-05_s-1.json",
        "trajectory_2026-01-02T03-04-05_s-1_2.json",
    )
    assert first.read_bytes() == second.read_bytes()


def test_processes_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    recording = record(tmp_path / "in", "s-1")
    outputs = [tmp_path / f"said-{number}" for number in range(4)]
    words = ("save", recording, "--out", tmp_path / "out")
    assert exit_codes(*[started_wiki(*words, output=output) for output in outputs]) == [0] * 4
    assert len({output.read_bytes() for output in outputs}) == 4
    saved = sorted((tmp_path / "out").iterdir())
    assert len(saved) == 4
    assert len({path.read_bytes() for path in saved}) == 1


def test_reminders_are_stripped_and_secrets_redacted_also_in_an_envelope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = chat("s-1", request=f"Fix it.\n<system-reminder>be {_KEY}</system-reminder>\nMy key: {_KEY}")
    envelope = {"schema_version": 1, "session_id": "s-1", "source": {"format": "openai-messages"}, **reported}
    del envelope["model"], envelope["timestamp"]
    for name, content in (("chat.json", reported), ("envelope.json", envelope)):
        path = tmp_path / name
        path.write_text(json.dumps(content), encoding="utf-8")
        text = Path(_saved(capsys, path, "--out", tmp_path / "out")["saved"][0]["path"]).read_text(encoding="utf-8")
        assert "system-reminder>" not in text
        assert "Zx9" not in text
        assert "[REDACTED:" in text


@pytest.mark.parametrize("session_id", ["../../etc/passwd", "a b!?<c>", "ünï", "x" * 300, ".hidden", "index"])
def test_a_session_id_is_verbatim_in_the_envelope_and_safe_in_the_name(
    session_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat(session_id)), encoding="utf-8")
    reported = _saved(capsys, path, "--out", tmp_path / "out")["saved"][0]
    saved = Path(reported["path"])
    assert json.loads(saved.read_text(encoding="utf-8"))["session_id"] == session_id == reported["session_id"]
    assert saved.parent == tmp_path / "out"
    assert _NAME.fullmatch(saved.name)


def test_a_session_id_that_is_a_secret_is_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat(_KEY)), encoding="utf-8")
    saved = Path(_saved(capsys, path, "--out", tmp_path / "out")["saved"][0]["path"])
    assert "Zx9" not in saved.name + saved.read_text(encoding="utf-8")


@given(some.text(max_size=80))
def test_no_session_id_makes_a_name_that_leaves_the_folder(session_id: str) -> None:
    name = saving.file_name(session_id, _MOMENT)
    assert Path(name).name == name
    assert _NAME.fullmatch(name)


def test_a_trajectory_without_an_id_of_its_own_has_the_moment_alone_in_its_name() -> None:
    assert saving.file_name("", _MOMENT) == "trajectory_2026-01-02T03-04-05.json"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"Dear diary\n", "not a recording in JSON"),
        (b'{"a": 1}', "not a trajectory: JSON with keys 'a'"),
        (b"[]", "not a trajectory"),
        (b'{"messages": []}', ""),
        (b"\xff\xfeh\0i\0", "not a recording in JSON"),
        (b"h\0i\0", "UTF-16"),
    ],
)
def test_what_is_no_trajectory_is_refused_with_the_reason_and_nothing_is_written(
    content: bytes, reason: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _give(monkeypatch, content)
    assert main(["save"]) == 1
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith("wiki: stdin")
    assert reason in reported.err
    assert reported.err.count("\n") == 1
    assert not (project / ".evolve").exists()


def test_a_list_that_was_cut_off_is_refused_whole(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps([chat("s-1"), chat("s-2")])[:-40], encoding="utf-8")
    reported = _saved(capsys, path)
    assert reported["exit_code"] == 1
    assert "cut.json" in reported["refused"]
    assert not (project / ".evolve").exists()


def test_a_file_that_is_not_there_is_a_usage_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["save", "nowhere.json"]) == 2
    assert "nowhere.json: no such file" in capsys.readouterr().err
    assert not (project / ".evolve").exists()


def test_every_trajectory_of_a_file_is_saved_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps([chat("s-1"), chat("s-2", more=1)]), encoding="utf-8")
    assert main(["save", str(path), "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == ["4 messages", "6 messages"]
    assert {line.rpartition(": ")[0] for line in lines} == {str(each) for each in (tmp_path / "out").iterdir()}


def test_a_link_of_the_project_is_not_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (project / ".evolve").symlink_to(tmp_path / "public")
    with pytest.raises(UnsafePath):
        saving.default_folder(project, {})
    assert main(["save", str(record(tmp_path, "s-1"))]) == 2
    assert list((tmp_path / "public").iterdir()) == []


def test_a_folder_that_cannot_be_created_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert main(["save", str(record(tmp_path, "s-1")), "--out", str(tmp_path / "file" / "out")]) == 2
    assert capsys.readouterr().err.startswith("wiki: ")


def test_when_one_cannot_be_written_none_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = saving.trajectories(record(tmp_path / "in", "s-1"), "s-1.json", [])
    written = saving.write_new
    calls: list[int] = []

    def write_once(folder: Path, trajectory: Trajectory, moment: datetime) -> Path:
        calls.append(1)
        if len(calls) > 1:
            raise RunError("disk full")
        return written(folder, trajectory, moment)

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(saving, "write_new", write_once)
    with pytest.raises(RunError):
        saving.save([*found, *found], tmp_path / "out", _MOMENT)
    assert list((tmp_path / "out").iterdir()) == []


def test_saving_what_was_saved_gives_the_same_trajectory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = Path(_saved(capsys, record(tmp_path, "s-1"), "--out", tmp_path / "a")["saved"][0]["path"])
    second = Path(_saved(capsys, first, "--out", tmp_path / "b")["saved"][0]["path"])
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", _FORMATS)
def test_a_saved_recording_of_any_format_is_to_the_wiki_what_the_recording_is(
    name: str, traces: Path, tmp_path: Path
) -> None:
    path = min((each for each in (traces / name).rglob("*") if each.is_file()), key=lambda each: (
        each.stat().st_size < 2_000, each.stat().st_size))  # fmt: skip
    try:
        found = saving.trajectories(path, path.name, [])
    except UnreadableRecording:
        pytest.skip(f"{path.name} holds no turn")
    recording = Recording(path, path.name)
    expected = {digest(each) for each in trajectories_of(recording, recording.sha256()) if each.messages}
    saved = saving.save(found, tmp_path, _MOMENT)
    assert {digest(_read(each.path)) for each in saved} == expected


def test_the_real_recordings_are_where_the_tests_look_for_them(traces: Path) -> None:
    assert traces == TRACES
    assert [name for name in _FORMATS if not (traces / name).is_dir()] == []


def test_writing_over_a_saved_file_leaves_nothing_beside_it(tmp_path: Path) -> None:
    trajectory = saving.trajectories(record(tmp_path / "in", "s-1"), "s-1.json", [])[0]
    folder = tmp_path / "out"
    folder.mkdir()
    target = saving.write_new(folder, trajectory, _MOMENT)
    before = target.read_bytes()
    trajectory.messages.pop()
    saving.replace(target, trajectory)
    assert list(folder.iterdir()) == [target]
    assert target.read_bytes() != before
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
