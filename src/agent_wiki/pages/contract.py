"""`AGENTS.md`, the contract for an agent with no tool but a file reader, with an example from the wiki's own pages.

The last line of the file is a digest of its text. As long as it matches, the file is rendered with the pages, so that
the same sessions give the same bytes in whatever order they came; once a word is changed, the file is its owner's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agent_wiki.pages.index_shards import MOST_ROWS, sessions_of
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.wiki.generated import CONFLICT_MARKERS, has_conflict
from agent_wiki.wiki.scopes import repository_of_row
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_code, plain_line
from agent_wiki.wiki.thresholds import at_least

_MARK = re.compile(r"_Made by `wiki` \(sha256:([0-9a-f]{64})\); change a word and this file is yours\._\s*\Z")
_ANY_MARK = re.compile(r"^_Made by `wiki` \(sha256:[0-9a-f]{64}\); change a word", re.MULTILINE)
_KINDS = ("cluster", "guideline")


def contract(example: Mapping[str, Any] | None, templates: Templates, *, is_sharded: bool) -> str:
    """The text of `AGENTS.md` for a wiki with this example, and whether its index comes in shards as well."""
    variables = {"example": example, "is_sharded": is_sharded, "most_rows": MOST_ROWS}
    text = templates.render("agents.md", **variables)
    mark = f"_Made by `wiki` (sha256:{_digest(text)}); change a word and this file is yours._"
    return f"{text.rstrip()}\n\n{mark}\n"


def is_its_owners(text: str, example: Mapping[str, Any] | None, templates: Templates) -> bool:
    """Whether somebody else wrote or changed an existing `AGENTS.md`. In: the wiki's example as it is now."""
    if len(_ANY_MARK.findall(text)) > 1 or has_conflict(text):
        return _is_written_into(text, example, templates)
    match = _MARK.search(text)
    return match is None or _digest(text[: match.start()]) != match[1]


def _is_written_into(merged: str, example: Mapping[str, Any] | None, templates: Templates) -> bool:
    """Whether git merged more than two versions of this program's: a line that none explains, or one that is gone.

    What the example says depends on the index of each side; of its lines the first two words are known.
    """
    versions = [
        set(contract(each, templates, is_sharded=is_sharded).splitlines())
        for each in (example, None)
        for is_sharded in (False, True)
    ]
    same, known = versions[0].intersection(*versions), versions[0].union(*versions)
    beginnings = {tuple(line.split()[:2]) for line in known - same}
    lines = {line for line in merged.splitlines() if not line.startswith(CONFLICT_MARKERS)}
    return not same <= lines or any(tuple(line.split()[:2]) not in beginnings for line in lines - known)


def _digest(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()  # git may change line ends
    return sha256_of(text)


class ExampleSearch:
    """What the example is about: the page with the most supporting sessions, clusters before guidelines.

    Sessions are counted in steps, so that this file does not change with every session.

    What holds for one repository alone comes last: elsewhere `wiki consult` does not show it.

    This file is what an agent trusts most. So a page must have a trigger, a cause that its recording shows (a cluster:
    one of its members), and no words of strangers; a skill, which may have scripts, is none.
    """

    def __init__(self) -> None:
        self._triggers: dict[str, str] = {}
        self._checked: set[str] = set()  # ids of guidelines
        self._clusters: list[Mapping[str, Any]] = []  # which may have the trigger of a member
        self._best: tuple[tuple[bool, int, int, str], Mapping[str, Any]] | None = None

    def add(self, row: Mapping[str, Any], supporting: int) -> None:
        """Take a row of the index and the number of its sessions into account; the order of rows is of no account."""
        if row["trigger"]:
            self._triggers[row["id"]] = row["trigger"]
        if row.get("cause") == "checked" and row.get("trust") != "external":
            self._checked.add(row["id"])
        if row["kind"] in _KINDS and row["tags"] and row.get("trust") != "external":
            if row["kind"] == "cluster":
                self._clusters.append(row)
            elif row["trigger"] and row["id"] in self._checked:
                self._compare(row, supporting)

    def _compare(self, row: Mapping[str, Any], supporting: int) -> None:
        rank = (bool(repository_of_row(row)), _KINDS.index(row["kind"]), -at_least(supporting), row["id"])
        if self._best is None or rank < self._best[0]:
            self._best = (rank, row)

    def found(self) -> dict[str, Any] | None:
        """The example as the template needs it, once all rows are added."""
        for row in self._clusters:
            if self._checked.isdisjoint(row.get("members", ())):
                continue
            members = (self._triggers[each] for each in row["members"] if each in self._triggers)
            trigger = row["trigger"] or next(members, "")
            if trigger:
                self._compare({**row, "trigger": trigger}, sessions_of(row))
        return None if self._best is None else _view(self._best[1])


def _view(row: Mapping[str, Any]) -> dict[str, Any]:
    tags = [plain_line(tag.replace("`", ""), 40) for tag in row["tags"][:4]]
    return {
        "kind": row["kind"],
        "title": plain_line(row["title"], 120),
        "situation": plain_line(row["trigger"], 200),
        "tags": [tag for tag in tags if tag],
        "link": row["link"],
        "repository": plain_code(repository_of_row(row) or "", 80),
        "sessions": at_least(sessions_of(row)),
        "members": len(row.get("members", ())),
    }
