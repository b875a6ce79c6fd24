"""A chat as SpecStory saves it, read: what the tests of its agents and layouts share."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.readers.detect import read
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory


def session(folder: Path, text: str) -> Trajectory:
    path = folder / "chat.md"
    path.write_text(text, encoding="utf-8")
    (found,) = read(Recording(path, path.name))
    return found
