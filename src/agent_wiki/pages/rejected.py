"""What the owner retired for good, and what says the same in other words.

`rejected:` in the configuration names pages by id. What such a page said is kept beside the answers over several pages,
for a session that is read again may say it under another id. Without its line in the configuration a page is not
rejected, whatever is kept of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from agent_wiki.pages.compare.same_rule import Reading, alike, reading_of
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.pages.support import Joined
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_path
from agent_wiki.wiki.records import MadeBy
from agent_wiki.wiki.values import texts_of

STAGE = "reject"
KIND = "rejected"
_OWNER = "owner"
_SHARED_MEMBERS = 2  # a cluster that shares two members with a rejected one states its rule

Page = TypeVar("Page")
Entry = GuidelineEntry | SkillEntry


def record_of_rejected(page_id: str, answer: Mapping[str, Any], about: Iterable[str] = ()) -> tuple[str, CorpusRecord]:
    """Where the wiki keeps what a rejected page said, and the record. `about`: what else it is about, by id."""
    known_by = json.dumps([STAGE, page_id, answer], sort_keys=True)
    digest = hashlib.sha256(known_by.encode()).hexdigest()
    request = f"sha256:{digest}"
    record = CorpusRecord(KIND, (page_id, *about), MadeBy(STAGE, _OWNER, request), dict(answer))
    return corpus_path(request), record


def words_of(entry: Entry) -> dict[str, str]:
    """Title and rule of a lesson or workflow, for comparing."""
    if isinstance(entry, GuidelineEntry):
        return {"title": entry.title, "rule": entry.rule}
    steps = (f"{step.text} `{step.command}`" if step.command else step.text for step in entry.steps)
    return {"title": entry.title, "rule": " ".join([entry.description, *steps])}


def remembered(
    rejected: Collection[str], found: Mapping[str, Joined[Any]], corpus: Mapping[str, CorpusRecord]
) -> dict[str, CorpusRecord | None]:
    """What the wiki must keep of rejected pages, by path; None where it is no longer needed.

    `found` are the guidelines and skills that are left out, by id.
    """
    changes: dict[str, CorpusRecord | None] = {
        path: None
        for path, record in corpus.items()
        if record.kind == KIND and (record.about[0] not in rejected or record.about[0] in found)
    }
    for page_id in sorted(found.keys() & set(rejected)):
        path, record = record_of_rejected(page_id, words_of(found[page_id].entry))
        changes[path] = record
    return changes


def kept_of(rejected: Collection[str], corpus: Mapping[str, CorpusRecord], kind: str) -> Iterator[Mapping[str, Any]]:
    """What is kept of the rejected pages of a kind: `guideline`, `cluster`, `skill`, `task` or `subtask`."""
    for record in corpus.values():
        is_rejected = record.kind == KIND and record.about[0] in rejected
        if is_rejected and kind_of_id(record.about[0]) == kind and isinstance(record.answer, Mapping):
            yield record.answer


def kind_of_id(page_id: str) -> str:
    """The kind of a page by its id."""
    prefix, colon, _ = page_id.partition(":")
    return prefix if colon else "guideline"


def parted(
    pages: Mapping[str, Joined[Any]], rejected: Collection[str], corpus: Mapping[str, CorpusRecord], prefix: str = ""
) -> tuple[dict[str, Joined[Any]], dict[str, Joined[Any]]]:
    """The pages of a kind that stay, and those that are rejected by id or say what a rejected one says.

    `prefix` is what precedes a page's key in its id.
    """
    ids = {key for key in pages if f"{prefix}{key}" in rejected}
    kind = kind_of_id(prefix)
    words = [words_of(pages[key].entry) for key in sorted(ids)]
    known = kept_of(rejected, corpus, kind)
    words += [{name: str(each.get(name) or "") for name in ("title", "rule")} for each in known]
    if not words:
        return dict(pages), {}
    readings = [_reading(each) for each in words]
    gone = {key for key in pages.keys() - ids if _says_one_of(pages[key].entry, readings)} | ids
    return (
        {key: each for key, each in pages.items() if key not in gone},
        {f"{prefix}{key}": each for key, each in pages.items() if key in gone},
    )


def rejected_for(
    page_id: str, left_out: Mapping[str, Joined[Any]], rejected: Collection[str], corpus: Mapping[str, CorpusRecord]
) -> str:
    """The rejected page for which a guideline or skill is left out: itself, or one that says mostly the same."""
    if page_id in rejected:
        return page_id
    said = {name: words_of(left_out[name].entry) for name in sorted(left_out.keys() & set(rejected))}
    for record in corpus.values():
        if record.kind == KIND and record.about[0] in rejected and isinstance(record.answer, Mapping):
            said.setdefault(record.about[0], {each: str(record.answer.get(each) or "") for each in ("title", "rule")})
    own, kind = left_out[page_id].entry, kind_of_id(page_id)
    same = (name for name, words in said.items() if kind_of_id(name) == kind and _says_one_of(own, [_reading(words)]))
    return next(same, "")


def _says_one_of(entry: Entry, readings: Iterable[Reading]) -> bool:
    """Whether a lesson or workflow says what a rejected one says, in whatever words.

    A guideline that does not name all that the rejected one names is a wider rule: that "use X where Y is missing" is
    wrong does not make "always use X" wrong, which may have other sessions behind it. Workflows name too much for that.
    """
    own = _reading(words_of(entry))
    may_be_wider = isinstance(entry, GuidelineEntry)
    return any(alike(own, each) and not (may_be_wider and _is_wider(own, each)) for each in readings)


def _is_wider(own: Reading, rejected: Reading) -> bool:
    return not rejected.code | rejected.numbers <= own.code | own.numbers


def _reading(words: Mapping[str, str]) -> Reading:
    return reading_of(GuidelineView("", words["title"], words["rule"], "", "", ()))


def is_rejected_cluster(
    slug: str, members: Iterable[str], rejected: Collection[str], corpus: Mapping[str, CorpusRecord]
) -> bool:
    """Whether a cluster is rejected: by its name, or because it joins guidelines that a rejected one joined."""
    own = set(members)
    return f"cluster:{slug}" in rejected or any(
        len(own.intersection(texts_of(kept.get("members")))) >= _SHARED_MEMBERS
        for kept in kept_of(rejected, corpus, "cluster")
    )


def is_rejected_task(
    slug: str, sessions: Iterable[str], rejected: Collection[str], corpus: Mapping[str, CorpusRecord]
) -> bool:
    """Whether a task is rejected: by its name, or because it compares most of the sessions of a rejected one."""
    own = set(sessions)
    return f"task:{slug}" in rejected or any(
        2 * len(own.intersection(known)) > len(known)
        for known in (texts_of(kept.get("sessions")) for kept in kept_of(rejected, corpus, "task"))
        if known
    )


def is_rejected_subtask(
    slug: str, parent: str, turns: Collection[int], rejected: Collection[str], corpus: Mapping[str, CorpusRecord]
) -> bool:
    """Whether a subtask is rejected: by its name, or because it shows turns of a session that a rejected one showed."""
    return f"subtask:{slug}" in rejected or any(
        kept.get("parent_session_id") == parent and not set(turns).isdisjoint(kept.get("turns") or ())
        for kept in kept_of(rejected, corpus, "subtask")
    )
