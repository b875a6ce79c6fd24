"""What the page of a session says of its outcome."""

from __future__ import annotations

import pytest

from agent_wiki.pages.sessions import SUMMARIZE, Arc
from agent_wiki.wiki.records import SessionRecord
from tests.pages.rendering import catalog_of, stage, texts_of


@pytest.mark.parametrize(
    ("arc", "reward", "line"),
    [
        (Arc("g", "partial"), None, "**partial**, as no check of the work as it was left is recorded."),
        (Arc("g", "partial", outcome_turn=3, outcome_quote="1 failed"), None, "**partial**, shown by T3: “1 failed”."),
        (Arc("g", "unknown"), None, "**unknown**."),
        (
            Arc("g", "success", outcome_turn=3, outcome_quote="2 passed", outcome_reason="`pytest` passed"),
            None,
            "**success**: `pytest` passed (T3: “2 passed”).",
        ),
        (Arc("g", "partial", outcome_reason="the user stopped it"), None, "**partial**: the user stopped it."),
        (
            Arc("g", "success", outcome_reason="`pytest` passed"),
            1.0,
            "**success**, as the recording's own verdict says.",
        ),
        (Arc("g", "success"), 1.0, "**success**, as the recording's own verdict says."),
    ],
)
def test_an_outcome_is_given_with_what_it_rests_on(arc: Arc, reward: float | None, line: str) -> None:
    record = SessionRecord("a", reward=reward, turns=4, stages={SUMMARIZE: stage(SUMMARIZE, [arc])})
    (page,) = (text for path, text in texts_of(catalog_of(record)).items() if path.startswith("summaries/a"))
    assert f"Outcome: {line}\n" in page
