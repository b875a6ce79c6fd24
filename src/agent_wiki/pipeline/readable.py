"""Reading one file for a command that reads and mines nothing: what cannot be read goes into the report."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

from agent_wiki.errors import AgentWikiError, UnreadableRecording, system_reason
from agent_wiki.pipeline.inputs import InputFile
from agent_wiki.pipeline.mine import NO_TURN, trajectories_of
from agent_wiki.pipeline.report import Failure, Note, Report
from agent_wiki.readers.exports import ExportPart
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory

SUPERSEDED = "another recording of this session is as long or longer"
"""Why a session that is read does not count, where a command takes the larger of two versions."""


def readable(file: InputFile, report: Report, part: ExportPart | None = None) -> Iterator[Trajectory]:
    """The trajectories of one file, redacted; failures, bugs and warnings of reading it are noted in `report`."""
    recording = Recording(file.path, file.name, part=part)
    has_turns = False
    try:
        for trajectory in trajectories_of(recording, recording.sha256()):
            has_turns = True
            yield trajectory
        if not has_turns:
            report.left_out.append(Note(file.name, NO_TURN))
    except UnreadableRecording as error:
        report.add_unread(Failure.of(error), is_foreign=error.is_foreign, is_named=file.is_named)
    except (OSError, MemoryError) as error:
        report.failures.append(Failure("recording", file.name, system_reason(error)))
    except AgentWikiError:
        raise
    except Exception as error:  # noqa: BLE001 - as in `mine`: a bug in one unit must not stop the others
        report.failures.append(Failure("bug", file.name, f"bug: {type(error).__name__}: {error}"))
        report.bugs.append(traceback.format_exc())
    report.warnings += recording.warnings
