"""Which guidelines are alike: the same in any order, and with or without what earlier runs compared."""

from __future__ import annotations

import random

import pytest
from benchmarks.clusters import guidelines
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.pages.compare import likenesses as module
from agent_wiki.pages.compare.likenesses import Compared, likenesses
from agent_wiki.pages.compare.same_rule import Reading, reading_of
from agent_wiki.pages.compare.views import GuidelineView

_RULES = st.text(alphabet=st.sampled_from("`ab-'_1. N"), max_size=40) | st.text(max_size=40)


def _pairs(views: list[GuidelineView], compared: Compared, *, is_judged: bool) -> set[tuple[str, str, float]]:
    ordered, found = likenesses(views, compared, is_judged=is_judged)
    return {
        (ordered[left].id, ordered[right].id, score) for left, likes in found.items() for right, score in likes.items()
    }


@pytest.mark.long
@pytest.mark.parametrize("is_judged", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_was_compared_before_changes_nothing(seed: int, *, is_judged: bool) -> None:
    chance = random.Random(seed)
    every, _ = guidelines(400, seed)
    wiki: list[GuidelineView] = []
    compared = Compared()
    while every:
        wiki += [every.pop() for _ in range(min(len(every), chance.randrange(1, 90)))]
        wiki = chance.sample(wiki, len(wiki) - chance.randrange(5))
        found = _pairs(wiki, compared, is_judged=is_judged)
        assert found == _pairs(chance.sample(wiki, len(wiki)), Compared(), is_judged=is_judged)
    assert found


def test_only_new_guidelines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    (last, *others), _ = guidelines(100)
    compared = Compared()
    likenesses(others, compared)
    read: list[str] = []

    def noted(guideline: GuidelineView) -> Reading:
        read.append(guideline.id)
        return reading_of(guideline)

    monkeypatch.setattr(module, "reading_of", noted)
    likenesses([last, *others], compared)
    assert read == [last.id]
    likenesses([last], compared)
    assert len(compared.lines) == 1


@given(st.lists(st.tuples(_RULES, _RULES), max_size=6))
def test_a_reading_is_made_again_of_its_line_and_lines_sort_as_features_do(texts: list[tuple[str, str]]) -> None:
    readings = [reading_of(GuidelineView("", title, rule)) for title, rule in texts]
    assert [Reading.of_line(reading.line()) for reading in readings] == readings

    def features(reading: Reading) -> tuple[list[str], list[str]]:
        return sorted(reading.code), sorted(reading.words)

    by_line = sorted(readings, key=lambda reading: reading.line().rsplit("\t", 4)[0])
    assert [features(each) for each in by_line] == sorted(map(features, readings))
