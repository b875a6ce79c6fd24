"""Which program a shell command line ends with: its exit status is the status of the whole line.

A pipeline's status is that of its last command, a list's that of the last one run (POSIX, 2.9.2 and 2.9.3), so a
failure before `| tail` or `; echo` is masked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile

from agent_wiki.shell.syntax import MOST_CHARACTERS, Word, plain_words, shell_line

_DEEPEST = 3  # subshells in subshells
_NOT_THE_PROGRAM = re.compile(
    r"[A-Za-z_]\w*=.*|sudo|time|env|command|exec|nohup|then|do|else|done|fi|esac|[{}!]|-\S*", re.DOTALL
)

SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "git grep", "pgrep", "which"})
READERS = SEARCHES | frozenset(
    {"cat", "sed", "head", "tail", "less", "nl", "awk", "find", "ls", "jq", "tree", "wc", "tee", "sort", "uniq", "cut",
     "tr", "column", "echo", "printf", "true", ":", "git diff", "git show", "git log", "git blame", "git status"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LastStep:
    """The program that runs last (of git with its subcommand), and whether it runs whatever the others came to."""

    program: str
    is_apart: bool


def last_step(command: str, depth: int = 0) -> LastStep | None:
    """The step that a command line ends with, in its subshell where it ends with one; None where there is none.

    Raises nothing; looks at the last `MOST_CHARACTERS` characters only.
    """
    steps = shell_line(command[-MOST_CHARACTERS:]).steps
    for position in range(len(steps) - 1, -1, -1):
        words = list(dropwhile(_is_not_the_program, plain_words(steps[position].words)))
        if words:
            is_apart = position > 0 and steps[position - 1].after in (";", "\n")
            is_open = words[0].is_subshell and depth < _DEEPEST
            inner = last_step(words[0].value[1:].removesuffix(")"), depth + 1) if is_open else None
            return inner or LastStep(_program(words), is_apart)
    return None


def _is_not_the_program(word: Word) -> bool:
    return _NOT_THE_PROGRAM.fullmatch(word.value) is not None


def _program(words: list[Word]) -> str:
    program = words[0].value.rpartition("/")[2]
    return f"git {_git_subcommand(words[1:])}" if program == "git" else program


def _git_subcommand(words: list[Word]) -> str:
    values = iter(word.value for word in words)
    for value in values:
        if value in ("-C", "-c"):
            next(values, None)
        elif not value.startswith("-"):
            return value
    return ""
