"""Replaces one session's values in a text: paths, ids, dates, hashes, ports and branches become placeholders.

A rule must mean something to a reader who never saw the session, and the same rule from two sessions must be
the same text, so what differs between sessions may not remain in it. What is known everywhere stays literal: tools,
flags, packages, well-known files, version numbers after `==` or `@`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agent_wiki.engines.offline.tables import named, written
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import regex

WELL_KNOWN_FILES = named("files")
_MOST_CHARACTERS = 20_000

_EXTENSION = written("extension")
# What stands for a value, in the order in which they are looked for: an address holds a path, a path a hash.
_SUBSTITUTIONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (regex(r"\bhttps?://[^\s'\"<>`)\]]{1,400}"), "<url>"),
    (regex(r"\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,64}"), "<address>"),
    (regex(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"), "<id>"),
    (regex(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?Z?)?\b|\b\d{4}/\d\d/\d\d\b"), "<date>"),
    (regex(r"\b\d{1,2}:\d\d:\d\d\b"), "<time>"),
    (regex(r"\$\d[\d,.]*"), "<amount>"),
    (regex(r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds|minutes)\b"), "<duration>"),
    (regex(r"\b\d+(?:\.\d+)?\s?(?:[KMG]i?B)\b"), "<size>"),
    (regex(r"(?<=[a-z]):\d+:\d+\b|(?<=\.(?:go|py|ts|js|rs|rb|md)):\d+\b"), ""),
    (regex(r"(?<![\w<])(?:~|\.{0,2}|[A-Za-z]:)?(?:/[\w.@%+=~-]{1,120}){2,40}/?|(?<![\w<])~/[\w./-]{1,200}"), "<path>"),
    (regex(r"\b(?=[0-9a-f]{0,39}[0-9])(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,64}\b"), "<commit>"),
    (regex(r"(?<![\w/])#\d+\b"), "<number>"),
    (written("made_up_id"), "<id>"),
    (regex(r"(?<=[a-z0-9\]]):\d{2,5}\b"), ":<port>"),
    (written("long_number"), "<number>"),
)
_RELATIVE = regex(r"(?<![\w/<.])(?:[\w.@-]{1,80}/){1,20}[\w.@-]{1,80}")
_BARE_FILE = written("bare_file")
_JS_NAMES = frozenset({"node.js", "next.js", "vue.js", "three.js", "d3.js", "express.js", "nuxt.js", "ember.js"})
_PLACEHOLDER = regex(r"<[a-z][a-z-]*>")


def generalize(text: str, trajectory: Trajectory) -> str | None:
    """`text` with this session's values as placeholders (`<file>`, `<path>`, `<id>`, …).

    None when what is left says nothing: no words but placeholders, or more placeholders than words.
    """
    result = text[:_MOST_CHARACTERS].strip()
    for name, replacement in _session_values(trajectory):
        result = result.replace(name, replacement)
    for pattern, replacement in _SUBSTITUTIONS:
        result = pattern.sub(replacement, result)
    result = _RELATIVE.sub(lambda match: _path_placeholder(match[0]), result)
    result = _BARE_FILE.sub(lambda match: _path_placeholder(match[0]), result)
    result = re.sub(r"(<[a-z-]+>)(?:[:/.]?\1)+", r"\1", result)
    return result if _says_something(result) else None


@lru_cache(maxsize=64)
def _known_values(cwd: str | None, branch: str | None) -> tuple[tuple[str, str], ...]:
    values: list[tuple[str, str]] = []
    if cwd and len(cwd) > 3:
        values += [(cwd.rstrip("/") + "/", ""), (cwd.rstrip("/"), "<path>")]
    if branch and branch not in ("main", "master", "HEAD", "develop", "dev") and len(branch) > 3:
        values.append((branch, "<branch>"))
    return tuple(values)


def _session_values(trajectory: Trajectory) -> tuple[tuple[str, str], ...]:
    return _known_values(trajectory.source.cwd, trajectory.source.git_branch)


def _path_placeholder(word: str) -> str:
    """A relative path → `<file>` or `<path>`; what only looks like one (`and/or`, `origin/main`) is kept."""
    name = word.rsplit("/", 1)[-1]
    if name in WELL_KNOWN_FILES or word.lower() in _JS_NAMES:
        return f"<path>/{name}" if "/" in word else name
    if _EXTENSION.search(name):
        return "<file>"
    return word if word.count("/") < 2 or word.startswith(("@", "github.com/", "golang.org/")) else "<path>"


def _says_something(text: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", _PLACEHOLDER.sub(" ", text))
    return len(words) >= 1 and len(_PLACEHOLDER.findall(text)) <= max(2, len(words))
