"""Which step of a command line printed a line of its output, as far as the line shows.

Programs sign their errors: some with their name (`curl: (6)`), most by a form of their own (`npm ERR!`,
`error TS2322`). A task runner (`make test`, `npm run lint`) may say whatever the programs behind it say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.task_runners import runner_name
from agent_wiki.trajectory.lazily import regex

_NAMES = regex(r"(?<![^\s'\"`:(])[\w./@-]{4,80}(?![^\s'\"`:,.)])")
_MOST_READ = 400  # characters of a line
_RUNNERS = frozenset(
    {"npm", "pnpm", "yarn", "bun", "make", "just", "mise", "task", "tox", "nox", "rake", "invoke", "poe", "turbo", "nx",
     "gradle", "gradlew", "mvn", "mvnw", "bash", "sh", "zsh", "docker", "pre-commit", "hatch", "pdm", "ninja", "cmake",
     "composer", "lerna", "bazel", "source", "."}
)  # fmt: skip
_PACKAGERS = frozenset({"npm", "pnpm", "yarn", "bun", "pdm", "composer"})
_INSTALLS = frozenset({"install", "ci", "i", "add"})  # by which these run no task
_ANY = "any task"
_PYTHON_TOOLS = frozenset({"pytest", "py.test", "mypy", "ruff", "tox", "nox", "pip", "flake8", "black", "django-admin"})
_NODE_TOOLS = frozenset(
    {"npm", "pnpm", "yarn", "jest", "vitest", "tsc", "eslint", "mocha", "webpack", "vite", "next", "tsx", "ts-node"}
)
_SHELL_NAMED = regex(
    r"(?:/\S{1,60}/)?(?:(?:ba|z|da|k)?sh|-bash|\(eval\)):(?: ?(?:line )?\d{1,6}:)?"
    r" (?:(?:command not found|no such file or directory|permission denied|no matches found): )?([^\s:]{1,200})"
)
_NAMED = regex(r"([A-Za-z][\w.+-]{0,60})(?:\[\d+\])?(?:: | error:)")
# What a runner puts before the lines of each task, or says of one that failed.
_TASK_LINE = regex(
    r"\[([a-z][\w:.-]{1,60})\] \S|\W{0,4}ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\W{1,4}\S{1,80} ([\w:.-]{1,60}): "
)
_NOT_RECOGNIZED = regex(r"(\S{1,80}) : The term|'([^']{1,80})' is not recognized")
# The form of a line → the programs that print it.
_SIGNS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = tuple(
    (regex(pattern), frozenset(names.split()))
    for pattern, names in (
        (r"npm (?:ERR!|error)|ERESOLVE", "npm npx"),
        (r"ERR_PNPM|\u2009ELIFECYCLE", "pnpm"),
        (r"(?:FAILED|ERROR) \S+\.py\b|E   |=+ .*(?:failed|error|passed)|ERROR collecting", "pytest"),
        (r"\d+ (?:failed|passed)\b.* in \d", "pytest"),
        (r"FAILED \((?:failures|errors)|Ran \d+ tests?\b|(?:FAIL|ERROR): test\w* \(", "unittest manage.py runtests.py"),
        (r"Found \d+ errors? in \d+ file|\S+\.pyi?:\d+: error: ", "mypy"),
        (r"Found \d+ errors?\.|All checks passed!|\S+\.py:\d+:\d+: [A-Z]+\d+ ", "ruff flake8"),
        (r"Traceback \(most recent|\w{1,60}(?:Error|Exception)\b|No module named", "python"),
        (r"--- FAIL|FAIL\t|FAIL$|ok  \t|panic: |\S+\.go:\d+:\d+:", "go"),
        (r"error(?:\[E\d+\])?: could not compile|error\[E\d+\]|test result: |thread '.{1,80}' panicked", "cargo rustc"),
        (r"\S+ error TS\d+|error TS\d+", "tsc"),
        (r"[✖✕×] \d+ problems?", "eslint stylelint"),
        (r"[ ]+[✘✓] +\d+ \[|[ ]+\d+ (?:failed|passed|flaky)|Running \d+ tests? using", "playwright"),
        (r"Tests?: +\d+ (?:failed|passed)|FAIL \S+\.[jt]sx?\b|[ ]*[✕✗×] ", "jest vitest node"),
        (r"[ ]*\d+ (?:failing|passing)", "mocha"),
        (r"make(?:\[\d+\])?: \*\*\*", "make"),
        (r"\S+\.(?:c|cc|cpp|h|hpp):\d+:\d+: (?:fatal )?error:", "gcc cc clang g++ make cmake ninja"),
        (r"CMake Error|-- Configuring incomplete", "cmake"),
        (r" ! \[(?:remote )?rejected\]|error: failed to push|fatal: .*(?:no upstream|push destination)", "git-push"),
        (r"hint: (?:See the 'Note about fast-forwards'|Updates were rejected)", "git-push"),
        (r"There is no tracking information|fatal: (?:refusing to merge|Not possible to fast)", "git-pull git-merge"),
        (r"- hook id: |.{1,60}\.{3,}Failed|nothing to commit|no changes added", "git-commit pre-commit"),
        (r"CONFLICT \(|Automatic merge failed", "git-merge git-rebase git-pull git-cherry-pick git-stash"),
        (r"error: Your local changes .{1,80}overwritten by checkout", "git-checkout git-switch"),
        (r"error: Your local changes .{1,80}overwritten by merge", "git-merge git-pull git-stash"),
        (r"fatal: unable to auto-detect email|Author identity unknown|\*\*\* Please tell me who you are", "git-commit"),
        (r"fatal: '.{1,200}' is already (?:used by|checked out)|fatal: a branch named", "git-checkout git-switch"),
        (r"fatal: couldn't find remote ref|error: cannot pull", "git-pull git-fetch"),
        (r"fatal: pathspec", "git-add git-rm git-mv"),
        (r"error: pathspec", "git-checkout git-commit git-switch git-restore git-stash"),
        (r"fatal: |error: Your local changes|hint: ", "git"),
        (r"BUILD FAIL|Execution failed for task|FAILURE: Build failed", "gradle gradlew mvn ant"),
        (r"\[ERROR\] ", "mvn mvnw"),
        (r"Failed!  - |Passed!  - |error (?:CS|MSB|NU)\d+", "dotnet"),
        (r"Error from server|error: (?:the server|unable|no matching|timed out)|The connection to", "kubectl oc"),
        (r"Error: (?:INSTALLATION|UPGRADE) FAILED", "helm"),
        (r"(?:ERROR: )?failed to (?:solve|build)|Cannot connect to the Docker daemon", "docker docker-compose"),
        (r"gh: |HTTP \d{3}: |GraphQL: |no pull requests found", "gh"),
        (r"╷|│ Error: |Error: (?:Invalid|Unsupported|Reference|Missing)", "terraform tofu"),
        (r"E: |Unable to locate package", "apt apt-get"),
        (r"\S{1,80}@\S{1,80}: Permission denied|Host key verification failed", "ssh scp sftp rsync git"),
        (r"ERROR: (?:Could not (?:find|open|install)|No matching)|error: externally-managed", "pip pip3 python"),
    )
)  # fmt: skip


# What a line is about → the tasks of a runner that are for it.
_PURPOSES = tuple(
    (regex(line), regex(task))
    for line, task in (
        (r"error TS\d+", r"build|type|tsc|compile|check"),
        (r"[✖✕×] \d+ problems?|Found \d+ errors?\.|: [A-Z]+\d+ ", r"lint|check|style"),
        (r"\b(?:Tests?|tests?)\b|FAIL|\d+ (?:failed|passed|failing|passing)|[✕✗×] ", r"test|spec|check|ci\b|verify"),
    )
)


def speakers(line: str, steps: tuple[SimpleCommand, ...]) -> list[int]:
    """The positions of the steps that may have printed `line`, the best match only; empty where it names no program."""
    line = line.rstrip()[:400]
    if task := _TASK_LINE.match(line):
        name = task[1] or task[2]
        found = [at for at, step in enumerate(steps) if any(_runs_task(word, name) for word in step.words[1:])]
        if found:
            return found
    named = _named(line)
    if named:
        found = [at for at, step in enumerate(steps) if named & {step.program, *step.words[:1], *step.called[:1]}]
        if found:
            return found
    names = [_names(step) for step in steps]
    there = {name for known in names for name in known}
    for pattern, wanted in _SIGNS:
        if not wanted.isdisjoint(there) and pattern.match(line):
            return [at for at, known in enumerate(names) if known & wanted]
    tasks = [at for at, known in enumerate(names) if _ANY in known]
    purpose = next((word for pattern, word in _PURPOSES if pattern.search(line)), None)
    fitting = [at for at in tasks if purpose and purpose.search(steps[at].text())]
    return fitting or tasks


def _runs_task(word: str, task: str) -> bool:
    """Whether a runner that is given `word` runs `task`: itself, or one that it depends on (`lint:go` for `lint`)."""
    return task == word or task.startswith(f"{word}:")


def _named(line: str) -> set[str]:
    """The program that a line names as its own, or that a shell names as the one it could not run."""
    if match := _NOT_RECOGNIZED.match(line):
        return {name for name in match.groups() if name}
    match = _SHELL_NAMED.match(line) or _NAMED.match(line)
    return {match[1], match[1].rpartition("/")[2]} if match else set()


def _names(step: SimpleCommand) -> frozenset[str]:
    """The names under which a step may sign its lines."""
    program = runner_name(step.program)
    names = {program, f"git-{step.words[1]}"} if program == "git" and len(step.words) > 1 else {program}
    if program.startswith(("python", "pypy")) or program.endswith(".py"):
        names |= {"python"} | {word.rpartition("/")[2] for word in step.words[1:3] if not word.startswith("-")}
        names |= {"pytest"} if any("test" in word for word in step.words[1:3]) else set()
    if program in _PYTHON_TOOLS or names & {"pytest", "unittest"}:
        names.add("python")
    if program in _NODE_TOOLS:
        names.add("node")
    installs = program in _PACKAGERS and not _INSTALLS.isdisjoint(step.words[1:2])
    if (program in _RUNNERS and not installs) or "/" in (step.words[0] if step.words else ""):
        names.add(_ANY)
    return frozenset(names)


def is_task(step: SimpleCommand) -> bool:
    """A runner or a script of the repository: it may say what any program says."""
    return _ANY in _names(step)


def named_in(line: str, steps: Sequence[SimpleCommand]) -> SimpleCommand | None:
    """The only one of several steps that an error line names an argument of; None where it names none or more.

    Of `a && b && c` the exit status says that one failed, and not which.
    """
    words = set(_NAMES.findall(line[:_MOST_READ]))
    named = [step for step in steps if words.intersection(step.words[1:])]
    return named[0] if len(named) == 1 else None
