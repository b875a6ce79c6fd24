"""Command lines as miners see them: which programs ran, with which flags, on what.

The limits (characters, commands) keep hostile lines cheap; what is beyond them is not worth keeping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from agent_wiki.shell.programs import SHELL_WORDS, WITH_SUBCOMMAND, only_reads
from agent_wiki.shell.simple_commands import bare_program
from agent_wiki.shell.syntax import MOST_CHARACTERS, plain_words, shell_line, without_fed_text
from agent_wiki.shell.task_runners import runner_name, task_words
from agent_wiki.shell.wrappers import peeled, without_runner
from agent_wiki.trajectory.lazily import dataclass, regex

_MOST_COMMANDS = 60
_DEEPEST = 3  # subshells in subshells

_ENVIRONMENTS = frozenset({"conda", "mamba", "micromamba"})
_RUN_WORDS = frozenset({"run", "exec", "x", "compose", "tool"})  # the word after them is the tool
_OWN_VERBS = {("run",), ("test",), ("install",), ("add",), ("x",), ("build",), ("task",), ("lint",), ("fmt",)}
_INTERPRETERS = regex(r"(?:python|pypy)[0-9.]*|node|ruby|perl|php|bash|sh|zsh|deno|bun")


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. `words` are as written, without quotes; `words[0]` is the program as called.

    `env`: the `NAME=value` words before it. `operator`: what joins it to the next one (`&&`, `||`, `|`, `;`, "").
    """

    words: tuple[str, ...]
    env: tuple[str, ...] = ()
    operator: str = ""
    text: str = ""

    @property
    def program(self) -> str:
        """The program's bare name; a repository's own script keeps its relative path (`bin/test`)."""
        return _program(self.words)

    @property
    def head(self) -> str:
        """What is run, without targets: `go test`, `mise run lint`, `python -m pytest`, `bin/test`."""
        return _head(self.words)

    @property
    def targets(self) -> tuple[str, ...]:
        """Plain words after the head: files, packages, names."""
        taken = set(self.head.split()[1:])
        return tuple(word for word in self.words[1:] if not word.startswith("-") and word not in taken)

    def only_looks(self) -> bool:
        """True for commands that read: their failure is an answer, not an event."""
        return only_reads(self.words)

    def only_prepares(self) -> bool:
        """True for what changes nothing but the shell itself (`cd`, `export`, `source`, `for`)."""
        return self.program in SHELL_WORDS or not self.words


def _program(words: tuple[str, ...]) -> str:
    word = words[0] if words else ""
    if word.startswith(("/", "~")) or word[1:2] == ":":
        return bare_program(word)
    return word.removeprefix("./") if "/" in word.removeprefix("./") else word


@lru_cache(maxsize=4096)  # each command that failed is compared with all that follow
def _head(words: tuple[str, ...]) -> str:
    program = _program(words)
    return " ".join((program, *_subcommand(program, words)))


def _subcommand(program: str, words: tuple[str, ...]) -> list[str]:
    rest = words[1:]
    if _INTERPRETERS.fullmatch(program) and not (program in WITH_SUBCOMMAND and rest[:1] in _OWN_VERBS):
        if "-m" in rest[:3] and rest.index("-m") + 1 < len(rest):
            return ["-m", rest[rest.index("-m") + 1]]
        script = next((word for word in rest if not word.startswith("-")), None)
        is_named = script and rest[:1] == (script,) and (program == "bun" or re.search(r"\.\w{1,4}$", script))
        return [script] if script and is_named else []
    if program in ("npx", "bunx", "uvx", "pipx", "xvfb-run"):
        return task_words(words)[:1]
    if program in _ENVIRONMENTS and rest[:1] == ("run",) and (inner := without_runner(words)) != words:
        return [*words[1 : len(words) - len(inner)], *inner[:1]]  # without its name it is no command
    if runner_name(program) not in WITH_SUBCOMMAND:
        return []
    plain = task_words(words)
    if program in ("docker", "podman") and plain[:1] in (["run"], ["exec"]):
        return plain[:1]  # of which image or container is not what is run
    return plain[: 2 if plain and (plain[0] in _RUN_WORDS or program in ("gh", "aws", "gcloud")) else 1]


def split(line: str) -> tuple[Command, ...]:
    """The simple commands of a command line in order, bodies of here-documents left out, subshells opened.

    In: any text. Out: at most 60 commands, of at most the first `MOST_CHARACTERS` characters.
    """
    return _split(line[:MOST_CHARACTERS])


@lru_cache(maxsize=4096)
def _split(line: str) -> tuple[Command, ...]:
    return tuple(islice(_commands(line), _MOST_COMMANDS))


def actions(line: str) -> list[Command]:
    """The commands of a line that do something: not those that only look or prepare the shell."""
    return [command for command in split(line) if not command.only_looks() and not command.only_prepares()]


def _commands(line: str, depth: int = 0) -> Iterator[Command]:
    for step in shell_line(line).steps:
        plain = plain_words(step.words)
        if depth < _DEEPEST and plain and plain[0].is_subshell:
            inner = list(_commands(plain[0].value[1:].removesuffix(")"), depth + 1))
            yield from inner[:-1]
            yield from (replace(last, operator=step.after.strip()) for last in inner[-1:])
        elif command := _command([without_fed_text(word.value) for word in plain], step.text, step.after.strip()):
            yield command


def _command(words: list[str], text: str, operator: str) -> Command | None:
    front = peeled(words)
    return Command(front.words, front.environment, operator, text) if front.words or front.environment else None
