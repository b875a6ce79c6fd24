"""The request named a file, and what stands in it now was asked for, or files were moved: a later look shows it."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.changes import is_data
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.shell.edited_parts import edit_text
from agent_wiki.shell.files_written import bare_name
from agent_wiki.shell.result_lines import quoted
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_PRINTERS = frozenset({"echo", "printf", "cat", "tee"})
_WRITE = regex(r"\b(?:creat|writ|mak|generat|sav|produc|put|add|updat|chang|set|replac)(?:e|es|ing)?\b", re.IGNORECASE)
_IS_FILE = regex(r"^[\w./-]{1,200}\.\w{1,8}$")
_MOST_TASKS = 3
_MOST_LISTED = 50_000
_MOST_REQUEST = 4_000
_WORDS = regex(r"[a-z0-9]{3,40}")


def read_back(stretch: Stretch) -> Shown | None:
    """Success by the last look that shows what the request wanted in the file; None when no look does."""
    asked = _asked(stretch)
    if not _WRITE.search(asked):
        return None
    asked_words = frozenset(_WORDS.findall(asked.lower()))
    written: dict[str, tuple[int, str]] = {}
    for act in stretch.kept_edits():
        name, line = _written_name(act, asked, asked_words), _first_line(act)
        if not name:
            return None  # more was made than the file that was asked for, and nothing shows that it works
        if line:
            written[name] = (act.turn, line)
    last_asked, last_written = stretch.last_request_turn(), max((turn for turn, _ in written.values()), default=0)
    if any(act.kind == "check" and act.has_failed and act.turn > last_written for act in stretch.acts):
        return None  # whatever it stopped at
    for look in reversed(stretch.acts if written else []):
        if look.kind != "look" or not look.has_worked or look.turn < last_asked:
            continue
        for name, (turn, line) in written.items():
            if turn < look.turn and name in look.call.raw_arguments and line in (look.call.result or "")[:20_000]:
                return Shown("success", "read-back", look.end, line, look)
    return None


def moved_as_seen(stretch: Stretch) -> Shown | None:
    """Success where all that was changed is where files lie, and a later look lists each in its new place."""
    edits = stretch.kept_edits()
    moves = [each for act in edits for each, kind in zip(act.commands, act.kinds, strict=True) if kind == "edit"]
    names = {bare_name(path) for act in edits for path in act.edits}
    if not names or not moves or any(each.program != "mv" for each in moves) or not all(act.commands for act in edits):
        return None
    for look in reversed([act for act in stretch.acts if act.kind == "look" and act.turn > edits[-1].turn]):
        lines = (look.call.result or "")[:_MOST_LISTED].splitlines()
        found = {name: line for name in names for line in lines if line.rstrip().endswith(name)}
        if look.has_worked and found.keys() == names:
            return Shown("success", "read-back", look.end, quoted(found[max(names)]), look)
    return None


def _asked(stretch: Stretch) -> str:
    """What the user wrote, and what stands in the files that it names: a task may be handed over as one."""
    said = " ".join(request.text[:8_000] for request in stretch.requests)[:20_000]
    looks = (act for act in stretch.acts if act.kind == "look" and act.has_worked)
    tasks = [act.call.result or "" for act in looks if any(path in said for path in _looked_at(act))]
    return " ".join([said, *(text[:8_000] for text in tasks[:_MOST_TASKS])])


def _looked_at(act: Act) -> list[str]:
    words = [act.call.path() or "", *(word for each in act.commands for word in each.words[1:])]
    return [word for word in words if _IS_FILE.search(word)]


def _written_name(act: Act, asked: str, asked_words: frozenset[str]) -> str:
    """The name of the file that an act wrote, when the user named it or described it ("a colour file in docs")."""
    if not act.edits:
        return ""
    name = bare_name(act.edits[0])
    folder = bare_name(act.edits[0].removesuffix(name))
    stem = name.partition(".")[0].lower()
    is_described = {stem, folder.lower()} <= asked_words
    return name if name and (name in asked or is_described) else ""


def _first_line(act: Act) -> str:
    """The first line of what an act wrote that says anything, as a quote."""
    arguments = act.call.arguments
    written = arguments.get("content") or arguments.get("file_text") or _printed(act)
    if not written and any(map(is_data, act.edits)):  # of code a look shows no effect
        written = edit_text(act.call)
    lines = written[:4_000].splitlines() if isinstance(written, str) else []
    return quoted(next((line for line in lines if len(line.strip()) > 3), ""))


def _printed(act: Act) -> str:
    """What a shell command wrote to the file: the words of `echo`, or a here-document."""
    command = next((each for each in act.commands if each.writes and each.program in _PRINTERS), None)
    if command is None:
        return ""
    words = " ".join(word for word in command.words[1:] if not word.startswith("-"))
    return command.body or words.replace("\\n", "\n")


def is_asked_for(command: SimpleCommand, stretch: Stretch, most: int = _MOST_REQUEST) -> bool:
    """Whether a turn of the user, at most `most` characters long, has a command of several words in it as it ran."""
    words = " ".join(command.words)
    return len(command.words) > 1 and any(len(each.text) <= most and words in each.text for each in stretch.requests)
