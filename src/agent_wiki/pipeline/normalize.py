"""normalize: recordings → one envelope file a trajectory. The first stage, and the only one that writes no page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from agent_wiki.engine import Progress
from agent_wiki.errors import RunError, UsageError
from agent_wiki.pipeline.export_parts import files_of_exports
from agent_wiki.pipeline.inputs import InputFile, Selection, inputs_of
from agent_wiki.pipeline.readable import SUPERSEDED, readable
from agent_wiki.pipeline.report import Note, Report
from agent_wiki.pipeline.session_stages import order_of
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.shell.verdict import has_failed
from agent_wiki.spending import TOKEN_KINDS
from agent_wiki.trajectory import Message, Trajectory, envelope_chunks
from agent_wiki.trajectory.calls import paired_calls
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import caseless_file_stem, session_file_stem
from agent_wiki.wiki.records import Order
from agent_wiki.wiki.replacing import replacing

_MOST_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class NormalizeOptions:
    """`label` puts the files under `<out>/<label>/items/`; `condition` "@parent" takes the folder's name."""

    out: Path
    label: str | None = None
    user_prompt: str | None = None
    trial_prefix: str | None = None
    condition: str | None = None
    dry_run: bool = False
    selection: Selection = field(default_factory=Selection)


@dataclass(slots=True)
class TrajectoryStats:
    """What one written trajectory holds; for `--json` and for a person."""

    session_id: str
    file: str
    recording: str
    source_format: str
    turns: int
    tool_calls: int
    tool_results: int
    errors: int
    thinking: int
    user_turns: int
    top_tools: dict[str, int]
    usage: dict[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    duration_seconds: float | None = None
    hygiene: dict[str, int] = field(default_factory=dict)


def normalize(
    paths: Iterable[RecordingPath], options: NormalizeOptions, report: Report, progress: Progress
) -> list[TrajectoryStats]:
    """Write each trajectory of each recording. Returns what was written, in the order of the files' names.

    Of two versions of one session the larger is kept, whichever comes first. Raises `UsageError` for a label that is no
    name of a folder.
    """
    if options.label is not None and not _is_name(options.label):
        raise UsageError(f"--label {options.label!r} is not the name of one folder")
    inputs = inputs_of(paths, options.selection)
    inputs.report_left_out(report)
    files = inputs.files
    exports = files_of_exports(each.path for each in files)
    report.recordings = len(files)
    folder = options.out if options.label is None else options.out / options.label / "items"
    written: dict[str, TrajectoryStats] = {}
    orders: dict[str, Order] = {}
    for position, file in enumerate(files):
        progress("normalize", position, len(files))
        for trajectory in readable(file, report, exports.part(file.path)):
            _apply(trajectory, file, options)
            stats = _stats(trajectory, file, _file_name(trajectory))
            standing, order = written.get(trajectory.session_id), order_of(trajectory)
            left = stats if standing and order <= orders[trajectory.session_id] else standing
            if left is not None:
                report.left_out.append(Note(left.session_id, SUPERSEDED, recording=left.recording))
            if left is stats:
                continue
            if not options.dry_run:
                write_envelope(folder / stats.file, trajectory)
                if standing and standing.file != stats.file:
                    (folder / standing.file).unlink(missing_ok=True)
            written[trajectory.session_id], orders[trajectory.session_id] = stats, order
    for stats in written.values():
        report.sessions["normalized"] += 1
        report.formats[stats.source_format] += 1
        report.hygiene.update(stats.hygiene)
    inputs.report_barren(report)
    report.written = sorted(stats.file for stats in written.values())
    return sorted(written.values(), key=lambda each: each.file)


def _apply(trajectory: Trajectory, file: InputFile, options: NormalizeOptions) -> None:
    """Add what the user says and the recording does not."""
    source = trajectory.source
    if options.user_prompt and not any(message.role == "user" for message in trajectory.messages):
        after_system = sum(message.role == "system" for message in trajectory.messages[:1])
        trajectory.messages.insert(after_system, Message("user", options.user_prompt))
    if options.condition is not None:
        source.condition = file.path.resolve().parent.name if options.condition == "@parent" else options.condition
    if options.trial_prefix is not None and file.path.stem.startswith(options.trial_prefix):
        source.trial = file.path.stem.removeprefix(options.trial_prefix)


def _file_name(trajectory: Trajectory) -> str:
    """`<condition>__<trial>__<session id>.json`, or the session id alone when there is no condition."""
    source = trajectory.source
    stem = caseless_file_stem(trajectory.session_id)
    if source.condition is None:
        return f"{stem}.json"
    trial = f"trial-{source.trial}" if source.trial is not None else "trial-unknown"
    name = f"{session_file_stem(source.condition)}__{session_file_stem(trial)}__{stem}"
    return f"{name if len(name) <= _MOST_NAME_CHARACTERS else session_file_stem(name)}.json"


def _stats(trajectory: Trajectory, file: InputFile, name: str) -> TrajectoryStats:
    calls = paired_calls(trajectory)
    counted = Counter(call.name for call in calls)
    top = sorted(counted, key=lambda tool: (-counted[tool], tool))[:5]
    usage = trajectory.source.usage
    return TrajectoryStats(
        session_id=trajectory.session_id,
        file=name,
        recording=file.name,
        source_format=trajectory.source.format,
        turns=len(trajectory.messages),
        tool_calls=len(calls),
        tool_results=sum(message.role == "tool" for message in trajectory.messages),
        errors=sum(has_failed(call) for call in calls),
        thinking=sum(message.thinking is not None for message in trajectory.messages),
        user_turns=sum(message.role == "user" and message.mark is None for message in trajectory.messages),
        top_tools={tool: counted[tool] for tool in top},
        usage={each: getattr(usage, each) for each in TOKEN_KINDS if getattr(usage, each, None) is not None},
        cost_usd=trajectory.source.cost_usd,
        duration_seconds=trajectory.source.duration_seconds,
        hygiene=dict(trajectory.source.hygiene),
    )


def write_envelope(target: Path, trajectory: Trajectory) -> None:
    """Write one envelope whole or not at all, message by message. Raises `RunError`."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as stream:
            stream.writelines(chunk.encode("utf-8", "replace") for chunk in envelope_chunks(trajectory))
    except OSError as error:
        raise RunError(f"{target}: cannot write ({error.strerror})") from error


def _is_name(label: str) -> bool:
    """Whether a label names a folder right below another, on every system."""
    return label not in ("", ".", "..") and not any(each in label for each in "/\\:\0")
