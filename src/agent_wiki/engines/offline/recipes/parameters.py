"""Replaces a session's literals in a command: inputs become `<input-file>`, `<branch>`, `<namespace>`, described once.

The command stays exact in everything that is the recipe. A value that cannot be named and cannot stay (a home
folder, an id, a date) makes the command unusable, see `has_one_off`.
"""

from __future__ import annotations

import re
from dataclasses import field

from agent_wiki.engines.offline.recipes.operations import Operation, peeled
from agent_wiki.engines.offline.recipes.pipelines import Pipeline
from agent_wiki.engines.offline.recipes.roles import inputs
from agent_wiki.shell.syntax import Word
from agent_wiki.trajectory.lazily import dataclass, regex

_DESCRIPTIONS = {
    "argument": "an argument of the script; the script says what it stands for",
    "base-branch": "the branch to take in, for example `main`",
    "comment": "the id of the comment that is answered",
    "commit-message": "the message of the commit",
    "branch": "the name of the branch",
    "deployment": "the name of the deployment",
    "directory": "the folder to work on",
    "file": "the file or files to work on",
    "image": "the image, with its tag",
    "input-file": "the file to read",
    "json-patch": 'the JSON patch: a list of `{"op", "path", "value"}`',
    "namespace": "the Kubernetes namespace",
    "output-file": "the file to write",
    "package": "the package or packages to work on",
    "pod": "the name of the pod",
    "pull-request": "the number of the pull request",
    "repository": "the repository as `owner/name`",
    "selector": "the label selector, `key=value`",
    "test-file": "the test file or files to run",
    "test-name": "the name, or a pattern of names, of the tests to run",
    "version": "the version, as this repository writes it",
    "url": "the address",
}

_FILE_KINDS = frozenset({"file", "input-file", "output-file"})

# What must not be left in a command for other sessions.
_ONE_OFF = regex(
    r"(?<![\w>])/(?:home|Users|root|private|var/folders|tmp|mnt|workspace|testbed)(?:/|\b)|\b[A-Za-z]:\\|~/"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-|\b(?=[0-9a-f]{0,20}\d)(?=[0-9a-f]{0,20}[a-f])[0-9a-f]{10,64}\b"
    r"|\b\d{4}-\d\d-\d\d|\[REDACTED|[\w.+-]{1,64}@[\w-]{1,64}\.\w"
    r"|\b(?!127\.0\.0\.1\b|0\.0\.0\.0\b)\d{1,3}(?:\.\d{1,3}){3}\b"
)
_LONG_NUMBER = regex(r"\b\d{6,}\b")


@dataclass(slots=True)
class Parameters:
    """The parameters of one skill: the same literal is the same parameter in every step."""

    of_literal: dict[tuple[str, str], str] = field(default_factory=dict)

    def placeholder(self, literal: str, kind: str) -> str:
        """`<kind>` for a literal of that kind; `<kind-2>` for the second different one."""
        kind = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-0123456789") or "value"
        key = ("file" if kind in _FILE_KINDS else kind, literal)  # a file that was written is then read
        if key not in self.of_literal:
            names = set(self.of_literal.values())
            numbers = (f"{kind}-{number}" for number in range(2, len(names) + 3))
            self.of_literal[key] = kind if kind not in names else next(each for each in numbers if each not in names)
        return f"<{self.of_literal[key]}>"


def describe(name: str) -> str:
    """A parameter's description from its name; `file-2` is another `file`."""
    kind = re.sub(r"-\d+$", "", name)
    said = _DESCRIPTIONS.get(kind, f"the {kind.replace('-', ' ')}")
    return said if kind == name else f"{said} (another one)"


def has_one_off(command: str) -> bool:
    """True when a value of one machine or one session is left in `command`."""
    return is_of_one_machine(command) or _LONG_NUMBER.search(command) is not None


def is_of_one_machine(text: str) -> bool:
    """The same for a whole script, in which long numbers are constants."""
    return _ONE_OFF.search(text) is not None


def parameterised(pipeline: Pipeline, words: list[Word], operation: Operation, parameters: Parameters) -> str:
    """One simple command as text with its inputs as parameters; a run of one kind of input is one parameter."""
    values = [word.value for word in words]
    start = len(values) - len(peeled(values))
    found = inputs(values[start:], operation)
    kept: list[str] = []
    last_kind = ""
    for index, word in enumerate(words):
        if _is_no_recipe(values, index, start):
            continue
        named = found.get(index - start) or _named_assignment(word.value, index, start)
        kind = named[0][1] if named and named[0][0] == word.value else ""
        if not kind or kind != last_kind:
            kept.append(_with_placeholders(pipeline.text[word.start : word.end], word.value, named, parameters))
        last_kind = kind
    return " ".join(kept)


def _with_placeholders(source: str, value: str, named: list[tuple[str, str]], parameters: Parameters) -> str:
    for literal, kind in named:
        place = parameters.placeholder(literal, kind)
        source = place if literal == value else _replaced(source, value, literal, place)
    return source


def _replaced(source: str, value: str, literal: str, place: str) -> str:
    """The literal in a word as written, with the quotes around it where they belong to it alone."""
    if literal in source:
        return re.sub(rf"(['\"]?){re.escape(literal)}\1", lambda _: place, source, count=1)
    return value.replace(literal, place)  # quoting inside the word hides it


def _named_assignment(value: str, index: int, start: int) -> list[tuple[str, str]]:
    """`CACHE=/tmp/x` before a program: the value is an input, called as the variable."""
    name, equals, rest = value.partition("=")
    if index >= start or not equals or not has_one_off(rest):
        return []
    return [(rest, re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"))]


QUIETING = regex(r"(?:[012&]?>{1,2}&?(?:/dev/null|\d)|2>&1)")


def _is_no_recipe(values: list[str], index: int, start: int) -> bool:
    """Where it ran (`git -C <folder>`) and what was done with its output (`2>&1`) are not part of the recipe."""
    if values[start] in ("git", "make") and values[start + 1 : start + 2] == ["-C"] and index - start in (1, 2):
        return True
    return QUIETING.fullmatch(values[index]) is not None
