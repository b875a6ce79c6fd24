"""One session's values out of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.trajectory import Source, Trajectory

SESSION = Trajectory("s1", Source("test", cwd="/home/kim/shop", git_branch="kim/fix-cart"), [])


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("cart.go:12:5: Error return value is not checked", "<file>: Error return value is not checked"),
        ("total price is 305, but paid 255", "total price is <number>, but paid <number>"),
        ("payment method card_5511 not found", "payment method <id> not found"),
        ("HTTP 404 from http://localhost:5173/a", "HTTP 404 from <url>"),
        ("'main' is checked out at '/home/kim/other'", "'main' is checked out at '<path>'"),
        ("reverts 4ead9dc1 of 2026-01-02", "reverts <commit> of <date>"),
        ("use client/server rendering and origin/main", "use client/server rendering and origin/main"),
        ("pinned numpy==1.26.4 in package.json", "pinned numpy==1.26.4 in package.json"),
    ],
)
def test_values_of_one_session_become_placeholders(text: str, general: str) -> None:
    assert generalize(text, SESSION) == general


def test_what_says_nothing_without_its_values_is_refused() -> None:
    assert generalize("/home/kim/a/b /home/kim/c/d.py 12345", SESSION) is None


@given(st.text(max_size=300))
def test_generalizing_any_text_gives_text_or_none(text: str) -> None:
    result = generalize(text, SESSION)
    assert result is None or "/home/kim" not in result


def test_a_hostile_text_is_cheap() -> None:
    for piece in ("/a", "a-1", "a.b@", "A1", "http://", "a_"):
        generalize(piece * 300_000, SESSION)
