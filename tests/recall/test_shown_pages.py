"""The part of a text that belongs to each page in it."""

from __future__ import annotations

import pytest

from agent_wiki.recall.shown_pages import are_listed, consulted_pages, part_of

_FIRST, _SECOND = "guidelines/check__111111111111.md", "guidelines/quote__222222222222.md"
_LISTED = f"""\
1. Check first [guideline, 0.71]
   why: title: check
   wiki/{_FIRST}
2. Quote values [guideline, 0.61]
   why: title: quote
   wiki/{_SECOND}
3. Raising the timeout was given up. [episode, 0.60]
   why: summary: timeout
   wiki/summaries/a.md
"""
_READ = f"""\
--- {_FIRST} [guideline] 1 session
Check first.
--- {_SECOND} [guideline] 1 session
Quote values.
--- summaries/a.md [episode] trust assistant
Raising the timeout was given up.
"""


_OUTPUT = "Command: wiki consult\nDirectory: (root)\nOutput: "


@pytest.mark.parametrize("text", [_LISTED, _READ, _OUTPUT + _LISTED, _OUTPUT + _READ])
def test_the_words_of_an_episode_count_for_no_page_before_it(text: str) -> None:
    assert consulted_pages(text) == [_FIRST, _SECOND]
    part = part_of(_SECOND, text, [_FIRST, _SECOND])
    assert "Quote values" in part
    assert "timeout" not in part


@pytest.mark.parametrize("start", ["", _OUTPUT], ids=["as printed", "behind a program's own words"])
def test_a_page_that_was_printed_is_more_than_listed(start: str) -> None:
    assert not are_listed(start + _READ)
    assert are_listed(start + _LISTED)
