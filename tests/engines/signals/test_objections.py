"""Objections after a report, refusals, and what the agent did before and after them."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import objections
from agent_wiki.engines.offline.signals.objections import Objection, known_objections
from tests.engines.scripted_session import Script


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in objections.lessons(MinedSession.of(script.done()))]


def _reported() -> Script:
    return Script().edits("a", "b").says("Done. I fixed the cart.")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("does this only work on my machine, where\nthe path is?", '"does this only work on my machine, where …"'),
        ("it only works on my machine?\nPlease look.", '"it only works on my machine?"'),
    ],
)
def test_an_objection_that_goes_on_on_the_next_line_is_marked_as_cut(said: str, shown: str) -> None:
    assert not _titles(_reported().user(said))
    (lesson,) = objections.lessons(MinedSession.of(_reported().user(said).edits("b", "c").done()))
    assert f"The user objected: {shown} right after" in lesson.guideline.rationale


def test_an_objection_before_any_work_is_a_request() -> None:
    assert not _titles(Script("This only works on my machine."))
    assert not _titles(Script().says("Shall I begin?").user("the old script only works on my machine"))


def test_a_long_paste_is_not_read_for_objections() -> None:
    assert not _titles(_reported().user("Here is a review:\n" + "it only works on my machine\n" * 60))


@pytest.mark.parametrize("objection", known_objections(), ids=lambda objection: objection.wording.title)
def test_every_entry_is_worded_as_a_rule(objection: Objection) -> None:
    wording = objection.wording
    assert 3 <= len(wording.title.split()) <= 7
    assert 2 <= len(wording.tags) <= 5
    assert not wording.rule.lower().startswith(("don't", "do not", "never", "avoid"))
    objection.words.search("it is no such why did you " * 30)
