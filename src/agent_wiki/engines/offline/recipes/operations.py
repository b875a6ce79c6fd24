"""What a shell command does, in one verb: the vocabulary that workflows are made of.

An operation is something another agent can repeat: set up, build, check, deploy, diagnose. Looking around
(`ls`, `cat`, `grep`, `git status`), book-keeping (`rm`, `mkdir`) and a session's own throwaway programs are not.
A command that no table names is an operation only when it is a task of a task runner or a script that belongs
to the repository.
"""

from __future__ import annotations

import itertools
import re

from agent_wiki.engines.offline.recipes.vocabulary import (
    KIND_OF_WORD,
    VERB_OF_PROGRAM,
    VERB_OF_TASK_WORD,
    VERBS_OF_SUBCOMMANDS,
)
from agent_wiki.shell import wrappers
from agent_wiki.trajectory.lazily import dataclass, regex

RUN = "run"  # the verb of a task whose name does not show its purpose
CHECKS = ("generate", "format", "lint", "typecheck", "build", "test")  # in the order to run them


@dataclass(frozen=True, slots=True)
class Operation:
    """`verb` with `tool`; `task` distinguishes operations of the same verb and tool.

    `is_specific`: a stranger to the repository would not have typed it anyway (`mise run test:ci`, not `npm test`).
    """

    verb: str
    tool: str
    task: str = ""
    is_specific: bool = False


# The words before a runner's task: `npm run lint`, `make lint`.
_RUNNERS = dict.fromkeys(("make", "just", "rake", "invoke", "inv", "gradle", "gradlew", "task"), "")
_RUNNERS |= dict.fromkeys(("mise", "npm", "pnpm", "yarn", "bun", "composer", "hatch", "pdm"), "run")
_RUNNERS |= {"nox": "-s", "tox": "-e"}
_BARE_TASKS = {
    "npm": frozenset({"test", "t", "start"}),
    "pnpm": frozenset({"test", "start", "build", "lint", "dev"}),
    "yarn": frozenset({"test", "start", "build", "lint", "dev", "format", "typecheck"}),
}
_COMMON_TASKS = frozenset({"test", "t", "build", "start", "all", "install", "run"})
_VALUED_FLAGS = frozenset({"-C", "-c", "-n", "--namespace", "--context", "-f", "-j", "-H"})

_SCRIPT = regex(r"(?:\./)?(?:[\w.-]+/)*[\w-]+(?:\.(?:sh|bash|py|js|mjs|ts|rb|pl))?")
_INTERPRETERS = frozenset({"bash", "sh", "zsh", "python", "python3", "node", "ruby", "perl", "deno", "tsx", "ts-node"})


def peeled(words: list[str]) -> list[str]:
    """The command without what only wraps it: assignments, `sudo`, `timeout 60`, `uv run`, `python -m`."""
    rest = list(wrappers.peeled(words).program_words())
    return rest[2:] if rest[0:1] in (["python"], ["python3"]) and rest[1:2] == ["-m"] else rest


def operation(words: list[str]) -> Operation | None:
    """The words of one simple command → what it does; None when it is not a step of a workflow."""
    words = peeled(words)
    if not words or {"--help", "-h", "--version", "help"} & set(words[1:]):
        return None
    program = words[0].rsplit("/", 1)[-1]
    arguments = _arguments(words)
    if program in ("kubectl", "oc"):
        return _kubectl(arguments)
    if program == "gh":
        return _gh(words[1:])
    if program == "docker-compose" or (program == "docker" and arguments[:1] == ["compose"]):
        return _compose(arguments[program == "docker" :])
    return _runner(program, words) or _known(program, words, arguments) or _repository_script(words)


def _known(program: str, words: list[str], arguments: list[str]) -> Operation | None:
    """The operation of a well-known tool."""
    subcommand = arguments[0] if arguments else ""
    if program == "git":
        return _git(subcommand, words)
    if verb := VERBS_OF_SUBCOMMANDS.get(program, {}).get(subcommand):
        return Operation(verb, program, f"{subcommand}/release" if program == "helm" else "")
    if verb := VERB_OF_PROGRAM.get(program):
        if verb == "format" and {"-l", "-d", "--check"} & set(words):
            return None  # only shows what it would do
        if verb == "query" and "-f" not in words:
            return None  # a look at data
        return Operation(verb, program, is_specific=verb in ("deploy", "migrate", "convert", "release"))
    return _file_operation(program, words, arguments)


def _file_operation(program: str, words: list[str], arguments: list[str]) -> Operation | None:
    if program in ("curl", "wget") and {"-o", "-O", "--output", "-LO", "-OL"} & set(words):
        return Operation("download", program)
    if program == "tar" and len(words) > 1 and "x" in words[1]:
        return Operation("unpack", program)
    if program == "cp" and len(arguments) == 2 and re.search(r"[.-](?:example|sample|template|dist)$", arguments[0]):
        return Operation("configure", "cp", arguments[0], is_specific=True)
    if program == "venv":
        return Operation("prepare", program)
    return None


