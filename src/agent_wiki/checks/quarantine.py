"""Whether something is published that the judge would hold back: what a person wrote, or put into a file.

What sessions, other tools and the configuration say is judged each time the wiki is rendered; a page that a person
edited and a script that lies on disk are not, and agents read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, line_with
from agent_wiki.pages.judged import part_of_page, text_digest
from agent_wiki.safety.finding import SafetyFinding
from agent_wiki.safety.judge import findings_in_script
from agent_wiki.wiki.layout import kind_of, page_id


def _edited(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in wiki.pages.edited.items():
        text, findings = part_of_page(page.title, page.body, is_advice=kind_of(path) != "summary")
        release = wiki.config.released.get(page_id(path))
        if release is None or text_digest(text) not in release.texts:
            yield from _spots(wiki, path, findings)


def _scripts(wiki: CheckedWiki) -> Iterator[Spot]:
    recorded = {script.text for joined in wiki.view.skills.values() for script in joined.entry.scripts}
    for path in wiki.files:
        if path.startswith("skills/") and "/scripts/" in path and wiki.text(path) not in recorded:
            yield from _spots(wiki, path, findings_in_script(path, wiki.text(path)))


def _spots(wiki: CheckedWiki, path: str, findings: Iterable[SafetyFinding]) -> Iterator[Spot]:
    for each in findings:
        excerpt = each.excerpt.removesuffix("…")
        yield Spot(path, f"{each.rule}: {each.excerpt}", line_with(wiki.text(path), excerpt))


_DECIDE = "take it out of the file, or wiki release PAGE --why where it is meant"

QUARANTINE = (
    Check("quarantine/edited", "A page that a person edited says what would be held back.", _DECIDE, _edited),
    Check("quarantine/script", "A script that no record has does what would be held back.", _DECIDE, _scripts),
)
