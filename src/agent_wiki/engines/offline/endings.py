"""How a stretch ended, in one or two sentences that say what the outcome is based on."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.acts import Act, distinct
from agent_wiki.engines.offline.goal import request_line
from agent_wiki.engines.offline.graded import is_graded_elsewhere
from agent_wiki.engines.offline.quoted_request import in_own_words
from agent_wiki.engines.offline.reply_prose import LEAST_LETTERS, PLEASANTRY, SENTENCE_END, first_prose, reservation
from agent_wiki.engines.offline.requests import FAULT
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.engines.offline.troubles import Trouble
from agent_wiki.engines.offline.wording import called, called_as_passed, code, error_words, listing, said
from agent_wiki.trajectory.asked import offers_options
from agent_wiki.wiki.text import plain_line

NO_ANSWER = written("no_answer", re.IGNORECASE)
_HANDED_OVER = "The work was handed over, and no verdict on it is recorded."
_MOST_IN_FULL = 440  # characters
_LEAST_ANSWER = 12  # letters and digits; less is a signal between programs


def ending(stretch: Stretch, shown: Shown, troubles: list[Trouble]) -> str:
    """The last sentences of a narrative."""
    if shown.basis == "recorded":
        return _recorded(stretch)
    if shown.basis in ("nothing", "unrun", "unchecked", "unfinished"):
        return _unknown(stretch)
    based = _checked(stretch, shown, troubles) if shown.basis == "check" else ""
    based = _cut_off(stretch, shown) if shown.basis == "cut-off" else based
    is_graded = shown.basis in ("check", "graded") and len(stretch.requests) < 2 and is_graded_elsewhere(stretch)
    reply = "" if shown.basis == "cut-off" and shown.quote else _reply(stretch)
    graded = _HANDED_OVER if is_graded else ""
    end = _unanswered(stretch) if shown.basis in ("check", "shipped", "done", "delivered") else ""
    parts = (reply, based, graded, end, _next_words(stretch), _asks(stretch))
    return " ".join(filter(None, parts))


def _cut_off(stretch: Stretch, shown: Shown) -> str:
    if shown.quote:
        words = error_words(shown.quote) or said(shown.quote)
        return f"No answer came: {words} (T{shown.turn})."
    if shown.act is not None:
        return _ends_before(stretch, shown.act)
    status = plain_line(stretch.trajectory.source.exit_status or "", 60)
    return f"The run was cut off ({code(status)}) before it came to an end."


def _recorded(stretch: Stretch) -> str:
    source = stretch.trajectory.source
    if source.resolved is not None:
        verdict = f"The recorded verdict is that the task was {'' if source.resolved else 'not '}resolved."
    else:
        verdict = f"The recorded reward is {source.reward:g}."
    won = source.resolved if source.resolved is not None else (source.reward or 0) >= 1
    last = next((act for act in reversed(stretch.acts) if act.finding and act.finding.passed is not None), None)
    if last is not None and last.finding is not None and last.finding.passed and not won:
        return f"The agent's own last check, {called(last)}, had passed, yet {verdict[0].lower()}{verdict[1:]}"
    reply = _reply(stretch) if stretch.is_talk() or not won else ""
    return f"{reply} {verdict}".strip()


def _checked(stretch: Stretch, shown: Shown, troubles: list[Trouble]) -> str:
    """The results of the last checks, without what the story has reported as a failure already."""
    if not shown.failed:
        last = shown.passed[-1]
        runs = {called_as_passed(act): act for act in shown.passed}  # the last of each
        turns = {name: act.end for name, act in runs.items()}
        is_at_once = len(set(turns.values())) == 1
        names = list(turns) if is_at_once else [f"{name} (T{turn})" for name, turn in turns.items()]
        line = error_words(shown.quote or "", 90) if len(shown.passed) == 1 else ""
        what = f": {line}" if line and not (shown.quote or "").startswith("Process") else ""
        edits = [act.turn for act in stretch.acts if act.has_edited]  # after the check only those of notes
        is_code = bool(edits) and edits[-1] > min(act.turn for act in runs.values())
        when = f"After the last change{' of code' if is_code else ''} " if edits else ""
        return f"{when}{listing(names)} passed{f' (T{last.end})' if is_at_once else ''}{what}."
    names = list(dict.fromkeys(called(act) for act in shown.failed))
    is_reported = any(act in trouble.failures for act in shown.failed for trouble in troubles)
    line = error_words(shown.quote or "", 100)
    text = f"The last run of {listing(names)} failed (T{shown.failed[-1].end})"
    passed = [name for name in dict.fromkeys(map(called_as_passed, shown.passed)) if name not in names]
    if is_reported and not passed:
        return ""
    text += f": {line}." if line and not is_reported else "."
    return f"{text[:-1]}, while {listing(passed)} passed." if passed else text


def _unknown(stretch: Stretch) -> str:
    interrupts = stretch.interrupts()
    last = stretch.acts[-1] if stretch.acts else None
    is_later = not interrupts or interrupts[-1] > stretch.last_request_turn()  # else the agent went on after it
    if stretch.trajectory.source.exit_status == "interrupted" and stretch.followed_by is None and is_later:
        return f"{_reply(stretch)} The user stopped the agent there.".strip()
    if interrupts and interrupts[-1] >= max(last.end if last else 0, stretch.last_turn - 2):
        stop, reply = f"The user stopped the agent there (T{interrupts[-1]}).", _reply(stretch)
        is_later = stretch.last_reply_turn() > interrupts[-1]
        return " ".join(filter(None, (stop, reply, _asks(stretch)) if is_later else (reply, stop)))
    is_last_word = last is not None and max(stretch.last_reply_turn(), stretch.last_turn - 1) <= last.turn
    if last is not None and last.call.result is None and is_last_word:
        return " ".join(filter(None, (_reply(stretch), _ends_before(stretch, last))))
    return " ".join(filter(None, (_reply(stretch), _open_end(stretch), _next_words(stretch), _asks(stretch))))


def _open_end(stretch: Stretch) -> str:
    """That an answer is missing, or the user's last word on what was only said."""
    asked, last = stretch.requests[-1].turn if stretch.requests else 0, stretch.last_reply()
    is_last_word = last is None or last[0] < asked
    is_accepted = bool(stretch.requests[1:]) and stretch.requests[-1].kind == "acceptance"
    if is_last_word and not is_accepted and asked > (stretch.acts[-1].turn if stretch.acts else 0):
        return f"The recording ends without an answer to the user (T{asked})." if asked else ""
    if any(act.has_edited for act in stretch.acts):
        return ""
    if is_accepted:
        final = stretch.requests[-1]
        return f"The user said {said(final.text, 80)} (T{final.turn})."
    # A subagent's last word may stand in the session that started it.
    is_open = is_last_word and not stretch.trajectory.source.parent_session_id
    return "The recording ends without an answer." if is_open else ""


