"""Which new pages a run publishes, and `_waiting.jsonl`, which lists those that wait, one line a page, sorted by id.

What is published lies on disk; what waits is everything else that the records give. The list tells a page that waits
from one that is new, or that somebody deleted. Git merges it by keeping the lines of both sides; a page that either
side published is published. Without the list nothing waits.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agent_wiki.errors import UsageError
from agent_wiki.pages.waiting import LessonPage, chosen
from agent_wiki.pipeline.git_files import commit_of, paths_at
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import page_id
from agent_wiki.wiki.store import WikiFolder

NAME = "_waiting.jsonl"


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most so many new pages: those that the `commit` in git does not have; "" for those of the run."""

    most: int
    commit: str = ""


NewPages: TypeAlias = AtMost | Literal["all", "unlisted"]
"""What a run publishes of the pages that are not published yet: all, those that are not listed, or at most so many."""

_BEGUN = "new-pages.json"


def listed(folder: WikiFolder) -> set[str]:
    """The ids of pages that wait. A line that is none, as git's marks of a conflict, is left out."""
    lines = folder.text_or_empty(NAME).split("\n")
    return {name for line in lines if (name := _parsed(line))}


def waiting_pages(
    folder: WikiFolder, pages: Sequence[LessonPage], published: Collection[str], new_pages: NewPages
) -> list[LessonPage]:
    """Those of `pages` that wait after this run, the best first; the list on disk is replaced by theirs.

    In: every page that could be rendered, the best first; the ids of those that lie on disk. What a run that was
    killed had begun to publish counts as this run's, and so does what an earlier round of the same run published.
    """
    rest = [page for page in pages if page.id not in published]
    if new_pages == "all":
        waiting = []
    elif new_pages == "unlisted":
        names = listed(folder)
        waiting = [page for page in rest if page.id in names]
    else:
        waiting = _beyond(folder, pages, published, new_pages)
    _save(folder, waiting)
    return waiting


def at_most(most: int | None, since: str, wiki: Path) -> NewPages:
    """What options say: at most so many pages that are new since a revision, "" for this run. Raises `UsageError`."""
    if most is None:
        if since:
            raise UsageError("--new-since needs --max-new-pages")
        return "all"
    commit = commit_of(wiki if wiki.is_dir() else wiki.absolute().parent, since) if since else ""
    if since and not commit:
        raise UsageError(f"--new-since {since}: no such revision here")
    return AtMost(most, commit)


def _beyond(
    folder: WikiFolder, pages: Sequence[LessonPage], on_disk: Collection[str], limit: AtMost
) -> list[LessonPage]:
    begun = set(folder.read_machinery(_BEGUN) or ())
    before = {*on_disk} - begun
    if limit.commit:
        before &= set(map(page_id, paths_at(folder.root, limit.commit)))
    counted = {page.id for page in pages if page.id in on_disk and page.id not in before}
    rest = sorted((page for page in pages if page.id not in on_disk), key=lambda page: page.id not in begun)
    ours = chosen(rest, on_disk, max(limit.most - len(counted), 0))
    folder.write_machinery(_BEGUN, sorted(ours | begun.intersection(on_disk)))
    return [page for page in rest if page.id not in ours]


def end(folder: WikiFolder) -> None:
    """The run has published what it began to: the next one may publish as many more."""
    if folder.read_machinery(_BEGUN):
        folder.write_machinery(_BEGUN, [])


def _save(folder: WikiFolder, waiting: Sequence[LessonPage]) -> None:
    values: list[dict[str, Any]] = [{"id": each.id, "kind": each.kind, "title": each.title} for each in waiting]
    lines = [f"{json.dumps(each, ensure_ascii=False)}\n" for each in sorted(values, key=lambda each: str(each["id"]))]
    if lines:
        folder.write_text(NAME, "".join(lines))
    elif folder.read_text(NAME, errors="replace") is not None:
        folder.remove(NAME)


def _parsed(line: str) -> str:
    name = (object_in(line) or {}).get("id")
    return name if isinstance(name, str) else ""
