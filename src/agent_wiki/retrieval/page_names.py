"""Pages by name: a path in the wiki or from here, an id, a slug, or the beginning of an id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from agent_wiki.errors import UnreadablePage, UsageError
from agent_wiki.pages.quarantine import QuarantinedPage
from agent_wiki.pages.rejected import rejected_for
from agent_wiki.pages.state import WikiView, view_of
from agent_wiki.pipeline.catalogs import withheld_pages_of
from agent_wiki.pipeline.load import LoadedWiki, read_wiki
from agent_wiki.pipeline.owners_pages import owners_files
from agent_wiki.pipeline.released import withheld_named
from agent_wiki.retrieval.rows import index_fields
from agent_wiki.wiki.layout import INDEX, episode_id, kind_of, page_id
from agent_wiki.wiki.missing import require_folder
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.short_names import LEAST_PREFIX, too_short
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import text_or_none

_MOST_NAMED = 6
_MOST_WHY = 200


class WikiPages(Mapping[str, Page]):
    """The pages of a wiki by path, each parsed when it is asked for. One that cannot be read is a problem."""

    def __init__(self, folder: WikiFolder, loaded: LoadedWiki, problems: list[UnreadablePage]) -> None:
        self._folder, self._problems, self._templates = folder, problems, loaded.templates
        self._read: dict[str, Page] = {**loaded.pages.foreign, **loaded.pages.former, **loaded.pages.edited}
        self._paths = sorted(loaded.pages.all() - loaded.pages.unreadable)
        self.foreign = loaded.pages.foreign
        self._others = loaded.pages.foreign | loaded.pages.edited
        self.view: WikiView = view_of(loaded.state)
        self._sessions = {path: name for name, each in self.view.sessions.items() for path in each.paths}

    @classmethod
    def read(cls, folder: WikiFolder, problems: list[UnreadablePage]) -> WikiPages:
        """The pages of a wiki."""
        return cls(folder, read_wiki(folder.root, problems), problems)

    def __getitem__(self, path: str) -> Page:
        if path not in self._read:
            try:
                self._read[path] = self._folder.read_page(path)[1]
            except UnreadablePage as error:
                self._problems.append(error)
                raise KeyError(path) from error
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def session_of(self, path: str) -> str:
        """The session that a summary page is about; "" for other pages."""
        return self._sessions.get(path, "")

    def names(self, path: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """What a page is called: its ids, its slug, its file's name."""
        made = self.session_of(path) if kind_of(path) == "summary" else page_id(path)
        own = text_or_none(self._others[path].fields.get("id")) if path in self._others else None
        episode = episode_id(path) if kind_of(path) == "summary" else None
        ids = tuple(dict.fromkeys(each for each in (own, made, episode) if each))
        name = path.rpartition("/")[2]
        slugs = tuple(each.partition(":")[2] for each in ids if ":" in each)
        return ids, slugs, (name, name.removesuffix(".md"), name.partition("__")[0])

    def covering(self, path: str) -> str:
        """The file name of the page that covers a guideline; empty for one that none covers, or that is unreadable."""
        try:
            return text_or_none(self[path].fields.get("superseded_by")) or ""
        except KeyError:
            return ""

    @cached_property
    def withheld(self) -> list[QuarantinedPage]:
        """What the wiki holds back, by path."""
        return withheld_pages_of(self.view, self._templates)

    @cached_property
    def titles(self) -> dict[str, str]:
        """Path → the page's title, of the pages that the index has."""
        text = self._folder.text_or_empty(INDEX)
        return {str(row["link"]): str(row.get("title", "")) for row in index_fields(text.encode())}


def files_named(wiki: Path, wanted: Iterable[str], *, or_withheld: bool = False) -> list[str]:
    """The pages that a person means, and generated files that are no pages, by path in the wiki, sorted.

    With `or_withheld` also what is held back, of which no other page has the name.

    Raises `UsageError` for a wiki or file that does not exist, and for an ambiguous name.
    """
    require_folder(wiki)
    pages, others = WikiPages.read(WikiFolder(wiki), []), set(owners_files(wiki))
    found: set[str] = set()
    for name in wanted:
        path = _path_in_wiki(name, wiki)
        held = withheld_named(pages.withheld, path, wiki) if or_withheld else None
        if held is not None and not _paths_of(pages, name, wiki):
            found.add(held.path)
        else:
            found.update([path] if path in others else pages_named(pages, name, wiki))
    return sorted(found)


