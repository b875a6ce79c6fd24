"""The story of a stretch in plain sentences: what was asked, how it went, what failed and how it ended.

Each sentence is made from facts (files, commands, error lines, the user's words) and knows its turn and its
weight; the weightiest that fit are kept in the order of the session. At most 250 words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import replace

from agent_wiki.engines.offline.acts import Act, distinct
from agent_wiki.engines.offline.dead_ends import refusal_words
from agent_wiki.engines.offline.endings import ending, ending_in_full, words_of_reply
from agent_wiki.engines.offline.findings import Statement, moves_on, refusals_of_agent
from agent_wiki.engines.offline.goal import COMMAND, opening_and_next, opening_turn, request_line
from agent_wiki.engines.offline.quoted_request import in_full, in_own_words, pasted_line
from agent_wiki.engines.offline.requests import UserRequest, asks, says_no
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.story import Sentence, story_of
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.engines.offline.troubles import Trouble
from agent_wiki.engines.offline.what_changed import in_words
from agent_wiki.engines.offline.wording import called, code, error_words, is_inline, listing, said
from agent_wiki.engines.offline.working import CHECKED, span, worked
from agent_wiki.shell.result_lines import are_alike

_MOST_USER_TURNS = 6
_MOST_SAID, _MOST_ANSWERED = 130, 120  # characters
_MOST_OF_OPENING, _MOST_IN_FULL = 480, 320  # where there is room
_MOST_GOING_ON, _MOST_UNTOLD = 60, 40
_SAME = 40  # characters at the start of two answers that say the same
_NO_OFFER = written("no_offer", re.IGNORECASE)
_LAST_PASS = 81  # the last pass of a check weighs as much as what was changed
_MOST_TROUBLES = 3
_FEW_WORDS = 3  # of an answer: more are answered in turn


def narrative_of(stretch: Stretch, shown: Shown, troubles: list[Trouble]) -> str:
    """At most 250 words in one to three paragraphs; never empty, safe as Markdown."""
    is_talk = stretch.is_talk()
    ended = ending(stretch, shown, troubles)
    in_full_ended = ending_in_full(ended, stretch)
    said_last = shown.turn if shown.basis == "user" else None  # which the ending has
    asked = _user_turns(stretch, is_talk)
    episodes = _episodes(stretch, {each.turn for each in asked} if is_talk else None)
    sentences = [_opening(stretch), *(each for each in asked if each.turn != said_last)]
    refused_by_agent = refusals_of_agent(stretch) if is_talk else []
    sentences += [each.sentence for each in refused_by_agent if each.words[1:41] not in in_full_ended]
    turns, scratch = [act.turn for act in stretch.acts], stretch.scratch()
    failed = {called(act) for each in troubles for act in each.failures}
    for start, end in episodes:
        acts = stretch.acts[bisect_left(turns, start) : bisect_left(turns, end)]
        sentences += worked(acts, stretch, shown, scratch, failed)
        if end <= stretch.last_turn:
            weight = 38 if is_talk else 49 if any(act.edits for act in acts) else 59
            answers = _answers(stretch, start, end, weight, ended, {each.turn for each in asked})
            sentences += [each for each in answers if not is_talk or _offers(each, refused_by_agent)]
    passed = [at for at, each in enumerate(sentences) if each.weight == CHECKED]
    if passed and shown.basis != "check":  # else the ending tells of it
        sentences[passed[-1]] = replace(sentences[passed[-1]], weight=_LAST_PASS)
    sentences += _troubles(troubles)
    sentences += _refusals(stretch)
    opened = sentences[0].turn  # a greeting before it is no request
    if not any(act.turn < opened and (act.edits or act.commands) for act in stretch.acts):
        sentences = [replace(each, turn=max(each.turn, opened)) for each in sentences]
    elif stretch.first_turn == 1 and not any(each.turn < stretch.acts[0].turn for each in stretch.requests):
        sentences.append(Sentence(0, 100, "The recording begins in the middle of the work."))
    sentences.append(Sentence(stretch.last_turn + 1, 100, ended, fuller=in_full_ended))
    begun = {start for start, _ in episodes[1:] if start != said_last}
    return story_of(sentences, {each.turn: _went_on(each) for each in stretch.requests if each.turn in begun})


def _offers(answer: Sentence, refused: list[Statement]) -> bool:
    """In a conversation: an answer that neither asks for details nor stands in the story as a refusal."""
    words = answer.text.rpartition("answered: “")[2]
    is_offer = "?" not in words and _NO_OFFER.search(words) is None
    return is_offer and not any(answer.turn == each.sentence.turn or words[:_SAME] in each.words for each in refused)


def _answers(stretch: Stretch, start: int, end: int, weight: int, ended: str, known: Collection[int]) -> list[Sentence]:
    """What it answered to the user's turn `start`, and to the last one before `end`. `known`: turns in the story."""
    opening = opening_turn(stretch.requests)
    opened = opening.turn if opening else start
    untold = [each for each in stretch.requests if max(start, opened) < each.turn < end]
    found = _answer(stretch, start, untold[0].turn if untold else end, weight, ended)
    if untold and (words := said(untold[-1].text.strip().split("\n", 1)[0], _MOST_UNTOLD)):
        lead = "It answered" if untold[-1].turn in known else f"To {words} (T{untold[-1].turn}) it answered"
        found += _answer(stretch, untold[-1].turn, end, weight - 5, ended, lead)
    return found


