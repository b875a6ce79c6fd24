"""consolidate-clusters without a model: the takeaway is what one member says and every other member supports.

The rule of the member most similar to the others represents all, reduced to the sentences whose commands, flags,
files and numbers occur in every member. When no sentence is left, the members share a topic and not a rule: no cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent_wiki.pages.compare.same_rule import Reading, alike, reading_of, supports
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.stages.consolidate_clusters import ClusterAnswer, ClusterQuestion, ClustersAnswer
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.layout import slug
from agent_wiki.wiki.text import plain_line

_SENTENCE_END = regex(r"(?<=[.!?;])\s+(?=[A-Z`\"'(])")
_MOST_TAGS = 6


def answer(question: ClusterQuestion) -> ClustersAnswer:
    """The one cluster of these guidelines, or none where no sentence is true of all."""
    members = sorted(question.members, key=lambda member: member.id)
    readings = [reading_of(member) for member in members]
    for representative in _by_likeness(members, readings):
        takeaway = " ".join(_supported(members[representative].rule, readings))
        title = _title(members[representative].title, takeaway, readings)
        if takeaway:
            return ClustersAnswer(clusters=[_cluster(members, title, takeaway)])
    return ClustersAnswer()


def _by_likeness(members: Sequence[GuidelineView], readings: Sequence[Reading]) -> list[int]:
    """Positions of the members, the one most like all others first."""

    def likeness(position: int) -> float:
        return round(sum(alike(readings[position], other) for other in readings), 9)

    return sorted(range(len(members)), key=lambda at: (-likeness(at), len(readings[at].code), members[at].id))


def _supported(rule: str, readings: Sequence[Reading]) -> list[str]:
    """The sentences of a rule that every member supports."""
    return [sentence for sentence in _SENTENCE_END.split(rule.strip()[:2_000]) if supports(sentence, readings)]


def _title(title: str, takeaway: str, readings: Sequence[Reading]) -> str:
    """The representative's title where all of its names occur in every member; else the start of the takeaway."""
    own = reading_of(GuidelineView("", title, ""))
    is_general = all(own.code | own.numbers <= each.code | each.numbers for each in readings)
    return plain_line(title if title and is_general else takeaway, 100)


def _cluster(members: Sequence[GuidelineView], title: str, takeaway: str) -> ClusterAnswer:
    return ClusterAnswer(
        slug=slug(title),
        title=title,
        description=f"{len(members)} guidelines state this rule in words of their own.",
        takeaway=takeaway,
        members=[member.id for member in members],
        tags=_shared_tags(members),
    )


def _shared_tags(members: Sequence[GuidelineView]) -> list[str]:
    """Tags of at least half of the members, else the most frequent one."""
    counts = Counter(tag for member in members for tag in sorted(set(member.tags)))
    shared = [tag for tag, count in counts.items() if 2 * count >= len(members)]
    return sorted(sorted(shared, key=lambda tag: (-counts[tag], tag))[:_MOST_TAGS]) or ["guideline"]
