"""What `wiki forget` takes out of a wiki's journal and of the texts that are kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from agent_wiki.asking.journal import journal_folder
from agent_wiki.asking.journal_lines import Record, line_of, parsed_line
from agent_wiki.asking.journal_store import JournalStore
from agent_wiki.asking.tool_results import results_folder
from agent_wiki.readers.stored_objects import created, deleted, fetched
from agent_wiki.wiki.layout import MACHINERY
from agent_wiki.wiki.replacing import expect_no_link, replacing

_OF_NO_SESSION = ("run", "endpoint", "batch-ended")
_OF_BATCHES = ("batch-begun", "batch")

IsForgotten = Callable[[Record], bool]
"""Whether a record, or the head of a request in a batch, is about what is to be forgotten. All have `about`."""


def forget_in_journal(wiki: Path, is_forgotten: IsForgotten, *, is_dry_run: bool) -> dict[str, int]:
    """Take out the lines that are about what is forgotten, and those of which nobody can tell what they are about.

    Lines without `about` were written by an earlier version; what came of them is in the records. Texts that no line
    names any more go too. Out: path in the wiki → number of lines that went, 0 for a file that went whole. Raises
    `UnsafePath` where a link could lead out of the wiki.
    """
    folder, results = journal_folder(wiki), results_folder(wiki)
    expect_no_link(wiki / MACHINERY, folder, results)
    gone: dict[str, int] = {}
    named: set[str] = set()
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as stream:
            kept, count = _without(stream, is_forgotten)
        named.update(_texts_named(kept))
        if count:
            gone[f"{MACHINERY}/journal/{path.name}"] = count
            if not is_dry_run:
                _rewrite(path, kept)
    for path in sorted(each for each in results.glob("*") if each.stem not in named) if results.is_dir() else ():
        gone[f"{MACHINERY}/{results.name}/{path.name}"] = 0
        if not is_dry_run:
            path.unlink()
    return gone


def forget_in_store(address: str, is_forgotten: IsForgotten, *, is_dry_run: bool) -> dict[str, int]:
    """The same in a journal's second place, in a bucket. Out: address of an object → number of lines that went.

    Raises `RunError` where the store fails.
    """
    gone: dict[str, int] = {}
    for path in list(JournalStore(address).objects()):
        found = fetched(path)
        kept, count = _without(found.content.splitlines(keepends=True) if found else (), is_forgotten)
        if found and count:
            gone[str(path)] = count
            if not is_dry_run:
                deleted(path)
                if kept:
                    created(path, b"".join(kept))
    return gone


def _without(lines: Iterable[bytes], is_forgotten: IsForgotten) -> tuple[list[bytes], int]:
    """The lines of a file that stay, and how many change or go. A file that would be empty has no line that stays."""
    kept: list[bytes] = []
    count = 0
    has_content = False
    for line in lines:
        record = parsed_line(line)
        left = None if record is None else _left_of(record, is_forgotten)
        count += left != record or record is None
        if left is not None:
            kept.append(line if left == record else line_of(left))
            has_content = has_content or left.get("kind") != "run"
    return (kept if has_content else []), count


def _left_of(record: Record, is_forgotten: IsForgotten) -> Record | None:
    """What stays of a record; None for nothing."""
    kind = record.get("kind")
    if kind in _OF_NO_SESSION:
        return record
    if kind in _OF_BATCHES:
        heads = record.get("requests")
        left = [each for each in heads if _stays(each, is_forgotten)] if isinstance(heads, list) else []
        return {**record, "requests": left} if left else None
    return record if _stays(record, is_forgotten) else None


def _stays(record: object, is_forgotten: IsForgotten) -> bool:
    return isinstance(record, dict) and isinstance(record.get("about"), list) and not is_forgotten(record)


def _texts_named(lines: list[bytes]) -> Iterator[str]:
    """The digests of the texts that previews shorten."""
    for line in lines:
        record = parsed_line(line) or {}
        if record.get("kind") in ("tool-result", "text"):
            yield str(record.get("content"))


def _rewrite(path: Path, lines: list[bytes]) -> None:
    if not lines:
        path.unlink()
        return
    with replacing(path, 0o600) as stream:
        stream.writelines(lines)
