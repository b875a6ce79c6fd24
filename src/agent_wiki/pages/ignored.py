"""Lessons and workflows of rules that the owner ignores: their records keep them, and no page knows of them.

`rules: {ignore: […]}` in the configuration therefore takes effect at each rendering, also where no recording is read
again, and what it took out comes back with the line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.skill import SYNTHESIZE_SKILL, SkillEntry
from agent_wiki.wiki.records import SessionRecord, StageRecord

_STAGES = (EXTRACT_GUIDELINES, SYNTHESIZE_SKILL)

IgnoredEntries: TypeAlias = Mapping[str, list[GuidelineEntry | SkillEntry]]
"""By the id of the page to which each would contribute."""


class Unignored(NamedTuple):
    """Records without what ignored rules found, by session id the digests of what is left, and what was left out."""

    records: list[SessionRecord]
    digests: dict[str, str]
    left_out: IgnoredEntries


def without_ignored(records: Iterable[SessionRecord], digests: dict[str, str], rules: Collection[str]) -> Unignored:
    """Leave out what `rules` found, by their ids. `digests` are those of the records."""
    whole = list(records)
    if not rules:
        return Unignored(whole, digests, {})
    left_out: dict[str, list[GuidelineEntry | SkillEntry]] = {}
    rest, changed = [], dict(digests)
    for record in whole:
        found = [each for each in _entries(record) if each.rule_id in rules]
        rest.append(_without(record, rules) if found else record)
        if found and record.session_id in changed:
            changed[record.session_id] += f" without {sorted({str(each.rule_id) for each in found})}"
        for each in found:
            left_out.setdefault(_page_id(each), []).append(each)
    return Unignored(rest, changed, left_out)


def _entries(record: SessionRecord) -> Iterator[GuidelineEntry | SkillEntry]:
    for stage in _STAGES:
        yield from record.answer(stage) or ()


def _without(record: SessionRecord, rules: Collection[str]) -> SessionRecord:
    stages = {
        name: _of_others(made, rules) if name in _STAGES and made.answer else made
        for name, made in record.stages.items()
    }
    return record.with_stages(stages)


def _of_others(made: StageRecord, rules: Collection[str]) -> StageRecord:
    return replace(made, answer=tuple(each for each in made.answer if each.rule_id not in rules))


def _page_id(entry: GuidelineEntry | SkillEntry) -> str:
    return f"skill:{entry.name}" if isinstance(entry, SkillEntry) else entry.id
