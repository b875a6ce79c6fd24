"""A script that a session wrote and then ran with success, fit to be run again by another session.

Fit means: it takes its inputs from outside (arguments, standard input, the environment), it holds real logic,
it contains nothing of one machine or session, and it was made to be kept: reproductions of a bug, tests,
probes and what the session deleted again are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.engines.offline.recipes.drafts import Draft, DraftStep, slug, tags
from agent_wiki.engines.offline.recipes.files_written import WrittenFile, files_written
from agent_wiki.engines.offline.recipes.parameters import Parameters, has_one_off, is_of_one_machine
from agent_wiki.engines.offline.recipes.performed import Performed
from agent_wiki.engines.offline.recipes.script_runs import command_of, last_run
from agent_wiki.engines.offline.recipes.steps import step_of
from agent_wiki.stages.synthesize_skill import SkillScript
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_FEWEST_LINES = 5
_MOST_CHARACTERS = 20_000
_LANGUAGES = {
    "py": "python",
    "sh": "shell",
    "bash": "shell",
    "js": "javascript",
    "mjs": "javascript",
    "ts": "typescript",
    "rb": "ruby",
    "pl": "perl",
    "awk": "awk",
    "jq": "jq",
}
_TAKES_INPUT = regex(
    r"\bsys\.(?:argv|stdin)\b|\bargparse\b|\bimport (?:click|typer|fire|docopt)\b|\bfrom (?:click|typer) import"
    r"|\bfileinput\b|\bos\.environ|\bos\.getenv|process\.(?:argv|stdin|env)|\bparseArgs\b|readFileSync\(0"
    r"|\bARGV\b|\bARGF\b|@ARGV|<STDIN>|\$\{?[1-9@*#]|\bgetopts\b|Deno\.args"
)
_INHERENTLY_TAKES_INPUT = frozenset({"awk", "jq"})
_THROWAWAY = regex(
    r"(?:^|[_-])(?:tests?|spec|repro\w*|debug|check|probe|tmp|temp|try|trial|demo|example|scratch|foo|bar|verify|hello)"
    r"(?:[_-]|$|\d)"
)
_VAGUE_WORDS = """script main run app index solution program code process new my the a final fix do job task work helper
    utils util tool v"""
_VAGUE = frozenset(_VAGUE_WORDS.split())
_COMMENT = regex(r"^\s*(?:#|//|\*|/\*|--(?!\w)|;|\"\"\"|''')")
_IMPORT = regex(r"^\s*(?:import\b|from\b.+\bimport\b|const .+require\(|require\b|use\b|set -|source\b)")
_MACHINE_FOLDER = regex(r"""["'](?:/(?:srv|opt|data|var|app|repo|media|Volumes|usr/local|logs?)/|\\\\)""")
# What a script cannot take with it: the modules and files beside it in its repository.
_NEIGHBOUR = regex(
    r"""^\s*(?:from\s+\.|import\s+\.|(?:source|\.)\s+["']?[./$])|\b(?:require\(|from\s|import\s)\s*["']\.""",
    re.MULTILINE,
)
_TEST_FOLDER = regex(r"(?:^|/)(?:tests?|specs?|__tests__|migrations|fixtures|node_modules|\.claude)/")
_DOCSTRING = regex(
    r"^\s*(?:#![^\n]*\n)?(?:\s*#[^\n]*coding[^\n]*\n)?\s*(?:[rR]?(?:\"\"\"|'''))\s*(.{4,400}?)(?:\"\"\"|'''|\n\s*\n)",
    re.DOTALL,
)
_LEADING_COMMENT = regex(r"^(?:#![^\n]*\n)?\s*(?:#|//)\s*([A-Z][^\n]{8,300})")


def script_draft(calls: Sequence[Call], done: Sequence[Performed]) -> Draft | None:
    """The last fit script of a session as a skill; None when there is none."""
    for file in reversed(files_written(calls)):
        run = last_run(file.path, [call for call in calls if call.position >= file.call.position])
        if run is not None and _is_fit(file):
            draft = _draft(file, run, done)
            if draft is not None:
                return draft
    return None


