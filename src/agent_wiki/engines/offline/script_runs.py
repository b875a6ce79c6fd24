"""How a session ran a script of its own, and how another session runs it from the skill's folder."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_wiki.engines.offline.tables import named
from agent_wiki.shell.files_written import is_same_file, whole_line
from agent_wiki.shell.simple_commands import steps_of
from agent_wiki.shell.syntax import PIPES, Step, Word
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.shell.wrappers import peeled
from agent_wiki.stages.recorded_commands import QUIETING
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.layout import slug

_INTERPRETERS = named("interpreters")
_ONLY_READS_IT = frozenset({"-n", "--check", "-m"})  # `bash -n x.sh`, `python -m py_compile x.py`: it did not run
_MOVES = frozenset({"cd", "pushd", "echo", "pwd"})
_CUTTING = frozenset({"head", "tail", "grep", "egrep", "rg", "wc"})
_STREAMS = {"<": "input-file", ">": "output-file", ">>": "output-file"}
_NUMBER = regex(r"-?\d+(?:\.\d+)?")
_FILE = regex(r"/|\.[A-Za-z][A-Za-z0-9]{0,5}$")
# What scripts call their arguments: `path, column = sys.argv[1], sys.argv[2]`, `service="$1"`, `add_argument("path")`.
_ARGV = regex(r"^[ \t]*([a-z_][\w, ]{0,80}?)[ \t]*=[ \t]*(.{0,120}\bsys\.argv\[.{0,120})$", re.MULTILINE)
_ARGV_SLICE = regex(r"^[ \t]*(?:_, ?)?([a-z_][\w, ]{0,80}?)[ \t]*=[ \t]*sys\.argv(\[1:\d*\])?[ \t]*$", re.MULTILINE)
_SHELL_ARGUMENT = regex(r"""^[ \t]*(?:local |readonly )?([A-Za-z_]\w{0,40})=["']?\$\{?(\d)""", re.MULTILINE)
_ARGPARSE = regex(r"""\.add_argument\(\s*["']([A-Za-z]\w{0,40})["']""")


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """One run of a script: the step of a command line, and which of its words names the script.

    `text`: the step with what its output was piped into. `ahead`: the steps of the line before it that prepare it.
    """

    call: Call
    step: Step
    place: int
    has_passed: bool
    text: str
    ahead: tuple[Step, ...] = ()


def last_run(path: str, calls: Sequence[Call]) -> ScriptRun | None:
    """The last run of a script among the calls, when it passed and nothing after it could hide that it did not."""
    runs = [run for call in calls for run in _runs_in(path, call)]
    if not runs or not runs[-1].has_passed:
        return None
    failed = [run for run in runs if not run.has_passed]
    known = {_values(step) for run in failed for step in run.ahead}
    ahead = tuple(step for step in runs[-1].ahead if failed and _values(step) not in known)
    return replace(runs[-1], ahead=ahead)  # only what the runs that failed had not


def _values(step: Step) -> tuple[str, ...]:
    return tuple(word.value for word in step.words)


def _runs_in(path: str, call: Call) -> list[ScriptRun]:
    command = call.command()
    if command is None or call.result is None or call.mark is not None:
        return []
    states = zip(steps_of(command), verdict_of(call.ended_by or call).steps, strict=False)
    passed = {step.start for step, state in states if state == "passed"}
    found: list[ScriptRun] = []
    steps = [step for step in whole_line(command).steps if step.words]
    for at, step in enumerate(steps):
        place = _place_called(step.words, path)
        if place is not None:
            last = next((each for each in steps[at:] if each.after not in PIPES), steps[-1])
            is_shown = not (_is_fed(steps[at - 1] if at else None) or _is_hidden(step, steps[at + 1 :]))
            text = command[step.words[0].start : last.words[-1].end]
            has_passed = is_shown and step.words[0].start in passed
            found.append(ScriptRun(call, step, place, has_passed, text, _ahead(steps[:at])))
    return found


