"""A shell command line as the simple commands in it: what each runs, without what stands in front of a program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agent_wiki.shell.syntax import MOST_CHARACTERS, plain_words, redirections, shell_line, without_fed_text

ShellKind = Literal["look", "edit", "delete", "revert", "check", "ship", "run"]

_SUBSTITUTION = re.compile(r"\$\([^()\n\"']{0,200}\)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset(
    {"sudo", "env", "time", "nohup", "command", "exec", "xargs", "npx", "bunx", "stdbuf", "nice"}
)  # fmt: skip
_ENDS = frozenset({"fi", "done", "esac", "}", "case", "select", "function"})
_KEYWORDS = frozenset({"do", "then", "else", "if", "while", "until", "!", "{", "elif"})
_RUN_WRAPPERS = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda"})


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its arguments. `writes`: the files its output goes to; `body`: its here-document."""

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    body: str = ""

    @property
    def program(self) -> str:
        """The program's bare name; empty when there is none."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    def text(self) -> str:
        """The command as a person would name it: words only, one space apart."""
        return " ".join(self.words)


def simple_commands(command: str, depth: int = 0) -> list[SimpleCommand]:
    """The simple commands of `command` in order, `bash -c '…'` and subshells opened.

    At most the first `MOST_CHARACTERS` characters are read.
    """
    found: list[SimpleCommand] = []
    for step in shell_line(command[:MOST_CHARACTERS]).steps:
        plain = plain_words(step.words)
        writes = [target for operator, target in redirections(step.words) if _is_write(operator, target)]
        if depth < 2 and plain and plain[0].is_subshell:
            found += simple_commands(plain[0].value[1:].removesuffix(")"), depth + 1)
            plain = []
        words = _without_place(_unwrapped([_SUBSTITUTION.sub("$_", without_fed_text(word.value)) for word in plain]))
        body = step.here_documents[0].text.removesuffix("\n") if step.here_documents else ""
        if depth < 2 and _is_shell_line(words):
            found += simple_commands(words[2], depth + 1)
        elif words or writes:
            found.append(SimpleCommand(tuple(words), tuple(writes), body))
    return found


def _is_write(operator: str, target: str) -> bool:
    """Output that goes to a file: not what a program says on the side, nor what is thrown away."""
    is_output = ">" in operator and not operator.startswith("2") and not operator.endswith(">&")
    return is_output and not target.startswith("/dev/")


def _without_place(words: list[str]) -> list[str]:
    """`git -C <folder> commit` is `git commit`, wherever it runs; the words that end a loop are no command."""
    if words and words[0] in _ENDS:
        return []
    while len(words) > 2 and words[0] == "git" and words[1] in ("-C", "-c"):
        words = [words[0], *words[3:]]
    return words


def _is_shell_line(words: list[str]) -> bool:
    return (
        len(words) > 2
        and words[0].rpartition("/")[2] in ("bash", "sh", "zsh")
        and words[1] in ("-c", "-lc", "-ec", "-lic")
    )


def _unwrapped(words: list[str]) -> list[str]:
    """Without keywords, assignments and wrappers in front of the program."""
    position = 0
    while position < len(words):
        step = _wrapper_length(words, position)
        if not step:
            break
        position += step
    return words[position:]


def _wrapper_length(words: list[str], position: int) -> int:
    """How many words at `position` only stand in front of a program; 0 when the program is there."""
    word = words[position]
    name = word.rpartition("/")[2]
    if word in _KEYWORDS or _ASSIGNMENT.match(word):
        return 1
    if name in _WRAPPERS:
        options = 0
        while words[position + 1 + options : position + 2 + options] and words[position + 1 + options].startswith("-"):
            options += 1
        return 1 + options
    if name == "timeout" and position + 1 < len(words):
        return 2
    return 2 if name in _RUN_WRAPPERS and words[position + 1 : position + 2] == ["run"] else 0
