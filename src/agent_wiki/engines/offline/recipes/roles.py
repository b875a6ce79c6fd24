"""Which words of a command are a session's own inputs, and what each is called.

In: the words of one simple command and its operation. Out: for each word that is an input, the literal in it
and the kind of thing it is (`file`, `branch`, `namespace`). Programs, subcommands, flags, tasks, well-known
files and everything else that makes the recipe are not inputs.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.generalize import WELL_KNOWN_FILES
from agent_wiki.engines.offline.recipes.operations import Operation, kind_of
from agent_wiki.engines.offline.tables import head_of_word, table
from agent_wiki.trajectory.lazily import regex

Inputs = dict[int, list[tuple[str, str]]]  # place of the word → (literal in it, kind)

_TABLE = table("roles")
_FLAGS = {program: head_of_word(flags) for program, flags in _TABLE["flags"].items()}
_TEST_FLAGS = head_of_word(_TABLE["test_flags"])
_OTHER_FLAGS = head_of_word(_TABLE["other_flags"])
_RECIPE_FLAGS = {program: frozenset(flags.split()) for program, flags in _TABLE["recipe_flags"].items()}
_FLAGS["oc"], _RECIPE_FLAGS["oc"] = _FLAGS["kubectl"], _RECIPE_FLAGS["kubectl"]

_STAYS = frozenset({".", "..", "./...", "-", "--", "/dev/null", "/dev/stdin"})
_TRUNKS = frozenset({"HEAD", "@{u}", "@{upstream}"})
_EXTENSION = regex(r"\.[A-Za-z][A-Za-z0-9]{0,5}$")
_VERSION = regex(r"v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?")
_TEST_PATH = regex(r"(?:^|[/_.-])(?:tests?|specs?|e2e)(?:[/_.-]|$)")
_TEST_WORDS = frozenset({"test", "tests", "run", "nextest", "verify", "t"})
_READS_A_FILE = frozenset({"run", "convert", "query", "transform", "unpack", "import", "seed"})


def inputs(values: list[str], operation: Operation) -> Inputs:
    """The inputs among the words of a command whose program is `values[0]` (wrappers already peeled)."""
    program = values[0].rsplit("/", 1)[-1]
    found: Inputs = {}
    positional: list[int] = []
    flags = _FLAGS.get(program) or (_TEST_FLAGS if operation.verb == "test" else {}) | _OTHER_FLAGS
    for index in range(1, len(values)):
        before, value = values[index - 1] if index > 1 else "", values[index]
        flag, equals, rest = value.partition("=")
        if before in flags:
            is_field = program == "gh" and before in ("-f", "-F") and equals
            found[index] = [(rest if is_field else value, flags[before])]
        elif equals and rest and flag in flags:
            found[index] = [(rest, flags[flag])]
        elif before == "<":
            found[index] = [(value, "input-file")]
        elif before in (">", ">>") or value.startswith((">", "<")):
            if target := value.lstrip("<>"):
                found[index] = [(target, "input-file" if value.startswith("<") else "output-file")]
        elif not flag.startswith("-") and before not in _RECIPE_FLAGS.get(program, ()):
            positional.append(index)
    found.update(_POSITIONAL.get(program, _path_inputs)(values, positional, operation))
    return found


def _path_inputs(values: list[str], positional: list[int], operation: Operation) -> Inputs:
    program = values[0].rsplit("/", 1)[-1]
    candidates = [index for index in positional if values[index] != operation.task]
    kinds = {index: _path_kind(values[index], program, operation) for index in candidates}
    named = [index for index, kind in kinds.items() if kind]
    if operation.verb in ("convert", "transform", "sync") and len(named) > 1:
        kinds[named[-1]] = "output-file"
    return {index: [(values[index], kinds[index] or "")] for index in named}


def _path_kind(value: str, program: str, operation: Operation) -> str | None:
    """What a word that names a place is called; None for a word that names none."""
    name = value.rstrip("/").rsplit("/", 1)[-1]
    if value in _STAYS or "$" in value:
        return None
    if re.match(r"(?:https?|ssh|git|s3|gs)://|git@", value):
        return "url"
    if _VERSION.fullmatch(value):
        return "version"
    if name == "..." and program == "go":
        return "package"
    if name in WELL_KNOWN_FILES or name.startswith(".") or "*" in value:
        return "directory" if value.startswith(("/", "~")) else None
    has_extension = bool(_EXTENSION.search(name)) and "==" not in name
    if "/" not in value and not has_extension:
        is_name = operation.verb == "test" and value not in _TEST_WORDS and re.fullmatch(r"[\w.:-]+", value)
        return "test-name" if is_name else None
    if operation.verb == "test" and program not in ("go", "cargo"):
        return "test-file" if has_extension or _TEST_PATH.search(value) else "directory"
    if has_extension:
        return "input-file" if operation.verb in _READS_A_FILE else "file"
    return "package" if program in ("go", "cargo", "bazel") else "directory"


def _docker_inputs(values: list[str], positional: list[int], operation: Operation) -> Inputs:
    if operation.verb == "build":
        return _path_inputs(values, positional, operation)
    return {index: [(values[index], "image")] for index in positional[1:2]} if operation.tool == "docker" else {}


def _helm_inputs(values: list[str], positional: list[int], operation: Operation) -> Inputs:
    """`upgrade RELEASE CHART`: the release's name is an input, and the chart where it is a folder."""
    release = {index: [(values[index], "release")] for index in positional[1:2]}
    return _path_inputs(values, positional[2:], operation) | release


