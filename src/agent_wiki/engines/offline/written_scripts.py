"""A script that a session wrote and then ran with success, fit to be run again by another session.

Fit means: it takes its inputs from outside (arguments, standard input, the environment), it holds real logic,
it contains nothing of one machine or session, and it was made to be kept: reproductions of a bug, tests,
probes and what the session deleted again are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent_wiki.engines.offline.script_runs import ScriptRun, command_and_inputs, last_run
from agent_wiki.engines.offline.tables import table, written
from agent_wiki.shell.files_written import WrittenFile, files_written
from agent_wiki.shell.result_lines import quoted
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillParameter, SkillScript, SkillStep
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_FEWEST_LINES = 5
_MOST_CHARACTERS = 20_000
_MOST_COMMAND = 300
_LONGEST_NAME = 40
_LONGEST_EXAMPLE = 60
# No shell: what its scripts do is mostly tied to the project that they lie in.
_LANGUAGES = table("names")["script_languages"]
_TAKES_INPUT = written("takes_input")
_INHERENTLY_TAKES_INPUT = frozenset({"awk", "jq"})
_THROWAWAY = written("throwaway")
_VAGUE_WORDS = """script main run app index solution program code process new my the a final fix do job task work helper
    utils util tool v"""
_VAGUE = frozenset(_VAGUE_WORDS.split())
_FUNCTION_WORDS = frozenset({"with", "and", "the", "a", "an", "of", "to", "for", "in", "this", "script", "given"})
_COMMENT = regex(r"^\s*(?:#|//|\*|/\*|--(?!\w)|;|\"\"\"|''')")
_IMPORT = regex(r"^\s*(?:import\b|from\b.+\bimport\b|const .+require\(|require\b|use\b|set -|source\b)")
_ONE_OFF = written("of_one_machine")
_OF_SERVER = regex(r"\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b")
_MACHINE_FOLDER = regex(r"""["'](?:/(?:srv|opt|data|var|app|repo|media|Volumes|usr/local|logs?)/|\\\\)""")
# What a script cannot take with it: the modules and files beside it in its repository.
_NEIGHBOUR = written("neighbour", re.MULTILINE)
_TEST_FOLDER = regex(r"(?:^|/)(?:tests?|specs?|__tests__|migrations|fixtures|node_modules|\.claude)/")
_EXPANSION = regex(r"`|\$[A-Za-z_{(]")
_PLACEHOLDER = regex(r"<([a-z][a-z0-9-]*)>")
_PARAMETERS = table("names")["script_parameters"]
_DOCSTRING = written("docstring", re.DOTALL)
_LEADING_COMMENT = regex(r"^(?:#![^\n]*\n)?\s*(?:#|//)\s*([A-Z][^\n]{8,300})")


def script_skill(trajectory: Trajectory) -> SkillAnswer | None:
    """The last fit script of a session as a skill; None when there is none."""
    calls = paired_calls(trajectory)
    for file in filter(_is_fit, reversed(files_written(calls))):  # few files are scripts
        run = last_run(file.path, [call for call in calls if call.position >= file.call.position])
        if run is not None and (skill := _skill(file, run)) is not None:
            return skill
    return None


def _is_fit(file: WrittenFile) -> bool:
    name = _file_name(file)
    stem, _, suffix = name.lower().rpartition(".")
    if file.is_removed or suffix not in _LANGUAGES or len(file.text) > _MOST_CHARACTERS:
        return False
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name) or _THROWAWAY.search(stem):
        return False
    if _TEST_FOLDER.search(file.path) or _NEIGHBOUR.search(file.text):
        return False
    takes_input = suffix in _INHERENTLY_TAKES_INPUT or _TAKES_INPUT.search(file.text)
    is_of_one_machine = _ONE_OFF.search(file.text) or _MACHINE_FOLDER.search(file.text)
    return bool(takes_input) and _lines_of_logic(file.text) >= _FEWEST_LINES and not is_of_one_machine


def _file_name(file: WrittenFile) -> str:
    return file.path.replace("\\", "/").rsplit("/", 1)[-1]


def _lines_of_logic(text: str) -> int:
    return sum(
        bool(line.strip(" \t{}()[];,")) and not _COMMENT.match(line) and not _IMPORT.match(line)
        for line in text.split("\n")
    )