def _answer(
    stretch: Stretch, start: int, end: int, weight: int, ended: str, lead: str = "It answered"
) -> list[Sentence]:
    """What the agent answered between two turns, unless the ending has it."""
    turn, words = words_of_reply(stretch, _MOST_ANSWERED, since=start, until=end)
    if words[1:41] in ended:
        return []
    in_full = words_of_reply(stretch, _MOST_IN_FULL, since=start, until=end)[1]
    return [Sentence(turn, weight, f"{lead}: {words} (T{turn}).", fuller=f"{lead}: {in_full} (T{turn}).")]


def _opening(stretch: Stretch) -> Sentence:
    first = opening_turn(stretch.requests)
    if first is None:
        issue = stretch.issue_read_first()
        read = f" The issue that it read first: {said(issue[1], _MOST_SAID)} (T{issue[0]})." if issue else ""
        return Sentence(stretch.first_turn, 100, f"No request of a user is recorded.{read}")
    goal = opening_and_next(stretch.requests, stretch.trajectory.source.title)[0]
    if first.kind == "command":
        names = [word.rstrip(":") for word in goal.split() if COMMAND.fullmatch(word)]
        rest = " ".join(word for word in goal.split() if not COMMAND.fullmatch(word))
        ran = f"The user ran {listing([code(name) for name in names])}: {in_own_words(rest, first, 160)}."
        return Sentence(first.turn, 100, f"{ran.replace(': .', '.')[:-1]} (T{first.turn}).")
    who = "The user asked"
    if stretch.trajectory.source.parent_session_id:
        who = "The parent agent asked"
    elif len(first.text) > 1_000 or first.text.startswith("<"):
        who = "The task"
    whole, pasted = in_full(first, _MOST_OF_OPENING), pasted_line(goal, _MOST_IN_FULL)
    if pasted and not whole:
        return Sentence(first.turn, 100, f"The user pasted output: {pasted} (T{first.turn}).")
    shown = in_full(first, _MOST_IN_FULL) or in_own_words(goal, first, 160)
    turn = f"(T{first.turn})"
    return Sentence(first.turn, 100, f"{who}: {shown} {turn}.", fuller=f"{who}: {whole} {turn}." if whole else "")


def _user_turns(stretch: Stretch, is_talk: bool) -> list[Sentence]:
    """What the user said later on: the heaviest few, in order, nothing said twice.

    `is_talk`: this stretch is only conversation and services; answers to the agent's questions are then left out.
    """
    opening = opening_turn(stretch.requests)
    later = [request for request in stretch.requests if opening is not None and request.turn > opening.turn]
    found = [_user_turn(request) for request in later if not is_talk or moves_on(request)]
    sentences = [each for each in found if each is not None]
    heaviest = sorted(sentences, key=lambda each: (-each.weight, each.turn))[: 4 if is_talk else _MOST_USER_TURNS]
    return [each for each in sentences if each in heaviest]


def _user_turn(request: UserRequest) -> Sentence | None:
    weights = {"objection": 90, "request": 60, "command": 70, "acceptance": 40, "answer": 35}
    text = _on_user_turn(request, _MOST_SAID)
    fuller = _on_user_turn(request, _MOST_IN_FULL, in_full(request, _MOST_IN_FULL))
    return Sentence(request.turn, weights[request.kind], text, opens=True, fuller=fuller) if text else None


def _on_user_turn(request: UserRequest, most: int, whole: str = "") -> str:
    """What the user said in a turn, `whole` or at most `most` characters of it; empty where that was nothing new."""
    line = request_line(request.text, most)
    words = whole or in_own_words(line, request, most) or in_full(request, most)
    if not words or request.kind == "nudge":
        return ""
    turn = f"(T{request.turn})"
    if request.kind == "request" and (pasted := pasted_line(line, most)):
        return f"{{then}} the user pasted output: {pasted} {turn}."
    texts = {
        "objection": f"The user {'objected' if says_no(request) else 'said'}: {words} {turn}.",
        "acceptance": f"The user said {words} {turn}.",
        "answer": f"The user said: {words} {turn}.",
        "command": f"The user then ran {code(request.text.split(None, 1)[0])} {turn}.",
        "request": f"{{then}} the user {'asked' if asks(words) else 'said'}: {words} {turn}.",
    }
    return texts[request.kind]


