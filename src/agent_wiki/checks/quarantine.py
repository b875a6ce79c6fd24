"""Whether something is published that the judge would hold back: what a person wrote, or put into a file.

What sessions, other tools and the configuration say is judged each time the wiki is rendered; a page that a person
edited and a script that lies on disk are not, and agents read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, line_with
from agent_wiki.pages.quarantine import QuarantinedPage, unreleased_edits, unreleased_scripts
from agent_wiki.wiki.layout import is_script


def _edited(wiki: CheckedWiki) -> Iterator[Spot]:
    return _spots(wiki, unreleased_edits(wiki.pages.edited, wiki.config.released))


def _scripts(wiki: CheckedWiki) -> Iterator[Spot]:
    return _spots(
        wiki, unreleased_scripts({path: wiki.text(path) for path in wiki.files if is_script(path)}, wiki.view)
    )


def _spots(wiki: CheckedWiki, pages: Iterable[QuarantinedPage]) -> Iterator[Spot]:
    for page in pages:
        for each in page.findings:
            excerpt = each.get("excerpt", "")
            line = line_with(wiki.text(page.path), excerpt.removesuffix("…"))
            yield Spot(page.path, f"{each['rule']}: {excerpt}", line)


_DECIDE = "take it out of the file, or wiki release PAGE --why where it is meant"

QUARANTINE = (
    Check("quarantine/edited", "A page that a person edited says what would be held back.", _DECIDE, _edited),
    Check("quarantine/script", "A script that no record has does what would be held back.", _DECIDE, _scripts),
)
