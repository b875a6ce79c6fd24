"""What was different in the try that worked, and whether two tries are of the same thing."""

from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.engines.offline.what_changed import _ALIKE, _share_most
from tests.engines.sessions import Session
from tests.engines.summaries import summary

LINES = st.text(st.sampled_from("ab'\" -$"), max_size=30)


@given(LINES, LINES)
@example("", "")
@example("echo 'a", 'echo "a"')
@example("abab", "bcbc")
def test_texts_are_alike_where_the_ratio_says_so(one: str, other: str) -> None:
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    assert _share_most(one, other) == (ratio >= _ALIKE)


def test_outside_the_sandbox_wins_over_whatever_was_changed_besides() -> None:
    session = Session().user("Cap the totals.").run("npx vite build", "Error: listen EPERM", failed=True).edit("cap.py")
    let_out = {"command": "npx vite build", "sandbox_permissions": "require_escalated"}
    arc = summary(session.call("shell", let_out, "built in 2s"))
    assert "it passed outside the sandbox" in arc.narrative
    assert "after changes to" not in arc.narrative
