"""What merely precedes a program: keywords, assignments, `sudo`, `env`, `timeout 60`, `uv run`, `docker exec`.

The one place that peels a command. *Wrappers* change how a program runs, *runners* where it is found; a guideline
names the runner (`uv run pytest`), what a command does depends on the program behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.trajectory.lazily import dataclass, regex

_KEYWORDS = frozenset({"do", "then", "else", "if", "while", "until", "!", "{", "elif"})
_ASSIGNMENT = regex(r"[A-Za-z_]\w*\+?=")
# For each wrapper, the options that take the next word as their value.
_WRAPPERS: dict[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-C", "-D", "-h", "-p", "-U"}),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "-S"}),
    "time": frozenset({"-f", "-o"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "timeout": frozenset({"-k", "-s", "--signal", "--kill-after"}),
    "gtimeout": frozenset({"-k", "-s", "--signal", "--kill-after"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"}),
    "exec": frozenset({"-a"}),
    **dict.fromkeys(("nohup", "command", "builtin", "setsid", "caffeinate"), frozenset()),
}
_ASKS_WHERE = frozenset({("command", "-v"), ("command", "-V")})  # a program is: it does not run
_TIMED = frozenset({"timeout", "gtimeout"})  # a duration follows
_RUNNERS = frozenset({"npx", "bunx", "uvx", "xvfb-run", "rtk"})
_RUNNERS_WITH_VERB = frozenset(
    {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("rye", "run"), ("conda", "run"), ("mamba", "run"),
     ("micromamba", "run"), ("bundle", "exec"), ("pnpm", "exec"), ("yarn", "exec"), ("npm", "exec"), ("pnpm", "dlx"),
     ("yarn", "dlx"), ("mise", "exec"), ("pipx", "run")}
)  # fmt: skip
_RUNNER_VALUES = frozenset(
    {"-p", "--package", "--from", "--with", "--extra", "--group", "--python", "-n", "--name", "-s"}
)  # fmt: skip
# What runs a command in a container that is there: the options before its name that take the next word as their value.
_ENTERS = frozenset({"exec", "run"})
_ENGINES = frozenset({"docker", "podman", "nerdctl"})
_COMPOSES = frozenset({"docker-compose", "podman-compose"})
_COMPOSE_VALUES = frozenset({"-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory"})
_CONTAINER_VALUES = frozenset(
    {"-u", "--user", "-w", "--workdir", "-e", "--env", "--env-file", "--index", "--name", "-v", "--volume", "-p",
     "--publish", "--entrypoint", "--detach-keys"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Peeled:
    """A command without its keywords, assignments and wrappers; `words` may still begin with a runner."""

    keywords: tuple[str, ...]
    environment: tuple[str, ...]
    words: tuple[str, ...]

    def program_words(self) -> tuple[str, ...]:
        """The words from the program on, without a runner in front of it."""
        return without_runner(self.words)


def peeled(words: Sequence[str]) -> Peeled:
    """The words of one command → what it runs, and what preceded it."""
    keywords: list[str] = []
    environment: list[str] = []
    rest = list(words)
    while rest:
        word, name = rest[0], rest[0].rpartition("/")[2]
        if word in _KEYWORDS:
            keywords.append(rest.pop(0))
        elif _ASSIGNMENT.match(word):
            environment.append(rest.pop(0))
        elif name in _WRAPPERS and len(rest) > 1 and tuple(rest[:2]) not in _ASKS_WHERE:
            rest = _without_options(rest[1:], _WRAPPERS[name])[name in _TIMED :]
        else:
            break
    return Peeled(tuple(keywords), tuple(environment), tuple(rest))


def without_runner(words: Sequence[str]) -> tuple[str, ...]:
    """`uv run pytest -q`, `docker exec app npx jest` → `pytest -q`, `jest`; a runner with nothing after it is kept."""
    rest = list(words)
    if rest and rest[0] in _RUNNERS:
        rest = _without_options(rest[1:], _RUNNER_VALUES)
    elif tuple(rest[:2]) in _RUNNERS_WITH_VERB:
        rest = _without_options(rest[2:], _RUNNER_VALUES)
    elif inside := _in_container(rest):
        return without_runner(inside)
    return tuple(rest) or tuple(words)


def _in_container(words: list[str]) -> list[str]:
    """`docker compose exec -T web npx jest` → `npx jest`; empty where no command is named, or none enters one."""
    program, rest = words[0] if words else "", words[1:]
    if program in _COMPOSES or (program in _ENGINES and rest[:1] == ["compose"]):
        rest = _without_options(rest[program in _ENGINES :], _COMPOSE_VALUES)
        enters = rest[:1] != [] and rest[0] in _ENTERS
    else:
        enters = program in _ENGINES and rest[:1] == ["exec"]
    return _without_options(rest[1:], _CONTAINER_VALUES)[1:] if enters else []


def _without_options(words: list[str], with_value: frozenset[str]) -> list[str]:
    """Without the options at the start, their values, and the `--` that ends them."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in with_value else 1
    return words[at:]
