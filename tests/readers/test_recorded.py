"""Moments, parts and counts as recordings write them."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.readers.recorded import count, flat_text, iso_utc, number, seconds_between, short_digest


@pytest.mark.parametrize(
    ("recorded", "moment"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.679Z"),
        ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z"),
        (1767323045, "2026-01-02T03:04:05Z"),
        (1767323045678, "2026-01-02T03:04:05.678Z"),
        ("yesterday", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        ({}, None),
    ],
)
def test_a_moment_is_iso_8601_in_utc_or_absent(recorded: Any, moment: str | None) -> None:
    assert iso_utc(recorded) == moment


def test_seconds_between_moments_of_different_kinds() -> None:
    assert seconds_between("2026-01-02T03:04:05Z", 1767323045500) == 0.5
    assert seconds_between("2026-01-02T03:04:05Z", None) is None
    assert seconds_between("2026-01-02T03:04:05Z", "2026-01-02T03:04:04Z") is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("as it is", "as it is"),
        ([{"type": "text", "text": "one"}, {"text": "two"}, "three"], "one\ntwo\nthree"),
        ([{"type": "input_image", "image_url": "data:…"}], "[image]"),
        ([{"inlineData": {"mimeType": "audio/wav", "data": "…"}}], "[audio]"),
        ([{"fileData": {"fileUri": "x"}}], "[file]"),
        ({"text": "alone"}, "alone"),
        ([{"type": "toolCall"}, 7, None], ""),
        (None, ""),
        (7, ""),
    ],
)
def test_content_becomes_text_with_a_word_for_each_picture(content: Any, text: str) -> None:
    assert flat_text(content) == text


def test_a_count_is_a_whole_number_and_a_number_is_finite() -> None:
    assert [count(value) for value in (3, 0, -1, True, "3", 1.5, None)] == [3, 0, *[None] * 5]
    assert [number(value) for value in (3, 0.5, True, "3", float("nan"))] == [3.0, 0.5, None, None, None]


def test_a_digest_depends_on_each_text_not_only_on_their_sum() -> None:
    assert short_digest(["ab", "c"]) != short_digest(["a", "bc"])
    assert short_digest(["\ud800"]) == short_digest(["\ufffd"])
