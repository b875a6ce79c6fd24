"""Tokens, stems, shapes and weights of words."""

from __future__ import annotations

import math

import pytest

from agent_wiki.pages.compare.similarity import (
    ENTITY,
    NAME,
    NOTHING,
    WORD,
    dot,
    inverse_document_frequency,
    stem,
    strength,
    tokens,
    unit,
)


def test_an_identifier_stays_whole_and_a_path_is_its_parts() -> None:
    assert tokens("see ann_lee_12 in lib/core-io/read.py, please") == [
        "see", "ann_lee_12", "in", "lib", "core-io", "read.py", "please"
    ]  # fmt: skip


@pytest.mark.parametrize("written", ["June 3rd", "jun 3", "2031-06-03", "JUNE 3"])
def test_a_date_is_one_term_however_it_is_written(written: str) -> None:
    assert tokens(f"leave on {written}.")[0] == "jun 3"


def test_a_number_with_thousands_is_one_number() -> None:
    assert "12500" in tokens("pay 12,500 at most")


@pytest.mark.parametrize(
    ("left", "right"),
    [("cancelled", "cancelling"), ("cancellation", "cancel"), ("reservations", "reserve"), ("files", "file"),
     ("dependencies", "dependency"), ("running", "runs"), ("installs", "installing")],
)  # fmt: skip
def test_inflections_of_a_word_meet(left: str, right: str) -> None:
    assert stem(left) == stem(right)


@pytest.mark.parametrize("identifier", ["V2ings", "a_classes", "x9.bytes"])
def test_an_identifier_is_never_stemmed(identifier: str) -> None:
    assert stem(identifier) == identifier.lower()


@pytest.mark.parametrize(
    ("token", "expected"),
    [("the", NOTHING), ("Please", NOTHING), ("we'll", NOTHING), ("7", NOTHING), ("flight", WORD), ("Lisbon", WORD),
     ("IMPORTANT", WORD), ("LIS", NAME), ("camelCase", NAME), ("main.go", NAME), ("4711", NAME), ("K7PQ2", ENTITY),
     ("ann_lee", ENTITY)],
)  # fmt: skip
def test_what_a_word_looks_like_says_how_much_it_can_say(token: str, expected: float) -> None:
    assert strength(token) == expected


def test_a_word_of_all_documents_weighs_least_and_never_nothing() -> None:
    idf = inverse_document_frequency([["a", "b"], ["a", "c"], ["a"]])
    assert 0 < idf["a"] < idf["b"] == idf["c"]


def test_a_unit_vector_has_length_one_and_nothing_stays_nothing() -> None:
    assert math.isclose(dot(unit({"x": 3.0, "y": 4.0}), unit({"x": 3.0, "y": 4.0})), 1.0)
    assert unit({}) == {}
    assert dot({"x": 1.0}, {"y": 1.0}) == 0.0


def test_a_hostile_line_is_read_in_linear_time() -> None:
    assert tokens("a-" * 500_000 + " end")[-1] == "end"
    assert tokens("1," * 300_000 + "x")[-1] == "x"
