"""The tags of guidelines in `_config.yaml`: one line each, the stage's own until a person changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES
from agent_wiki.pages.state import WikiView
from agent_wiki.wiki.records import SessionRecord
from agent_wiki.wiki.store import WikiFolder

_NAME = "replaced.json"


class ReplacedTags:
    """Tags that stages gave guidelines in records that this run, or a killed one, replaced or removed.

    `.wiki/replaced.json` has it from before the record changes until the configuration has followed.
    """

    def __init__(self, folder: WikiFolder) -> None:
        self._folder = folder
        kept = folder.read_machinery(_NAME)
        self.by_guideline: dict[str, list[list[str]]] = {}
        for name, tags in kept.items() if isinstance(kept, dict) else ():
            if isinstance(tags, list):
                self.by_guideline[name] = [each for each in tags if isinstance(each, list)]

    def add(self, record: SessionRecord) -> None:
        """Note the tags of a record that is about to be replaced."""
        entries = record.answer(EXTRACT_GUIDELINES) or ()
        for entry in entries:
            self.by_guideline.setdefault(entry.id, []).append(list(entry.tags))
        if entries:
            self._folder.write_machinery(_NAME, self.by_guideline)

    def clear(self) -> None:
        """Note that the configuration is up to date."""
        if self.by_guideline:
            self._folder.write_machinery(_NAME, {})


def tag_entries(view: WikiView, former: Mapping[str, Sequence[list[str]]]) -> dict[str, list[str] | None]:
    """Changes to the configured tags; None removes a line. In: guideline id → tags that replaced records gave it.

    A line that any session's own tags explain was written by a stage, and follows the session that speaks for the
    page. Any other is a person's and stays.
    """
    configured = view.state.config.tags
    entries: dict[str, list[str] | None] = {}
    for name, joined in view.guidelines.items():
        own, now = list(joined.entry.tags), configured.get(name)
        if now is None:
            entries[name] = own
        elif now != own:
            by_stage = [list(each.entry.tags) for each in joined.contributions[1:]] + list(former.get(name, ()))
            by_stage += _tags_of_ignored(view, name)
            if now in by_stage:
                entries[name] = own
    former_pages = (former.keys() | view.ignored.keys()) - view.guidelines.keys()
    gone = {name: [*former.get(name, ()), *_tags_of_ignored(view, name)] for name in sorted(former_pages)}
    for name, joined in view.rejected.items():
        gone.setdefault(name, []).extend(list(each.entry.tags) for each in joined.contributions)
    for name, by_stage in gone.items():
        if configured.get(name) in by_stage:
            entries[name] = None
    return entries


def _tags_of_ignored(view: WikiView, name: str) -> list[list[str]]:
    """The tags that a guideline, by id, has from rules that the owner ignores."""
    return [list(each.tags) for each in view.ignored.get(name, ())]


def tags_of_stages(records: Iterable[SessionRecord]) -> dict[str, list[list[str]]]:
    """Guideline id → the tags that its sessions gave it, in the fixed order of sessions."""
    found: dict[str, list[list[str]]] = {}
    for record in sorted(records, key=lambda each: each.rank):
        for entry in record.answer(EXTRACT_GUIDELINES) or ():
            found.setdefault(entry.id, []).append(list(entry.tags))
    return found
