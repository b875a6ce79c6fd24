"""What is killed: a command on a folder that was made ready for it, and what must be there when it has run again."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki_testing import MessagesServer
from tests.kills.processes import Measured, Work, again, killed, whole
from tests.paid_runs import digests
from tests.wikis import changed, tree

_UNCOMPARED = ("in/", "answer.json", ".evolve/hook")  # what was given, and what hooks remember


@dataclass(slots=True)
class Scene:
    """One command. `ready` is a folder as it is before the command; `measured` and `expected` are an unkilled run's.

    `is_repeated`: one that had ended when it was killed does its work a second time.
    """

    name: str
    ready: Path
    work: Work
    words: tuple[str, ...]
    server: MessagesServer | None = None
    is_repeated: bool = False
    measured: Measured = field(default_factory=lambda: Measured(0.0, 0))
    expected: dict[str, bytes] = field(default_factory=dict)
    audit: set[str] = field(default_factory=set)

    def measure(self, folder: Path) -> None:
        """Run it once to its end, from which losses are counted."""
        shutil.copytree(self.ready, folder)
        self.measured = whole(self.work, folder, self.words)
        self.expected, self.audit = self._compared(folder), _audit(folder)

    def kill(self, folder: Path, rng: random.Random) -> tuple[str, list[str]]:
        """Kill it somewhere and run it again. Out: where it was killed, "" if it had ended, and what was lost."""
        shutil.copytree(self.ready, folder)
        where = killed(self.work, folder, self.words, self.measured, rng)
        lost = [f"{path}: empty or cut off" for path in _torn(folder)]
        answers, asked = _answers(folder), self._asked()
        code = again(self.work, folder, self.words)
        lost += [f"run again: exit code {code}"] if code else []
        lost += changed(self.expected, self._compared(folder))
        lost += [f"_audit.log: {entry}" for entry in sorted(self.audit - _audit(folder))]
        lost += [f"journal: the answer to {request}" for request in sorted(answers - _answers(folder))]
        lost += [f"paid for twice: {request}" for request in sorted((self._asked() - asked).keys() & answers)]
        return where, lost

    def _asked(self) -> Counter[str]:
        return digests(self.server) if self.server is not None else Counter()

    def _compared(self, folder: Path) -> dict[str, bytes]:
        """The files by path; of saved sessions, whose names hold the moment, the number of each state's files."""
        files = _kept(folder)
        saved = Counter(content for path, content in files.items() if "/trajectories/" in path)
        counts = {f"saved {1 if self.is_repeated else number} times": content for content, number in saved.items()}
        return {path: content for path, content in files.items() if content not in saved} | counts


def _kept(folder: Path) -> dict[str, bytes]:
    """Every file that a user would miss: not what was begun beside under a hidden name, nor what only saves time."""
    return {
        path: content
        for path, content in tree(folder).items()
        if not path.startswith(_UNCOMPARED) and not path.endswith((".tmp", ".lock"))
    }


def _torn(folder: Path) -> Iterator[str]:
    """Files that the killed process left empty or cut off: JSON that is none, text without an end."""
    for path, content in _kept(folder).items():
        is_whole = _is_json(content) if path.endswith(".json") else content.endswith(b"\n")
        is_whole |= path.endswith(".jsonl") and not content  # an index of no page
        if not is_whole and path.endswith((".json", ".jsonl", ".md", ".yaml", ".gitignore")):
            yield path


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _audit(folder: Path) -> set[str]:
    path = folder / "wiki" / "_audit.log"
    entries = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
    return {json.dumps({**entry, "ts": ""}, sort_keys=True) for entry in entries}


def _answers(folder: Path) -> set[str]:
    found = records(journal_folder(folder / "wiki"), [])
    return {each["request"] for each in found if each.get("kind") == "answer"}