def _skill(file: WrittenFile, run: ScriptRun) -> SkillAnswer | None:
    """The skill; None where it has no general name, or its command holds what only its session had."""
    name = _file_name(file)
    stem, _, suffix = name.rpartition(".")
    purpose = _purpose(file.text)
    skill, (command, inputs) = _name(stem, purpose), command_and_inputs(run, file.text, name)
    is_usable = len(command) <= _MOST_COMMAND and not (_ONE_OFF.search(command) or _EXPANSION.search(command))
    is_usable &= not any(map(_OF_SERVER.search, inputs.values()))  # what runs there is the session's
    quote = quoted(run.text.split("\n", 1)[0])
    if not skill or not is_usable:
        return None
    says, language = purpose or skill.replace("-", " ").capitalize(), _LANGUAGES[suffix.lower()]
    return SkillAnswer(
        name=skill,
        description=f"{says}. Runs the script `{name}`. Use when the same has to be done with other inputs.",
        trigger=f"The task at hand: {says[0].lower()}{says[1:]}",
        overview=f"{says}, with a {language} script that was written for this and ran.{_needs(run, command)}",
        when_to_use=_when(inputs),
        steps=[SkillStep(text=f"Run `scripts/{name}` on your input.", command=command)],
        parameters=[_parameter(each, inputs.get(each, "")) for each in sorted(set(_PLACEHOLDER.findall(command)))],
        tags=[language, "script", *(each for each in skill.split("-")[:3] if each not in _FUNCTION_WORDS)],
        scripts=[SkillScript(file=name, text=file.text if file.text.endswith("\n") else file.text + "\n")],
        evidence=[CitedQuote(turn=run.call.turn, quote=quote)],
    )


def _needs(run: ScriptRun, command: str) -> str:
    """That the script had failed without the steps ahead of it, where there are any."""
    ahead = command.split(" && ")[: len(run.ahead)]
    named = " and ".join(f"`{each}`" for each in ahead)
    return f" It had failed without {named} before it." if ahead else ""


def _when(inputs: Mapping[str, str]) -> str:
    """What was given to the script: by that another session sees whether its own input is of the same form."""
    shown = [f"`{value}`" for name, value in inputs.items() if _is_example(value) and not name.endswith("-folder")]
    given = f"It was given {', '.join(shown[:3])}: i" if shown else "I"
    return f"{given}nput of the same form gives the same; the script says what else it expects."


def _is_example(value: str) -> bool:
    is_short = 0 < len(value) <= _LONGEST_EXAMPLE and "\n" not in value and "`" not in value
    return is_short and _ONE_OFF.search(value) is None and _MACHINE_FOLDER.search(f'"{value}') is None


def _parameter(name: str, value: str) -> SkillParameter:
    """A parameter with the value that it had in the session, as an example."""
    kind = re.sub(r"-\d+$", "", name)
    description = _PARAMETERS.get(kind) or f"the {kind.replace('-', ' ')} that the script takes"
    if kind.endswith("-folder") and name not in _PARAMETERS:
        description = f"the folder of `<{kind.removesuffix('-folder')}>`"
    return SkillParameter(name=name, description=description + (f", such as `{value}`" if _is_example(value) else ""))


def _purpose(text: str) -> str:
    """What the script says of itself: the first sentence of its docstring or leading comment."""
    match = _DOCSTRING.match(text[:2000]) or _LEADING_COMMENT.match(text[:2000])
    if match is None:
        return ""
    sentence = re.split(r"(?<=[a-z0-9)`])\.(?:\s|$)|\n\s*\n|(?i:\n\s*usage)", match[1].strip(), maxsplit=1)[0]
    line = plain_line(sentence.strip(" ."), 200)
    return line if len(line.split()) >= 3 and not _ONE_OFF.search(line) else ""


def _name(stem: str, purpose: str) -> str:
    """From the file's name when that says what it does, else from what it says of itself; empty without either."""
    words = _words(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", stem))
    words = [word for word in words if word not in _VAGUE and not re.search(r"\d{3}|^v?\d+$", word)]
    if len(words) < 2:
        words = [word for word in _words(purpose) if word not in _FUNCTION_WORDS][:6]
        words = words if len(words) >= 3 else []
    if len(words) > 2 and words[1] == "to":
        words = ["convert", *words]
    while words and (len("-".join(words)) > _LONGEST_NAME or words[-1] in _FUNCTION_WORDS):
        words.pop()
    return "-".join(words)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]
