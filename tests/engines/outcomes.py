"""What tests of outcomes share: what a made-up session shows, and a review that rests on looks."""

from __future__ import annotations

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.outcome import shown_outcome
from agent_wiki.engines.offline.requests import requests_of
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import stretch_of
from tests.engines.sessions import Session

REVIEW = "The parser is sound. " + "Two branches of it never run, and one of them hides an error of the reader. " * 4


def shown(session: Session) -> Shown:
    """What the whole session shows."""
    trajectory = session.done()
    acts, requests = acts_of(trajectory), requests_of(trajectory)
    return shown_outcome(stretch_of(trajectory, acts, requests, 1, len(trajectory.messages)))


def looked(request: str = "review the parser") -> Session:
    """Something that was asked, and looks that an answer can rest on."""
    return Session().user(request).read("parser.py").read("reader.py")
