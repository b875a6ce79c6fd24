"""Pages of an agent wiki as texts name them: a path's last parts, and the folder that they are in.

A wiki is recognized by its file names (`guidelines/<slug>__<12 hex>.md`, `_index.jsonl`, …; the layout is an
interface), never by its location. Names that other projects use too (`AGENTS.md`, `skills/<x>/SKILL.md`) count
only in a folder that is known to be a wiki or is named like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent_wiki.trajectory.lazily import dataclass, regex

_MOST_ROOT = 300
_PAGE = regex(
    r"(?<![\w.-])(?:"
    r"(?P<strong>(?:guidelines|_archived)/[a-z0-9][a-z0-9-]{0,60}__(?:[0-9a-f]{12}|cluster)\.md"
    r"|tasks/[a-z0-9][a-z0-9-]{0,60}__(?:task|subtask)\.md|_index\.jsonl)"
    r"|(?P<weak>skills/[a-z0-9][a-z0-9-]{0,60}/(?:SKILL\.md|scripts/[\w.-]{1,80})|summaries/[\w.-]{1,150}\.md"
    r"|(?:guidelines|skills|tasks|summaries)/(?:index\.md|_id_index\.json)|AGENTS\.md|_config\.yaml|_audit\.log|index\.md)"
    r")(?![\w-])",
    needs=(".md", "_index.json", "/scripts/", "_config.yaml", "_audit.log"),
)
_NAMED_WIKI = regex(r"(?:^|[-_. ])wiki(?:[-_. ]|$)", re.IGNORECASE)
_ROOT_END = frozenset(" \t\n\r\"'`=:,;|&<>()[]{}$\\")
_LONE_ROOT = regex(r"(?:~|\.{0,2}|[A-Za-z]:)/[^\n\r\"'`=:,;|&<>()\[\]{}$\\]*")
_FOLDERS = regex(r"(?:^|/)(?:guidelines|_archived|skills|tasks|summaries|_index|_sessions)(?:/|$)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A page that a text names. `folder`: the name of the folder with the wiki's files, empty when unknown.

    `script`: the file of a skill's script, where the text names that. `is_strong`: only a wiki has such a file.
    """

    folder: str
    page: str
    is_strong: bool
    script: str = ""

    def is_of_wiki(self, wikis: frozenset[str]) -> bool:
        """Whether it is a page of a wiki: by its own name, or by its folder, of which `wikis` are known."""
        is_own_name = self.is_strong and self.page != "_index.jsonl"
        return is_own_name or self.folder in wikis or is_named_wiki(self.folder)


def is_named_wiki(folder: str) -> bool:
    """Whether a folder is named like a wiki: `wiki`, `team-wiki`."""
    return _NAMED_WIKI.search(folder) is not None


def is_inside_wiki(path: str, place: str, wikis: frozenset[str]) -> bool:
    """Whether a path, also one with a glob, leads into one of the folders of a wiki's pages.

    In: `place`, the folder that relative paths start from; `wikis`, the names of folders known to be wikis.
    """
    match = _FOLDERS.search(path[:_MOST_ROOT])
    if match is None:
        return False
    folder = _name_of(path[: match.start()], place)
    return folder in wikis or is_named_wiki(folder)


def mentions(text: str, place: str) -> Iterator[Mention]:
    """Pages named in `text`; relative ones are in the folder `place`."""
    for match in _PAGE.finditer(text):
        page, script = match.group(), ""
        if page.startswith("skills/") and "/scripts/" in page:
            folder, _, script = page.partition("/scripts/")
            page = f"{folder}/SKILL.md"
        yield Mention(_name_of(_root(text, match.start()), place), page, match.lastgroup == "strong", script)


def matched_lines(text: str) -> Iterator[Mention]:
    """Pages of which the output of a search shows a line, `path:line…`, not just the name."""
    for match in _PAGE.finditer(text):
        if text[match.end() : match.end() + 1] in (":", "-"):
            line = text.rfind("\n", max(match.start() - _MOST_ROOT, 0), match.start()) + 1
            yield from mentions(text[line or max(match.start() - _MOST_ROOT, 0) : match.end()], "")


def _root(text: str, start: int) -> str:
    """What is before a page's name in its path. A path may hold blanks where the text is nothing but the path."""
    floor = max(start - _MOST_ROOT, 0)
    if floor == 0 and _LONE_ROOT.fullmatch(text, 0, start):
        return text[:start]
    for position in range(start - 1, floor - 1, -1):
        if text[position] in _ROOT_END:
            return text[position + 1 : start]
    return text[floor:start]


def _name_of(root: str, place: str) -> str:
    root = root.rstrip("/")
    return PurePosixPath(place if root in ("", ".") else root).name