def _git(subcommand: str, words: list[str]) -> Operation | None:
    if subcommand in ("checkout", "switch"):
        return Operation("branch", "git") if {"-b", "-c"} & set(words) else None
    verb = VERBS_OF_SUBCOMMANDS["git"].get(subcommand)
    if verb is None or {"--abort", "--skip", "-l", "--list", "--dry-run"} & set(words):
        return None
    return Operation(verb, "git", "continue" if "--continue" in words else "")


def _kubectl(arguments: list[str]) -> Operation | None:
    if not arguments:
        return None
    subcommand, target = arguments[0], arguments[1] if len(arguments) > 1 else ""
    if subcommand == "wait" or (subcommand == "rollout" and target == "status"):
        return Operation("verify", "kubectl", "rollout" if subcommand == "rollout" else "wait")
    if subcommand == "rollout" and target in ("restart", "undo") and len(arguments) > 2:
        return Operation("change", "kubectl", f"{target}/{kind_of(arguments[2])}", is_specific=True)
    verb = VERBS_OF_SUBCOMMANDS["kubectl"].get(subcommand)
    if verb is None:
        return None
    task = subcommand if subcommand in ("logs", "events", "apply") else f"{subcommand}/{kind_of(target)}"
    return Operation(verb, "kubectl", task, is_specific=verb == "change")


def kind_of(word: str) -> str:
    """`deploy/web`, `deployments.apps`, `deployment` → `deployment`."""
    kind = re.split(r"[/,.]", word, maxsplit=1)[0].lower()
    return KIND_OF_WORD.get(kind, kind)


_REPLIES = regex(r"/comments/[^/ ]+/replies")
_REVIEWS = regex(r"pulls/[^/ ]+/(?:comments|reviews)")
_GH_VERBS = {
    ("pr", "create"): "open-pull-request",
    ("pr", "comment"): "reply",
    ("pr", "review"): "reply",
    ("pr", "checks"): "watch-checks",
    ("run", "watch"): "watch-checks",
    ("release", "create"): "release",
    ("workflow", "run"): "dispatch",
}


def _gh(words: list[str]) -> Operation | None:
    verb = _GH_VERBS.get((words[0], words[1])) if len(words) > 1 else None
    line = " ".join(words)[:2000]
    if verb is None and _REPLIES.search(line):
        verb = "reply"
    elif verb is None and (_REVIEWS.search(line) or (words[:2] == ["pr", "view"] and "comments" in line)):
        verb = "read-review"
    return Operation(verb, "gh", is_specific=True) if verb else None


def _compose(arguments: list[str]) -> Operation | None:
    verb = VERBS_OF_SUBCOMMANDS["compose"].get(arguments[0]) if arguments else None
    return Operation(verb, "docker-compose", arguments[0]) if verb else None


def _runner(program: str, words: list[str]) -> Operation | None:
    """A task that the repository defines for its task runner."""
    if program not in _RUNNERS:
        return None
    task = _runner_task(program, _RUNNERS[program], words[1:])
    if not task:
        return None
    tool = "gradle" if program == "gradlew" else program
    return Operation(_task_verb(task), tool, task, is_specific=task not in _COMMON_TASKS)


def _runner_task(program: str, keyword: str, rest: list[str]) -> str:
    if keyword and rest[:1] == [keyword]:
        return next((word for word in rest[1:] if not word.startswith("-")), "")
    if keyword:
        return rest[0] if rest and rest[0] in _BARE_TASKS.get(program, ()) else ""
    if not rest:
        return "build" if program == "make" else ""
    return next((word for word in _arguments(["", *rest]) if re.fullmatch(r"[A-Za-z][\w:.-]*", word)), "")


def _repository_script(words: list[str]) -> Operation | None:
    """A script that lies in a folder of the repository (`./scripts/seed.sh`, `python tests/runtests.py`)."""
    script, is_called = (words[1], True) if words[0] in _INTERPRETERS and len(words) > 1 else (words[0], False)
    name = script.rsplit("/", 1)[-1]
    if name == "manage.py" and len(words) > 2:
        return Operation(_task_verb(words[2]), "django", words[2], is_specific=words[2] not in _COMMON_TASKS)
    if script.startswith("/") or ".." in script or not _SCRIPT.fullmatch(script):
        return None
    if "/" not in script.removeprefix("./") and (is_called or not script.startswith("./")):
        return None
    stem = name.rsplit(".", 1)[0]
    verb = _verb_in(stem)
    return Operation(verb, stem, script, is_specific=True) if verb else None


def _task_verb(task: str) -> str:
    return _verb_in(task) or RUN


def _verb_in(name: str) -> str | None:
    parts = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower())
    return next((VERB_OF_TASK_WORD[part] for part in parts if part in VERB_OF_TASK_WORD), None)


def _arguments(words: list[str]) -> list[str]:
    """The words after the program that are neither flags nor values of flags that may precede a subcommand."""
    pairs = itertools.pairwise(words)
    return [word for before, word in pairs if not word.startswith("-") and before not in _VALUED_FLAGS]
