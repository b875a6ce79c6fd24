"""Which settled sessions (`pages/settled`) need not be read: what has to be as it was when they settled."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from agent_wiki.pages import judged
from agent_wiki.pages.index_pages import MOST_LISTED
from agent_wiki.pages.rejected import words_of
from agent_wiki.pages.settled import Settled
from agent_wiki.pages.state import WikiView
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.wiki.config import without_tag_lines
from agent_wiki.wiki.corpus_records import FOLDER as CORPUS
from agent_wiki.wiki.files import Signature


def but_the_newest(settled: Sequence[Settled]) -> list[Settled]:
    """All but those that the summaries' index lists and of which it is not remembered what that says."""
    newest = heapq.nlargest(MOST_LISTED, settled, key=lambda each: (each.facts.date, each.facts.session_id))
    unknown = {each.facts.session_id for each in newest if each.facts.row is None}
    return [each for each in settled if each.facts.session_id not in unknown]


def terms_of(view: WikiView, config_text: str, files: Mapping[str, Signature], templates: str) -> str:
    """In a digest, what pages of settled sessions depend on besides their records and lines of tags.

    In: the view of at least all sessions that are not settled; the configuration; the wiki's files; the digest of the
    templates. A skill may cover a guideline of any session, and a rejected page hide one; a judge with other rules may
    hold back any page.
    """
    answers = sorted((path, signature) for path, signature in files.items() if path.startswith(f"{CORPUS}/"))
    skills = [(name, each.entry.words, each.entry.trigger) for name, each in view.skills.items()]
    rejected = [(name, words_of(each.entry)) for name, each in sorted(view.rejected.items())]
    values = (judged.VERSION, templates, without_tag_lines(config_text), answers, skills, rejected)
    return sha256_of(repr(values))
