"""What a page was on either branch before git merged it: then it is certain whether somebody had edited it.

Asked of git itself, and only after a merge. Where there is no git, or it does not know, no page was edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agent_wiki.pipeline.git_files import git_output, texts_at
from agent_wiki.wiki.generated import origin_of


def edited_before_merge(wiki: Path, paths: Iterable[str]) -> set[str]:
    """Those pages, by path in the wiki, edited on a side of the merge under way, or of the last merge."""
    names = sorted(paths)
    if not names or not wiki.is_dir():
        return set()
    asked = [(side, name) for side in _sides(wiki) for name in names]
    texts = texts_at(wiki, asked)
    return {name for (_, name), text in zip(asked, texts, strict=False) if origin_of(text or "") == "edited"}


def _sides(wiki: Path) -> tuple[str, ...]:
    if git_output(wiki, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"):
        return ("HEAD", "MERGE_HEAD")
    merge = git_output(wiki, "rev-list", "--merges", "--max-count=1", "HEAD").decode().strip()
    return (f"{merge}^1", f"{merge}^2") if merge else ()
