"""What a reader should know of repositories beside the pages found: whether theirs is known, and which others are.

Names come from the index, which is not trusted: they are shown as plain text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from agent_wiki.retrieval.consulting import Hit, consult
from agent_wiki.retrieval.index import opened
from agent_wiki.retrieval.repositories import bare_name
from agent_wiki.wiki.scopes import repository_of_row
from agent_wiki.wiki.text import plain_line

_MOST_NAMED = 5
_MOST_NAME = 80


def unknown_repository(wiki: Path, repository: str) -> str | None:
    """One line that no page holds for a repository alone, with those that pages hold for; None where one does.

    In: the repository as `name`, `owner/name` or an address. Raises `UsageError` if the folder is not a wiki.
    """
    name, known = bare_name(repository), opened(wiki).repositories
    if name in known:
        return None
    others = f"there are pages for {_listed(known)} alone" if known else "nor for any other one"
    return f"no page is for the repository {plain_line(name, _MOST_NAME)} alone; {others}"


def unknown_tags(wiki: Path, tags: Collection[str]) -> str | None:
    """One line that names those of the tags that no page has; None where each has one.

    Raises `UsageError` if the folder is not a wiki.
    """
    known = {tag for _, own in opened(wiki).topics for tag in own}
    unknown = [tag for tag in tags if tag.casefold() not in known]
    return f"no page has the tag {_listed(unknown, ' or ')}" if unknown else None


def nothing_applies(
    wiki: Path,
    task: str,
    tags: Collection[str],
    kinds: Collection[str],
    repository: str | None,
    named_by: str = "--repository",
) -> str:
    """One line for a task to which nothing applies in a repository: with the other ones whose pages would apply.

    `named_by` is what the asker would name one of those by.
    """
    hits: Sequence[Hit] = consult(wiki, task, tags=tags, kinds=kinds) if repository else ()
    names = {name for hit in hits if (name := repository_of_row(hit.row))}
    line = "nothing in the wiki applies"
    return f"{line} here, only what holds for {_listed(names)} alone ({named_by})" if names else line


def _listed(names: Collection[str], between: str = ", ") -> str:
    shown = [plain_line(each, _MOST_NAME) for each in sorted(names)]
    return between.join([*shown[:_MOST_NAMED], *(["others"] if len(shown) > _MOST_NAMED else [])])
