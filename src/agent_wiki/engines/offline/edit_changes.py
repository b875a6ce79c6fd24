"""What edits changed, as small as it can be said: pairs of lines, and names that gave way to others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from agent_wiki.engines.offline.attempts import edit_old_text, edit_text
from agent_wiki.shell.files_written import edits_of, patch_parts
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_NAME = regex(r"[A-Za-z_][\w.]*\w|\w|[^\w\s]")
_IS_NAME = regex(r"[A-Za-z_][\w.]*\w")
_MOST_LINES = 400


def changed_lines(edits: Iterable[Call]) -> Iterator[tuple[str, str]]:
    """Each line that an edit replaced with another one, with the new line; lines only added or removed are left out."""
    for old, new in _texts(edits):
        before, after = old.splitlines()[:_MOST_LINES], new.splitlines()[:_MOST_LINES]
        for kind, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if kind == "replace" and end - start == last - first:
                yield from zip(before[start:end], after[first:last], strict=True)


def replaced_names(edits: Iterable[Call]) -> dict[str, str]:
    """Each name that edits replaced with one other name wherever they touched it, and wrote nowhere else."""
    edits = list(edits)
    found: dict[str, set[str]] = {}
    for before, after in changed_lines(edits):
        for old, new in _names_replaced(before, after):
            found.setdefault(old, set()).add(new)
    written = {name for _, new in _texts(edits) for name in _NAME.findall(new)}
    return {old: next(iter(new)) for old, new in found.items() if len(new) == 1 and old not in written}


def added_names(old: str, new: str) -> set[str]:
    """The names that a text has and the one it replaced had not."""
    return set(_IS_NAME.findall(new)) - set(_IS_NAME.findall(old))


def _names_replaced(before: str, after: str) -> Iterator[tuple[str, str]]:
    mine, theirs = _NAME.findall(before), _NAME.findall(after)
    for kind, start, end, first, last in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if kind == "replace" and end - start == 1 == last - first:
            old, new = mine[start], theirs[first]
            if _IS_NAME.fullmatch(old) and _IS_NAME.fullmatch(new):
                yield _without_shared_front(old, new)


def _without_shared_front(old: str, new: str) -> tuple[str, str]:
    """`req.GetNumber`, `req.GetFloat` → `GetNumber`, `GetFloat`: what they are called on is this code's own."""
    mine, theirs = old.split("."), new.split(".")
    while len(mine) > 1 and len(theirs) > 1 and mine[0] == theirs[0]:
        mine, theirs = mine[1:], theirs[1:]
    return ".".join(mine), ".".join(theirs)


def _texts(edits: Iterable[Call]) -> Iterator[tuple[str, str]]:
    return ((old, new) for edit in edits for _, old, new in edited_parts(edit))


def edited_files(edits: Iterable[Call]) -> set[str]:
    """The files that edits name."""
    return {path for edit in edits for path, _, _ in edited_parts(edit)}


def edited_parts(edit: Call) -> Iterator[tuple[str, str, str]]:
    """The file of each part of an edit, with its text before and after; of a patch the lines that it changes."""
    patch = str(edit.arguments.get("input") or edit.arguments.get("patch") or edit.command() or "")
    parts = list(patch_parts(patch))
    for _, file, body in parts:
        lines = body.splitlines()
        before, after = ("\n".join(line[1:] for line in lines if line.startswith(mark)) for mark in "-+")
        yield file, before, after
    path = edit.path() or edit.raw_arguments[:200]
    single = [(path, old, new) for old, new, _ in edits_of(edit.arguments)]
    yield from single or ([] if parts else [(path, edit_old_text(edit), edit_text(edit))])
