"""What shell commands work on: the files they change, and repositories that are there for a trial only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from agent_wiki.shell.files_written import TEMPORARY, bare_name
from agent_wiki.shell.kinds import inline_code, is_inline_script, script_of, shell_kind
from agent_wiki.shell.programs import WRITERS_OF_POWERSHELL
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_FILE = r"(?P<mark>['\"])(?P<file>[^'\"\n{}]{1,200})(?P=mark)|(?P<name>\w+)"
# Where inline code of Python or JavaScript writes, by the name of a file or of the variable that holds it.
_WRITTEN = (
    regex(rf"\bopen\(\s*(?:{_FILE})\s*,\s*(?:mode\s*=\s*)?['\"](?:[wa]|r\+)", needs=("open(",)),
    regex(rf"\bwriteFile(?:Sync)?\(\s*(?:{_FILE})", needs=("writeFile",)),
    regex(rf"(?:\bPath\(\s*)?(?:{_FILE})\)?\.write_(?:text|bytes)\(", needs=(".write_",)),
)
_READ = (
    regex(rf"\bopen\(\s*(?:{_FILE})\s*(?:\)|,\s*(?:encoding|['\"]r['\"b]))", needs=("open(",)),
    regex(rf"\breadFile(?:Sync)?\(\s*(?:{_FILE})", needs=("readFile",)),
    regex(rf"(?:\bPath\(\s*)?(?:{_FILE})\)?\.read_(?:text|bytes)\(", needs=(".read_",)),
)
_HELD = regex(
    r"^[ \t]*(?:const |let |var )?(?P<name>\w+)\s*=\s*(?:[\w.]*Path\(\s*)?"
    r"(?P<mark>['\"])(?P<file>[^'\"\n{}]{1,200})(?P=mark)",
    re.MULTILINE,
)
_PLAIN_NAME = regex(r"[\w.@+-]+")  # no pattern, no variable
_WITH_VALUE = frozenset({"-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix"})
_RESTORES = (("git", "checkout"), ("git", "restore"), ("git", "stash"), ("git", "reset"))
_INTO = ("-t", "--target-directory")
_LOGS = (".log", "telemetry.jsonl")
_PATHS_OF_POWERSHELL = ("-path", "-filepath", "-literalpath")
_MAKES_REPOSITORY = (("git", "init"), ("git", "clone"))


def works_on_trial(command: str, commands: Sequence[SimpleCommand], made: set[str]) -> bool:
    """It works on a temporary repository that the session made: what is committed or pushed there ships nothing.

    `made`: such folders; those that the command makes are added. A worktree of the repository itself is none.
    """
    places, place = [], ""
    for each in commands:
        if each.program in ("cd", "pushd") or "-C" in each.called[:-1]:
            at = each.called.index("-C") + 1 if "-C" in each.called else 1
            place = "".join(each.called[at : at + 1])
            places.append(place)
        if each.words[:2] in _MAKES_REPOSITORY and "://" not in each.text():
            made.update(word.rstrip("/") for word in (*each.words[2:], place) if word.startswith(TEMPORARY))
    return any(
        f"{place}/".startswith(tuple(f"{folder}/" for folder in made)) or ("mktemp" in command and place[:1] == "$")
        for place in places
    )


_MOST_CODE = 40_000
_CHANGES_TEXT = (".replace(", "re.sub(", ".find(", ".insert(", ".splitlines(", ".readlines(")


def _written_by(code: str, patterns: Sequence[re.Pattern[str]] = _WRITTEN) -> Iterator[str]:
    """The files that inline code writes (or reads, by `patterns`), as far as their names stand in it."""
    held = {each["name"]: each["file"] for each in _HELD.finditer(code)}
    for pattern in patterns:
        for match in pattern.finditer(code):
            file = match["file"] or held.get(match["name"], "")
            if "." in file and " " not in file:
                yield file


def patched_files(
    commands: Sequence[SimpleCommand], edited: Iterable[str], text: str, texts: dict[str, str]
) -> tuple[str, ...]:
    """The files that a call changes by scripts that read, change and write them, as far as their names stand there.

    In: the commands of the call; the files that it edits, and the `text` that a tool other than a shell gave them; the
    `texts` of scripts so far, by their bare names. Those that the call writes are added.
    """
    written = {name: each.body for each in commands if each.body for name in each.writes}
    texts.update((bare_name(name), code) for name, code in (written or dict.fromkeys(edited, text)).items())
    scripts = dict.fromkeys(bare_name(script) for each in commands if (script := script_of(each)))
    files = (file for script in scripts for file in _patched_by(texts.get(script, "")[:_MOST_CODE]))
    return tuple(dict.fromkeys(file for file in files if not file.startswith(TEMPORARY)))


@lru_cache(maxsize=64)  # a script is often run again
def _patched_by(code: str) -> tuple[str, ...]:
    """The files that a script reads, changes and writes: neither its outputs nor what it generates."""
    if not any(mark in code for mark in _CHANGES_TEXT):
        return ()
    read = set(_written_by(code, _READ))
    return tuple(file for file in _written_by(code) if file in read)


def held_names(commands: Sequence[SimpleCommand]) -> dict[str, str]:
    """The variables of PowerShell to which a line gives one word: `$path = 'docs/plan.md'`."""
    return {each.words[0]: each.words[2] for each in commands if len(each.words) == 3 and each.words[1] == "="}


def _written_by_powershell(command: SimpleCommand, held: Mapping[str, str]) -> Iterator[str]:
    """The file that one of its writers is given, by name or as the first word."""
    words, named = command.words[1:], [word.lower() for word in command.words[1:]]
    flag = next((at for at, word in enumerate(named) if word in _PATHS_OF_POWERSHELL), -1)
    given = words[flag + 1 : flag + 2] if flag >= 0 else words[:1]
    yield from (held.get(word, word).replace("\\", "/") for word in given if not word.startswith("-"))


def put_by_name(command: SimpleCommand) -> list[str]:
    """Where a command puts copies: of `cp a b folder/` the files in it, the folder where only patterns say which."""
    words, folder = [], ""
    given = iter(word for word in command.words[1:] if word)
    for word in given:
        name, _, value = word.partition("=")
        if name in _INTO:
            folder = value or next(given, "")
        elif word in _WITH_VALUE:
            next(given, "")
        elif not word.startswith("-"):
            words.append(word)
    *sources, target = [*words, folder] if folder else words or [""]
    names = [source.rstrip("/").rpartition("/")[2] for source in sources]
    is_into = bool(folder) or target.endswith("/") or len(names) > 1
    if not names or not is_into or names == [target.rstrip("/").rpartition("/")[2]]:
        return [target.rstrip("/")] if names else []
    found = [f"{target.rstrip('/')}/{name}" for name in names if _PLAIN_NAME.fullmatch(name) and name.strip(".")]
    return found or [target.rstrip("/")]


def deleted_files(command: SimpleCommand) -> list[str]:
    """The files with a suffix that `rm` or `git rm` is given; `--cached` leaves them where they are."""
    is_deletion = command.program == "rm" or command.words[:2] == ("git", "rm")
    is_deletion = is_deletion and "--cached" not in command.words
    return [word for word in command.words[1:] if is_deletion and "." in word.rpartition("/")[2].strip(".")]


def deleted_for_good(calls: Iterable[tuple[Sequence[SimpleCommand], Sequence[str]]], line: str) -> list[str]:
    """The files that calls deleted and none wrote or restored, of those that the line of a failure names.

    In: of each call its commands and the files that it edited, in order. No change of another file mended that failure.
    """
    gone: list[str] = []
    for commands, edits in calls:
        restored = " ".join(step.text() for step in commands if step.words[:2] in _RESTORES)
        found = [path for step in commands for path in deleted_files(step) if not path.startswith(TEMPORARY)]
        gone = [path for path in (*gone, *found) if path not in edits and _name(path) not in restored]
    return [path for path in gone if re.search(rf"(?<![\w.-]){re.escape(_name(path))}(?![\w-])", line)]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def edited_files(command: SimpleCommand, held: Mapping[str, str] | None = None) -> list[str]:
    """The files a shell command changed, as far as its words show. `held`: what variables of its line hold."""
    files = [path for path in command.writes if not path.startswith(("/dev/", "$")) and not path.endswith(_LOGS)]
    words = [word for word in command.words[1:] if word and not word.startswith("-")]  # `sed -i ''` has an empty one
    if command.program in ("sed", "perl") and len(words) > 1 and shell_kind(command) == "edit":
        files += words[max(1, command.words.count("-e")) :]  # each -e is followed by a script
    elif command.program == "tee":
        files += words
    elif command.program in ("mv", "cp", "install"):
        files += put_by_name(command)
    elif command.program.lower() in WRITERS_OF_POWERSHELL:
        files += _written_by_powershell(command, held or {})
    if is_inline_script(command):
        files += _written_by(inline_code(command)[:_MOST_CODE])
    named = (path for path in files if path not in (".", "..") and not path.startswith(("$", "(", "--")))
    return [path for path in named if "\n" not in path and "$_" not in path]  # what a command put in is not known
