"""Which program a shell command line ends with: its exit status is the status of the whole line.

A pipeline's status is that of its last command, a list's that of the last one run (POSIX, 2.9.2 and 2.9.3), so a
failure before `| tail` or `; echo` is masked.
"""

from __future__ import annotations

from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.shell.syntax import MOST_CHARACTERS
from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class LastStep:
    """The program that runs last (of git with its subcommand), and whether it runs whatever the others' exit status."""

    program: str
    is_apart: bool


def last_step(command: str) -> LastStep | None:
    """The step that a command line ends with, in its subshell where it ends with one; None where there is none.

    Raises nothing; looks at the last `MOST_CHARACTERS` characters only.
    """
    steps = steps_of(command[-MOST_CHARACTERS:])
    at = next((at for at in range(len(steps) - 1, -1, -1) if steps[at].words), None)
    if at is None:
        return None
    return LastStep(_program(steps[at]), at > 0 and steps[at - 1].after in (";", "\n"))


def _program(step: SimpleCommand) -> str:
    return f"git {_git_subcommand(step.words[1:])}" if step.program == "git" else step.program


def _git_subcommand(words: tuple[str, ...]) -> str:
    values = iter(words)
    for value in values:
        if value in ("-C", "-c"):
            next(values, None)
        elif not value.startswith("-"):
            return value
    return ""
