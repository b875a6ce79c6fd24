"""Scripted sessions with one arc, and what the embedded engine says of one."""

from __future__ import annotations

from agent_wiki.engines.offline.summarize import answer
from agent_wiki.stages.summarize import ArcAnswer, SummarizeQuestion
from tests.engines.sessions import Session

ASKED = "The totals of the shop run over, cap them for members and for guests."
COMMITTED = "[main 1a2b3c4] Cap the totals at a hundred\n 1 file changed"


def summary(session: Session) -> ArcAnswer:
    """The session's only arc."""
    arcs = answer(SummarizeQuestion(session.done())).arcs
    assert len(arcs) == 1
    return arcs[0]


def capped() -> Session:
    return Session().user("The totals are too high, cap them and commit.").edit("src/cap.py")


def asked(text: str = "mend the totals of the shop") -> Session:
    return Session(cwd="/home/me/shop").user(text)
