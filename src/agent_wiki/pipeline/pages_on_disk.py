"""Which pages a wiki has, and whose they are: this program's, a person's who edited them, or somebody else's.

What a generated page says is not read, only its digest of itself. `.wiki/pages.txt` remembers by size and times of
change which pages are generated, from what, and what the index says of them: an unchanged one is not read again, and
not rendered again as long as it would be from the same. Without that file all are.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import field
from sys import intern

from agent_wiki import __version__
from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.memo import Known
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.generated import origin_of
from agent_wiki.wiki.kinds import FOLDERS
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.store import WikiFolder

_NAME = "pages.txt"
_HEAD = f"agent-wiki {__version__}, layout 5"
_INDEX = Known("", "", "")
_SEPARATOR, _SEPARATORS = "\t", 4  # a page whose path or date has one is not remembered

INDEX_PAGES = ("index.md", *(f"{section}/index.md" for section in FOLDERS))
"""The paths of the pages that list others."""


@dataclass(slots=True)
class PagesOnDisk:
    """The pages of a wiki by whose they are.

    `generated` may be replaced and removed; `edited` are generated pages that a person changed, and those that the
    owner keeps; `foreign` were written by somebody else; `former` are this program's of a time when pages had no
    digest; `merged` are generated pages that git merged. `unreadable` are left unchanged until somebody repairs them.
    `known` are those of the generated of which it is remembered what they were rendered from,
    and `indexes` the index pages that lie as they were written.
    """

    generated: set[str] = field(default_factory=set)
    merged: set[str] = field(default_factory=set)
    edited: dict[str, Page] = field(default_factory=dict)
    foreign: dict[str, Page] = field(default_factory=dict)
    former: dict[str, Page] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    known: dict[str, Known] = field(default_factory=dict)
    indexes: set[str] = field(default_factory=set)

    def all(self) -> set[str]:
        """Every page's path."""
        return {*self.replaceable, *self.edited, *self.foreign, *self.unreadable}

    @property
    def replaceable(self) -> set[str]:
        """Pages that may be overwritten and removed."""
        return self.generated | self.merged | self.former.keys()

    def keep(self, path: str, page: Page) -> None:
        """From here on a page counts as edited."""
        self.generated.discard(path)
        self.known.pop(path, None)
        self.merged.discard(path)
        self.former.pop(path, None)
        self.foreign.pop(path, None)
        self.edited[path] = page

    def release(self, path: str) -> None:
        """From here on a page may be replaced and removed as any generated one, whoever wrote it."""
        if self.edited.pop(path, None) or self.foreign.pop(path, None):
            self.generated.add(path)


def read_pages(folder: WikiFolder, problems: list[UnreadablePage], but: Container[str] = ()) -> PagesOnDisk:
    """Look at every page of the wiki, `but` for some. One that cannot be read is appended to `problems`."""
    found = PagesOnDisk(known={} if but else _remembered(folder))
    found.indexes.update(path for path in INDEX_PAGES if found.known.pop(path, None))
    found.generated.update(found.known)
    for path in folder.page_paths(but=but or found.known):
        try:
            _sort(path, folder, found)
        except UnreadablePage as error:
            problems.append(error)
            found.unreadable.add(path)
    return found


def _sort(path: str, folder: WikiFolder, found: PagesOnDisk) -> None:
    text = folder.read_text(path, errors="replace") or ""
    origin = origin_of(text)
    if origin == "generated":
        found.generated.add(path)
    elif origin == "merged":
        found.merged.add(path)
    else:
        _, page = folder.read_page(path)
        if origin == "edited":
            found.edited[path] = page
        elif isinstance(page.fields.get("made_by"), dict):
            found.former[path] = page
        else:
            found.foreign[path] = page


def remember(folder: WikiFolder, generated: Mapping[str, Known], indexes: Iterable[str]) -> None:
    """Remember which pages are generated, as they are on disk now, and from what; and index pages as written."""
    folder.write_cached_lines(_NAME, _lines(folder, {**generated, **dict.fromkeys(indexes, _INDEX)}))


def _lines(folder: WikiFolder, generated: Mapping[str, Known]) -> Iterator[str]:
    yield f"{_HEAD}\n"
    signatures = folder.files()
    for path, known in generated.items():
        if path in signatures:
            line = _SEPARATOR.join((path, signatures[path], *known))
            if line.count(_SEPARATOR) == _SEPARATORS and "\n" not in line:
                yield f"{line}\n"


def _remembered(folder: WikiFolder) -> dict[str, Known]:
    """What each page was rendered from that lies on disk as it was then."""
    lines = folder.read_cached_lines(_NAME)
    signatures = folder.files() if next(lines, "") == f"{_HEAD}\n" else {}
    known: dict[str, Known] = {}
    for line in lines:
        path, signature, inputs, date, row = line.split(_SEPARATOR)
        if signatures.get(path) == signature:
            known[path] = Known(inputs, intern(date), row[:-1])
    return known
