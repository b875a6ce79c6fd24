"""Which guidelines a skill covers."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.compare.covered import GENERIC_TAGS, GuidelineSubject, covered_guidelines

TAGS = ("kubectl", "deployment", "host-port", "kubernetes")
TEXT = "Count the rows of a CSV file by the value of one column with scripts/count_rows.py <input-file>"


def guideline(
    title: str = "Do it well", tags: tuple[str, ...] = (), sessions: tuple[str, ...] = ("s1",)
) -> GuidelineSubject:
    return GuidelineSubject("abc123abc123", title, "A rule.", tags, sessions)


def is_covered(each: GuidelineSubject, tags: tuple[str, ...] = TAGS, text: str = TEXT) -> bool:
    return covered_guidelines(tags, text, ["s1"], [each]) == [each.id]


def test_a_superset_of_tags_covers_a_guideline_of_any_session() -> None:
    assert is_covered(guideline(tags=("kubectl", "host-port"), sessions=("another",)))


def test_a_tag_that_the_skill_lacks_keeps_the_guideline() -> None:
    assert not is_covered(guideline(tags=("kubectl", "host-port", "quoting")))


def test_generic_tags_do_not_count() -> None:
    assert "kubernetes" in GENERIC_TAGS
    assert not is_covered(guideline(tags=("kubectl", "kubernetes")))
    assert not is_covered(guideline(tags=("python", "testing")), tags=("python", "testing", "cli"))


def test_a_guideline_without_tags_is_not_covered_by_them() -> None:
    assert not is_covered(guideline(tags=()))


def test_the_words_of_a_guideline_cover_it_within_one_session() -> None:
    assert is_covered(guideline("Count rows by column value"))


def test_one_word_of_its_own_keeps_a_short_guideline() -> None:
    assert not is_covered(guideline("Count distinct rows by column value"))
    assert is_covered(guideline("Count input rows by column of scripts, distinct"))


def test_the_same_words_from_another_session_do_not() -> None:
    assert not is_covered(guideline("Count rows by column value", sessions=("another",)))


def test_a_format_with_two_more_words_covers_within_one_session() -> None:
    assert is_covered(guideline("Count CSV rows with quoted line breaks"))
    assert not is_covered(guideline("Count XLSX rows with quoted line breaks"))
    assert not is_covered(guideline("Open CSV files with an encoding"))


def test_stop_words_alone_cover_nothing() -> None:
    assert not is_covered(guideline("Use the file by the value of one"))


WORD = st.sampled_from(["count", "rows", "csv", "python", "kubectl", "host-port", "use", "column", "the"])
SUBJECTS = st.lists(
    st.builds(
        GuidelineSubject,
        id=st.text("abcdef", min_size=4, max_size=4),
        title=st.lists(WORD, max_size=7).map(" ".join),
        rule=st.just(""),
        tags=st.lists(WORD, max_size=4).map(tuple),
        sessions=st.lists(st.sampled_from(["s1", "s2"]), max_size=2).map(tuple),
    ),
    max_size=8,
    unique_by=lambda each: each.id,
)


@settings(deadline=None)
@given(SUBJECTS, st.randoms(use_true_random=False))
def test_the_order_of_the_guidelines_does_not_matter(subjects: list[GuidelineSubject], random: Random) -> None:
    shuffled = list(subjects)
    random.shuffle(shuffled)
    assert covered_guidelines(TAGS, TEXT, ["s1"], subjects) == covered_guidelines(TAGS, TEXT, ["s1"], shuffled)


@settings(deadline=None)
@given(SUBJECTS)
def test_a_guideline_of_another_session_with_other_tags_stays(subjects: list[GuidelineSubject]) -> None:
    covered = covered_guidelines(["kubectl"], TEXT, ["s1"], subjects)
    assert all("s1" in each.sessions for each in subjects if each.id in covered)
