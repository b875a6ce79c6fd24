"""A scratch project with a home of its own, and agent programs at work in it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clients.loopback import Finished, Loopback
from tests.clients.programs import SECONDS, Program, environment, install_wiki

_FILES = {
    "src/textkit/__init__.py": (
        '"""Small helpers for text."""\n\n\ndef shout(text):\n    """Upper case with an exclamation mark."""\n'
        '    return text.upper() + "!"\n'
    ),
    "tests/test_textkit.py": (
        "import unittest\n\nimport textkit\n\n\nclass TestShout(unittest.TestCase):\n    def test_shout(self):\n"
        '        self.assertEqual(textkit.shout("hey"), "HEY!")\n\n\nif __name__ == "__main__":\n    unittest.main()\n'
    ),
    "Makefile": "test:\n\tPYTHONPATH=src python3 -m unittest discover -s tests\n",
    ".gitignore": "__pycache__/\n",
    "README.md": "# textkit\n",
}
_ME = ("-c", "user.name=Dev", "-c", "user.email=dev@example.invalid")


@dataclass(frozen=True)
class Work:
    """One program in one project."""

    program: Program
    model: Loopback
    home: Path
    project: Path

    @property
    def wiki(self) -> Path:
        return self.project / "wiki"

    def session(self, prompt: str, words: Sequence[str] = ()) -> Finished:
        """A session of the program without a terminal, which has to end well."""
        return self.run(words or self.program.words(prompt))

    def run(self, words: Sequence[str], *, codes: Sequence[int] = (0,), seconds: float = SECONDS) -> Finished:
        """Run a command in the project, as the program's own are run. It has to end with one of these exit codes."""
        variables = environment(self.home, self.model.url, self.program)
        done = self.model.run(words, self.project, variables, seconds=seconds)
        assert done.code in codes, f"{' '.join(words)}: exit code {done.code}\n{done.stdout}\n{done.stderr}"
        return done

    def ran(self, *words: str) -> str:
        """What `wiki WORD…` prints in the project."""
        return self.run(["wiki", *words]).stdout

    def recordings(self) -> list[Path]:
        """What the program has recorded of its sessions, in the order of their names."""
        return sorted(self.home.glob(self.program.recordings))


def work(program: Program, model: Loopback, folder: Path) -> Work:
    """A new project whose tests run by `make test` alone, and a new home with the program's settings."""
    home, project = folder / "home", folder / "project"
    install_wiki(home)
    for name, text in _FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    made = Work(program, model, home, project)
    program.prepare(home, project, model.url)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Start textkit"]):
        subprocess.run(["git", *_ME, *words], cwd=project, check=True, capture_output=True)
    return made


def until(holds: Callable[[], bool], *, seconds: float = 60.0) -> bool:
    """Whether something became true in time: what a hook does goes on after the program has ended."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()
