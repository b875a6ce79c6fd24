"""What was done to a file, in a clause: the names that came or went, or the words that replaced others."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import PurePosixPath

from agent_wiki.engines.offline.acts import Act, distinct
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.engines.offline.wording import code, listing
from agent_wiki.shell.edited_parts import edited_parts, edits_by_number, writes_whole_file
from agent_wiki.shell.files_written import bare_name
from agent_wiki.trajectory.lazily import regex

_PROSE = frozenset({".md", ".mdx", ".txt", ".rst", ".adoc", ".log"})
_RECORDS = frozenset({"", ".json", ".jsonl", ".yaml", ".yml"})
_PAPERWORK = named("paperwork")
_LISTS = frozenset({".yaml", ".yml"})
_DATA = frozenset({".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".csv", ".env"})
_SECRET = regex(r"passw|secret|token|credential|api.?key", re.IGNORECASE)
_UNCHECKED = frozenset({".gitignore", ".dockerignore", ".gitattributes", ".editorconfig", "LICENSE", "CHANGELOG"})
_MOST_READ = 20_000
_MOST_LINES = 200  # that are compared
_MOST_NAMES = 2
_LONGEST_WORDS = 60
_NAMED = written("defined_name", re.MULTILINE)
_HEADING = regex(r"^#{1,4} ([^\n]{3,60})$", re.MULTILINE)


@lru_cache(maxsize=1024)  # the few files of a session, which many ask about
def is_prose(path: str) -> bool:
    """Whether a file is a document by its suffix, or a record that an agent keeps of its work."""
    file = PurePosixPath(path.replace("\\", "/"))
    suffix = file.suffix.lower()
    return suffix in _PROSE or (suffix in _RECORDS and not _PAPERWORK.isdisjoint(file.parts[:-1]))


def is_unchecked(path: str) -> bool:
    """A document, or a file of a repository that no check of code is about."""
    return is_prose(path) or bare_name(path) in _UNCHECKED


def is_data(path: str) -> bool:
    """Whether a file holds values, by its suffix."""
    return PurePosixPath(path.replace("\\", "/")).suffix.lower() in _DATA


def are_documents(paths: Sequence[str]) -> bool:
    """Whether all files are documents, or lists of such that lie beside one (`docs/index.yaml`)."""
    folders = {path.rpartition("/")[0] for path in paths if is_prose(path)}
    others = [path for path in paths if not is_prose(path)]
    return bool(folders) and all(
        PurePosixPath(path).suffix in _LISTS and path.rpartition("/")[0] in folders for path in others
    )


def change_of(acts: Sequence[Act], path: str, *, is_known: bool = False) -> str:
    """`added `total``, `changed `total``, ``3.1` became `3.2``; empty where the calls show nothing so short.

    Of a document that was written it is its title, of one that was changed one heading.
    `is_known`: the file was there before; where it is then written as a whole, nothing shows what is new in it. Nor
    does an edit of lines by their numbers (SWE-agent).
    """
    acts = [act for act in acts if not (is_known and writes_whole_file(act.call)) and not edits_by_number(act.call)]
    pairs = [pair for act in acts if path in act.edits for pair in _replaced(act, path)]
    old, new = ("\n".join(pair[at][:_MOST_READ] for pair in pairs) for at in (0, 1))
    before, after = _names(old, path), _names(new, path)
    if after and is_prose(path) and not is_known and not old.strip() and new.lstrip().startswith("# "):
        return after[0]
    most = 1 if is_prose(path) else _MOST_NAMES
    added = [name for name in after if name not in before]
    removed = [name for name in before if name not in after and name.strip("“”`") not in new]
    parts = [f"{verb} {listing(names, most)}" for verb, names in (("added", added), ("removed", removed)) if names]
    words = _words(*pairs[0]) if len(pairs) == 1 else ""
    if added and removed and is_prose(path):  # headings are renamed rather than removed
        one = len(added) == len(removed) == 1
        return f"{removed[0]} became {added[0]}" if one else f"changed {listing(added, most)}"
    touched = distinct([name for pair in pairs for name in _touched(*pair, path)])
    kept = f"changed {listing(touched, most)}" if touched else ""
    return "; ".join(parts) or words or kept


def _names(text: str, path: str) -> list[str]:
    """What a text defines, or the headings that it has."""
    if is_prose(path):
        return distinct([f"“{found[1].strip().replace('`', '')}”" for found in _HEADING.finditer(text)])
    names = [found[1] or found[2] for found in _NAMED.finditer(text)]
    return distinct([code(name) for name in names if not name.startswith("__")])


def _touched(old: str, new: str, path: str) -> list[str]:
    """What the lines that differ stand in: the nearest definition or heading above each."""
    before, after = (text[:_MOST_READ].splitlines()[:_MOST_LINES] for text in (old, new))
    named = [(at, name) for at, line in enumerate(after) for name in _names(line, path)[:1]]
    if not named:
        return []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    changed = (range(start, max(end, start + 1)) for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal")
    above = [bisect_right(named, at, key=lambda each: each[0]) - 1 for each in changed for at in each]
    return distinct([named[at][1] for at in above if at >= 0])


def _words(old: str, new: str) -> str:
    """One short line in place of another."""
    old, new = old.strip(), new.strip()
    is_short = all(len(each) <= _LONGEST_WORDS and "\n" not in each and not _SECRET.search(each) for each in (old, new))
    if not is_short or old == new or min(sum(map(str.isalnum, old)), sum(map(str.isalnum, new))) < 2:
        return ""
    return f"{code(old)} became {code(new)}"


def _replaced(act: Act, path: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new texts of an edit, as far as the call holds them."""
    return ((old, new) for file, old, new in edited_parts(act.call) if file == path)
