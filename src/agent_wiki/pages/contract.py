"""`AGENTS.md`, the contract for an agent with no tool but a file reader, with an example from the wiki's own pages.

The last line of the file is a digest of its text. As long as it matches, the file is rendered with the pages, so that
the same sessions give the same bytes in whatever order they came; once a word is changed, the file is its owner's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from agent_wiki.pages.index_shards import CONTENTS, MOST_ROWS
from agent_wiki.wiki.generated import CONFLICT_MARKERS, has_conflict
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

_MARK = re.compile(r"_Made by `wiki` \(sha256:([0-9a-f]{64})\); change a word and this file is yours\._\s*\Z")
_ANY_MARK = re.compile(r"^_Made by `wiki` \(sha256:[0-9a-f]{64}\); change a word", re.MULTILINE)
_KINDS = ("cluster", "skill", "guideline")


def contract(index: str, files: Mapping[str, str], templates: Templates) -> str:
    """The text of `AGENTS.md` for a wiki with this `_index.jsonl` and these index files."""
    variables = {"example": worked_example(index), "is_sharded": CONTENTS in files, "most_rows": MOST_ROWS}
    text = templates.render("agents.md", **variables)
    return f"{text.rstrip()}\n\n{_mark(text)}\n"


def is_its_owners(text: str, index: str, templates: Templates) -> bool:
    """Whether somebody else wrote or changed an existing `AGENTS.md`. In: the wiki's `_index.jsonl` as it is now."""
    if len(_ANY_MARK.findall(text)) > 1 or has_conflict(text):
        return _is_written_into(text, index, templates)
    match = _MARK.search(text)
    return match is None or _digest(text[: match.start()]) != match[1]


def _is_written_into(merged: str, index: str, templates: Templates) -> bool:
    """Whether git merged more than two versions of this program's: a line that none explains, or one that is gone.

    What the example says depends on the index of each side; of its lines the first two words are known.
    """
    versions = [
        set(contract(each, files, templates).splitlines()) for each in (index, "") for files in ({}, {CONTENTS: ""})
    ]
    same, known = versions[0].intersection(*versions), versions[0].union(*versions)
    beginnings = {tuple(line.split()[:2]) for line in known - same}
    lines = {line for line in merged.splitlines() if not line.startswith(CONFLICT_MARKERS)}
    return not same <= lines or any(tuple(line.split()[:2]) not in beginnings for line in lines - known)


def _mark(text: str) -> str:
    return f"_Made by `wiki` (sha256:{_digest(text)}); change a word and this file is yours._"


def _digest(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()  # git may change line ends
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def worked_example(index: str) -> dict[str, Any] | None:
    """What the example is about: the page with the most supporting sessions, clusters and skills before guidelines.

    None when no page has a trigger, or all are based on external text: this file is what an agent trusts most.
    """
    rows = [json.loads(line) for line in index.split("\n") if line]
    triggers = {row["id"]: row["trigger"] for row in rows if row["trigger"]}
    found: list[tuple[int, int, str, dict[str, Any]]] = []
    for row in rows:
        situation = row["trigger"] or next((triggers[each] for each in row.get("members", ()) if each in triggers), "")
        if row["kind"] in _KINDS and situation and row["tags"] and row.get("trust") != "external":
            sessions = _sessions(row)
            found.append((_KINDS.index(row["kind"]), -sessions, row["id"], _view(row, situation, sessions)))
    return min(found, key=lambda each: each[:3])[3] if found else None


def _view(row: Mapping[str, Any], situation: str, sessions: int) -> dict[str, Any]:
    tags = [plain_line(tag, 40).replace("`", "") for tag in row["tags"][:4]]
    return {
        "kind": row["kind"],
        "title": plain_line(row["title"], 120),
        "situation": plain_line(situation, 200),
        "tags": [tag for tag in tags if tag],
        "link": row["link"],
        "sessions": sessions,
        "members": len(row.get("members", ())),
    }


def _sessions(row: Mapping[str, Any]) -> int:
    support = row.get("support")
    count = support.get("sessions") if isinstance(support, dict) else None
    return count if isinstance(count, int) else 0
