"""Writes what the commands of docs/tutorial.md print below them: `python docs/generate_tutorial.py`.

A test runs them and compares. The lines that install are left to `.ci/run`, which does the same.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from agent_wiki.commands import main

TUTORIAL = Path(__file__).parent / "tutorial.md"
_EXAMPLE = TUTORIAL.parent.parent / "wiki-example"
_SHOWN = re.compile(r"^```sh\n((?:wiki .*\n)+)```\n\n```text\n(?:.*\n)*?```$", re.MULTILINE)
_WIDTH = 140


def tutorial_with_output(text: str, folder: Path) -> str:
    """The tutorial's text with what its commands print, run in an empty `folder` in their order."""
    for name in ("traces", "later"):
        shutil.copytree(_EXAMPLE / name, folder / "wiki-example" / name)
    program = folder / "bin" / "wiki"  # on the path, as the tutorial's second line makes it
    program.parent.mkdir()
    program.touch(mode=0o755)
    former = os.environ.get("PATH", "")
    os.environ["PATH"] = str(program.parent)
    try:
        with chdir(folder):
            return _SHOWN.sub(lambda shown: _with_output(shown, folder), text)
    finally:
        os.environ["PATH"] = former


def _with_output(shown: re.Match[str], folder: Path) -> str:
    lines = shown[1].splitlines()
    printed = [_printed(line, folder) for line in lines]
    return f"```sh\n{shown[1]}```\n\n```text\n{printed[-1]}```"


def _printed(command: str, folder: Path) -> str:
    """What a command prints, without the folder's own path, its lines cut at a width that a page shows."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    errors = io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        code = main(shlex.split(command)[1:])
    out.seek(0)
    printed = out.read() or errors.getvalue()  # of a command that prints nothing, what it says
    if code != 0:
        sys.exit(f"{command}: ended with {code}: {printed}")
    lines = printed.replace(f"{folder.resolve()}/", "").splitlines()
    return "".join(f"{line if len(line) <= _WIDTH else line[: _WIDTH - 1] + '…'}\n" for line in lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        TUTORIAL.write_text(tutorial_with_output(TUTORIAL.read_text(encoding="utf-8"), Path(made)), encoding="utf-8")
