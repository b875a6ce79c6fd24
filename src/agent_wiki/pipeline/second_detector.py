"""A second detector beside our own shapes: Kingfisher, where the extra `secrets` is installed.

Only its search is used. Its validators, which ask the services that a key belongs to, are never called.
"""

from __future__ import annotations

import importlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from agent_wiki.errors import UsageError
from agent_wiki.redaction.looks import looks_like_a_stand_in
from agent_wiki.redaction.places import SecretPlace, value_digest

NAMES = ("kingfisher",)
_BLOCK_BYTES = 1 << 22

Detector = Callable[[Sequence[str]], Iterator[SecretPlace]]
"""The lines of a file → the secrets that it finds there."""


def detector_named(name: str) -> Detector | None:
    """The detector of that name, None for none. Raises `UsageError` for another, and where it is not installed."""
    if not name:
        return None
    if name not in NAMES:
        raise UsageError(f"--detector {name}: there is {', '.join(NAMES)}")
    try:
        scanner = importlib.import_module("kingfisher_sdk").Scanner()
    except ImportError as error:
        raise UsageError("--detector kingfisher needs its package: pip install 'agent-wiki[secrets]'") from error
    return lambda lines: _places(scanner, lines)


def with_second(detector: Detector | None, lines: Sequence[str], own: Iterable[SecretPlace]) -> Iterator[SecretPlace]:
    """Our own findings, and those of the second detector that overlap with none of them."""
    taken: dict[int, list[SecretPlace]] = {}
    for place in own:
        taken.setdefault(place.line, []).append(place)
        yield place
    for place in detector(lines) if detector else ():
        if not any(_overlap(place, each) for each in taken.get(place.line, ())):
            yield place


def _overlap(one: SecretPlace, other: SecretPlace) -> bool:
    return one.column < other.column + other.length and other.column < one.column + one.length


def _places(scanner: Any, lines: Sequence[str]) -> Iterator[SecretPlace]:
    """Each block of lines is searched for itself: the library takes a text whole."""
    first, size, block = 0, 0, list[bytes]()
    for number, line in enumerate(lines):
        encoded = line.encode("utf-8", "replace")
        if block and size + len(encoded) > _BLOCK_BYTES:
            yield from _in_block(scanner, block, first)
            first, size, block = number, 0, []
        block.append(encoded)
        size += len(encoded) + 1
    if block:
        yield from _in_block(scanner, block, first)


def _in_block(scanner: Any, block: Sequence[bytes], first: int) -> Iterator[SecretPlace]:
    scanner.reset_dedup()  # else a key that another file had is not reported
    begins = [0, *accumulate(len(line) + 1 for line in block)]
    for finding in scanner.scan(b"\n".join(block)):
        if not finding.visible or looks_like_a_stand_in(finding.secret):
            continue
        start, end = (int(finding.location[name]) for name in ("start_offset", "end_offset"))
        index = bisect_right(begins, start) - 1
        line = block[index]
        column, until = start - begins[index], min(end - begins[index], len(line))
        before, found = (part.decode("utf-8", "replace") for part in (line[:column], line[column:until]))
        kind = f"kingfisher-{str(finding.rule_id).rpartition('.')[2]}"
        yield SecretPlace(first + index + 1, len(before) + 1, len(found), kind, value_digest(found))
