"""Which pages are held back: those with findings, and lessons that only strangers' words support, until released.

`released:` in the configuration names a page and the digests of the texts that a person let through: another text
under the same id is held back again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from agent_wiki.pages.guideline import GuidelineEntry
from agent_wiki.pages.judged import Part, main_text, part_of_entry, part_of_page, parts_of, text_digest
from agent_wiki.pages.safety.finding import STRANGERS_ONLY, SafetyFinding
from agent_wiki.pages.sessions import Arc
from agent_wiki.pages.skill import SkillEntry
from agent_wiki.pages.support import HasEvidence, Joined
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.config import Config, Release
from agent_wiki.wiki.layout import cluster_path, kind_of, page_id, task_path
from agent_wiki.wiki.page import Page, body_start
from agent_wiki.wiki.values import text_or_none


class HasFindings(HasEvidence, Protocol):
    """What a session contributes to a page that can be held back."""

    @property
    def findings(self) -> tuple[SafetyFinding, ...]:
        """What the judge found in it."""


EntryType = TypeVar("EntryType", bound=HasFindings)

_CODE = regex(r"`([^`\n]+)`")
_ADDRESS = regex(r"https?:|\bwww\.|@\w")
_WORD = regex(r"[^\W\d_]{4,}")
_LEAST_SHARED = 3  # words of four letters or more
BRINGS_IN = regex(r"\b(?:install\w*|pin|npx|uvx|pipx|brew|curl|wget|docker (?:run|pull)|git clone|go get|add)\b")


@dataclass(frozen=True, slots=True)
class Withheld:
    """A page that is held back: why, and the digests of the texts that a release of it lets through."""

    findings: tuple[SafetyFinding, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WithheldLesson:
    """A guideline or skill that is held back: what sessions contribute to it, and why."""

    joined: Joined[Any]
    why: Withheld


@dataclass(frozen=True, slots=True)
class WithheldPage:
    """A cluster, a task or a page of others that is held back: its path, what it says, and why.

    `is_foreign`: somebody else wrote it, so that it stays where it is, in no index.
    """

    path: str
    text: str
    why: Withheld
    is_foreign: bool = False


def divided(
    pages: Mapping[str, Joined[EntryType]], released: Mapping[str, Release], prefix: str = ""
) -> tuple[dict[str, Joined[EntryType]], dict[str, WithheldLesson]]:
    """Guidelines or skills by key, without what is held back; and that, by id (`prefix` and key).

    Of a page that several sessions state, only the contributions with findings are held back.
    """
    kept: dict[str, Joined[EntryType]] = {}
    held: dict[str, WithheldLesson] = {}
    for key, joined in pages.items():
        name = f"{prefix}{key}"
        texts = released_texts(name, released)
        clean = _without_findings(joined, texts)
        why = None if clean is None else why_of_strangers(clean, texts)
        if clean is not None and why is None:
            kept[key] = clean
        if clean is joined and why is not None:
            held[name] = WithheldLesson(joined, why)
        elif clean is not joined:
            held[name] = _withheld(joined, clean if why is None else None, texts)
    return kept, held


def _without_findings(joined: Joined[EntryType], texts: Collection[str]) -> Joined[EntryType] | None:
    if not any(each.entry.findings for each in joined.contributions):
        return joined  # as nearly all pages are
    clean = tuple(each for each in joined.contributions if why_of(each.entry, texts) is None)
    if len(clean) == len(joined.contributions):
        return joined
    return Joined(clean) if clean else None


def _withheld(joined: Joined[Any], clean: Joined[Any] | None, texts: Collection[str]) -> WithheldLesson:
    published = () if clean is None else clean.contributions
    rest = Joined(tuple(each for each in joined.contributions if each not in published))
    found = [why for each in rest.contributions if (why := why_of(each.entry, texts)) is not None]
    if not found or len(found) < len(rest.contributions):
        found += [why] if (why := why_of_strangers(rest, texts)) is not None else []
    findings = dict.fromkeys(each for why in found for each in why.findings)
    return WithheldLesson(rest, Withheld(tuple(findings), tuple(dict.fromkeys(t for why in found for t in why.texts))))


def why_of(entry: GuidelineEntry | SkillEntry | Arc | Any, texts: Collection[str]) -> Withheld | None:
    """Why what a session contributes is held back; None where it is not. `texts` are the digests of released ones."""
    if not entry.findings:
        return None
    return why_of_parts(parts_of(entry), texts)


def why_of_parts(parts: Iterable[Part], texts: Collection[str]) -> Withheld | None:
    """The same of judged texts."""
    found = [(text_digest(text), findings) for text, findings in parts if findings]
    if all(digest in texts for digest, _ in found):
        return None
    findings = dict.fromkeys(each for _, several in found for each in several)
    return Withheld(tuple(findings), tuple(dict.fromkeys(digest for digest, _ in found)))


def why_of_strangers(joined: Joined[Any], texts: Collection[str]) -> Withheld | None:
    """Why a lesson is held back that only strangers' words support; None where it is not.

    Where the recording itself shows the cause, its turns support the lesson too, and so does the user who says it,
    unless it brings in something new.
    """
    if not all(any(cited.trust == "external" for cited in each.entry.evidence) for each in joined.contributions):
        return None
    digests = tuple(dict.fromkeys(text_digest(main_text(each.entry)) for each in joined.contributions))
    if all(each in texts for each in digests) or any(_is_supported(each.entry) for each in joined.contributions):
        return None
    return Withheld((SafetyFinding(STRANGERS_ONLY),), digests)


def _is_supported(entry: Any) -> bool:
    if not isinstance(entry, GuidelineEntry):
        return any(cited.trust != "external" for cited in entry.evidence)
    if BRINGS_IN.search(f"{entry.title}\n{entry.rule}".lower()):
        return False
    return entry.cause == "checked" or (entry.cause == "stated" and _is_users(entry))


def _is_users(entry: GuidelineEntry) -> bool:
    """Whether the event is what the user said, and those words bear the rule: what it says to run is theirs as well."""
    said = " ".join(each.quote for each in entry.evidence if each.trust == "user" and each.turn == entry.event).lower()
    rule = f"{entry.title} {entry.rule}".lower()
    shared = set(_WORD.findall(said)) & set(_WORD.findall(rule))
    is_foreign = any(span.strip("\"' ") not in said and not _is_bare_check(span) for span in _CODE.findall(rule))
    return len(shared) >= _LEAST_SHARED and not is_foreign and not _ADDRESS.search(rule)


def _is_bare_check(span: str) -> bool:
    """`tsc`, `pytest`: a checker by its name alone, which anybody may name."""
    steps = simple_commands(span)
    return len(steps) == 1 and len(steps[0].words) == 1 and is_check(steps[0])


def is_withheld_arc(name: str, arc: Arc, released: Mapping[str, Release]) -> bool:
    """Whether the summary of an arc, which a release knows by this name, is held back."""
    return why_of(arc, released_texts(name, released)) is not None


def said_on(path: str, page: Page) -> Part:
    """What a page says that another tool or a person wrote, and the findings in it."""
    return part_of_page(page.title, page.body, is_advice=kind_of(path) != "summary")


def without_withheld(
    config: Config, foreign: Mapping[str, Page]
) -> tuple[Config, dict[str, Page], dict[str, WithheldPage]]:
    """The configuration without clusters and tasks that are held back, pages of others likewise; and those, by id."""
    held: dict[str, WithheldPage] = {}
    sections = {"cluster": (config.clusters, cluster_path), "task": (config.tasks, task_path)}
    for kind, (entries, path_of) in sections.items():
        for slug, entry in entries.items():
            _take(held, f"{kind}:{slug}", path_of(slug), part_of_entry(entry), config.released)
    for path, page in foreign.items():
        part = said_on(path, page)
        _take(held, _id_of(path, page), path, part, config.released, is_foreign=True)
    if not held:
        return config, dict(foreign), held
    left = {path: page for path, page in foreign.items() if not _is_held(held, _id_of(path, page), path)}
    return (
        replace(
            config,
            clusters={slug: each for slug, each in config.clusters.items() if f"cluster:{slug}" not in held},
            tasks={slug: each for slug, each in config.tasks.items() if f"task:{slug}" not in held},
        ),
        left,
        held,
    )


def _take(
    held: dict[str, WithheldPage],
    name: str,
    path: str,
    part: Part,
    released: Mapping[str, Release],
    *,
    is_foreign: bool = False,
) -> None:
    why = why_of_parts([part], released_texts(name, released))
    if why is not None:
        held[name] = WithheldPage(path, part[0], why, is_foreign)


def withheld_text(
    path: str, name: str, text: str, indexed: str, released: Mapping[str, Release]
) -> WithheldPage | None:
    """The rendered page of a further stage, by path and id, where it is held back; else None.

    `indexed`: what the index says of it. All of the text is judged; a release knows it without its frontmatter, where
    counts and dates change.
    """
    whole = text.replace("\r\n", "\n")
    said = f"{whole[body_start(whole) :].strip()}\n{indexed}".strip()
    part = (said, part_of_page(said, whole, is_advice=True)[1])
    why = why_of_parts([part], released_texts(name, released))
    return None if why is None else WithheldPage(path, said, why)


def _is_held(held: Mapping[str, WithheldPage], name: str, path: str) -> bool:
    return name in held and held[name].path == path


def _id_of(path: str, page: Page) -> str:
    return text_or_none(page.fields.get("id")) or page_id(path)


def released_texts(name: str, released: Mapping[str, Release]) -> tuple[str, ...]:
    """The digests of what a person let through of a page, by its id, or by its file's name where it is a summary."""
    return released[name].texts if name in released else ()
