"""What a stretch is about: the request that it opens with, and the one that most of its changes were made for."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.goal import CARRIES_ON, is_paste
from agent_wiki.engines.offline.requests import ASKS, UserRequest
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.trajectory.language import is_english
from agent_wiki.trajectory.lazily import dataclass, regex

_LEAST_WORDS = 6
_LEAST_LETTERS = 12  # where words are not set apart, or not known
_LEAST_WORDS_OF_TASK = 15
_LEAST_WORDS_OF_PROMPT = 20
_LONGEST_QUESTION = 160
_LEAST_WORDS_IN_PLACE = 8  # fewer add to a request, and do not replace it
_MORE = 2  # times the changes that were made for the opening request
_LEAST_SHARE = 0.2  # of what was done
_TWO, _SEVERAL = 2, 3
_CHANGE = 10  # calls that a change weighs as much as
_INITIALIZES = written("initializes", re.IGNORECASE)
_CHORE = written("chore", re.IGNORECASE)
_QUESTION = written("asks_to_know", re.IGNORECASE)
_LOOKS_INTO = regex(r"(?:please |now |ok,? )?(?:explore|inspect|scan)\b", re.IGNORECASE)
_REPORTS = written("reports_work", re.IGNORECASE)
_WISH = regex(r"\b(?:(?:can|could|will|would|should) (?:you|we|i)|please|let'?s|make sure)\b", re.IGNORECASE)


@dataclass(slots=True)
class WorkedRequest:
    """A request that says what is wanted, with what was done until the next one that does."""

    request: UserRequest
    agreed: UserRequest | None  # the user's next words, when they only let the agent go on
    calls: int
    changes: int

    @property
    def weight(self) -> int:
        return self.calls + _CHANGE * self.changes


def standing_requests(stretch: Stretch) -> list[UserRequest]:
    """The requests from the first that stands: no errand before the work, none that was stopped and replaced."""
    requests = stretch.requests
    while len(requests) > 1 and _is_chore(requests[0]):
        requests = requests[1:]
    interrupts = stretch.interrupts()
    while len(requests) > 1 and len(requests[1].text.split()) >= _LEAST_WORDS_IN_PLACE and not _is_aside(requests[1]):
        start, end = requests[0].turn, requests[1].turn
        worked = (act for act in stretch.acts if start < act.turn < end and act.has_worked and act.is_work)
        has_begun = any(act.kind != "delegate" for act in worked)
        if has_begun or not any(start < turn < end for turn in interrupts):
            break
        requests = requests[1:]
    return requests


def deed_of(stretch: Stretch, tasks: list[WorkedRequest]) -> UserRequest | None:
    """The request that most changes were made for, where the opening one is a question or a chore; else None.

    Where no other request has more changes, the words by which the user had the agent do what the question was about.
    """
    if not tasks or not _is_slight(tasks[0]):
        return None
    if stretch.is_talk() and _wants_work(tasks[0].request):
        return None  # a customer who says what for: what comes later are answers and details
    opening, main = tasks[0], max(tasks, key=lambda task: task.weight)
    is_unknown = not is_english(main.request.text)  # else an answer is known as one
    if is_unknown and not opening.calls and main in tasks[1:2] and _asks_back(stretch, main.request.turn):
        return None  # it answers what the agent asked about the first
    if main is opening:
        return main.agreed if main.changes and _is_question(main.request.text) else None
    if main.weight <= _MORE * opening.weight:
        return None
    return main.request


def second_of(stretch: Stretch, tasks: list[WorkedRequest]) -> UserRequest | None:
    """A wish that a goal names too: more was done for it than for all other requests, or it is the only other one."""
    if stretch.is_talk() or len(tasks) < _TWO:
        return None
    opening, main = tasks[0], max(tasks[1:], key=lambda task: task.weight)
    everything, words = sum(task.weight for task in tasks), main.request.text
    is_main = main.weight > max(_MORE * opening.weight, everything / 2)
    is_only = len(tasks) == _TWO and main.weight > _LEAST_SHARE * everything
    is_plain = is_english(words) and ASKS.match(words) and not CARRIES_ON.match(words)
    is_wish = main.request.kind == "request" and "<<" not in words and not _asks_back(stretch, main.request.turn)
    return main.request if (is_main or is_only) and is_wish and is_plain else None


def _asks_back(stretch: Stretch, turn: int) -> bool:
    """The last reply before a turn of the user is a question, or several."""
    words = next(stretch.replies(turn), (0, ""))[1].replace("？", "?").rstrip(" *_")
    return words.endswith("?") or words.count("?") >= _SEVERAL


def worked_requests(stretch: Stretch, requests: list[UserRequest]) -> list[WorkedRequest]:
    """The requests that say what they want, and the opening one, each with what was done until the next."""
    found: list[WorkedRequest] = []
    for position, request in enumerate(requests):
        end = requests[position + 1].turn if position + 1 < len(requests) else stretch.last_turn + 1
        acts = [act for act in stretch.acts if request.turn <= act.turn < end and act.has_worked]
        if not found or _wants_work(request):
            found.append(WorkedRequest(request, None, 0, 0))
        elif found[-1].agreed is None and not found[-1].changes and not _is_aside(request):
            found[-1].agreed = request
        found[-1].calls += len(acts)
        found[-1].changes += sum(map(_changes, acts))
    return found


def _changes(act: Act) -> int:
    """What ships counts double: it is what the work was for."""
    return bool(act.edits) + 2 * (act.kind == "ship")


def _wants_work(request: UserRequest) -> bool:
    """It says in so many words what it wants done: no question, no remark, no "and now test it"."""
    if request.kind not in ("request", "objection") or _is_chore(request) or is_paste(request.text):
        return False
    if not is_english(request.text):  # where no word of a wish is known
        return sum(map(str.isalpha, request.text)) >= _LEAST_LETTERS and not _is_question(request.text)
    if len(request.text.split()) < _LEAST_WORDS:
        return False
    head = request.text[:1_000]
    asks = ASKS.search(head) or _LOOKS_INTO.match(head)
    asks = asks or (_REPORTS.search(head) if request.kind == "request" else None)
    return asks is not None and not _is_question(request.text)


def _is_aside(request: UserRequest) -> bool:
    """It lets nobody go on: a question, or an errand."""
    return _is_chore(request) or _is_question(request.text)


def _is_chore(request: UserRequest) -> bool:
    """It only has the working copy prepared, or is a client's own prompt for a file about the code base."""
    if _INITIALIZES.match(request.text) is not None:
        return True
    return len(request.text.split()) < _LEAST_WORDS_OF_PROMPT and _CHORE.search(request.text) is not None


def _is_slight(opening: WorkedRequest) -> bool:
    """A question, a command without a word to it, a short wish, or talk without a look at anything."""
    request = opening.request
    if not opening.calls:
        return True
    if request.kind == "command":
        return " " not in request.text
    return len(request.text.split()) < _LEAST_WORDS_OF_TASK or _is_question(request.text)


def _is_question(text: str) -> bool:
    """It asks to know something; "can you add …?" asks for work."""
    text = text.strip()
    asks_to_know = _QUESTION.match(text) is not None or (text.endswith("?") and _WISH.search(text) is None)
    return asks_to_know and len(text) <= _LONGEST_QUESTION
