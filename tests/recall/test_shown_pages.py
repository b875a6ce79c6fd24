"""The part of a text that belongs to each page in it."""

from __future__ import annotations

import pytest

from agent_wiki.recall.shown_pages import consulted_pages, part_of

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


@pytest.mark.parametrize("text", [_LISTED, _READ])
def test_the_words_of_an_episode_count_for_no_page_before_it(text: str) -> None:
    assert consulted_pages(text) == [_FIRST, _SECOND]
    part = part_of(_SECOND, text, [_FIRST, _SECOND])
    assert "Quote values" in part
    assert "timeout" not in part
