"""Joining is commutative, associative and idempotent: the set of contributions decides the page."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.sessions import SUMMARIZE, Arc
from agent_wiki.pages.skill import SYNTHESIZE_SKILL, Script, SkillEntry, WorkflowStep
from agent_wiki.pages.support import MOST_EVIDENCE, MOST_SOURCES, Evidence, trust_of_entry
from agent_wiki.stages.order import entry_types
from agent_wiki.trajectory.evidence import Trust
from agent_wiki.wiki.config import Config
from agent_wiki.wiki.page import Page, parse_page
from agent_wiki.wiki.records import SessionRecord, parse_record, record_text
from agent_wiki.wiki.thresholds import at_least
from tests.pages.rendering import catalog_of, indexes_of, pages_of, stage, texts_of

_SOME = 40  # each renders all pages of a wiki, some of them twice
SESSIONS = ("a", "b", "c", "d", "no", "1", "2026-01-01")
DATES = {"a": "2026-01-02", "b": "2026-01-01", "d": "2026-01-02", "no": "2025-12-31"}
WORDS = st.sampled_from(["Run it", "no", "1.10", "a: b", "`x`", "@x", r"\d+", "a | x |", "é😀", "2026-01-01", "x — y"])
TAGS = st.lists(st.sampled_from(["cart", "no", "1-2"]), min_size=1, max_size=2, unique=True).map(sorted).map(tuple)
EVIDENCE = st.lists(
    st.builds(Evidence, st.integers(1, 9), WORDS, st.just("tool")), min_size=1, max_size=3, unique=True
).map(tuple)


def guidelines(name: str) -> st.SearchStrategy[GuidelineEntry]:
    kinds = st.sampled_from(["guideline", "workflow"])
    return st.builds(
        GuidelineEntry, id=st.just(name), title=WORDS, rule=WORDS, trigger=WORDS, rationale=WORDS, type=kinds,
        tags=TAGS, evidence=EVIDENCE, rule_id=st.sampled_from(["x/y", "x/z"]),
        cause=st.sampled_from([None, "asserted", "stated", "checked"]), cause_shown=WORDS,
    )  # fmt: skip


def skills(name: str) -> st.SearchStrategy[SkillEntry]:
    scripts = st.sampled_from([(), (Script("x.sh", "ls\n"),)])
    steps = st.builds(WorkflowStep, WORDS, WORDS).map(lambda step: (step,))
    return st.builds(
        SkillEntry, name=st.just(name), description=WORDS, trigger=WORDS, overview=WORDS, steps=steps, scripts=scripts,
        tags=TAGS, evidence=EVIDENCE, rule_id=st.just("x/y"),
    )  # fmt: skip


@st.composite
def records(draw: st.DrawFn) -> list[SessionRecord]:
    """The records of some sessions, each contributing to a few guidelines and skills that others share."""
    found = []
    for session_id in draw(st.lists(st.sampled_from(SESSIONS), min_size=1, unique=True)):
        rules = [draw(guidelines(name)) for name in draw(st.lists(st.sampled_from(["g1", "g2"]), unique=True))]
        workflows = [draw(skills(name)) for name in draw(st.lists(st.sampled_from(["s1"]), unique=True))]
        stages = {
            SUMMARIZE: stage(SUMMARIZE, [Arc("Goal", draw(st.sampled_from(["success", "partial", "failure"])))]),
            EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, rules),
            SYNTHESIZE_SKILL: stage(SYNTHESIZE_SKILL, workflows),
        }
        found.append(SessionRecord(session_id, date=DATES.get(session_id), stages=stages))
    return found


@pytest.mark.long
@settings(max_examples=_SOME)
@given(records(), st.randoms(use_true_random=False))
def test_the_set_of_records_decides_the_pages(found: list[SessionRecord], random: Any) -> None:
    """Neither the order of arrival nor the disk changes anything; the first session by date speaks for a page."""
    texts = texts_of(catalog_of(*found))
    shuffled = list(found)
    random.shuffle(shuffled)
    assert texts_of(catalog_of(*shuffled)) == texts
    read = [parse_record(record_text(each).encode(), "r", entry_types()) for each in found]
    assert read == found
    assert texts_of(catalog_of(*read)) == texts
    _check_speakers(found, [parse_page(text, path) for path, text in texts.items()])


def _check_speakers(found: list[SessionRecord], pages: list[Page]) -> None:
    """The first session by date speaks for a page, and the first ones are its evidence."""
    for name in ("g1", "g2"):
        entries = {each.rank: entry for each in found for entry in each.answer(EXTRACT_GUIDELINES) if entry.id == name}
        page = next((page for page in pages if page.fields.get("id") == name), None)
        assert (page is not None) == bool(entries)
        if page is not None:
            speaker = entries[min(entries)]
            assert (page.fields["trigger"], page.fields["tags"]) == (speaker.trigger, list(speaker.tags))
            shown = sorted(entries)[: at_least(len(entries))]
            assert page.fields["support"]["sessions"] == len(shown)
            cited = [(each["session_id"], each["turn"], each["quote"]) for each in page.fields["evidence"]]
            expected = [
                (rank[1], each.turn, each.quote)
                for rank in shown
                for each in sorted(entries[rank].evidence, key=lambda each: (each.turn, each.quote))
            ]
            assert cited == expected[:MOST_EVIDENCE]


def test_a_page_that_many_sessions_support_stays_short() -> None:
    many = []
    for number in range(300):
        entry = SkillEntry("s1", f"d {number}", evidence=(Evidence(1, f"quote {number}", "tool"),))
        stages = {SUMMARIZE: stage(SUMMARIZE, [Arc("Goal")]), SYNTHESIZE_SKILL: stage(SYNTHESIZE_SKILL, [entry])}
        many.append(SessionRecord(f"s-{number:03}", stages=stages))
    text = texts_of(catalog_of(*many))["skills/s1/SKILL.md"]
    assert len(text) < 4_000
    page = parse_page(text, "p")
    assert page.fields["metadata"]["support"] == "sessions: 200, success: 0, partial: 0, failure: 0"
    assert (page.section("Sources") or "").splitlines()[-1] == f"- and at least {200 - MOST_SOURCES} more sessions"
    assert set(page.fields) == {"name", "description", "metadata"}
    assert all(isinstance(value, str) for value in page.fields["metadata"].values())


def test_a_page_changes_when_a_threshold_is_crossed_or_its_meaning_changes_and_not_with_every_session() -> None:
    def session(number: int, source: Trust = "tool") -> SessionRecord:
        entry = GuidelineEntry("g1", "T", "Rule", "W", "Y", evidence=(Evidence(1, "rule", source),))
        stages = {SUMMARIZE: stage(SUMMARIZE, [Arc("Goal")]), EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, [entry])}
        return SessionRecord(f"s-{number:02}", date=f"2026-01-{number:02}", stages=stages)

    def page(*found: SessionRecord) -> str:
        return next(text for path, text in texts_of(catalog_of(*found)).items() if path.startswith("guidelines/"))

    some = [session(number) for number in range(1, 12)]
    texts = [page(*some[:count]) for count in range(1, 12)]
    changes = [count for count, (one, other) in enumerate(pairwise(texts), start=2) if one != other]
    assert changes == [2, 3, 5, 10]
    raised = parse_page(page(*some[:6], session(7, "user"), *some[7:9]), "p")
    assert (raised.fields["trust"], raised.fields["support"]["sessions"]) == ("user", 6)
    assert [each["session_id"] for each in raised.fields["evidence"]][-1] == "s-07"


def test_a_cluster_counts_the_sessions_of_all_members_in_the_same_steps() -> None:
    def session(number: int) -> SessionRecord:
        entry = GuidelineEntry(f"g{number % 3}", "T", "Rule", "W", "Y", evidence=(Evidence(1, "rule", "tool"),))
        stages = {SUMMARIZE: stage(SUMMARIZE, [Arc("Goal")]), EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, [entry])}
        return SessionRecord(f"s-{number:02}", date=f"2026-01-{number:02}", stages=stages)

    config = Config(clusters={"c": {"title": "C", "members": ["g0", "g1", "g2"]}})
    some = [session(number) for number in range(1, 13)]
    texts = [texts_of(catalog_of(*some[:count], config=config))["guidelines/c__cluster.md"] for count in range(3, 13)]
    assert [count for count, (one, other) in enumerate(pairwise(texts), start=4) if one != other] == [5, 10]
    front = parse_page(texts[-1], "p").fields
    assert (front["support"]["sessions"], str(front["verified_at"])) == (10, "2026-01-10")
    rows = map(json.loads, indexes_of(catalog_of(*some, config=config))["_index.jsonl"].splitlines())
    (row,) = (row for row in rows if row["kind"] == "cluster")
    assert (row["support"]["sessions"], row["verified_at"]) == (12, "2026-01-12")


@pytest.mark.parametrize(
    ("sources", "trust"),
    [
        (["user", "tool"], "user"),
        (["assistant", "tool"], "tool"),
        (["user", "external"], "external"),
        (["external"], "external"),
        ([], "external"),
    ],
)
def test_a_users_words_bear_a_rule_whatever_a_tool_confirms_and_text_of_strangers_is_not_raised(
    sources: list[Trust], trust: Trust
) -> None:
    cited = tuple(Evidence(1, "run the linter", source) for source in sources)
    assert trust_of_entry(GuidelineEntry("g1", "T", "Run the linter.", "W", "Y", evidence=cited)) == trust


def test_a_page_is_trusted_as_the_session_that_bears_it_best_and_counts_every_ending() -> None:
    found = []
    for name, source, outcome in (("a", "external", "partial"), ("b", "user", "failure"), ("c", "tool", "partial")):
        entry = GuidelineEntry("g1", "T", "Rule", "W", "Y", evidence=(Evidence(1, "rule", source),))  # type: ignore[arg-type]
        arcs = [Arc("Goal", outcome)]  # type: ignore[arg-type]
        stages = {SUMMARIZE: stage(SUMMARIZE, arcs), EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, [entry])}
        found.append(SessionRecord(name, stages=stages))
    page = next(page for page in pages_of(*found).values() if page.fields.get("id") == "g1")
    assert page.fields["trust"] == "user"
    assert page.fields["support"] == {"sessions": 3, "success": 0, "partial": 2, "failure": 1}


@pytest.mark.parametrize(
    ("scopes", "repositories", "scope"),
    [
        (["repository"], ["shop"], "repository:shop"),
        (["repository", "repository"], ["shop", "shop"], "repository:shop"),
        (["repository", "repository"], ["shop", "cart"], "general"),
        (["repository", "repository"], ["shop", None], None),
        (["repository"], [None], None),
        (["tool:git", None], ["shop", "cart"], "tool:git"),
        (["tool:git", "general"], ["shop", "shop"], "general"),
        ([None], ["shop"], None),
    ],
)
def test_what_holds_for_one_repository_is_general_once_a_second_shows_it(
    scopes: list[str | None], repositories: list[str | None], scope: str | None
) -> None:
    found = []
    for number, (shown, repository) in enumerate(zip(scopes, repositories, strict=True)):
        entry = GuidelineEntry("g1", "T", "R", "W", "Y", evidence=(Evidence(1, "q", "tool"),), scope=shown)
        stages = {SUMMARIZE: stage(SUMMARIZE, [Arc("Goal")]), EXTRACT_GUIDELINES: stage(EXTRACT_GUIDELINES, [entry])}
        found.append(SessionRecord(f"s{number}", repository=repository, stages=stages))
    page = next(page for page in pages_of(*found).values() if page.fields.get("id") == "g1")
    assert page.fields.get("scope") == scope
