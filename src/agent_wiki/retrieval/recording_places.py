"""Finds and reads the recordings of a wiki's sessions, for `wiki why`.

A page has only a file name and may be hostile. So a recording is searched by name and content among the
files that the wiki has read, in folders named by the user, and beside the wiki. It must have the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from agent_wiki.errors import RunError, UnreadableRecording, UsageError, system_reason
from agent_wiki.pipeline import recordings_cache
from agent_wiki.pipeline.bucket_state import is_in_bucket
from agent_wiki.pipeline.export_parts import files_of_exports
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.pipeline.session_stages import order_of
from agent_wiki.readers.buckets import path_of_listed
from agent_wiki.readers.recording import Recording
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.redaction.redact import redact_text
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.layout import CONFIG, former_file_stem
from agent_wiki.wiki.store import WikiFolder

_MOST_BESIDE = 20_000  # files beside a wiki whose names are checked, in case the wiki is in a home folder

SAVED = Path(".evolve", "trajectories")

_LEAST_SPECIFIC = 8  # fewer characters of a session's id may be in a file's name by chance


@dataclass(frozen=True, slots=True)
class FoundRecording:
    """A session in its recording. `problem` says why a file that should have it cannot be read."""

    trajectory: Trajectory | None = None
    path: RecordingPath | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _File:
    sessions: dict[str, Trajectory]
    problem: str = ""


class _ByName:
    """Files that are looked for by their names, for each of many sessions."""

    def __init__(self, paths: Sequence[RecordingPath]) -> None:
        self._paths, self._names = paths, [path.name for path in paths]
        self._all_names = "/".join(self._names)
        self._places: dict[str, list[int]] = {}  # by a file's name, and by what is before its first dot
        for place, name in enumerate(self._names):
            for each in {name, name.partition(".")[0]}:
                self._places.setdefault(each, []).append(place)

    def called(self, stem: str, file: str | None) -> Iterator[RecordingPath]:
        """Files of the name `file`, and those whose name is that of a session or, if it is specific, has it in it."""
        if len(stem) >= _LEAST_SPECIFIC and stem in self._all_names:
            places = [place for place, name in enumerate(self._names) if name == file or stem in name]
        else:
            named = (place for place in self._places.get(file or "", ()) if self._names[place] == file)
            places = sorted({*named, *(place for place in self._places.get(stem, ()) if self._is_stem(place, stem))})
        yield from (self._paths[place] for place in places)

    def _is_stem(self, place: int, stem: str) -> bool:
        return self._names[place].partition(".")[0] == stem


class Places:
    """Files that may be recordings, listed once; each is opened only if it may have a wanted session."""

    def __init__(self, folder: WikiFolder, recordings: Sequence[RecordingPath] = (), *, is_local: bool = False) -> None:
        """In: the wiki, and the user's files and folders; `is_local`: what lies in a bucket is not fetched.

        Raises `UsageError` if one of those does not exist.
        """
        self._read: dict[str, list[str]] = {}  # session id → the files that had it
        self._cache = recordings_cache.load(folder)
        for known, entry in sorted(self._cache.items()):
            if not (is_local and is_in_bucket(known)):
                for session in entry["sessions"]:
                    self._read.setdefault(str(session[0]), []).append(known)
        named = input_files(recordings) if recordings else []
        self._single = [each.path for each in named if each.is_named]
        self._named = [each.path for each in named]
        asked = [each.path for each in input_files(KnownRecordings.load(folder).on_disk())]
        beside = _beside(folder.root) if folder.root.is_dir() else ()
        self._others = _ByName([*self._named, *asked, *beside])
        config = parse_config(folder.text_or_empty(CONFIG))
        self._keeps_personal_data = config.keeps_personal_data
        self._digests: dict[RecordingPath, str] = {}
        self._last: tuple[RecordingPath, _File] | None = None  # sessions of one file are looked up consecutively

    def find(self, session_id: str, file: str | None, digest: str | None) -> FoundRecording:
        """A session's trajectory, redacted as it was for its pages.

        In: its id; the file that its page names, with its SHA-256 if the page has one. A file with that digest comes
        first. A file that has changed since is used if the session is still in it.
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

    def _same(self, digest: str | None, candidates: Sequence[RecordingPath]) -> Iterator[RecordingPath]:
        """Files named by the user whose bytes show that they are the recording under another name."""
        for path in self._named if digest is not None else ():
            if path not in candidates and self._digest(path) == digest:
                yield path

    def _sessions(self, path: RecordingPath) -> _File:
        if self._last is None or self._last[0] != path:
            self._last = None  # release the previous file first
            self._last = (path, _read(path, self._cache, keeps_personal_data=self._keeps_personal_data))
        return self._last[1]

    def _candidates(self, session_id: str, file: str | None) -> Iterator[RecordingPath]:
        """Files the wiki has read, then files of the user, then files of open questions, then files beside the wiki."""
        for known in self._read.get(session_id, ()):
            if is_in_bucket(known) or Path(known).is_file():
                yield path_of_listed(known)
        yield from self._single
        yield from self._others.called(former_file_stem(session_id), file)

    def _digest(self, path: RecordingPath) -> str:
        if path not in self._digests:
            try:
                self._digests[path] = Recording(path, path.name).sha256()
            except (OSError, UnreadableRecording, UsageError):
                self._digests[path] = ""
        return self._digests[path]


def _read(path: RecordingPath, cache: recordings_cache.Cache, *, keeps_personal_data: bool) -> _File:
    """The sessions of one file, the longer of two versions, with the reason if reading stopped early."""
    sessions: dict[str, Trajectory] = {}
    problem = ""
    try:
        recording = Recording(path, str(path), part=files_of_exports([path], cache).part(path))
        for trajectory in trajectories_of(recording, recording.sha256(), keeps_personal_data=keeps_personal_data):
            known = sessions.get(trajectory.session_id)
            if known is None or order_of(trajectory) > order_of(known):
                sessions[trajectory.session_id] = trajectory
    except UnreadableRecording as error:
        problem = "" if error.is_foreign else redact_text(str(error))[0]
    except (OSError, MemoryError) as error:
        problem = f"{path}: {system_reason(error)}"
    except RunError as error:  # of a bucket, for which something is missing here
        problem = f"{path}: {error}"
    return _File(sessions, problem)


def _beside(root: Path) -> Iterator[Path]:
    """Files in the wiki's parent folder, one level below it, and where `wiki save` keeps trajectories.

    Without the wiki's own files, other hidden files, and links.
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
