"""What a page was on either branch before git merged it: then it is certain whether somebody had edited it.

Asked of git itself, and only after a merge. Where there is no git, or it does not know, no page was edited.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent_wiki.wiki.generated import origin_of

_SECONDS = 60


def edited_before_merge(wiki: Path, paths: Iterable[str]) -> set[str]:
    """Those pages, by path in the wiki, edited on a side of the merge under way, or of the last merge."""
    names = sorted(paths)
    if not names or not wiki.is_dir():
        return set()
    sides = _sides(wiki)
    asked = [(side, name) for side in sides for name in names]
    output = _git(wiki, "cat-file", "--batch", given="".join(f"{side}:./{name}\n" for side, name in asked))
    texts = _contents(output, len(asked))
    return {name for (_, name), text in zip(asked, texts, strict=False) if origin_of(text) == "edited"}


def _sides(wiki: Path) -> tuple[str, ...]:
    if _git(wiki, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"):
        return ("HEAD", "MERGE_HEAD")
    merge = _git(wiki, "rev-list", "--merges", "--max-count=1", "HEAD").decode().strip()
    return (f"{merge}^1", f"{merge}^2") if merge else ()


def _contents(output: bytes, count: int) -> Iterator[str]:
    """The texts that `git cat-file --batch` printed, in order; of an object that there is not an empty one."""
    at = 0
    for _ in range(count):
        end = output.find(b"\n", at)
        fields = output[at:end].split(b" ")
        at = end + 1
        if end < 0:
            return
        size = int(fields[2]) if len(fields) == 3 and fields[1] == b"blob" else None
        yield "" if size is None else output[at : at + size].decode("utf-8", "replace")
        at += 0 if size is None else size + 1


def _git(wiki: Path, *arguments: str, given: str = "") -> bytes:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=wiki, input=given.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return b"" if done.returncode else done.stdout
