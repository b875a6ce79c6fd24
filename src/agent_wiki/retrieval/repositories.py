"""The repositories that a reader works in or names in a request, and what holds for one of them alone.

A repository counts where pages of the wiki hold for it (`scope`); it is known by its bare name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from agent_wiki.trajectory.repository import remote_name
from agent_wiki.wiki.scopes import repository_of_row

_FEWEST_WORDS = 2
_AROUND = "\"'`“”‘’()[]{}<>,.;:!?"


def bare_name(text: str) -> str:
    """The name of a repository that is given as `name`, as `owner/name` or by its address; empty for none."""
    return remote_name(text.strip()) or text.strip().lower()


def repositories_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The repositories for which alone some row holds, sorted."""
    return sorted({name for row in rows if (name := repository_of_row(row))})


def named_in(task: str, known: Collection[str]) -> frozenset[str]:
    """Which of these repositories a task names: as a word, as `owner/name`, or by its address.

    Neither the name of a file nor a part of a longer path is one: `cli.py` says nothing of a repository `cli`.
    """
    words = {_word(each) for each in task.lower().split()} if known else set()
    names = words | {bare_name(each) for each in words if each.count("/") == 1 or "://" in each or each[:4] == "git@"}
    return frozenset(names.intersection(known))


def _word(text: str) -> str:
    return re.sub("['’]s$", "", text.strip(_AROUND))


def without_names(task: str, names: Iterable[str]) -> str:
    """A task without the names of the repositories that it is for: pages that hold for them seldom have the name."""
    listed = "|".join(map(re.escape, sorted(filter(None, names))))
    rest = re.sub(rf"(?<![\w-])(?:{listed})(?:['’]s)?(?![\w-])", " ", task, flags=re.IGNORECASE) if listed else task
    return rest if len(rest.split()) >= _FEWEST_WORDS else task
