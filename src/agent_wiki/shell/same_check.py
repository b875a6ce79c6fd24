"""When one command checks what another had checked: its verdict settles the other's.

Of tests, builds and linters: the same targets, or more of them, never fewer; a suite that failed is not answered by
one of its tests that passes. Of other commands: the same program and sub-command on the same things. Equal first words
are not enough, nor is the same interpreter of another query or script.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from agent_wiki.shell.files_written import patch_parts
from agent_wiki.shell.kinds import CHECK_WORDS, is_check, script_of
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.task_runners import runner_name
from agent_wiki.trajectory.lazily import dataclass, regex

_WHOLE = frozenset(
    {"./...", ".", "./", "all", "run", "test", "tests", "exec", "dlx"}
)  # fmt: skip
_NARROWING = frozenset(
    {"-run", "-k", "-t", "-m", "--filter", "--grep", "-g", "--test", "-p", "--package", "--tests",
     "--skip", "--deselect", "--ignore", "--ignore-glob", "--exclude", "--testPathIgnorePatterns",
     "--testNamePattern", "--testsuite", "-Dtest"}
)  # fmt: skip
_PATHS = frozenset({"--testPathPattern", "--testPathPatterns"})  # their values are paths, like bare words
_COMPILING_ONLY = frozenset({"-c", "--collect-only", "--no-run", "--list", "--dry-run"})
_DRY = frozenset({"-n", "--dry-run", "--just-print", "--recon"})  # of make and just
# Where a check runs, not what it checks.
_PLACES = frozenset({"-destination", "-derivedDataPath", "-sdk"})
_RUNNERS_WITH_TARGETS = frozenset(
    {"npm", "pnpm", "yarn", "bun", "make", "just", "mise", "task", "poe", "nx", "turbo"}
)  # fmt: skip
_WITH_VERB = frozenset(
    {"go", "cargo", "dotnet", "mvn", "gradle", "gradlew", "mvnw", "swift", "deno", "ruff", "bazel", "git", "gh",
     "docker", "podman", "kubectl", "helm", "uv", "pip", "pip3", "poetry", "conda", "brew", "apt", "apt-get",
     "terraform", "systemctl", "aws", "gcloud", "az"}
)  # fmt: skip
_WITH_PHASES = frozenset({"mvn", "mvnw", "gradle", "gradlew", "xcodebuild"})  # several words, or options with values
_HOW_MUCH = frozenset({"-v", "--verbosity", "-verbosity"})  # is printed, and the values that say it
_LEVELS = frozenset({"q", "quiet", "m", "minimal", "n", "normal", "d", "detailed", "diag", "diagnostic"})
_LEAST_SHARED = 0.5  # of what a command other than a check was about
_LEAST_TEXT = 16  # characters of a word that is a text of its own
_SHOW = frozenset({"-q", "--jq", "--format", "--template", "-o", "-w"})  # what is shown of a result
_WORDS = regex(r"\w+")
_ADDED, _LEAST_OF_PATCH = regex(r"^\+(.{1,400})", re.MULTILINE), 0.3  # of the words that a patch adds
_STOPPED_AT = regex(r"\bERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\b[^\n`]{1,200}: `([^`\n]{4,300})`")


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One check. `family`: the tool and what it was asked for; `targets`: to what it was narrowed.

    `stopped`: the command within a package's script at which the check stopped, as the runner prints it.
    """

    family: str
    targets: frozenset[str]
    stopped: CheckRun | None = None

    def answers(self, other: CheckRun) -> bool:
        """Whether the verdict of this run also covers what `other` had checked."""
        if self.family != other.family:
            return other.stopped is not None and self.answers(other.stopped)
        is_within = all(any(_holds(mine, theirs) for mine in self.targets) for theirs in other.targets)
        names_tests = any(map(_is_name, self.targets)) and not any(
            map(_is_name, other.targets)
        )  # of all that there are
        is_wider = bool(other.targets) and is_within and not names_tests and self.options <= other.options
        return self.targets == other.targets or not self.targets or is_wider

    @property
    def options(self) -> frozenset[str]:
        """The targets that are options."""
        return frozenset(target for target in self.targets if target.startswith("-"))


@lru_cache(maxsize=4096)  # a long session has thousands of commands, which are compared with each other
def check_run(command: SimpleCommand) -> CheckRun:
    """A command as a check: what it runs, and on what."""
    program, rest = runner_name(command.program), list(command.words[1:])
    if program.startswith("python") and rest[:1] == ["-m"]:
        program, rest = rest[1] if len(rest) > 1 else program, rest[2:]
    family = [program]
    if program in _RUNNERS_WITH_TARGETS:
        family += [word for word in rest if not word.startswith("-") or is_dry(program, [word])]
        rest = []
    elif verb := _verb(program, rest):
        family.append(verb)
        rest.remove(verb)
    family += [word for word in rest if word in _COMPILING_ONLY]
    return CheckRun(" ".join(family), frozenset(_targets(rest)))


