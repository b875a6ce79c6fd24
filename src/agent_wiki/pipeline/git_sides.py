"""What a page was on either branch before git merged it: then it is certain whether somebody had edited it.

Asked of git itself, and only after a merge. Where there is no git, or it does not know, no page was edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from agent_wiki.pipeline.git_files import git_output, texts_at
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.generated import origin_of


@dataclass(frozen=True, slots=True)
class Sides:
    """Of the merge under way, or of the last one, by path in the wiki.

    `edited`: pages that somebody had edited on either side; `rendered`: the texts of those that both sides had as this
    program renders them.
    """

    edited: frozenset[str] = frozenset()
    rendered: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def sides_of_merge(wiki: Path, paths: Iterable[str]) -> Sides:
    """What is known of these pages."""
    names = sorted(paths)
    sides = _sides(wiki) if names and wiki.is_dir() else ()
    if not sides:
        return Sides()
    texts = [text or "" for text in texts_at(wiki, [(side, name) for side in sides for name in names])]
    edited: set[str] = set()
    rendered: dict[str, tuple[str, str]] = {}
    for name, one, two in zip(names, texts, texts[len(names) :], strict=False):
        origins = {origin_of(one), origin_of(two)}
        if "edited" in origins:
            edited.add(name)
        elif origins == {"generated"}:
            rendered[name] = (one, two)
    return Sides(frozenset(edited), rendered)


def _sides(wiki: Path) -> tuple[str, ...]:
    if git_output(wiki, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"):
        return ("HEAD", "MERGE_HEAD")
    merge = git_output(wiki, "rev-list", "--merges", "--max-count=1", "HEAD").decode().strip()
    return (f"{merge}^1", f"{merge}^2") if merge else ()
