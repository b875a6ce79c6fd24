"""Which pages a wiki has, and whose they are: this program's, a person's who edited them, or somebody else's.

What a generated page says is not read, only its digest of itself. `.wiki/pages.txt` remembers by size and times of
change which pages are generated, from what, and what the index says of them: an unchanged one is not read again, and
not rendered again as long as it would be from the same. It also remembers the settled sessions (`pages/settled`) whose
records need not be read either. Without that file all are.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, fields
from sys import intern
from typing import NamedTuple

from pydantic_core import from_json, to_json

from agent_wiki import __version__
from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.memo import Known
from agent_wiki.pages.settled import Facts, Settled
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.files import Signature
from agent_wiki.wiki.generated import origin_of
from agent_wiki.wiki.kinds import FOLDERS
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.store import WikiFolder

_NAME = "pages.txt"
_INDEXES = "indexes.json"
_HEAD = f"agent-wiki {__version__}, layout 11"
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

    def copied(self) -> PagesOnDisk:
        """The same, to be changed apart."""
        return PagesOnDisk(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})

    def keep(self, path: str, page: Page) -> None:
        """From here on a page counts as edited."""
        self.forget(path)
        self.foreign.pop(path, None)
        self.edited[path] = page

    def forget(self, path: str) -> None:
        """A generated page is not there any more."""
        self.generated.discard(path)
        self.known.pop(path, None)
        self.merged.discard(path)
        self.former.pop(path, None)

    def release(self, path: str) -> None:
        """From here on a page may be replaced and removed as any generated one, whoever wrote it."""
        if self.edited.pop(path, None) or self.foreign.pop(path, None):
            self.generated.add(path)


class Memory(NamedTuple):
    """What the last run remembered of files that lie on disk as it left them; `indexes` are index pages.

    `terms` say what the wiki was like as a whole when these sessions were `settled`.
    """

    known: dict[str, Known]
    indexes: set[str]
    terms: str
    settled: list[Settled]


def read_pages(
    folder: WikiFolder, problems: list[UnreadablePage], memory: Memory, but: Container[str] = ()
) -> PagesOnDisk:
    """Look at every page of the wiki, `but` for some. One that cannot be read is appended to `problems`."""
    found = PagesOnDisk(known=memory.known, indexes=memory.indexes)
    found.generated.update(found.known)
    for path in folder.page_paths(but=but or found.known):
        try:
            _sort(path, folder, found)
        except UnreadablePage as error:
            problems.append(error)
            found.unreadable.add(path)
    return found


def _sort(path: str, folder: WikiFolder, found: PagesOnDisk) -> None:
    text = folder.text_or_empty(path)
    origin = origin_of(text)
    if origin == "generated":
        found.generated.add(path)
    elif origin == "merged":
        found.merged.add(path)
    else:
        _, page = folder.read_page(path)
        if origin == "edited" or page.is_blank:  # a person took out all of it, and with it the digest
            found.edited[path] = page
        elif isinstance(page.fields.get("made_by"), dict):
            found.former[path] = page
        else:
            found.foreign[path] = page


def remember(folder: WikiFolder, generated: Mapping[str, Known], terms: str, settled: Sequence[Settled]) -> None:
    """Remember which pages are generated, as they are on disk now, and from what.

    Of `settled` sessions, and of the wiki's `terms`, see `Memory`; their pages need not be among `generated`.
    """
    folder.write_cached_lines(_NAME, _lines(folder.files(), generated, terms, settled))


def remember_indexes(folder: WikiFolder, paths: Iterable[str]) -> None:
    """Remember which index pages are generated, as they are on disk now."""
    files = folder.files()
    folder.write_cache(_INDEXES, {path: files[path] for path in sorted(paths) if path in files})


def _lines(
    files: Mapping[str, Signature], generated: Mapping[str, Known], terms: str, settled: Sequence[Settled]
) -> Iterator[str]:
    below = {path for each in settled for path, _ in each.pages}
    loose = {path: known for path, known in generated.items() if path not in below}
    yield _SEPARATOR.join((_HEAD, terms))
    for path, known in loose.items():
        yield _line(path, known, files)
    for each in settled:
        if block := each.remembered or _block(each, files):
            yield f"\n\n{block}"


def _block(settled: Settled, files: Mapping[str, Signature]) -> str:
    """A settled session and its pages; nothing where one of the files is not there."""
    record = settled.record
    pages = [_line(path, known, files) for path, known in settled.pages]
    if record not in files or "" in pages:
        return ""
    return "".join((_SEPARATOR.join((record, files[record], to_json(settled.facts).decode())), *pages))


def _line(path: str, known: Known, files: Mapping[str, Signature]) -> str:
    """A page after a line feed; nothing where it cannot be remembered."""
    line = _SEPARATOR.join((path, files.get(path, ""), *known))
    return f"\n{line}" if path in files and line.count(_SEPARATOR) == _SEPARATORS and "\n" not in line else ""


def remembered(folder: WikiFolder) -> Memory:
    """What was remembered of each page that lies on disk as it was then, and of each session."""
    memory = Memory({}, _unchanged_indexes(folder), "", [])
    first, *blocks = folder.read_cached_text(_NAME).split("\n\n")
    head, *lines = first.split("\n")
    head, _, terms = head.partition(_SEPARATOR)
    if head != _HEAD:
        return memory
    files = folder.files()
    memory.known.update(_unchanged(lines, files))
    for block in blocks:
        session, *lines = block.split("\n")
        record, signature, facts = session.split(_SEPARATOR)
        pages = list(_unchanged(lines, files))
        memory.known.update(pages)
        if len(pages) == len(lines) and files.get(record) == signature:
            memory.settled.append(Settled(Facts(*from_json(facts)), record, pages, block))
    return memory._replace(terms=terms)


def _unchanged_indexes(folder: WikiFolder) -> set[str]:
    kept, files = folder.read_cache(_INDEXES), folder.files()
    return {path for path in INDEX_PAGES if path in files and files[path] == kept.get(path)} if kept else set()


def _unchanged(lines: Iterable[str], files: Mapping[str, Signature]) -> Iterator[tuple[str, Known]]:
    for line in lines:
        path, signature, inputs, date, row = line.split(_SEPARATOR)
        if files.get(path) == signature:
            yield path, Known(inputs, intern(date), row)
