"""The kinds of pages, in the order in which the index prefers them. A new kind is a line here.

A page's place decides its kind: the folder, and the end of its name. Layout, indexes, retrieval and reports are made
from this tuple; nothing else lists kinds.
"""

from __future__ import annotations

from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class PageKind:
    """One kind of page: `<folder>/<slug><suffix>.md`, or `<folder>/<slug>/SKILL.md` where it has a folder of its own.

    `is_indexed` says whether `_index.jsonl` has a row for it; `id_prefix` is what ids of the kind begin with, but for a
    kind that `has_plain_ids`.
    """

    name: str
    folder: str
    suffix: str = ""
    is_indexed: bool = True
    has_own_folder: bool = False
    may_be_archived: bool = False
    has_plain_ids: bool = False

    @property
    def id_prefix(self) -> str:
        return f"{self.name}:"


KINDS: tuple[PageKind, ...] = (
    PageKind("cluster", "guidelines", "__cluster", may_be_archived=True),
    PageKind("skill", "skills", has_own_folder=True),
    PageKind("guideline", "guidelines", may_be_archived=True, has_plain_ids=True),
    PageKind("task", "tasks", "__task"),
    PageKind("subtask", "tasks", "__subtask"),
    PageKind("summary", "summaries", is_indexed=False, has_plain_ids=True),
)

EPISODE = "episode"
"""The kind of a row that stands for the dead ends of a summary, and leads to it."""

INDEXED = (*(kind.name for kind in KINDS if kind.is_indexed), EPISODE)
"""The kinds of rows in the index, in its order of preference."""

LESSONS = frozenset(kind.name for kind in KINDS if kind.is_indexed)
"""The kinds of pages that say what was learnt, not what a session did."""

FOLDERS = tuple(dict.fromkeys(kind.folder for kind in KINDS))
