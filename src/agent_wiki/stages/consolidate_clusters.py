"""consolidate-clusters: all guidelines → one cluster a rule that different sessions state in different words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import Field

from agent_wiki.engine import Answer, Engine, Problem, side_by_side
from agent_wiki.errors import AnswerRejected, Unanswered
from agent_wiki.pages.cluster import cluster_members
from agent_wiki.pages.compare.likenesses import Compared, Likenesses, likenesses
from agent_wiki.pages.compare.same_rule import Reading, reading_of
from agent_wiki.pages.compare.views import GuidelineView, SkillView
from agent_wiki.pages.rejected import is_rejected_cluster
from agent_wiki.pages.state import WikiView
from agent_wiki.stages.corpus_result import CorpusResult, changed_entries
from agent_wiki.stages.corpus_views import guideline_views, skill_views
from agent_wiki.stages.discover_tasks import distinct_slugs
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.config import CLUSTERS, is_stage_made
from agent_wiki.wiki.layout import MOST_SLUG_CHARACTERS
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import texts_of

STAGE = "consolidate-clusters"
FEWEST_MEMBERS, MOST_MEMBERS = 2, 6

_COVERED_WORDS = 0.8
_SHORTEST_FAILURE = 20  # characters: "exit code 1" is everybody's
_EQUAL_FAILURE = 0.5
_NUMBERS = regex(r"\d+")


class ClusterAnswer(Answer):
    """One rule that several guidelines share."""

    slug: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=MOST_SLUG_CHARACTERS, description="kebab-case.")
    title: str = Field(min_length=1, max_length=120, description="The rule as a short imperative, no topic.")
    description: str = Field(min_length=1, description="What the members share, one or two sentences.")
    takeaway: str = Field(min_length=1, description="The rule, true of every member, standing alone.")
    trigger: str = Field(default="", description="The situation in which it applies, recognisable before the event.")
    members: list[str] = Field(
        min_length=FEWEST_MEMBERS, max_length=MOST_MEMBERS, description="Ids of the guidelines that state this rule."
    )
    tags: list[str] = Field(min_length=1, max_length=6, description="Of those the members have.")


class ClustersAnswer(Answer):
    """The clusters in one group of guidelines; none is a good answer, for a shared topic is no shared rule."""

    clusters: list[ClusterAnswer] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ClusterQuestion:
    """Asks which of a few guidelines from different sessions state one rule, and what it is."""

    members: tuple[GuidelineView, ...]
    stage: str = STAGE
    answer_type: type[ClustersAnswer] = ClustersAnswer

    def fields(self) -> dict[str, Any]:
        return {"guidelines": self.members}

    def problems(self, answer: ClustersAnswer) -> list[Problem]:
        """Invalid clusters: members that were not asked about, nested clusters, members from one session."""
        return check(answer, self)[1]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The checked clusters by slug, full sentences about rejected answers, and questions without an answer.

    `unanswered` pairs what an engine said about a question with the ids of the guidelines that it concerns.
    """

    clusters: tuple[ClusterAnswer, ...]
    rejected: tuple[str, ...]
    unanswered: tuple[tuple[Unanswered, frozenset[str]], ...] = ()


def candidate_groups(
    guidelines: Iterable[GuidelineView], compared: Compared | None = None, *, is_judged: bool = False
) -> list[tuple[GuidelineView, ...]]:
    """Groups of two to six guidelines from different sessions whose rules are the same, each guideline in one at most.

    Where more than six say the same, the six with the most supporting sessions represent all. `compared` is what was
    compared before, and afterwards what is now. `is_judged`: an engine decides which members of a group state one
    rule, so that rules which may be the same are grouped as well.
    """
    views, edges = likenesses(guidelines, compared or Compared(), is_judged=is_judged)
    if is_judged:
        edges = _with_equal_failures(views, edges)
    groups = [
        [views[at] for at in _representatives(group, views, edges)]
        for group in (_chains if is_judged else _cliques)(edges)
    ]
    found = [tuple(sorted(group, key=lambda view: view.id)) for group in groups if _sessions(group) >= FEWEST_MEMBERS]
    return sorted(found, key=lambda group: group[0].id)