def _git_inputs(values: list[str], positional: list[int], operation: Operation) -> Inputs:
    kind = {"branch": "branch", "push": "branch", "tag": "version", "commit": "file", "cherry-pick": "commit"}.get(
        operation.verb, "base-branch"
    )
    found: Inputs = {}
    for index in positional[1:]:
        remote, slash, branch = values[index].partition("/")
        if values[index] in _TRUNKS or values[index] in ("origin", "upstream"):
            continue
        if slash and remote in ("origin", "upstream"):
            found[index] = [(branch, "base-branch" if kind == "branch" else kind)]
        else:
            found[index] = [(values[index], kind)]
    return found


_GH_PATH = (("repository", r"repos/([^/{]+/[^/{]+)/"), ("pull-request", r"(?:pulls|issues)/(\d+)"))


def _gh_inputs(values: list[str], positional: list[int], operation: Operation) -> Inputs:
    del operation
    found: Inputs = {}
    for index in positional:
        if re.fullmatch(r"\d+", values[index]):
            found[index] = [(values[index], "pull-request")]
        elif _VERSION.fullmatch(values[index]):
            found[index] = [(values[index], "version")]
        elif "repos/" in values[index]:
            patterns = [*_GH_PATH, ("comment", r"comments/(\d+)")]
            matches = [(kind, re.search(pattern, values[index])) for kind, pattern in patterns]
            found[index] = [(match[1], kind) for kind, match in matches if match]
    return found


def _kubectl_inputs(values: list[str], positional: list[int], operation: Operation) -> Inputs:
    """`[rollout status] KIND NAME`, `KIND/NAME`, `logs POD`: the names are inputs, the kinds are not."""
    subcommand = values[positional[0]] if positional else ""
    targets = positional[2:] if subcommand == "rollout" else positional[1:]
    kind = "pod" if subcommand in ("logs", "exec") else ""
    found: Inputs = {}
    for index in targets:
        head, slash, name = values[index].partition("/")
        if slash:
            found[index] = [(name, kind_of(head))]
        elif kind:
            found[index] = [(values[index], kind)]
        else:
            kind = kind_of(head)
    del operation
    return found


_POSITIONAL = {
    "docker": _docker_inputs,
    "git": _git_inputs,
    "gh": _gh_inputs,
    "helm": _helm_inputs,
    "kubectl": _kubectl_inputs,
    "oc": _kubectl_inputs,
}
