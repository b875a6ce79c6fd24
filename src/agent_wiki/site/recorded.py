"""The recordings that a site shows: which session is in which file, each file read once, and only if it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agent_wiki.errors import UnreadablePage, UnreadableRecording, UsageError
from agent_wiki.pipeline.export_parts import files_of_exports
from agent_wiki.pipeline.inputs import InputFile, input_files
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.pipeline.session_stages import order_of
from agent_wiki.readers.recording import Recording
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.redaction.redact import redact_text
from agent_wiki.site.contents import SiteContents
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import Order

IsCurrent = Callable[[str, str], bool]
"""Session, digest of its recording → whether its page lies there as it would be made."""

_Rank = tuple[bool, Order]


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session whose recording is here. `trajectory`, redacted, is None where its page is up to date."""

    session_id: str
    sha256: str
    trajectory: Trajectory | None


class Recorded:
    """Recordings that a person named. One that cannot be read is among the wiki's problems; the others are shown."""

    def __init__(self, paths: Sequence[RecordingPath], contents: SiteContents) -> None:
        """Raises `UsageError` for a path that does not exist."""
        self._files = input_files(paths) if paths else []
        self._exports = files_of_exports(each.path for each in self._files)
        self._contents = contents
        self._by_digest: dict[str, list[str]] = {}
        for session in contents.sessions.values():
            if session.record.recording.sha256:
                self._by_digest.setdefault(session.record.recording.sha256, []).append(session.session_id)
        self._best: dict[str, _Rank] = {}

    def sessions(self, is_current: IsCurrent) -> Iterator[RecordedSession]:
        """Every session of the wiki that one of the files has. A better version of a session comes after a worse one.

        Best is the very file that the wiki was made from, then the longest.
        """
        for file in self._files:
            try:
                yield from self._of_file(file, is_current)
            except UnreadableRecording as error:
                if not error.is_foreign:
                    line = error.place if isinstance(error.place, int) else None
                    self._note(file, redact_text(error.reason)[0], line)
            except (OSError, UsageError) as error:
                self._note(file, str(error))

    def _of_file(self, file: InputFile, is_current: IsCurrent) -> Iterator[RecordedSession]:
        recording = Recording(file.path, file.name, part=self._exports.part(file.path))
        sha256 = recording.sha256()
        known = self._by_digest.get(sha256, [])
        if known and all(is_current(name, sha256) for name in known):
            for name in known:
                self._best[name] = (True, (1 << 60, 0, ""))
                yield RecordedSession(name, sha256, None)
            return
        keeps = self._contents.view.state.config.keeps_personal_data
        for trajectory in trajectories_of(recording, sha256, keeps_personal_data=keeps):
            name = trajectory.session_id
            rank = (name in known, order_of(trajectory))
            if name in self._contents.sessions and rank > self._best.get(name, (False, (-1, 0, ""))):
                self._best[name] = rank
                yield RecordedSession(name, sha256, trajectory)

    def _note(self, file: InputFile, reason: str, line: int | None = None) -> None:
        self._contents.problems.append(UnreadablePage(file.name, reason, line))