def _with_equal_failures(views: Sequence[GuidelineView], edges: Likenesses) -> Likenesses:
    """The same, and guidelines that quote one failure, however different their words are: an engine is to judge."""
    at_failure: dict[str, list[int]] = defaultdict(list)
    for position, view in enumerate(views):
        for line in {_NUMBERS.sub("0", " ".join(failure.split())) for failure in view.failures}:
            if len(line) >= _SHORTEST_FAILURE:
                at_failure[line].append(position)
    found: Likenesses = defaultdict(dict, {position: dict(others) for position, others in edges.items()})
    for positions in at_failure.values():
        for left, right in pairwise(positions):
            score = max(found[left].get(right, 0.0), _EQUAL_FAILURE)
            found[left][right] = found[right][left] = score
    return found


def _sessions(group: Iterable[GuidelineView]) -> int:
    return len({session for view in group for session in view.sessions})


def _cliques(edges: Mapping[int, Mapping[int, float]]) -> list[list[int]]:
    """Complete linkage: groups in which every two are alike, the most similar joined first."""
    return _joined(edges, lambda mine, yours: all(other in edges[each] for each in mine for other in yours))


def _chains(edges: Mapping[int, Mapping[int, float]]) -> list[list[int]]:
    """Single linkage, the most similar joined first, as long as a whole group can be shown at once."""
    return _joined(edges, lambda mine, yours: len(mine) + len(yours) <= MOST_MEMBERS)


def _joined(
    edges: Mapping[int, Mapping[int, float]], may_join: Callable[[list[int], list[int]], bool]
) -> list[list[int]]:
    pairs = sorted(
        (-round(score, 9), left, right) for left in edges for right, score in edges[left].items() if left < right
    )
    group_of: dict[int, list[int]] = {}
    for _, left, right in pairs:
        mine, yours = group_of.setdefault(left, [left]), group_of.setdefault(right, [right])
        if mine is not yours and may_join(mine, yours):
            mine.extend(yours)
            for each in yours:
                group_of[each] = mine
    groups = {id(group): group for group in group_of.values() if len(group) > 1}
    return [sorted(group) for group in groups.values()]


def _representatives(
    group: Sequence[int], views: Sequence[GuidelineView], edges: Mapping[int, Mapping[int, float]]
) -> list[int]:
    def weight(position: int) -> tuple[int, float, str]:
        likeness = sum(edges[position].get(other, 0.0) for other in group)
        return (-len(views[position].sessions), -round(likeness, 9), views[position].id)

    return sorted(sorted(group, key=weight)[:MOST_MEMBERS])


def is_covered(guideline: GuidelineView, skill_reading: Reading) -> bool:
    """Does the skill say what the guideline says: its code and nearly all its words?"""
    reading = reading_of(guideline)
    if not reading.code or not reading.code <= skill_reading.code:
        return False
    said = reading.words & (skill_reading.words | skill_reading.code)
    return len(said) >= _COVERED_WORDS * len(reading.words)


def _outside_skills(
    groups: Sequence[tuple[GuidelineView, ...]], skills: Iterable[SkillView]
) -> list[tuple[GuidelineView, ...]]:
    """The groups that no single skill covers; a skill is compared only where it shares code with a member."""
    near: dict[str, dict[str, Reading]] = defaultdict(dict)
    for skill in skills:
        text = f"{skill.description} {skill.trigger} {skill.steps_text}"
        reading = reading_of(GuidelineView(skill.slug, skill.title, text))
        for code in reading.code:
            near[code][skill.slug] = reading
    if not near:
        return list(groups)
    kept = []
    for group in groups:
        candidates = {slug: each for code in reading_of(group[0]).code for slug, each in near.get(code, {}).items()}
        if not any(all(is_covered(each, reading) for each in group) for reading in candidates.values()):
            kept.append(group)
    return kept


def check(answer: ClustersAnswer, question: ClusterQuestion) -> tuple[list[ClusterAnswer], list[Problem]]:
    """The valid clusters, members sorted, and why others are invalid: see `ClusterQuestion.problems`."""
    views = {view.id: view for view in question.members}
    kept: list[ClusterAnswer] = []
    rejected: list[Problem] = []
    for cluster in answer.clusters:
        reasons = list(_reasons_against(cluster, views, kept))
        rejected += (Problem(f"cluster {cluster.slug}", reason) for reason in reasons)
        if not reasons:
            kept.append(cluster.model_copy(update={"members": sorted(cluster.members)}))
    return kept, rejected