def pages_named(pages: WikiPages, wanted: str, wiki: Path, *, to_read: bool = False) -> list[str]:
    """The page that a person means, or the arcs of a session. Raises `UsageError`.

    Where it is only `to_read`, a cluster is meant rather than members of the same title.
    """
    paths = _paths_of(pages, wanted, wiki)
    if to_read and len(paths) > 1:
        paths = _without_covered(pages, paths)
    if not paths:
        raise UsageError(f"{wanted}: {_why_hidden(pages.view, wanted) or _unknown(pages, wanted, wiki)}")
    sessions = {pages.session_of(path) for path in paths if kind_of(path) == "summary"}
    if len(paths) > 1 and not (len(sessions) == 1 and all(kind_of(path) == "summary" for path in paths)):
        shown = ", ".join(paths[:_MOST_NAMED]) + (", …" if len(paths) > _MOST_NAMED else "")
        raise UsageError(f"{wanted}: {len(paths)} pages have this name: {shown}")
    return paths


def _unknown(pages: WikiPages, wanted: str, wiki: Path) -> str:
    """That no page is called so, and which is called most like it; of the beginning of an id, how many begin so."""
    begun = [path for path in pages if any(name.startswith(wanted) for name in pages.names(path)[0])] if wanted else []
    if begun:
        return too_short(begun, "page")
    named = [name for path in pages for name in pages.names(path)[2][2:]]
    nearest = get_close_matches(wanted, [*named, *pages.titles.values()], n=1)
    meant = f"; did you mean {plain_line(nearest[0], _MOST_WHY)!r}?" if nearest else ""
    return f"no page of {wiki} has this path, id or title{meant}"


def _titled(pages: WikiPages, wanted: str) -> list[str]:
    """The pages of that title, else those whose title begins so; case and spaces do not matter."""
    wanted, there = " ".join(wanted.split()).casefold(), set(pages)
    titles = {path: " ".join(title.split()).casefold() for path, title in pages.titles.items() if path in there}
    exact = [path for path, title in titles.items() if title == wanted]
    return exact or [path for path, title in titles.items() if title.startswith(wanted)]


def _without_covered(pages: WikiPages, paths: list[str]) -> list[str]:
    """Of a cluster and the members that are called like it, the cluster alone, which leads to them."""
    there = {path.rpartition("/")[2] for path in paths}
    return [path for path in paths if pages.covering(path) not in there]


def _why_hidden(view: WikiView, wanted: str) -> str:
    """Of a guideline or skill that the owner rejected, or that says the same as one: that, and why; else empty."""
    name = next((each for each in (wanted, page_id(wanted), f"skill:{wanted}") if each in view.rejected), None)
    if name is None:
        held = next((each for each in (wanted, page_id(wanted), f"skill:{wanted}") if each in view.withheld), None)
        return f"held back: see `wiki review` ({held})" if held else ""
    rejected = view.state.config.rejected
    by = rejected_for(name, view.rejected, rejected, view.state.corpus)
    reason = f" ({plain_line(rejected[by], _MOST_WHY)})" if rejected.get(by) else ""
    same = "" if by == name else f"it says mostly the same as {by}, which was "
    return f"left out: {same or 'it was '}rejected{reason}"


def _paths_of(pages: WikiPages, wanted: str, wiki: Path) -> list[str]:
    """Every page with that name, by the most exact way in which any has it."""
    path = _path_in_wiki(wanted, wiki)
    if path in set(pages):
        return [path]
    if path.startswith("skills/") and (skill := "/".join([*path.split("/")[:2], "SKILL.md"])) in set(pages):
        return [skill]
    names = {each: pages.names(each) for each in pages}
    for position in range(3):
        exact = [each for each, found in names.items() if wanted in found[position]]
        if exact:
            return exact
    if len(wanted) < LEAST_PREFIX:
        return []
    begun = [each for each, found in names.items() if any(name.startswith(wanted) for name in found[0])]
    return begun or _titled(pages, wanted)


def _path_in_wiki(wanted: str, wiki: Path) -> str:
    """A path relative to the wiki; `wanted` may be relative to the wiki or to the current folder."""
    try:
        return Path(wanted).resolve().relative_to(wiki.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError):
        return wanted.removeprefix("./")
