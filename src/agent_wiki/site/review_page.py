"""What waits for a person: each page with why, and the commands that settle it."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.pages.quarantine import withheld_in
from agent_wiki.pages.safety.finding import RULES
from agent_wiki.site.commands import CommandLine, command, commands_for, commands_for_edited
from agent_wiki.site.contents import SiteContents, SiteLesson
from agent_wiki.site.shown_text import visible
from agent_wiki.site.start_page import disputed_lessons
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import page_title
from agent_wiki.wiki.text import plain_line

_MOST_LISTED = 200
_MOST_QUOTE = 300
_MOST_NOTES = 3
_MOST_SHOWN = 4_000


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """A page that waits. `notes` say why, line by line; `says` is the text of one that is held back."""

    title: str
    href: str
    path: str
    notes: list[str]
    commands: list[CommandLine]
    says: str = ""


@dataclass(frozen=True, slots=True)
class WaitingGroup:
    """The pages that wait for one reason. `total` counts those that are not listed, too."""

    name: str
    anchor: str
    says: str
    pages: list[WaitingPage]
    total: int


def review_groups(contents: SiteContents) -> list[WaitingGroup]:
    """What waits, the most urgent first; groups may be empty."""
    asserted = [each for each in contents.lessons.values() if each.cause == "asserted" and not each.is_archived]
    return [
        _group(
            "Quarantined",
            "These pages may mislead an agent. They are held back: no agent is shown them.",
            list(_quarantined(contents)),
        ),
        _group("Disputed", "Sessions that read these pages were misled or harmed.", list(_disputed(contents))),
        _group("Edited", "A person changed these pages; no run writes over them.", list(_edited(contents))),
        _group(
            "Asserted",
            "Neither the turns nor anybody in the session say why this would be so.",
            [_of(each, [each.gist]) for each in asserted],
        ),
    ]


def _group(name: str, says: str, pages: list[WaitingPage]) -> WaitingGroup:
    return WaitingGroup(name, name.lower(), says, pages[:_MOST_LISTED], len(pages))


def _of(lesson: SiteLesson, notes: list[str]) -> WaitingPage:
    return WaitingPage(lesson.title, lesson.href, lesson.path, [each for each in notes if each], commands_for(lesson))


def _disputed(contents: SiteContents) -> Iterator[WaitingPage]:
    for lesson in disputed_lessons(contents):
        recalls = contents.catalog.recalls.get(lesson.id, ())
        against = [each for each in recalls if each.status in ("contradicted", "harmful")]
        notes = list(dict.fromkeys(f"{each.status}: “{visible(each.quote[:_MOST_QUOTE])}”" for each in against))
        more = [f"and {len(notes) - _MOST_NOTES} more"] if len(notes) > _MOST_NOTES else []
        yield _of(lesson, [*notes[:_MOST_NOTES], *more])


def _edited(contents: SiteContents) -> Iterator[WaitingPage]:
    kept = set(contents.view.state.config.kept)
    for path, page in sorted(contents.loaded.pages.edited.items()):
        if path not in kept:
            title = plain_line(page.title, 160) or page_title(path)
            yield WaitingPage(title, contents.address_of(path) or "", path, [], commands_for_edited(path))


def _quarantined(contents: SiteContents) -> Iterator[WaitingPage]:
    for page in withheld_in(contents.catalog):
        notes = [f"{each['rule']}: {RULES.get(each['rule'], '')}" for each in page.findings]
        notes += [f"“{visible(each['excerpt'][:_MOST_QUOTE])}”" for each in page.findings if each.get("excerpt")]
        settle = [
            command("publish it as it is", *page.release_words),
            command("remove it for good", *page.removal_words),
        ]
        yield WaitingPage(page.title, "", page.path, notes, settle, visible(page.says[:_MOST_SHOWN]))
