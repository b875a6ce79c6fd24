"""What another wiki says of itself: without its recordings, and unless the owner trusts it, strangers said all of it.

A record that was joined names the wiki that it comes from, until its recording is read here. Its lessons keep their
words and quotes; whose words they are and how sure their cause is, nobody here has seen.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.judged import STAGES
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.pages.support import Evidence
from agent_wiki.wiki.records import SessionRecord

_UNSEEN = "another wiki says so; its recording was not read here"


def as_seen_here(record: SessionRecord, trusted: Collection[str]) -> SessionRecord:
    """The record with the trust that this wiki gives it. `trusted`: what the owner's `trust:` names."""
    if record.joined_from is None:
        return record
    if record.joined_from in trusted:
        return replace(record, joined_from=None)
    stages = {
        name: replace(made, answer=tuple(map(_unseen, made.answer))) if name in STAGES and made.answer else made
        for name, made in record.stages.items()
    }
    return record.with_stages(stages)


def _unseen(entry: Any) -> Any:
    if isinstance(entry, Arc):
        dead_ends = tuple(replace(note, trust="external") for note in entry.dead_ends)
        return replace(entry, dead_ends=dead_ends) if dead_ends else entry
    if not isinstance(entry, GuidelineEntry | SkillEntry):
        return entry
    evidence = tuple([Evidence(cited.turn, cited.quote, "external") for cited in entry.evidence])
    if isinstance(entry, SkillEntry):
        return replace(entry, evidence=evidence)
    return replace(entry, evidence=evidence, cause="asserted", cause_shown=_UNSEEN)