def is_dry(program: str, words: Collection[str]) -> bool:
    """Whether a command only tells what it would do, by an option that says so."""
    return "--dry-run" in words or (program in ("make", "just") and not _DRY.isdisjoint(words))


def _verb(program: str, words: list[str]) -> str:
    """The word by which a program with several jobs is given one: `mix test`, `xcodebuild -scheme Shop test`."""
    first = next((word for word in words if word[:1] != "-"), "")
    known = (word for word in words if word in CHECK_WORDS.get(program, ()))
    may_be_later = program in _WITH_PHASES
    verb = next((word for word in known if may_be_later or word == first or word[:1] == "-"), first)
    return verb if program in _WITH_VERB or program in CHECK_WORDS else ""


def stopped_at(output: str) -> CheckRun | None:
    """The command at which pnpm says that a package's script stopped; None where it does not say."""
    named = _STOPPED_AT.findall(output)
    steps = simple_commands(named[-1]) if named else ()
    return check_run(steps[0]) if len(steps) == 1 else None


@lru_cache(maxsize=4096)  # several rules ask what settles a failure
def is_same_check(failed: SimpleCommand, passed: SimpleCommand) -> bool:
    """Whether `passed` shows that what failed in `failed` works now."""
    one, other, script = check_run(failed), check_run(passed), script_of(failed)
    if script is None and one.family != other.family:
        return False  # as of most pairs
    if is_check(failed) and is_check(passed):
        return other.answers(one)
    if script is not None:
        return script_of(passed) == script
    texts, other_texts = _texts(failed), _texts(passed)
    things = one.targets.difference(texts)
    if len(things & other.targets) < _LEAST_SHARED * len(things) or not other.options <= one.options:
        return False
    if patched := {path for _, path, _ in patch_parts(failed.body)}:
        words, others = (_words(_ADDED.findall(each.body)) for each in (failed, passed))
        is_same_file = any(path in patched for _, path, _ in patch_parts(passed.body))
        return is_same_file and len(words & others) >= _LEAST_OF_PATCH * len(words)
    words = _words([*texts, failed.body])
    return len(words & _words([*other_texts, passed.body])) >= _LEAST_SHARED * len(words)


def writes_what_was_checked(checked: SimpleCommand, later: SimpleCommand) -> bool:
    """Whether a formatter that only checked (`cargo fmt --check`) is run again so that it writes the files."""
    if "--check" not in checked.words[1:] or "--check" in later.words or not later.words:
        return False
    depth = 2 if checked.words[1].isalpha() else 1  # `cargo fmt`, `black`
    return checked.words[:depth] == later.words[:depth]


def _holds(target: str, other: str) -> bool:
    """A target is the other one, or the folder in which it lies: `./cart/...` and `tests/` hold what is in them."""
    folder = target.removesuffix("...").rstrip("/")
    return target == other or (bool(folder) and other.startswith(f"{folder}/") and not target.startswith("-"))


def _is_name(target: str) -> bool:
    """A path or a test: no option, and no number that an option takes."""
    return not target.startswith("-") and not target[:1].isdigit()


def _texts(command: SimpleCommand) -> list[str]:
    """What is handed over as a text of its own: a query, a script."""
    pairs = zip(command.words, command.words[1:], strict=False)
    return [word for flag, word in pairs if " " in word and len(word) >= _LEAST_TEXT and flag not in _SHOW]


def _words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in _WORDS.findall(text[:4_000])}


def _targets(words: list[str]) -> list[str]:
    """What a check was narrowed to: paths, names, and the values of options that choose tests."""
    found = []
    for position, word in enumerate(words):
        if position and (words[position - 1] in _PLACES or (words[position - 1] in _HOW_MUCH and word in _LEVELS)):
            continue
        option, _, value = word.partition("=")
        if option in _PATHS and value:
            found.append(value.strip("'\""))
        elif option in _NARROWING:
            found.append(f"{option}={value or ''.join(words[position + 1 : position + 2])}")
        elif (
            not word.startswith("-") and word not in _WHOLE and (position == 0 or words[position - 1] not in _NARROWING)
        ):
            found.append(word.replace("\\", "").removeprefix("./"))  # quoted or not, a path of Windows is the same
    return found
