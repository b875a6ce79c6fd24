"""The files a session wrote, in their final state, as far as the recording shows it exactly.

Writes, here-documents and patches give whole texts; later edits are applied when they fit in exactly one way.
A file touched in a way that cannot be followed (`sed -i`, a formatter, a move) has no known text any more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from agent_wiki.shell.syntax import MOST_CHARACTERS, HereDocument, ShellLine, Step, shell_line
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex

TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/", "/var/folders/")
"""Folders of files that are no part of the work."""
OWN_NOTES = regex(
    r"[/\\]\.(?:gemini|claude|codex|cursor)[/\\](?:[\w.-]+[/\\]){0,3}?(?:brain|plans|memory|projects|todos)[/\\]"
)
"""What an agent writes down for itself, outside of the work."""
_TEXT_KEYS = ("content", "file_text", "contents", "fileText", "text", "CodeContent")
_EDIT_KEYS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
    ("TargetContent", "ReplacementContent"),
)
_CHANGERS = frozenset(
    {"sed", "perl", "mv", "truncate", "patch", "black", "ruff", "gofmt", "prettier", "dos2unix", "git"}
)
_REMOVERS = frozenset({"rm", "unlink", "trash", "rmdir"})
BEGIN_PATCH = "*** Begin Patch"
_PATCH_ARGUMENTS = ("input", "patch", "patchText")
_PATCH_FILE = regex(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(slots=True)
class WrittenFile:
    """A file's final text and the place (among all calls) of the call that last changed it.

    `path` is as the recording names it. `is_removed`: the session deleted it again.
    """

    path: str
    text: str
    call: Call
    is_removed: bool = False


def is_temporary(path: str, cwd: str | None) -> bool:
    """Whether a path lies in a folder of files that are no part of the work; the work itself, `cwd`, may lie in one."""
    is_work = cwd is not None and cwd.startswith(TEMPORARY) and path.startswith(f"{cwd.rstrip('/')}/")
    return path.startswith(TEMPORARY) and not is_work


def files_written(calls: Iterable[Call]) -> list[WrittenFile]:
    """Every file whose final text the recording shows exactly, in order of their first writing."""
    files: dict[str, WrittenFile | None] = {}
    for call in calls:
        if verdict_of(call).state == "failed" or call.mark is not None or call.result is None:
            continue
        command = call.command()
        if command is not None:
            _follow_command(files, call, whole_line(command).steps)
        else:
            _follow_tool(files, call)
    return [each for each in files.values() if each is not None]


def _follow_tool(files: dict[str, WrittenFile | None], call: Call) -> None:
    patch = call.arguments.get("input") or call.arguments.get("patch")
    if call.name == "apply_patch" and isinstance(patch, str):
        _follow_patch(files, call, patch)
        return
    path = call.path()
    for place, edit in call.replacements():
        if replaced := list(edits_of(edit)):
            _edit(files, call, place, replaced)
    if path is None:
        return
    text = next((call.arguments[key] for key in _TEXT_KEYS if isinstance(call.arguments.get(key), str)), None)
    edits = list(edits_of(call.arguments))
    if edits:
        _edit(files, call, path, edits)
    elif isinstance(text, str) and not isinstance(call.arguments.get("insert_line"), int):
        files[path] = WrittenFile(path, text, call)
    elif call.arguments.get("insert_line") is not None:
        files[path] = None


def edits_of(arguments: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Yield `(old, new, everywhere)` of an edit call, one or several."""
    several = arguments.get("edits") or arguments.get("ReplacementChunks")
    for each in several if isinstance(several, list) else [arguments]:
        for old_key, new_key in _EDIT_KEYS:
            if isinstance(each, dict) and isinstance(each.get(old_key), str) and isinstance(each.get(new_key), str):
                yield each[old_key], each[new_key], _is_everywhere(each)


def _is_everywhere(edit: dict[str, Any]) -> bool:
    return any(edit.get(key) is True for key in ("replace_all", "replaceAll", "AllowMultiple"))


def _edit(files: dict[str, WrittenFile | None], call: Call, path: str, edits: list[tuple[str, str, bool]]) -> None:
    file = files.get(path)
    if file is None:
        if edits[0][0] == "":  # an edit of nothing makes the file
            files[path] = WrittenFile(path, edits[0][1], call)
        return
    text = file.text
    for old, new, is_everywhere in edits:
        if not old or (text.count(old) != 1 and not (is_everywhere and old in text)):
            files[path] = None
            return
        text = text.replace(old, new)
    files[path] = WrittenFile(path, text, call)


