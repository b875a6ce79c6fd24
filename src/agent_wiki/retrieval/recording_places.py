"""Where the recordings of a wiki's sessions lie: the reading edge of `wiki why`.

A page names a bare file, never a path, and a page is hostile text: a recording is looked for by name and content in
the files the wiki has read, in folders the user names, and beside the wiki, and counts only when the session is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from agent_wiki.errors import UnreadableRecording
from agent_wiki.pipeline import recordings_cache
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.pipeline.mine import order_of, trajectories_of
from agent_wiki.readers.recording import Recording
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory import Trajectory
from agent_wiki.wiki.layout import session_file_stem
from agent_wiki.wiki.store import WikiFolder

_MOST_BESIDE = 20_000  # files beside a wiki that are looked at by name; a home folder is no place for recordings

SAVED = Path(".evolve", "trajectories")

_LEAST_TELLING = 8  # characters of a session's id that stand in a file's name by more than chance


@dataclass(frozen=True, slots=True)
class FoundRecording:
    """A session in its recording. `problem` says why a file that should hold it cannot be read."""

    trajectory: Trajectory | None = None
    path: Path | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _File:
    sessions: dict[str, Trajectory]
    problem: str = ""


class Places:
    """Files that may hold recordings, listed once; each is opened only when it may hold a session asked for."""

    def __init__(self, folder: WikiFolder, traces: Sequence[Path] = ()) -> None:
        """In: the wiki, and the user's files and folders. Raises `UsageError` for one of those that is not there."""
        self._read = recordings_cache.load(folder)
        named = input_files(traces) if traces else []
        self._single = [each.path for each in named if each.is_named]
        self._named = [each.path for each in named]
        self._asked = [each.path for each in input_files(KnownRecordings.load(folder).existing())]
        self._beside = list(_beside(folder.root)) if folder.root.is_dir() else []
        self._digests: dict[Path, str] = {}
        self._last: tuple[Path, _File] | None = None  # sessions of one file are asked for one after the other

    def find(self, session_id: str, file: str | None, digest: str | None) -> FoundRecording:
        """A session's trajectory, redacted as when its pages were made.

        In: its id; the file its page names and the SHA-256 of that file, where the page says. A file with that very
        digest is taken first. One that has changed since is taken where the session is still in it.
        """
        candidates = list(dict.fromkeys(self._candidates(session_id, file)))
        if digest is not None and len(candidates) > 1:
            candidates.sort(key=lambda path: self._digest(path) != digest)
        problem = FoundRecording()
        for path in chain(candidates, self._same(digest, candidates)):
            held = self._sessions(path)
            if session_id in held.sessions:
                return FoundRecording(held.sessions[session_id], path)
            if held.problem and not problem.problem:
                problem = FoundRecording(path=path, problem=held.problem)
        return problem

    def _same(self, digest: str | None, candidates: Sequence[Path]) -> Iterator[Path]:
        """Files that the user named and that are, by their bytes, the recording under another name."""
        for path in self._named if digest is not None else ():
            if path not in candidates and self._digest(path) == digest:
                yield path

    def _sessions(self, path: Path) -> _File:
        if self._last is None or self._last[0] != path:
            self._last = None  # let go of the former file first
            self._last = (path, _read(path))
        return self._last[1]

    def _candidates(self, session_id: str, file: str | None) -> Iterator[Path]:
        """What the wiki has read, then what the user named, then what it was asked about, then what lies beside."""
        for known, entry in sorted(self._read.items()):
            if any(session[0] == session_id for session in entry["sessions"]) and Path(known).is_file():
                yield Path(known)
        yield from self._single
        stem = session_file_stem(session_id)
        is_telling = len(stem) >= _LEAST_TELLING
        for path in (*self._named, *self._asked, *self._beside):
            if path.name == file or path.name.partition(".")[0] == stem or (is_telling and stem in path.name):
                yield path

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            try:
                self._digests[path] = Recording(path, path.name).sha256()
            except (OSError, UnreadableRecording):
                self._digests[path] = ""
        return self._digests[path]


def _read(path: Path) -> _File:
    """The sessions of one file, the longer of two versions; with the reason where reading ended early."""
    recording = Recording(path, str(path))
    sessions: dict[str, Trajectory] = {}
    problem = ""
    try:
        for trajectory in trajectories_of(recording, recording.sha256()):
            known = sessions.get(trajectory.session_id)
            if known is None or order_of(trajectory) > order_of(known):
                sessions[trajectory.session_id] = trajectory
    except UnreadableRecording as error:
        problem = "" if error.is_foreign else redact_text(str(error))[0]
    except OSError as error:
        problem = f"{path}: {error.strerror or error}"
    return _File(sessions, problem)


def _beside(root: Path) -> Iterator[Path]:
    """Files in the folder that holds the wiki, one level below, and where `wiki save` keeps trajectories.

    Not the wiki's own, nothing else that is hidden, no links.
    """
    own = root.resolve()
    seen = 0
    for folder in (own.parent, *_folders(own.parent), own.parent / SAVED):
        if folder == own or folder.is_symlink() or folder.parent.is_symlink():
            continue
        for path in _entries(folder):
            seen += 1
            if seen > _MOST_BESIDE:
                return
            if path.is_file() and not path.is_symlink():
                yield path


def _folders(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.is_dir() and not path.is_symlink()]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