def _ends_before(stretch: Stretch, last: Act) -> str:
    """The calls of the last turn that have no result."""
    if last.is_unrecorded:
        return ""  # nor is any other call of that tool
    open_calls = [called(act) for act in stretch.acts if act.turn == last.turn and act.call.result is None]
    names = distinct(open_calls) or [called(last)]
    return f"The recording ends before {listing(names)} {'were' if names[1:] else 'was'} answered (T{last.turn})."


def _unanswered(stretch: Stretch) -> str:
    """The user's last turn, where the recording ends with it."""
    last = stretch.requests[-1] if stretch.requests else None
    is_open = last is not None and last.turn == len(stretch.trajectory.messages) and last.kind != "acceptance"
    return f"The recording ends without an answer to the user (T{last.turn})." if last and is_open else ""


def _next_words(stretch: Stretch) -> str:
    """What the user said next, where it names a fault: it may be one of what was made here."""
    then = stretch.followed_by
    line = request_line(then.text, 130) if then else ""
    if then is None or not FAULT.search(line):
        return ""
    return f"The user's next words: {in_own_words(line, then, 130)} (T{then.turn})."


def ending_in_full(ended: str, stretch: Stretch) -> str:
    """An ending with more of the agent's last words, for where there is room."""
    if not (short := _reply(stretch)):
        return ended
    full, question = _reply(stretch, _MOST_IN_FULL), _question(stretch)[1:]  # up to its closing mark, which both end in
    for said_again in (f" … {question}", f" {question}") if question else ():
        full = full.replace(said_again, "”")
    return ended.replace(short, full)


def _reply(stretch: Stretch, most: int = 240) -> str:
    """The agent's last words, as its words and not as a fact."""
    turn, line = words_of_reply(stretch, most)
    is_overtaken = any(act.turn > turn and act.has_worked and act.is_work for act in stretch.acts)
    later = [each for each in stretch.requests if each.turn > turn]
    answered = ("acceptance", "nudge", *(["answer"] if stretch.is_talk() else []))  # a customer's own last words
    is_overtaken |= any(each.kind not in answered for each in later)
    is_overtaken |= bool(later) and any(act.turn > later[0].turn for act in stretch.acts)  # it went to work on "yes"
    return f"In its own words (T{turn}): {line}." if line and not is_overtaken else ""


def words_of_reply(stretch: Stretch, most: int, since: int | None = None, until: int | None = None) -> tuple[int, str]:
    """What `last_words` says, and what the same reply takes back of it further on."""
    turn, line = last_words(stretch, most, since, until)
    but = reservation(stretch.content(turn), line) if line else ""
    return turn, f"{line}; further on: {said(but, 2 * most // 3)}" if but else line


def _asks(stretch: Stretch) -> str:
    return f"It ends by asking: {question}." if (question := _question(stretch)) else ""


def _question(stretch: Stretch) -> str:
    """What the agent asks the user in the recording's last words, quoted."""
    last = stretch.last_reply()
    if last is None or last[0] < len(stretch.trajectory.messages):
        return ""
    line = SENTENCE_END.split(last[1].strip().splitlines()[-1].strip(" *->_\t"))[-1]
    is_open = line.endswith("?") and not PLEASANTRY.match(line) and line not in first_prose(last[1])
    return said(line) if is_open else ""


def last_words(stretch: Stretch, most: int, since: int | None = None, until: int | None = None) -> tuple[int, str]:
    """The agent's last reply before turn `until` that says something: its turn and how it begins, quoted.

    `(0, "")` when it said nothing since turn `since`, that in which the user last asked.
    """
    asked = stretch.last_request_turn() if since is None else since
    for turn, reply in stretch.replies(until):
        if turn < asked:
            break
        is_none = NO_ANSWER.match(reply) or offers_options(stretch.content(turn))
        words = "" if is_none else first_prose(reply, max(LEAST_LETTERS, most // 2))
        if sum(map(str.isalnum, words)) >= _LEAST_ANSWER and not PLEASANTRY.match(words):
            return turn, said(words, most)
    return 0, ""
