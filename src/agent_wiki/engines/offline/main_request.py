"""What a stretch is about, where its first request is not: a request that was replaced, or a question in passing."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.requests import ASKS, UserRequest
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.trajectory.lazily import regex

_LONGEST_QUESTION = 120
_LEAST_WORDS = 4
_LEAST_WORDS_IN_PLACE = 8  # fewer add to a request, and do not replace it
_QUESTION = regex(
    r"^(?:so |and |ok |hey )?(?:what|where|how|why|when|which|who|is|are|was|were|do|does|did)\b|\?\s*$", re.IGNORECASE
)


def standing_requests(stretch: Stretch) -> list[UserRequest]:
    """The requests from the first that stands: not one that the user stopped before it was begun and replaced."""
    requests = stretch.requests
    interrupts = stretch.interrupts()
    while len(requests) > 1 and len(requests[1].text.split()) >= _LEAST_WORDS_IN_PLACE:
        start, end = requests[0].turn, requests[1].turn
        has_begun = any(start < act.turn < end and act.has_worked for act in stretch.acts)
        if has_begun or not any(start < turn < end for turn in interrupts):
            break
        requests = requests[1:]
    return requests


def deed_of(stretch: Stretch, requests: list[UserRequest]) -> UserRequest | None:
    """Where the first request is a short question: the last one before the first change that asks for work."""
    first = next((each for each in requests if each.kind != "nudge"), None)
    if first is None or first.kind != "request" or not _only_asks(first.text):
        return None
    changes = [act.turn for act in stretch.acts if act.has_worked and (act.edits or act.kind == "ship")]
    if not changes:
        return None
    wanted = [each for each in requests if first.turn < each.turn < changes[0] and _wants_work(each)]
    return wanted[-1] if wanted else None


def _only_asks(text: str) -> bool:
    is_question = len(text) <= _LONGEST_QUESTION and _QUESTION.search(text.strip()) is not None
    return is_question and ASKS.search(text.strip().rstrip("?")) is None


def _wants_work(request: UserRequest) -> bool:
    text = request.text.strip()
    is_said = request.kind in ("request", "command") and len(text.split()) >= _LEAST_WORDS
    return is_said and _QUESTION.search(text) is None and ASKS.search(text) is not None
