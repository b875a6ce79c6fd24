"""The cluster page: one rule that several guidelines share, from its entry in the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from agent_wiki.pages.model import BODY, body_of, front_matter, page_text
from agent_wiki.pages.support import Counted, Together
from agent_wiki.trajectory.evidence import as_trust, least_trusted
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import texts_of

FEWEST_MEMBERS = 2


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A guideline as a cluster sees it. `path` is its page's, `date` that of a foreign page, which no session gives."""

    id: str
    path: str
    title: str
    trigger: str
    rule: str
    tags: tuple[str, ...]
    trust: str | None
    date: str | None
    related_summary: str | None
    related_title: str = ""  # what a link to it says

    @property
    def link(self) -> str:
        """Its path as seen from `guidelines/`."""
        return self.path.removeprefix("guidelines/") if self.path.startswith("guidelines/") else f"../{self.path}"


@dataclass(frozen=True, slots=True)
class ClusterPage:
    """What a cluster page stores; the fields in the order of its frontmatter."""

    id: str
    type: str
    slug: str
    title: str
    trigger: str
    tags: list[str]
    members: list[dict[str, str]]
    priority: str
    support: dict[str, int] | None
    trust: str
    verified_at: str | None
    made_by: str
    counted: Counted | None = field(metadata=BODY)
    description: str = field(metadata=BODY)
    takeaway: str = field(metadata=BODY)
    members_shown: list[dict[str, str]] = field(metadata=BODY)
    used_by: str = field(metadata=BODY)

    def text(self, templates: Templates) -> str:
        """The page as text."""
        front = {name: value for name, value in front_matter(self).items() if name != "trigger" or value}
        return page_text(front, body_of(self, "cluster.md", templates, members=self.members_shown))

    def index_row(self) -> dict[str, Any]:
        """What the index says of it besides what it says of every page."""
        return {"members": [each["id"] for each in self.members], "priority": self.priority}

    @property
    def gist(self) -> str:
        return self.takeaway or self.description


def cluster_page(
    slug: str, entry: Mapping[str, Any], members: Sequence[ClusterMember], used_by: str, support: Together
) -> ClusterPage:
    """The page of one configured cluster with at least two members.

    `support` is that of all members together, but for foreign pages: of these no session is known.
    """
    return ClusterPage(
        id=f"cluster:{slug}",
        type="cluster",
        slug=slug,
        title=plain_line(str(entry.get("title") or slug), 120),
        trigger=plain_line(str(entry.get("trigger") or ""), 300),
        tags=texts_of(entry.get("tags")) or _shared_tags(members),
        members=[{"id": each.id, "link": each.link} for each in members],
        priority="high",
        support=support.support,
        trust=least_trusted([as_trust(each.trust) for each in members]),
        verified_at=max(filter(None, (support.newest, *(each.date for each in members))), default=None),
        made_by=entry_made_by(entry),
        counted=support.counted,
        description=plain_line(str(entry.get("description") or ""), 600),
        takeaway=plain_line(str(entry.get("takeaway") or ""), 600),
        members_shown=[_shown(each) for each in members],
        used_by=used_by,
    )


def cluster_of_members(config: Config, known: Mapping[str, Any]) -> dict[str, str]:
    """Guideline id → the cluster that claims it; the first by slug when several do."""
    claimed: dict[str, str] = {}
    for slug in sorted(config.clusters):
        members = cluster_members(config.clusters[slug], known)
        for guideline_id in members if len(members) >= FEWEST_MEMBERS else []:
            claimed.setdefault(guideline_id, slug)
    return claimed


def cluster_members(entry: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """The members of a configured cluster that have pages, in their configured order."""
    return [each for each in dict.fromkeys(texts_of(entry.get("members"))) if each in known]


def entry_made_by(entry: Mapping[str, Any]) -> str:
    """Who made an entry of the configuration: an engine or a model; `owner` for a person."""
    made_by = entry.get("made_by")
    if not isinstance(made_by, dict):
        return "owner"
    return str(made_by.get("model") or made_by.get("engine") or "owner")


def _shown(member: ClusterMember) -> dict[str, str]:
    related = member.related_summary
    return {
        "id": member.id,
        "title": plain_line(member.title, 120),
        "trigger": plain_line(member.trigger, 200),
        "link": member.link,
        "source": f"[{member.related_title}](../{related})" if related else "",
        "snippet": plain_line(member.rule, 300),
    }


def _shared_tags(members: Sequence[ClusterMember]) -> list[str]:
    first, *others = members
    return [tag for tag in first.tags if all(tag in other.tags for other in others)]
