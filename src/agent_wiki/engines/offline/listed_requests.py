"""What the user asked for in a stretch, in order, one line each: for a session with more than one request.

A goal and a title name one or two of them; a reader has to see all.
"""

from __future__ import annotations

from collections import Counter

from agent_wiki.engines.offline.findings import moves_on
from agent_wiki.engines.offline.goal import opening_and_next, opening_turn, request_line
from agent_wiki.engines.offline.quoted_request import both_ends, in_full, in_own_words, pasted_line
from agent_wiki.engines.offline.requests import UserRequest, asked_before
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.wording import code, count
from agent_wiki.stages.summarize import MOST_REQUESTS, TurnNote
from agent_wiki.trajectory.language import is_english

_MOST_SAID, _MOST_OF_MANY = 600, 300  # characters of each request, of few and of many
_MANY = 12
_CHANGE = 9  # calls that a change weighs more
_LEAST_OF_ANSWER = 60  # characters of an answer or an assent that says more
_FEW_LETTERS = 8  # where no word of assent is known


def listed_requests(stretch: Stretch) -> list[TurnNote]:
    """The turns in which the user asked for something, objected or ran a command, each with its words, in turn order.

    Empty where there are not two. Where there are more than `MOST_REQUESTS`, the first, the last and those after which
    most was done; the turn of the first that is not among them says how many others there are.
    """
    opening, is_talk = opening_turn(stretch.requests), stretch.is_talk()
    least = 0 if is_english(" ".join(each.text for each in stretch.requests)) else _FEW_LETTERS
    goal = opening_and_next(stretch.requests, stretch.trajectory.source.title)[0]
    led_on = _answers_acted_on(stretch)
    asked = [each for each in stretch.requests
             if each is opening or each.turn in led_on or _brings_something(each, is_talk, least)]  # fmt: skip
    asked = asked[asked.index(opening) :] if opening in asked else asked
    most = _MOST_OF_MANY if len(asked) > _MANY else _MOST_SAID
    said = [(each.turn, _words(each, most) or (goal if each is opening else "")) for each in asked]
    first = {words: turn for turn, words in reversed(said) if words}  # some clients record a turn several times
    notes = sorted((TurnNote(turn=turn, text=words) for words, turn in first.items()), key=lambda note: note.turn)
    notes = notes if len(notes) <= MOST_REQUESTS else _heaviest(notes, stretch)
    return notes if len(notes) > 1 else []


def _answers_acted_on(stretch: Stretch) -> set[int]:
    """The turns of answers ("1 and 3") after which files were changed."""
    turns = [each.turn for each in stretch.requests]
    acted_on = {asked_before(turns, act.turn) for act in stretch.acts if act.has_edited}
    return {each.turn for each in stretch.requests if each.kind == "answer" and each.turn in acted_on}


def _brings_something(request: UserRequest, is_talk: bool, least: int) -> bool:
    if is_talk:
        return moves_on(request)
    if request.kind in ("answer", "acceptance"):
        return len(request.text) >= _LEAST_OF_ANSWER
    return request.kind != "nudge" and sum(map(str.isalpha, request.text)) > least


def _words(request: UserRequest, most: int) -> str:
    if request.kind == "command":
        name, _, rest = request.text.partition(" ")
        words = in_own_words(request_line(rest, most), request, most) if rest.strip() else ""
        return f"{code(name)}{f': {words}' if words else ''}"
    line = request_line(request.text, most)
    if pasted := pasted_line(line, most):
        return f"pasted output: {pasted}"
    return in_full(request, most) or both_ends(request, most) or in_own_words(line, request, most)


def _heaviest(notes: list[TurnNote], stretch: Stretch) -> list[TurnNote]:
    turns, done = [note.turn for note in notes], Counter[int]()
    for act in stretch.acts:
        done[asked_before(turns, act.turn)] += 1 + _CHANGE * bool(act.edits)
    order = sorted(range(len(notes)), key=lambda at: (at not in (0, len(notes) - 1), -done[turns[at]], at))
    shown = sorted(order[: MOST_REQUESTS - 1])
    left = [note for at, note in enumerate(notes) if at not in shown]
    words = f"{count(len(left))} other requests from here to T{left[-1].turn} are not listed"
    others = TurnNote(turn=left[0].turn, text=words)
    return sorted([*(notes[at] for at in shown), others], key=lambda note: note.turn)
