"""The commands that a page offers to copy: what settles a lesson, or shows more of it."""

from __future__ import annotations

import shlex

from agent_wiki.site.contents import SiteLesson
from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line, and what it does."""

    line: str
    does: str


def command(does: str, *words: str) -> CommandLine:
    """The command `wiki` with these words, quoted for a shell."""
    return CommandLine(shlex.join(["wiki", *words]), does)


def commands_for(lesson: SiteLesson) -> list[CommandLine]:
    """What an owner may do with a lesson's page."""
    return [
        command("show the turns behind it, each quote checked again", "why", lesson.id),
        command("retire it for good", "reject", lesson.id, "--why", "REASON"),
    ]


def commands_for_edited(path: str) -> list[CommandLine]:
    """What settles a page that a person edited."""
    return [
        command("make the edited page yours for good", "keep", path),
        command("render it again as the sessions have it", "restore", path),
    ]