def _went_on(request: UserRequest) -> str:
    """The shortest word on a turn of the user that the story has no room for, and whose work it tells."""
    line = request_line(request.text, _MOST_GOING_ON)
    if pasted := pasted_line(line, _MOST_GOING_ON):
        return f"The user pasted output: {pasted} (T{request.turn})."
    words = in_own_words(line, request, _MOST_GOING_ON)
    words = words or (said(request.text, _MOST_GOING_ON) if request.kind == "nudge" else "")
    return f"The user went on{f': {words}' if words else ''} (T{request.turn})."


def _episodes(stretch: Stretch, shown: Collection[int] | None) -> list[tuple[int, int]]:
    """Turn ranges from one turn of the user that brought something new to the next; of `shown` only, where given."""
    opening = opening_turn(stretch.requests)
    later = [each for each in stretch.requests if opening is not None and each.turn > opening.turn]
    short = {each.turn for each in later if each.kind == "answer" and len(each.text.split()) < _FEW_WORDS}
    edits = [act.turn for act in stretch.acts if act.has_edited] if any(each.kind == "nudge" for each in later) else []
    set_off = {each.turn for each in later if each.kind == "nudge" and _sets_off(each, stretch, edits)}
    new = [each.turn for each in later if each.turn not in short and (each.kind != "nudge" or each.turn in set_off)]
    news = [turn for turn in new if shown is None or turn in shown]
    starts = [stretch.first_turn, *news]
    return list(zip(starts, [*starts[1:], stretch.last_turn + 1], strict=True))


def _sets_off(nudge: UserRequest, stretch: Stretch, edits: list[int]) -> bool:
    """What was talked about is now done: files change after "yes", and did not since the user's turn before it."""
    before = max((each.turn for each in stretch.requests if each.turn < nudge.turn), default=0)
    until = min((each.turn for each in stretch.requests if each.turn > nudge.turn), default=stretch.last_turn + 1)
    at = bisect_right(edits, before)
    first = edits[at] if at < len(edits) else until
    return nudge.turn < first < until and sum(map(str.isalpha, nudge.text)) > 1  # no "A", which answers


def _troubles(troubles: list[Trouble]) -> list[Sentence]:
    """A sentence on each of the heaviest few: of more a story would say little else."""
    return sorted(map(_trouble, troubles), key=lambda each: (-each.weight, -each.turn))[:_MOST_TROUBLES]


def _trouble(trouble: Trouble) -> Sentence:
    """A failure and what overcame it. A single failure without consequences weighs little unless a check failed."""
    first, last = trouble.failures[0], trouble.failures[-1]
    line, name = error_words(trouble.line), called(last)
    tried = [each for each in trouble.failures if called(each) == name]
    number, when = len(tried), span(tried[0].end, last.end)
    how, lead = (" repeatedly", ", the last time with") if number > 1 else ("", ":")
    opening = trouble.line_of(tried[0]) if line and number > 1 else ""
    if opening and not are_alike(opening, trouble.line):
        words = error_words(opening)
        lead = f", first with {words}{lead}" if " " in words else lead  # another cause, which was overcome
    failed = f"{name} failed{how} {when}{f'{lead} {line}' if line else ''}"
    weight = 40 + 5 * min(number, 4)
    if trouble.is_check:
        weight = 52 if is_inline(first) else 82
    if trouble.fix is None:
        return Sentence(last.turn, weight - 10, f"{failed}.")
    how = in_words(trouble.how)
    return Sentence(last.turn, weight, f"{failed}; it {trouble.went[1]} {how} (T{trouble.fix.end}).")


def _refusals(stretch: Stretch) -> list[Sentence]:
    """Calls that the user refused, those of one turn together, with the reason where one was given."""
    by_turn: dict[int, list[Act]] = {}
    for act in stretch.acts:
        if act.was_refused_by_user and act.kind != "ask":
            by_turn.setdefault(act.turn, []).append(act)
    found = []
    for turn, acts in by_turn.items():
        names = distinct([called(act) for act in acts])
        reason = next((words for act in acts if (words := refusal_words(act))), "")
        verb = "answered" if reason and names == ["the plan"] else "refused"  # the words may well agree to it
        text = f"The user {verb} {listing(names)} (T{turn}){f': {said(reason, 200)}' if reason else ''}."
        found.append(Sentence(turn, 82 if reason else 62, text, opens=True))
    return found
