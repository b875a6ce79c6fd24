"""Which pages are new, changed or retired: the rows of two indexes compared, and the words of pages that differ.

Only what a page means counts. Which sessions support it, its tags and the cluster that gathers it change with every
night; pages of which nothing else changed are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field
from typing import Any, Literal

from agent_wiki.errors import UnreadablePage
from agent_wiki.retrieval.fuse import AGAINST
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.kinds import EPISODE
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.text import counted
from agent_wiki.wiki.values import count_or_none, text_or_none, texts_of

Row = Mapping[str, Any]
PageChange = Literal["new", "changed", "retired"]

_WORDS = {"title": "title", "summary": "words", "trigger": "when it applies", "link": "place"}
_GRADES = ("cause", "trust", "scope")
_DERIVED = frozenset(
    {"Cause", "Lessons", "Members", "Sources", "Used by"}
)  # sections that say what rows do, or other pages


@dataclass(frozen=True, slots=True)
class CitedTurn:
    """A turn that a page cites, and the summary of its session; "" where summaries are not in git."""

    session_id: str
    turn: int
    summary: str


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """A page that is new, changed or retired. `why`: what changed, or why it is gone; `rule`: what it says, in short.

    `support`: sessions that it comes from, None for unknown; `cited` its first turn, `citations` how many it has.
    `is_unseen`: it became so since a revision that somebody has looked at; None where none was named.
    """

    change: PageChange
    kind: str
    id: str
    title: str
    rule: str
    link: str
    why: tuple[str, ...] = ()
    cause: str | None = None
    trust: str | None = None
    scope: str | None = None
    support: int | None = None
    cited: CitedTurn | None = None
    citations: int = 0
    is_unseen: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values; what is not known is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != ()}


@dataclass(slots=True)
class ComparedPages:
    """What became of the pages of an index. `minor`: those of which only counts, tags or clusters changed."""

    new: list[ChangedPage] = field(default_factory=list)
    changed: list[ChangedPage] = field(default_factory=list)
    retired: list[ChangedPage] = field(default_factory=list)
    minor: int = 0

    def all(self) -> list[ChangedPage]:
        return [*self.new, *self.changed, *self.retired]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        lists = {"new": self.new, "changed": self.changed, "retired": self.retired}
        return {name: [each.to_json() for each in pages] for name, pages in lists.items()} | {"minor": self.minor}


def compared_pages(before: Iterable[Row], after: Iterable[Row], texts: Mapping[str, tuple[str, str]]) -> ComparedPages:
    """Compare the rows of two indexes. `texts`: a page's text then and now, by path, of the files that differ."""
    old, new, found = _by_id(before), _by_id(after), ComparedPages()
    for key, row in new.items():
        if key not in old:
            found.new.append(_page("new", row))
        elif why := tuple(_differences(old[key], row, texts)):
            found.changed.append(_page("changed", row, why))
        elif old[key] != row or row["link"] in texts:
            found.minor += 1
    found.retired = [_page("retired", row) for key, row in old.items() if key not in new]
    return found


def _by_id(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """The pages among the rows, each once, in the order of the index."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row["kind"] != EPISODE:
            found.setdefault((str(row["kind"]), str(row.get("id"))), row)
    return found


def _page(change: PageChange, row: Row, why: tuple[str, ...] = ()) -> ChangedPage:
    support = row.get("support")
    grades: dict[str, Any] = {name: text_or_none(row.get(name)) for name in _GRADES}
    return ChangedPage(
        change=change,
        kind=str(row["kind"]),
        id=str(row.get("id") or ""),
        title=str(row.get("title") or ""),
        rule=str(row.get("summary") or ""),
        link=str(row["link"]),
        why=why,
        support=count_or_none(support.get("sessions")) if isinstance(support, dict) else None,
        **grades,
    )


def _differences(old: Row, new: Row, texts: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """What changed in the meaning of a page, in a few words each."""
    words = [said for name, said in _WORDS.items() if old.get(name) != new.get(name)]
    if not words and new["link"] in texts:
        words = ["text"] if _has_other_words(str(new["link"]), *texts[str(new["link"])]) else []
    yield from words
    for name in _GRADES:
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name) or 'unknown'} → {new.get(name) or 'unknown'}"
    yield from _of_members(texts_of(old.get("members")), texts_of(new.get("members")))
    against = _against(new) - _against(old)
    if against > 0:
        yield f"{counted(against, 'session')} more spoke against it"


def _of_members(old: list[str], new: list[str]) -> Iterator[str]:
    for said, number in (("more", len({*new} - {*old})), ("fewer", len({*old} - {*new}))):
        if number:
            yield f"{number} {said} {'member' if number == 1 else 'members'}"


def _against(row: Row) -> int:
    used = row.get("used")
    return sum(count_or_none(used.get(status)) or 0 for status in AGAINST) if isinstance(used, dict) else 0


def _has_other_words(path: str, old: str, new: str) -> bool:
    try:
        return _words(path, old) != _words(path, new)
    except UnreadablePage:
        return True


def _words(path: str, text: str) -> str:
    """What a page says itself: not its frontmatter, nor what follows from other pages."""
    chunks = parse_page(text, path).chunks
    return "".join(chunk for chunk in chunks if chunk.partition("\n")[0][3:].strip() not in _DERIVED)