def _is_fit(file: WrittenFile) -> bool:
    name = file.path.replace("\\", "/").rsplit("/", 1)[-1]
    stem, _, suffix = name.lower().rpartition(".")
    if file.is_removed or suffix not in _LANGUAGES or len(file.text) > _MOST_CHARACTERS:
        return False
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name) or _THROWAWAY.search(stem):
        return False
    if _TEST_FOLDER.search(file.path) or _NEIGHBOUR.search(file.text):
        return False
    takes_input = suffix in _INHERENTLY_TAKES_INPUT or _TAKES_INPUT.search(file.text)
    return bool(takes_input) and _lines_of_logic(file.text) >= _FEWEST_LINES and not _holds_one_off(file.text)


def _lines_of_logic(text: str) -> int:
    return sum(
        bool(line.strip(" \t{}()[];,")) and not _COMMENT.match(line) and not _IMPORT.match(line)
        for line in text.split("\n")
    )


def _holds_one_off(text: str) -> bool:
    """A path of one machine, an id, an address, a redacted secret."""
    return is_of_one_machine(text) or _MACHINE_FOLDER.search(text) is not None


def _draft(file: WrittenFile, run: Performed, done: Sequence[Performed]) -> Draft | None:
    name = file.path.replace("\\", "/").rsplit("/", 1)[-1]
    stem, _, suffix = name.rpartition(".")
    purpose = _purpose(file.text)
    skill = _name(stem, purpose)
    command = command_of(run, file.text, name)
    if not skill or command is None:
        return None
    says = purpose or f"{skill.replace('-', ' ').capitalize()}"
    language = _LANGUAGES[suffix.lower()]
    needs = _needs(file, done, run)
    return Draft(
        name=skill,
        description=f"{says}. Runs the script `{name}`. Use when the same has to be done with other inputs.",
        trigger=f"The task at hand: {says[0].lower()}{says[1:]}",
        overview=f"{says}, with a {language} script that was written for this and ran.",
        when_to_use="The input has the same form as the one the script was written for; read the script first.",
        steps=[*needs, DraftStep(f"Run `scripts/{name}` on your input.", command, run.call, run.pipeline.text)],
        tags=tags(language, "script", *skill.split("-")[:3]),
        scripts=[SkillScript(file=name, text=file.text if file.text.endswith("\n") else file.text + "\n")],
    )


def _needs(file: WrittenFile, done: Sequence[Performed], run: Performed) -> list[DraftStep]:
    """What was installed before it ran and is named in it."""
    before = [each for each in done if each.operation.verb == "install" and each.call.position < run.call.position]
    found = [step_of(each, Parameters()) for each in before if _names_package(file.text, each)]
    return [step for step in found if step is not None][-2:]


def _names_package(text: str, install: Performed) -> bool:
    packages = (re.split(r"[=<>~\[@]", word.value, maxsplit=1)[0] for word in install.words[2:])
    return any(len(each) > 2 and re.search(rf"\b{re.escape(each.replace('-', '_'))}\b", text) for each in packages)


def _purpose(text: str) -> str:
    """What the script says of itself: the first sentence of its docstring or leading comment."""
    match = _DOCSTRING.match(text[:2000]) or _LEADING_COMMENT.match(text[:2000])
    if match is None:
        return ""
    sentence = re.split(r"(?<=[a-z0-9)`])\.(?:\s|$)|\n\s*\n|(?i:\n\s*usage)", match[1].strip(), maxsplit=1)[0]
    line = plain_line(sentence.strip(" ."), 200)
    return line if len(line.split()) >= 3 and not has_one_off(line) else ""


def _name(stem: str, purpose: str) -> str:
    """From the file's name when that says what it does, else from what it says of itself."""
    words = [word for word in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", stem).lower()) if word]
    words = [word for word in words if word not in _VAGUE and not re.search(r"\d{3}|^v?\d+$", word)]
    if len(words) >= 2:
        return slug("-".join(words))
    said = [word for word in slug(purpose, 60).split("-") if word not in ("the", "a", "an", "this", "script", "given")]
    return slug("-".join(said[:6])) if len(said) >= 3 else ""
