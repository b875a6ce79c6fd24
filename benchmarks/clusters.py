"""How fast and how well guidelines that state the same rule are found, on made-up guidelines.

    python -m benchmarks.clusters [NUMBER …]

Every rule is made of a verb, an object, a tool and a place. One rule in twenty is stated twice more by other sessions,
in other words; the hard cases beside them differ from it in one tool, one flag, one number or in their direction, and
must stay apart. Printed for each number: seconds of CPU, clusters, and precision and recall of the pairs put together.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from agent_wiki.engines.offline import OfflineEngine
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.stages.consolidate_clusters import ClusterAnswer, consolidate_clusters

_VERB_WORDS = "restart rebuild lint format migrate publish package seed index archive verify sign mirror profile"
_VERBS = _VERB_WORDS.split()
_OBJECT_WORDS = """registry ledger catalog gateway scheduler renderer tokenizer exporter importer crawler planner broker
    notifier resolver compiler balancer recorder sampler formatter validator"""
_OBJECTS = _OBJECT_WORDS.split()
_PLACES = ["staging", "release", "nightly", "canary", "integration", "documentation", "benchmark", "sandbox", "partner"]
_SYLLABLES = ["ka", "lo", "mi", "ru", "te", "vo", "zan", "pel", "dor", "fin", "gra", "hul"]


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one run; `precision` and `recall` count pairs of guidelines."""

    guidelines: int
    seconds: float
    clusters: int
    precision: float
    recall: float


def guidelines(number: int, seed: int = 0) -> tuple[list[GuidelineView], dict[str, int]]:
    """`number` guidelines, and guideline id → the rule it states."""
    dice = random.Random(seed)
    views: list[GuidelineView] = []
    rule_of: dict[str, int] = {}
    rule = 0
    while len(views) < number:
        for group in _family(dice, rule):
            rule += 1
            for title, text in group:
                view = GuidelineView(f"{len(views):012x}", title, text, tags=("made-up",))
                views.append(view)
                rule_of[view.id] = rule
    views = dice.sample(views, number)
    return [replace(view, sessions=(f"session {at // 4}",)) for at, view in enumerate(views)], rule_of


def _family(dice: random.Random, number: int) -> Iterator[list[tuple[str, str]]]:
    """Statements by rule: each list states one rule, and the lists of one family are near misses of each other."""
    verb, thing, place = dice.choice(_VERBS), dice.choice(_OBJECTS), dice.choice(_PLACES)
    tool, other = _name(dice), _name(dice)
    flag, wait = f"--{dice.choice(_SYLLABLES)}{dice.choice(_SYLLABLES)}", dice.randint(2, 90)
    title = f"{verb.capitalize()} the {thing} with {tool}"
    rule = f"Run `{tool} {verb} {flag}` to {verb} the {thing} before a {place} build starts."
    if dice.random() > 0.05:
        yield [(title, rule)]
        return
    command = f"`{tool} {verb} {flag}`"
    yield [
        (title, rule),
        (f"Use {tool} to {verb} the {thing}", f"Before any {place} build, {verb} the {thing}: {command}."),
        (f"{verb.capitalize()} the {thing} early", f"Run {command} so that the {thing} is there for a {place} build."),
    ]
    yield [(f"{verb.capitalize()} the {thing} with {other}", rule.replace(tool, other))]
    yield [(title, rule.replace("before a", "after a").replace("starts", "ends"))]
    yield [(title, rule.replace(flag, f"{flag}-all"))]
    for seconds in (wait, wait + number % 7 + 1):
        waiting = f"Wait {seconds} seconds for the {thing} of `{tool}` to {verb} in a {place} build."
        yield [(f"Wait for the {thing}", waiting)]


def _name(dice: random.Random) -> str:
    return "".join(dice.choices(_SYLLABLES, k=4))


def score(number: int, seed: int = 0) -> Score:
    """Consolidate `number` guidelines and compare the pairs in the clusters with the planted ones."""
    views, rule_of = guidelines(number, seed)
    started = time.process_time()
    clusters = consolidate_clusters(views, [], OfflineEngine()).clusters
    seconds = time.process_time() - started
    planted = _planted_pairs(views, rule_of)
    found = _pairs(clusters)
    hits = len(planted & found)
    return Score(number, seconds, len(clusters), hits / max(len(found), 1), hits / max(len(planted), 1))


def _planted_pairs(views: Sequence[GuidelineView], rule_of: dict[str, int]) -> set[tuple[str, str]]:
    """Pairs of one rule from different sessions: two of one session are no cluster."""
    by_rule: dict[int, list[GuidelineView]] = {}
    for view in views:
        by_rule.setdefault(rule_of[view.id], []).append(view)
    return {
        (left.id, right.id)
        for group in by_rule.values()
        for left, right in combinations(sorted(group, key=lambda view: view.id), 2)
        if left.sessions != right.sessions
    }


def _pairs(clusters: Sequence[ClusterAnswer]) -> set[tuple[str, str]]:
    return {pair for cluster in clusters for pair in combinations(sorted(cluster.members), 2)}


def main() -> None:
    """Print the figures for the numbers on the command line."""
    for number in [int(each) for each in sys.argv[1:]] or [4_000, 40_000]:
        print(score(number))


if __name__ == "__main__":
    main()
