"""`wiki save`: saves a finished session as a trajectory of the project."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import AsJson
from agent_wiki.wiki.text import counted

if TYPE_CHECKING:
    from agent_wiki.harness.saving import Saved
    from agent_wiki.trajectory import Trajectory

_EXIT_REFUSED = 1
_DEFAULT_FOLDER = ".evolve/trajectories in the project's root"


def save(
    file: Annotated[
        Path | None, typer.Argument(help="A recording of any known format; by default standard input.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder to save to.", show_default=_DEFAULT_FOLDER)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Save the trajectories of a recording: redacted, one file each, readable by their owner only.

    The environment variable EVOLVE_DIR names another folder than `.evolve`, which altk-evolve uses, too. If the
    recording is not a trajectory, the reason is printed and nothing is written.
    """
    from datetime import UTC, datetime

    from agent_wiki.errors import UnreadableRecording
    from agent_wiki.harness import saving
    from agent_wiki.harness.projects import project_root

    warnings: list[str] = []
    try:
        found = _trajectories(file, warnings)
    except UnreadableRecording as error:
        _refuse(str(error), as_json=as_json)
    if out is None:
        folder = saving.default_folder(project_root(Path.cwd()), os.environ)
    else:
        folder = out
        saving.make_folder(folder)
    _report(saving.save(found, folder, datetime.now(UTC)), warnings, as_json=as_json)


def _trajectories(file: Path | None, warnings: list[str]) -> list[Trajectory]:
    from agent_wiki.errors import UsageError
    from agent_wiki.harness import saving

    if file is None or str(file) == "-" or file.is_fifo():
        content = sys.stdin.buffer.read() if file is None or not file.is_fifo() else file.read_bytes()
        with saving.standard_input_as_file(content) as (path, name):
            return saving.trajectories(path, name, warnings)
    if not file.is_file():
        raise UsageError(f"{file}: {'not a file' if file.exists() else 'no such file'}")
    return saving.trajectories(file, str(file), warnings)


def _refuse(reason: str, *, as_json: bool) -> NoReturn:
    from agent_wiki.redaction.redact import redact_text

    reason = redact_text(" ".join(reason.split()))[0]  # it may quote unreadable input
    if as_json:
        refused = {"saved": [], "warnings": [], "refused": reason, "exit_code": 1}
        print_answer("save", refused, is_ascii=True)
    else:
        print_lines([f"wiki: {reason}; nothing was saved"], err=True)
    raise typer.Exit(_EXIT_REFUSED)


def _report(saved: list[Saved], warnings: list[str], *, as_json: bool) -> None:
    if as_json:
        entries = [{"path": str(each.path), "session_id": each.session_id, "messages": each.messages} for each in saved]
        print_answer("save", {"saved": entries, "warnings": warnings, "refused": None, "exit_code": 0})
        return
    print_lines(f"{each.path}: {counted(each.messages, 'message')}" for each in saved)
    print_lines((" ".join(warning.split()) for warning in warnings), err=True)
