"""Vectors of texts, and the words they are cut into."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.errors import RunError
from agent_wiki.retrieval.fuse import discounted
from agent_wiki.retrieval.meaning import Query, VectorTable, length, signs, table
from agent_wiki.retrieval.pieces import pieces, words

VOCABULARY = {"un": 1, "##aff": 2, "##able": 3, "able": 4, "日": 5, "cafe": 6, "!": 7}


def _near(one: str, other: str) -> float:
    vector = table().vector(other)
    return Query(table().vector(one)).cosine(vector, length(vector))


def test_words_are_cut_greedily_and_a_word_with_an_unknown_part_gives_nothing() -> None:
    assert list(pieces("Unaffable", VOCABULARY)) == [1, 2, 3]
    assert list(pieces("unknowable able!", VOCABULARY)) == [4, 7]
    assert list(pieces("Café 日日", VOCABULARY)) == [6, 5, 5]
    assert list(pieces("a" * 101, {"a": 1, "##a": 2})) == []


def test_signs_are_separate_and_invisible_characters_vanish() -> None:
    assert words("t.Chdir(x) — “é”\u200b\x00\ud800z") == ["t", ".", "chdir", "(", "x", ")", "—", "“", "e", "”", "z"]


def test_texts_that_mean_alike_lie_nearer_than_others() -> None:
    alike = _near("call off a booking for a client", "Cancel a customer's reservation")
    assert alike > 0.4
    assert alike > 3 * _near("call off a booking for a client", "Quote YAML values with colons")
    assert math.isclose(_near("the same text", "the same text"), 1.0, abs_tol=0.01)


def test_a_text_that_says_nothing_is_near_nothing() -> None:
    assert table().vector("") == b""
    assert Query(b"").nearest([1, 2, 3], 2) == []
    assert _near("", "anything") == _near("anything", "") == 0.0
    assert signs(b"") == 0


def test_rare_words_say_more_than_frequent_ones() -> None:
    rarity = table().rarity
    assert rarity("make") < 1 < rarity("kubernetes")
    assert rarity("\ud800") == 1.0


def test_of_equally_near_rows_no_more_than_asked_for_are_named() -> None:
    query = Query(table().vector("anything"))
    assert query.nearest([0] * 100, 7) == list(range(7))
    assert query.nearest([0, 1], 7) == [0, 1]


def test_a_long_task_owes_some_of_its_nearness_to_its_length() -> None:
    assert discounted(0.5, "a short task") == 0.5
    assert discounted(0.5, "word " * 100) < 0.35
    assert discounted(0.1, "word " * 10_000) == 0.0


def test_a_table_of_another_shape_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.txt").write_text("a\nb\n", encoding="utf-8")
    head = b'{"embeddings":{"dtype":"F32","shape":[2,256],"data_offsets":[0,4]}}'
    (tmp_path / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(RunError, match="not a table of int8"):
        VectorTable(tmp_path)


@given(st.text(max_size=300))
def test_any_text_has_a_vector_of_256_numbers_or_none(text: str) -> None:
    assert len(table().vector(text)) in (0, 256)
