"""Whether a finished wiki holds what redaction would take out: the gate before it leaves the machine, as a check."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.pipeline.leaks import leaks
from agent_wiki.wiki.text import counted


def _found(wiki: CheckedWiki) -> Iterator[Spot]:
    for found in leaks(wiki.folder.root):
        what = f"a live-looking secret: {found.kind}, {counted(found.length, 'character')}"
        yield Spot(found.file, what, found.line)


SECRETS = (
    Check(
        "secrets/found",
        "A file of the wiki, or its name, holds what looks like a live secret.",
        "replace the key where it is used and run wiki redact; where it is no secret, wiki secrets --wiki W --allow"
        " FILE:LINE --why TEXT",
        _found,
        "files",
    ),
)
