"""Whether two tries are of the same is what the ratio of their characters says, however quickly it is known."""

from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.engines.offline.what_changed import _ALIKE, _share_most

LINES = st.text(st.sampled_from("ab'\" -$"), max_size=30)


@given(LINES, LINES)
@example("", "")
@example("echo 'a", 'echo "a"')
@example("abab", "bcbc")
def test_texts_are_alike_where_the_ratio_says_so(one: str, other: str) -> None:
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    assert _share_most(one, other) == (ratio >= _ALIKE)
