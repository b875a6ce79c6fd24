"""Reads recordings and measures their sessions, for `wiki eval metrics`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent_wiki.engine import Progress
from agent_wiki.evaluation.metrics import Row, metrics_row
from agent_wiki.evaluation.tasks import TaskSet
from agent_wiki.pipeline.export_parts import files_of_exports
from agent_wiki.pipeline.inputs import Selection, inputs_of
from agent_wiki.pipeline.readable import SUPERSEDED, readable
from agent_wiki.pipeline.report import Note, Report
from agent_wiki.pipeline.session_stages import order_of
from agent_wiki.readers.recording_path import RecordingPath


def rows_of(
    paths: Iterable[RecordingPath],
    tasks: TaskSet | None,
    labels: Mapping[str, Any],
    report: Report,
    progress: Progress,
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> list[Row]:
    """A row for each session of each recording, ordered by task, condition, trial and session id.

    Of two versions of one session the larger counts. Unreadable files and sessions whose task is not in the task file
    are in the report.
    """
    inputs = inputs_of(paths, selection)
    inputs.report_left_out(report)
    files = inputs.files
    exports = files_of_exports(each.path for each in files)
    report.recordings = len(files)
    rows: dict[str, tuple[tuple[int, int, str], Row, str]] = {}  # order, row, format
    for position, file in enumerate(files):
        progress("measure", position, len(files))
        for trajectory in readable(file, report, exports.part(file.path)):
            session_id, order = trajectory.session_id, order_of(trajectory)
            known = rows.get(session_id)
            if known is not None:
                report.left_out.append(Note(session_id, SUPERSEDED, recording=file.name))
            if known is None or order > known[0]:
                row = metrics_row(trajectory, tasks, file.path.absolute(), labels)
                rows[session_id] = (order, row, trajectory.source.format)
    measured = [row for _, row, _ in rows.values()]
    report.formats.update(source_format for _, _, source_format in rows.values())
    report.sessions["measured"] = len(measured)
    inputs.report_barren(report)
    if tasks is not None:
        report.warnings += [f"{row['session_id']}: {_without_task(row)}" for row in measured if _is_strange(row, tasks)]
    return sorted(measured, key=_place)


def _is_strange(row: Row, tasks: TaskSet) -> bool:
    return "parent_session_id" not in row and tasks.named(row.get("task")) is None


def _without_task(row: Row) -> str:
    named = f"its task {row['task']!r} is not in the task file" if "task" in row else "no task of the file matches"
    return f"{named}; its outcome is not judged"


def _place(row: Row) -> tuple[str, str, int, str, str]:
    trial = row.get("trial")
    number, text = (trial, "") if isinstance(trial, int) else (0, str(trial or ""))
    return (str(row.get("task", "")), str(row.get("condition", "")), number, text, str(row["session_id"]))
