"""A night's diff: its own records and summaries, the indexes, and no page on which only a number would be another."""

from __future__ import annotations

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.sessions import SUMMARIZE, Arc, RecallEntry
from agent_wiki.pages.support import Evidence
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import catalog_of, indexes_of, stage, texts_of

_BEFORE, _NEW, _RULES = 300, 54, 40
_MOST = 120


def _session(number: int) -> SessionRecord:
    """The next session by date, of nineteen a day: it teaches what others taught and follows what others taught."""
    taught = GuidelineEntry(f"g{number % _RULES}", "T", "Rule", "W", "Y", evidence=(Evidence(1, "rule", "tool"),))
    followed = RecallEntry(f"g{(number + 7) % _RULES}", "T", "followed")
    stages = {
        SUMMARIZE: stage(SUMMARIZE, [Arc(f"Goal {number}", recalled=(followed,))]),
        EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, [taught]),
    }
    return SessionRecord(f"s-{number:03}", date=f"2026-01-{1 + number // 19:02}", stages=stages)


def test_54_sessions_on_300_that_confirm_what_is_known_change_their_own_files_and_the_indexes() -> None:
    task = {"title": "T", "intro": "I", "sessions": [f"s-{number:03}" for number in range(0, _BEFORE, 30)]}
    sessions = [_session(number) for number in range(_BEFORE + _NEW)]
    texts = []
    for found in (sessions[:_BEFORE], sessions):
        catalog = catalog_of(*found, config=Config(tasks={"t": task}))
        texts.append(texts_of(catalog) | indexes_of(catalog))
    before, after = texts
    assert sum(path.startswith("guidelines/") and "__" in path for path in before) == _RULES
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    own = {f"summaries/{session.session_id}.md" for session in sessions[_BEFORE:]}
    assert changed - own == {"index.md", "_index.jsonl", "guidelines/index.md", "summaries/index.md"}
    assert len(changed) + _NEW <= _MOST, "with the records"
