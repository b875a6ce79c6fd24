"""The files in which OpenCode 1.1.65 kept its sessions: what is found against what the model server sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import PartOfRecording
from agent_wiki.readers import detect
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.archives import unpack
from tests.readers.sent import CLIENTS, differences, failed_calls, read, sent

CLIENT = "opencode-1.1"
TESTS = "python3 -m unittest discover -s tests"
PARENT = "ses_dfafb9ec2ffeQgu0dRp5T4VUGh"
SESSIONS = {
    "ses_dfafbdd1bffeJyBhyWt3DH08Mt": ("fix", [TESTS], None),
    PARENT: ("helpers", [], None),
    "ses_dfafb9a34ffeykh31dO51GG6x2": ("helper", [TESTS], PARENT),
    "ses_dfafb9a33ffeEsEnni2Kdbb80w": ("helperfail", ["read"], PARENT),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, only to be read."""
    return unpacked(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """The folder, to be changed."""
    return unpacked(tmp_path)


def unpacked(folder: Path) -> Path:
    unpack(CLIENTS / CLIENT / "storage.tar.xz", folder)
    return folder / "storage"


def session_file(storage: Path, name: str) -> Path:
    (path,) = (storage / "session").glob(f"*/{name}.json")
    return path


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_read_as_it_was_sent(kept: Path, name: str) -> None:
    scenario, failed, parent = SESSIONS[name]
    (trajectory,) = read(session_file(kept, name))
    replies = [reply for reply in sent(CLIENT) if reply.scenario == scenario]
    assert differences([trajectory], replies) == []
    assert [line.split(" {")[0] for line in failed_calls(trajectory)] == failed
    source = trajectory.source
    assert (trajectory.session_id, source.parent_session_id, source.agent_version) == (name, parent, "1.1.65")


def test_only_the_sessions_of_the_folder_are_recordings(kept: Path) -> None:
    found: list[Trajectory] = []
    for path in sorted(path for path in kept.rglob("*.json") if path.parent.name != "project"):
        if path.parent.parent.name == "session":
            found += detect.read(Recording(path, path.name))
        else:
            with pytest.raises(PartOfRecording):
                list(detect.read(Recording(path, path.name)))
    assert {trajectory.session_id for trajectory in found} == set(SESSIONS)


def test_a_damaged_part_is_named_and_the_rest_is_read(storage: Path) -> None:
    (damaged, *_) = sorted((storage / "part").rglob("prt_*.json"))
    damaged.write_text("{", encoding="utf-8")
    paths = [session_file(storage, name) for name in SESSIONS]
    recordings = [Recording(path, path.name) for path in paths]
    assert all(list(detect.read(recording)) for recording in recordings)
    warnings = [warning for recording in recordings for warning in recording.warnings]
    (warning,) = warnings
    assert warning.endswith(f"{damaged.parent.name}/{damaged.name} is not JSON, skipped")


def test_what_a_session_says_is_no_path(storage: Path) -> None:
    path = session_file(storage, PARENT)
    hostile = path.with_name("ses_other.json")
    hostile.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert list(detect.read(Recording(hostile, hostile.name))) == []
