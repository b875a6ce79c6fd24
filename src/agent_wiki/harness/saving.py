"""A trajectory kept as a file of the project: `.evolve/trajectories/trajectory_<moment>_<session id>.json`.

All of a recording is read and checked first; only then is anything written (`write_new` and `replace` are the disk
edge). What the recording says of secrets and what a harness put into it is gone by then.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_wiki.errors import RunError, UnreadableRecording, UnsafePath
from agent_wiki.readers.builder import without_reminders
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.labels import tidy_labels
from agent_wiki.readers.recording import Recording
from agent_wiki.redaction.redact import redact_text, redact_trajectory
from agent_wiki.trajectory import Trajectory, envelope_chunks
from agent_wiki.wiki.layout import session_file_stem

EVOLVE_DIR = "EVOLVE_DIR"
_EVOLVE = ".evolve"
_TRAJECTORIES = "trajectories"
_STANDARD_INPUT = "stdin"
_IGNORED = "# Made by agent-wiki: recordings are their owner's.\n/.gitignore\n/trajectories/\n/hook/\n/hook.log\n"
_MOST_OF_ONE_SECOND = 10_000


@dataclass(frozen=True, slots=True)
class Saved:
    """One trajectory that was saved."""

    path: Path
    session_id: str
    messages: int


def project_root(start: Path) -> Path:
    """The nearest folder with a `.git`, from `start` upwards; `start` itself when there is none."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def evolve_folder(root: Path, environment: Mapping[str, str]) -> Path:
    """The project's folder for what agents leave behind: `.evolve`, or the one that `EVOLVE_DIR` names."""
    return root / (environment.get(EVOLVE_DIR) or _EVOLVE)


def file_name(session_id: str, moment: datetime, copy: int = 1) -> str:
    """`trajectory_YYYY-MM-DDTHH-MM-SS[_<session id>].json`; the second of the same name and second gets `_2`."""
    stem = session_file_stem(session_id) if session_id else ""
    parts = ["trajectory", f"{moment:%Y-%m-%dT%H-%M-%S}", *([stem] if stem else []), *([str(copy)] if copy > 1 else [])]
    return "_".join(parts) + ".json"


def trajectories(path: Path, name: str, warnings: list[str]) -> list[Trajectory]:
    """Every trajectory of a recording as it is saved: redacted, no reminders, its session's id as recorded.

    `name` is how the recording is spoken of; what was odd about it is added to `warnings`. Raises
    `UnreadableRecording` when it is no recording, or none in which anything was said.
    """
    recording = Recording(path, name)
    try:
        found = [each for each in _read(recording) if each.messages]
    except OSError as error:
        raise UnreadableRecording(name, error.strerror or str(error)) from error
    warnings += [redact_text(warning)[0] for warning in recording.warnings]
    if not found:
        raise UnreadableRecording(name, "not a trajectory: no turn recorded")
    return found


def _read(recording: Recording) -> Iterator[Trajectory]:
    """As `mine.trajectories_of` reads them, but that an id which is no safe name stays what it is."""
    reader, sha256 = reader_of(recording), recording.sha256()
    for trajectory in reader.read(recording):
        source = trajectory.source
        if reader.FORMAT == "normalized":
            _strip_reminders(trajectory)
        else:
            source.file, source.sha256 = Path(recording.name).name, sha256
            counts = Counter(source.hygiene) + Counter(recording.hygiene)
            recording.hygiene.clear()  # what the lines had is told once, on the first trajectory
            source.hygiene = dict(sorted(counts.items()))
        redact_trajectory(trajectory)
        recorded_id = trajectory.session_id
        tidy_labels(trajectory)
        if not redact_text(recorded_id)[1] and recorded_id.strip():
            trajectory.session_id = recorded_id
        yield trajectory


def _strip_reminders(trajectory: Trajectory) -> None:
    """An envelope is read as it stands; another tool may have left a harness's reminders in it."""
    stripped = 0
    for message in trajectory.messages:
        if message.content:
            message.content, count = without_reminders(message.content)
            stripped += count
    trajectory.messages = [each for each in trajectory.messages if each.content or each.thinking or each.tool_calls
                           or each.role == "tool"]  # fmt: skip
    if stripped:
        hygiene = Counter(trajectory.source.hygiene) + Counter(system_reminders_stripped=stripped)
        trajectory.source.hygiene = dict(sorted(hygiene.items()))


@contextmanager
def standard_input_as_file(content: bytes) -> Iterator[tuple[Path, str]]:
    """A file of this process's own that holds `content`, and its name for messages; gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="wiki-save-") as folder:
        path = Path(folder, _STANDARD_INPUT)
        path.write_bytes(content)
        yield path, _STANDARD_INPUT


def default_folder(root: Path, environment: Mapping[str, str]) -> Path:
    """Where trajectories of a project are kept, made for its owner alone when it is not there.

    Raises `UnsafePath` when a link in the project leads elsewhere, and `RunError` when it cannot be made. A folder
    that `EVOLVE_DIR` names may be a link: that is its owner's choice.
    """
    evolve = evolve_folder(root, environment)
    folder = evolve / _TRAJECTORIES
    for each in (folder,) if environment.get(EVOLVE_DIR) else (evolve, folder):
        if each.is_symlink():
            raise UnsafePath(f"{each}: a link in the project could lead out of it; nothing was written")
    if not evolve.exists():
        make_folder(evolve)
        with suppress(OSError):  # keeping recordings out of version control is a courtesy
            (evolve / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    make_folder(folder)
    return folder


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each for its owner alone. Raises `RunError`."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        for each in reversed(missing):
            each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: cannot make this folder ({error.strerror})") from error
    if not folder.is_dir():
        raise RunError(f"{folder}: is no folder; nothing was written")


def save(found: Iterable[Trajectory], folder: Path, moment: datetime) -> list[Saved]:
    """Write each trajectory to a new file of `folder`, which is there. Raises `RunError`; then none of them is kept."""
    saved: list[Saved] = []
    try:
        for trajectory in found:
            path = write_new(folder, trajectory, moment)
            saved.append(Saved(path, trajectory.session_id, len(trajectory.messages)))
    except RunError:
        for each in saved:
            each.path.unlink(missing_ok=True)
        raise
    return saved


def write_new(folder: Path, trajectory: Trajectory, moment: datetime) -> Path:
    """Write one envelope to a name that nobody else has, readable by its owner alone. Raises `RunError`.

    The name is claimed by making the file, which the system grants to one process only; the content then comes whole.
    """
    for copy in range(1, _MOST_OF_ONE_SECOND):
        target = folder / file_name(trajectory.session_id, moment, copy)
        try:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            continue
        except OSError as error:
            raise RunError(f"{target}: cannot write ({error.strerror})") from error
        try:
            replace(target, trajectory)
        except RunError:
            target.unlink(missing_ok=True)
            raise
        return target
    raise RunError(f"{folder}: too many trajectories of one second; try again")


def replace(target: Path, trajectory: Trajectory) -> None:
    """Write one envelope over `target`, whole or not at all, readable by its owner alone. Raises `RunError`."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as stream:
            stream.writelines(envelope_chunks(trajectory))
        beside.replace(target)
    except OSError as error:
        if not isinstance(error, FileExistsError):
            with suppress(OSError):
                beside.unlink()
        raise RunError(f"{target}: cannot write ({error.strerror})") from error
