"""Record the example's sessions: run every command they hold and write `traces/`.

    python wiki-example/make_traces.py [--out DIR] [--only NAME …]

The dialogue stands in `sessions/*.yaml`. Sessions that read a wiki come last: for them a wiki is built from all the
other traces and laid into the project, so that what they read is what the tool wrote. With `--only`, the sessions of
these names are recorded and other files stay; one that reads a wiki is recorded with all others alone.

Exit code 0 when the traces are written, 3 when this machine cannot give the recorded outputs (the reason is printed).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import trace_formats
from trace_sandbox import Sandbox, missing
from trace_sessions import Session, project_from, record, sessions_in

# The guideline that the sessions with a wiki read, as the wiki built from the other traces names its file.
READ_PAGE = "guidelines/always-parse-csv-with-the-csv-module__caf16d1e74d4.md"

_HERE = Path(__file__).resolve().parent
_CANNOT = 3


def main() -> int:
    """Write all traces; returns the exit code."""
    parser = argparse.ArgumentParser(description="Record the example's sessions.")
    parser.add_argument("--out", type=Path, default=_HERE / "traces", help="the folder to write to")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="sessions that read no wiki")
    arguments = parser.parse_args()
    out: Path = arguments.out
    if reason := missing():
        sys.stdout.write(f"{reason}\n")
        return _CANNOT
    out.mkdir(parents=True, exist_ok=True)
    sessions = sessions_in(
        _HERE / "sessions", {"page": READ_PAGE, "page_name": Path(READ_PAGE).name.partition("__")[0]}
    )
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder) / "machine")
        first = [name for name, session in sessions.items() if not session.reads_wiki]
        made = [_write(name, sessions[name], sandbox, out, None) for name in first if name in (arguments.only or first)]
        later = [name for name in sessions if name not in first and not arguments.only]
        wiki = Path(folder) / "wiki"
        if later:
            _build_wiki(made, wiki)
        made += [_write(name, sessions[name], sandbox, out, wiki) for name in later]
    for path in set(out.glob("*.json*")) - set(made) if not arguments.only else ():
        path.unlink()
    sys.stdout.write(f"{len(made)} traces written\n")
    return 0


def _write(name: str, session: Session, sandbox: Sandbox, out: Path, wiki: Path | None) -> Path:
    """Record one session and write its file."""
    project = project_from(_HERE / "projects" / f"{session.project}.yaml")
    sandbox.begin(session.started)
    if wiki is not None:
        shutil.copytree(wiki, sandbox.project / "wiki", ignore=shutil.ignore_patterns(".wiki"))
    sandbox.prepare(project.files, f"set -e\n{project.setup}\n{session.setup}")
    path = out / f"{name}{trace_formats.SUFFIXES[session.format]}"
    path.write_text(trace_formats.dumped(record(name, session, sandbox)), encoding="utf-8")
    return path


def _build_wiki(traces: list[Path], wiki: Path) -> None:
    """The wiki of these traces. Raises `RuntimeError` when it lacks the page that the sessions read."""
    command = [sys.executable, "-m", "agent_wiki", "ingest", *map(str, traces), "--wiki", str(wiki)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if not (wiki / READ_PAGE).is_file():
        pages = sorted(path.name for path in (wiki / "guidelines").glob("*.md"))
        raise RuntimeError(f"READ_PAGE is not in the wiki; there is {', '.join(pages)}")


if __name__ == "__main__":
    sys.exit(main())
