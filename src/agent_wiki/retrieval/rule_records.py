"""What the records of sessions say of rules: which rule of the embedded engine found which guideline or skill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_wiki.errors import UnreadablePage
from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.skill import SYNTHESIZE_SKILL, SkillEntry
from agent_wiki.pages.state import WikiView
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.records import SessionRecord


@dataclass(frozen=True, slots=True)
class Made:
    """One thing that a rule found: the session, and the guideline's id or the skill's name with its title."""

    session_id: str
    page: str
    title: str


def made_by_rules(wiki: Path, problems: list[str]) -> Iterator[tuple[str, Made]]:
    """Each rule that a record of the wiki names, with what it found. A record that cannot be read is a problem."""
    unreadable: list[UnreadablePage] = []
    records = read_wiki(wiki, unreadable).state.records
    problems += map(str, unreadable)
    for _, record in sorted(records.items()):
        for entry in _entries(record):
            if entry.rule_id:
                page = entry.name if isinstance(entry, SkillEntry) else entry.id
                yield entry.rule_id, Made(record.session_id, page, entry.title)


def rules_behind(view: WikiView, page: str) -> list[str]:
    """The rules that found a guideline (by its id) or a skill (by its name), sorted."""
    joined = view.guidelines.get(page) or view.skills.get(page)
    found = {each.entry.rule_id for each in joined.contributions} if joined is not None else set()
    return sorted(rule for rule in found if rule)


def _entries(record: SessionRecord) -> Iterator[GuidelineEntry | SkillEntry]:
    for stage in (EXTRACT_GUIDELINES, SYNTHESIZE_SKILL):
        yield from record.answer(stage) or ()