def patch_parts(patch: str) -> Iterator[tuple[str, str, str]]:
    """Each file of a patch: what is done to it (`Add`, `Update`, `Delete`), its path, and the lines below its head."""
    heads = list(_PATCH_FILE.finditer(patch)) if "*** " in patch else []  # asked of every step of a long command
    for head, following in itertools.zip_longest(heads, heads[1:]):
        yield head[1], head[2].strip(), patch[head.end() + 1 : following.start() if following else len(patch)]


def is_same_file(value: str, path: str) -> bool:
    """Whether two names are of one file: recordings name it by a whole path here and by a relative one there."""
    value, path = (each.replace("\\", "/").removeprefix("./") for each in (value, path))
    return bool(value) and (value == path or path.endswith("/" + value) or value.endswith("/" + path))


def bare_name(path: str) -> str:
    """The last part of a path."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def patch_text(call: Call) -> str:
    """The text of the patch that a call gives, as an argument or in its command line; of another call any such text."""
    named = (text for name in _PATCH_ARGUMENTS if (text := call.arguments.get(name)))
    others = (text for text in call.arguments.values() if isinstance(text, str) and BEGIN_PATCH in text)
    return str(next(named, "") or call.command() or next(others, ""))


def adds_file(call: Call, path: str) -> bool:
    """Whether a patch says of a file that it is new, and does not take one of its name away first."""
    return _done_by_patch(call, path)[:1] == ["Add"]


def deletes_file(call: Call, path: str) -> bool:
    """Whether a patch takes a file away, and does not add it again."""
    return _done_by_patch(call, path)[-1:] == ["Delete"]


def _done_by_patch(call: Call, path: str) -> list[str]:
    return [kind for kind, file, _ in patch_parts(patch_text(call)) if file == path]


def _follow_patch(files: dict[str, WrittenFile | None], call: Call, patch: str) -> None:
    for kind, path, body in patch_parts(patch):
        if kind == "Add":
            lines = [line[1:] for line in body.split("\n") if line.startswith("+")]
            files[path] = WrittenFile(path, "\n".join(lines) + "\n", call)
        elif kind == "Delete":
            _remove(files, path)
        elif path in files:
            hunks = [hunk for hunk in re.split(r"^@@.*$", body, flags=re.MULTILINE) if hunk.strip("\n")]
            _edit(files, call, path, [_hunk(hunk) for hunk in hunks])


def _hunk(hunk: str) -> tuple[str, str, bool]:
    lines = [line for line in hunk.strip("\n").split("\n") if not line.startswith("***")]
    old = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    new = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    return old, new, False


def whole_line(command: str) -> ShellLine:
    """A command line as it parses; without steps when it is too long or its quoting is broken."""
    line = shell_line(command) if len(command) <= MOST_CHARACTERS else ShellLine(())
    return line if line.is_whole else ShellLine(())


def _follow_command(files: dict[str, WrittenFile | None], call: Call, steps: Iterable[Step]) -> None:
    for step in steps:
        words = [word.value for word in step.words]
        target = _written_by(words)
        if target is not None and step.here_documents:
            _write(files, call, target, step.here_documents[0], is_addition=">>" in words or "-a" in words)
        elif words[:1] == ["apply_patch"] and step.here_documents:
            _follow_patch(files, call, step.here_documents[0].text)
        elif words and words[0] in _REMOVERS:
            for word in words[1:]:
                _remove(files, word)
        elif words and words[0] in _CHANGERS:
            for path in [path for path in files if any(_same_file(path, word) for word in words[1:])]:
                files[path] = None


def _write(
    files: dict[str, WrittenFile | None], call: Call, target: str, document: HereDocument, *, is_addition: bool
) -> None:
    earlier = files.get(target) if is_addition else None
    is_known = document.is_literal and (earlier is not None or not is_addition)
    text = (earlier.text if earlier else "") + document.text
    files[target] = WrittenFile(target, text, call) if is_known else None


def _written_by(words: list[str]) -> str | None:
    """The one file that `cat > file` or `tee file` writes."""
    if words[:1] == ["tee"] and len(words) > 1:
        return words[-1]
    if words[:1] != ["cat"]:
        return None
    for before, word in itertools.pairwise(words):
        if before in (">", ">>"):
            return word
        if word.startswith(">") and word.strip(">"):
            return word.strip(">")
    return None


def _remove(files: dict[str, WrittenFile | None], word: str) -> None:
    for path, file in files.items():
        if file is not None and _same_file(path, word):
            file.is_removed = True


def _same_file(path: str, word: str) -> bool:
    """Recordings name one file by a whole path here and by a relative one there."""
    name = word.removeprefix("./").rstrip("/")
    return bool(name) and (path == word or path.removeprefix("./") == name or path.endswith("/" + name))