def _ahead(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that had to work before the script ran, but for a change of folder: `mkdir -p out && ./x.py`."""
    linked = list(itertools.takewhile(lambda step: step.after.strip() == "&&", reversed(steps)))
    return tuple(step for step in reversed(linked) if step.words[0].value not in _MOVES)


def _is_fed(before: Step | None) -> bool:
    """What was piped into it is not part of the skill."""
    return before is not None and before.after in (*PIPES, "||")


def _is_hidden(step: Step, after: Sequence[Step]) -> bool:
    """Nothing would have shown that it failed: errors thrown away, `|| true`, the background, the end of its output."""
    if step.after in ("||", "&") or any(word.value.startswith(("2>/dev/null", "&>")) for word in step.words):
        return True
    return step.after in PIPES and bool(after) and after[0].words[0].value in _CUTTING


def _place_called(words: Sequence[Word], path: str) -> int | None:
    """The word that calls the script, in a command that runs it: `./x.py`, `python3 -u x.py`, `awk -f x.awk`."""
    values = [word.value for word in words]
    rest = list(peeled(values).program_words())
    skipped = len(values) - len(rest)
    if rest and is_same_file(rest[0], path):
        return skipped
    if not rest or rest[0].rsplit("/", 1)[-1] not in _INTERPRETERS:
        return None
    places = (place for place, value in enumerate(rest) if place and not value.startswith("-") and value != "run")
    first = next(places, None)
    if first is not None and _ONLY_READS_IT & set(rest[1:first]):
        return None
    return skipped + first if first is not None and is_same_file(rest[first], path) else None


def command_and_inputs(run: ScriptRun, script: str, name: str) -> tuple[str, dict[str, str]]:
    """The run as it was, with the script called by its path in the skill and its inputs as parameters, and these.

    `script` is the script's text, which often says what its arguments are called; `name` its file name.
    """
    words, line = run.step.words, run.call.command() or ""
    said = [*(line[word.start : word.end] for word in words[: run.place]), f"scripts/{name}"]
    names, taken = iter(argument_names(script)), dict[tuple[str, str], str]()
    waiting = ""  # the flag or redirection that the next word belongs to
    for word in words[run.place + 1 :]:
        if QUIETING.fullmatch(word.value):
            continue
        kind, literal = _input(word, waiting, names)
        shown = f"{word.value.removesuffix(literal)}<{_named(kind, literal, taken)}>"
        said.append(shown if kind else line[word.start : word.end])
        waiting = word.value if word.value in _STREAMS or word.value.startswith("-") else ""
    inputs = {parameter: literal for (_, literal), parameter in taken.items()}
    before = [_prepared(step, line, inputs) for step in run.ahead]
    return " && ".join([*before, " ".join(said)]), inputs


def _prepared(step: Step, line: str, inputs: dict[str, str]) -> str:
    """A step ahead of the run, with the inputs and their folders as parameters; `inputs` gets the folders."""
    said = []
    for word in step.words:
        value = word.value.rstrip("/")
        same = next((name for name, literal in inputs.items() if literal == value), "")
        inside = next((name for name, literal in inputs.items() if value and literal.rpartition("/")[0] == value), "")
        if inside and not same:
            same = f"{inside}-folder"
            inputs[same] = value
        said.append(f"<{same}>" if same else line[word.start : word.end])
    return " ".join(said)


def _input(word: Word, waiting: str, names: Iterator[str]) -> tuple[str, str]:
    """What a word after the script gives it, and the literal in the word; no kind for what stays as it was."""
    if word.redirection in _STREAMS:
        return (_STREAMS[word.redirection], target) if (target := word.value.lstrip("<>")) else ("", "")
    if waiting in _STREAMS:
        return _STREAMS[waiting], word.value
    if waiting or word.value.startswith("-"):
        flag, equals, value = word.value.partition("=")
        if not (equals and word.value.startswith("-")):
            flag, value = waiting, word.value
        is_of_run = _FILE.search(value) is not None or "=" in value  # a file, or a condition such as `status=open`
        return (_kebab(flag) or "file", value) if flag and is_of_run else ("", "")
    value = word.value
    if name := next(names, ""):
        return name, value
    kind = "input-file" if _FILE.search(value) else "argument"
    return ("", "") if _NUMBER.fullmatch(value) else (kind, value)


def _named(kind: str, literal: str, taken: dict[tuple[str, str], str]) -> str:
    """`kind` for a literal of that kind, `kind-2` for the second different one."""
    number = sum(each == kind for each, _ in taken) + 1
    return taken.setdefault((kind, literal), kind if number == 1 else f"{kind}-{number}")


def argument_names(script: str) -> list[str]:
    """What a script calls its arguments, in order, as far as it says so."""
    if named := _ARGPARSE.findall(script):
        return [_kebab(name) for name in named]
    if match := _ARGV_SLICE.search(script):
        return [_kebab(name) for name in match[1].split(",")]
    by_place: dict[int, str] = {}
    for match in _ARGV.finditer(script):
        targets, places = match[1].split(","), re.findall(r"sys\.argv\[(\d)\]", match[2])
        by_place |= dict(zip(map(int, places), targets, strict=True)) if len(targets) == len(places) else {}
    by_place |= {int(place): name for name, place in _SHELL_ARGUMENT.findall(script)}
    kebab = {place: _kebab(name) for place, name in by_place.items()}
    return [kebab.get(place, "") for place in range(1, max(kebab, default=0) + 1)]


def _kebab(name: str) -> str:
    word = slug(name.strip().lower())
    return word if word[:1].isalpha() else ""