def _reasons_against(
    cluster: ClusterAnswer, views: Mapping[str, GuidelineView], kept: Sequence[ClusterAnswer]
) -> Iterator[str]:
    members = set(cluster.members)
    if len(members) < len(cluster.members):
        yield "a member is in it twice"
    foreign = sorted(members - views.keys())
    yield from (f"{each!r} is not one of the guidelines asked about" for each in foreign)
    if len(members) > 1 and not foreign and _sessions(views[each] for each in members) < FEWEST_MEMBERS:
        yield "its members are from one session"
    if any(members & set(other.members) for other in kept):
        yield "a member is in another cluster"


def consolidate_clusters(
    guidelines: Iterable[GuidelineView], skills: Iterable[SkillView], engine: Engine, compared: Compared | None = None
) -> Consolidated:
    """Find guidelines that state the same rule, ask what the rule is, and check the answers.

    The same set of guidelines gives the same clusters, slugs included, in whatever order; nothing is read or written.
    For `compared` see `candidate_groups`.
    """
    found: list[ClusterAnswer] = []
    rejected: list[str] = []
    unanswered: list[tuple[Unanswered, frozenset[str]]] = []
    groups = candidate_groups(guidelines, compared, is_judged=engine.is_judge)
    questions = [ClusterQuestion(group) for group in _outside_skills(groups, skills)]
    for question, answered in zip(questions, side_by_side(engine, questions), strict=True):
        try:
            kept, refused = check(answered(), question)
        except AnswerRejected as error:
            kept, refused = [], [Problem(f"cluster of {question.members[0].id}", str(error))]
        except Unanswered as error:
            unanswered.append((error, frozenset(view.id for view in question.members)))
            continue
        found += kept
        rejected += map(str, refused)
    found.sort(key=lambda cluster: (cluster.slug, cluster.members))
    slugs = distinct_slugs((cluster.slug, " ".join(cluster.members)) for cluster in found)
    renamed = (each.model_copy(update={"slug": name}) for each, name in zip(found, slugs, strict=True))
    clusters = tuple(sorted(renamed, key=lambda cluster: cluster.slug))
    return Consolidated(clusters, tuple(rejected), tuple(unanswered))


QUESTIONS: dict[str, type[Answer]] = {"cluster": ClustersAnswer}


def run(view: WikiView, engine: Engine) -> CorpusResult:
    """Group guidelines that state one rule. A cluster that a person configured is not touched, nor its members."""
    found = consolidate_clusters(guideline_views(view), skill_views(view), engine, view.compared)
    config = view.state.config
    known = view.guidelines.keys() | view.foreign_guidelines.keys()
    wanted = {
        cluster.slug: {
            "title": plain_line(cluster.title, 120),
            "description": plain_line(cluster.description, 600),
            "takeaway": plain_line(cluster.takeaway, 600),
            **({"trigger": plain_line(cluster.trigger, 300)} if cluster.trigger.strip() else {}),
            "members": list(cluster.members),
            "tags": list(cluster.tags),
        }
        for cluster in found.clusters
        if not is_rejected_cluster(cluster.slug, cluster.members, config.rejected, view.state.corpus)
    }
    claimed = {
        member
        for entry in config.clusters.values()
        if not is_stage_made(entry)
        for member in cluster_members(entry, dict.fromkeys(known))
    }
    ours = {
        name: _with_retired_members(entry, config.clusters.get(name), engine)
        for name, entry in wanted.items()
        if claimed.isdisjoint(entry["members"])
    }
    kept = {
        name
        for name, entry in config.clusters.items()
        if any(asked.issuperset(texts_of(entry.get("members"))) for _, asked in found.unanswered)
    }
    changes = changed_entries(config.clusters, ours, STAGE, engine, kept)
    return CorpusResult(CLUSTERS, changes, found.rejected, tuple(error for error, _ in found.unanswered))


def _with_retired_members(entry: dict[str, Any], former: Mapping[str, Any] | None, engine: Engine) -> dict[str, Any]:
    """The entry with `archive_members: true` where the engine said so.

    An engine whose answers never say so leaves it as it is in the entry that this one replaces.
    """
    retires = engine.retires_members(entry["members"])
    if retires is None:
        retires = former is not None and is_stage_made(former) and former.get("archive_members") is True
    return {**entry, "archive_members": True} if retires else entry
