"""A night's diff: its own records and summaries, the indexes, and no page on which only a number would be another."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.sessions import SUMMARIZE, Arc, RecallEntry
from agent_wiki.pages.support import Evidence
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import catalog_of, indexes_of, stage, texts_of

_BEFORE, _NEW, _RULES = 300, 54, 40
_MOST = 120
_LISTS = {"_index.jsonl", "summaries/index.md"}


def _session(number: int, rule: int | None = None) -> SessionRecord:
    """The next session by date, of nineteen a day: it teaches what others taught and follows what others taught."""
    name = f"g{number % _RULES if rule is None else rule}"
    taught = GuidelineEntry(name, "T", "Rule", "W", "Y", evidence=(Evidence(1, "rule", "tool"),))
    followed = RecallEntry(f"g{(number + 7) % _RULES}", "T", "followed")
    stages = {
        SUMMARIZE: stage(SUMMARIZE, [Arc(f"Goal {number}", tool_calls=3, recalled=(followed,))]),
        EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, [taught]),
    }
    return SessionRecord(f"s-{number:03}", date=f"2026-01-{1 + number // 19:02}", total_cost_usd=0.5, stages=stages)


def _texts(sessions: Sequence[SessionRecord], attempts: Sequence[int]) -> dict[str, str]:
    """Every page and index by path. In: the sessions, and which of them attempted one task."""
    task = {"title": "T", "intro": "I", "sessions": [f"s-{number:03}" for number in attempts]}
    catalog = catalog_of(*sessions, config=Config(tasks={"t": task}))
    return texts_of(catalog) | indexes_of(catalog)


def _changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The files that differ, but for the summaries of the night's own sessions."""
    own = {f"summaries/s-{number:03}.md" for number in range(_BEFORE, _BEFORE + _NEW)}
    assert own <= after.keys() - before.keys()
    return {path for path in before | after if before.get(path) != after.get(path)} - own


def test_54_sessions_on_300_that_confirm_what_is_known_change_their_own_files_and_two_lists() -> None:
    sessions, attempts = [_session(number) for number in range(_BEFORE + _NEW)], range(0, _BEFORE, 30)
    before, after = _texts(sessions[:_BEFORE], attempts), _texts(sessions, attempts)
    assert sum(path.startswith("guidelines/") and "__" in path for path in before) == _RULES
    assert _changed(before, after) == _LISTS


@pytest.mark.long
@pytest.mark.parametrize("confirmed", [1, 2, 5])
def test_54_sessions_on_300_that_teach_three_rules_and_attempt_a_task_again_change_at_most_120_files(
    confirmed: int,
) -> None:
    """Besides, a rule that few sessions showed is shown by enough to be another page."""
    known = [_session(number, _RULES if number < confirmed else None) for number in range(_BEFORE)]
    taught = [_RULES + 1, _RULES + 2, _RULES + 3, *[_RULES] * 5]
    night = [_session(_BEFORE + at, taught[at] if at < len(taught) else None) for at in range(_NEW)]
    before = _texts(known, range(0, _BEFORE, 30))
    after = _texts([*known, *night], [*range(0, _BEFORE, 30), _BEFORE, _BEFORE + 1])
    changed = _changed(before, after)
    new = {path for path in changed if path not in before}
    assert len(new) == 3, "a page for each new rule"
    assert changed - new - _LISTS == {
        "index.md",
        "guidelines/index.md",
        "guidelines/_id_index.json",
        f"guidelines/t__g{_RULES}.md",
        "tasks/index.md",
        "tasks/t__task.md",
    }
    assert len(changed) + 2 * _NEW + len({"_config.yaml"}) <= _MOST, "with the records, the summaries, and the task"
