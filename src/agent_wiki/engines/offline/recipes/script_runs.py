"""How a session ran a script of its own, and how another session runs it from the skill's folder."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.drafts import is_usable, slug
from agent_wiki.engines.offline.recipes.operations import RUN, Operation, peeled
from agent_wiki.engines.offline.recipes.parameters import QUIETING, Parameters
from agent_wiki.engines.offline.recipes.performed import Performed
from agent_wiki.engines.offline.recipes.pipelines import pipelines
from agent_wiki.engines.offline.recipes.roles import inputs
from agent_wiki.shell.syntax import Word
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_INTERPRETERS = frozenset(
    {"python", "python3", "bash", "sh", "zsh", "node", "ruby", "perl", "deno", "tsx", "ts-node", "awk", "jq"}
)
_NOT_PLAIN = ("-", "<", ">")  # flags and redirections; what follows one belongs to it
_NUMBER = regex(r"-?\d+(?:\.\d+)?")
# What scripts call their arguments: `path, column = sys.argv[1], sys.argv[2]`, `service="$1"`, `add_argument("path")`.
_ARGV = regex(r"^[ \t]*([a-z_][\w, ]{0,80}?)[ \t]*=[ \t]*(.{0,120}\bsys\.argv\[.{0,120})$", re.MULTILINE)
_ARGV_SLICE = regex(r"^[ \t]*(?:_, ?)?([a-z_][\w, ]{0,80}?)[ \t]*=[ \t]*sys\.argv(\[1:\d*\])?[ \t]*$", re.MULTILINE)
_SHELL_ARGUMENT = regex(r"""^[ \t]*(?:local |readonly )?([A-Za-z_]\w{0,40})=["']?\$\{?(\d)""", re.MULTILINE)
_ARGPARSE = regex(r"""\.add_argument\(\s*["']([A-Za-z]\w{0,40})["']""")


def last_run(path: str, calls: Sequence[Call]) -> Performed | None:
    """The last run of a script among the calls, when it worked."""
    runs = [run for call in calls for run in _runs_in(path, call)]
    return runs[-1] if runs and runs[-1].has_worked else None


def _runs_in(path: str, call: Call) -> list[Performed]:
    command = call.command()
    if command is None or call.result is None or call.mark is not None:
        return []
    verdict = verdict_of(call.ended_by or call)
    found: list[Performed] = []
    for pipeline in pipelines(command):
        for words in pipeline.commands:
            if called := _called(words, path):
                operation = Operation(RUN, "script", called, is_specific=True)
                found.append(Performed(operation, pipeline, words, call, verdict.has_passed))
    return found


def _called(words: list[Word], path: str) -> str | None:
    """The word that calls the script, in a command that runs it: `./x.py`, `python3 -u x.py`, `awk -f x.awk`."""
    rest = peeled([word.value for word in words])
    if rest and _is_same(rest[0], path):
        return rest[0]
    if not rest or rest[0].rsplit("/", 1)[-1] not in _INTERPRETERS:
        return None
    first = next((value for value in rest[1:] if not value.startswith("-") and value != "run"), "")
    return first if _is_same(first, path) else None


def _is_same(value: str, path: str) -> bool:
    """Recordings name one file by a whole path here and by a relative one there."""
    value, path = value.removeprefix("./"), path.removeprefix("./")
    return bool(value) and (value == path or path.endswith("/" + value) or value.endswith("/" + path))


def command_of(run: Performed, script: str, name: str) -> str | None:
    """The run as it was, the script called by its path in the skill, its inputs as parameters; None when unknown.

    `script` is the script's text, which often says what its arguments are called; `name` its file name.
    """
    place = next(index for index, word in enumerate(run.words) if word.value == run.operation.task)
    head = [run.pipeline.text[word.start : word.end] for word in run.words[:place]]
    command = " ".join([*head, f"scripts/{name}", *_arguments(run, place, argument_names(script))])
    if run.words is not run.pipeline.commands[0]:
        if run.pipeline.commands[0][0].value != "cat" or len(run.pipeline.commands[0]) != 2:
            return None  # what was piped into it is not known
        command += " < <input-file>"
    return command if is_usable(command) else None


def _arguments(run: Performed, place: int, names: Sequence[str]) -> list[str]:
    """What the script was called with: files and plain words as parameters, flags and numbers as they were."""
    words = [word for word in run.words[place:] if not QUIETING.fullmatch(word.value)]
    named = inputs([word.value for word in words], run.operation)
    parameters = Parameters()
    waiting = list(names)
    said: list[str] = []
    for index, word in enumerate(words[1:], start=1):
        is_plain = not (word.value.startswith(_NOT_PLAIN) or words[index - 1].value.startswith(_NOT_PLAIN))
        name = waiting.pop(0) if is_plain and waiting else ""
        literal, kind = named.get(index, [(word.value, "argument" if is_plain else "")])[0]
        if name or (kind and not _NUMBER.fullmatch(literal)):
            said.append(word.value.replace(literal, parameters.placeholder(literal, name or kind)))
        else:
            said.append(run.pipeline.text[word.start : word.end])
    return said


def argument_names(script: str) -> list[str]:
    """What a script calls its arguments, in order, as far as it says so."""
    if named := _ARGPARSE.findall(script):
        return [_kebab(name) for name in named]
    if match := _ARGV_SLICE.search(script):
        return [_kebab(name) for name in match[1].split(",")]
    by_place: dict[int, str] = {}
    for match in _ARGV.finditer(script):
        targets, places = match[1].split(","), re.findall(r"sys\.argv\[(\d)\]", match[2])
        by_place |= {
            int(place): target for target, place in zip(targets, places, strict=False) if len(targets) == len(places)
        }
    by_place |= {int(place): name for name, place in _SHELL_ARGUMENT.findall(script)}
    kebab = {place: _kebab(name) for place, name in by_place.items()}
    return [kebab.get(place, "") for place in range(1, max(kebab, default=0) + 1)]


def _kebab(name: str) -> str:
    word = slug(name.strip().lower())
    return word if word[:1].isalpha() else ""
