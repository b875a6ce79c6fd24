"""The user stopped the agent, had the changes reverted, or asked for more: a check that passed is not of that."""

from __future__ import annotations

import re
from dataclasses import replace

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.changes import are_documents, is_prose
from agent_wiki.engines.offline.requests import FAULT, UserRequest
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.pages.sessions import Outcome
from agent_wiki.shell.result_lines import quoted
from agent_wiki.trajectory.lazily import regex

_UNDO = "/undo"  # what aider's user types to take the last change back, and how aider answers
_UNDONE = "Removed: "
_MOST_READ, _OF_FINDING = 2_000, ("- **", "* **")  # of a review: what comes next, and no fault found in the work
_STANDS = ("check", "shipped", "user", "cluster")  # shown after the request: what was stopped was something more
_REVERT = written("revert", re.IGNORECASE)
_HANDS_ON = regex(r"\b(?:pr|pull request|push)\b", re.IGNORECASE)


def lowered_where_stopped(stretch: Stretch, shown: Shown) -> Shown:
    """The outcome where the user refused the last call and stopped the agent, or was answered in words only.

    What was done before makes it partial; where the calls before had failed and nothing was made, it is a failure.
    """
    stop = _stopped_at(stretch)
    turn = stop or _refused_at(stretch)
    if turn is None or shown.outcome in ("failure", "partial"):
        return shown
    if shown.outcome == "success" and shown.basis in _STANDS and (shown.turn or 0) > stretch.last_request_turn():
        return shown
    quote = stretch.opening_of(turn)
    stopped = replace(shown, basis="stopped" if stop else "declined", turn=turn, quote=quote, act=None)
    if shown.outcome == "success" or _has_result(stretch):
        return replace(stopped, outcome="partial")
    done = [act for act in stretch.acts if act.is_work and _has_run(act)]
    return replace(stopped, outcome="failure") if done and done[-1].has_failed else shown


def lowered_where_unfinished(stretch: Stretch, shown: Shown) -> Shown:
    """Partial where something was made, and the recording ends before the agent reports on the user's last request.

    What else shows a success is lowered only where nothing was made since that request. Not where it ends with a commit
    or push without an answer (a hook may have saved the recording), nor in a subagent, whose parent may have the end.
    """
    wanted = [each for each in stretch.requests if each.kind not in ("acceptance", "nudge")]
    asked, last = wanted[-1].turn if wanted else 0, stretch.acts[-1] if stretch.acts else None
    is_cut = shown.basis in ("shipped", "delivered") and _breaks_off(stretch)
    if shown.outcome == "success" and last and (is_cut or (wanted and _is_not_handed_on(wanted[-1], last))):
        return Shown("partial", "cut-off", last.turn, act=last)
    if shown.outcome not in ("success", "unknown") or last is None or (shown.turn or 0) > asked:
        return shown
    is_saved_by_it = last.kind == "ship" and last.call.result is None
    is_answered = any(turn > max(last.turn, asked) for turn, _ in stretch.replies())
    after = stretch.trajectory.messages[last.end : last.end + 1] if last.turn > asked and last.has_worked else []
    is_answered |= any(each.role == "assistant" and not each.tool_calls for each in after)  # without a word
    is_part = stretch.trajectory.source.parent_session_id is not None
    if is_saved_by_it or is_answered or is_part or stretch.last_turn < len(stretch.trajectory.messages):
        return shown
    made = [*stretch.kept_edits(), *(act for act in stretch.acts if act.kind == "ship")]
    quote = stretch.opening_of(asked)
    turns = [act.turn for act in made if act.has_worked]
    is_made = bool(turns) and max(turns) < asked and (asked <= last.turn or asked == stretch.last_turn)
    if not is_made and shown.basis == "nothing":
        is_open = bool(stretch.trajectory.messages[-1].tool_calls) or asked == stretch.last_turn
        is_made = asked > 0 and is_open and (bool(stretch.product()) or stretch.first_turn > 1)
    return Shown("partial", "unfinished", asked, quote) if is_made else shown


def lowered_where_faulty(stretch: Stretch, shown: Shown) -> Shown:
    """Partial where the user's last words show a fault, and the agent did nothing about it.

    What was shipped is partial, too, where a command that the user named word for word with it failed for good.
    """
    last = stretch.requests[-1] if stretch.requests else None
    if (
        not (shown.outcome == "success" or shown.basis in ("unrun", "unchecked"))
        or last is None
        or last.kind == "acceptance"
        or any(each.text == last.text for each in stretch.requests[:-1])  # a prompt that is sent each time
    ):
        return shown
    if shown.basis in ("shipped", "done") and (act := _in_vain(stretch, last)):
        return Shown("partial", "check", act.end, quoted(act.verdict.line) or None, act, (), (act,))
    is_own_look = shown.basis == "done"  # a probe, of which the user sees nothing
    later = (act for act in stretch.acts if act.turn > last.turn and act.is_work)
    is_idle = all((is_own_look and act.kind == "probe") or are_documents(act.edits) for act in later)
    said = (line for line in last.text[:_MOST_READ].splitlines() if not line.lstrip().startswith(_OF_FINDING))
    line = next(filter(FAULT.search, said), "")
    if not is_idle or not line or last is stretch.requests[0] or (last.turn <= (shown.turn or 0) and not is_own_look):
        return shown
    return Shown("partial", "user", last.turn, stretch.verbatim(last.turn, line))


def _in_vain(stretch: Stretch, request: UserRequest) -> Act | None:
    """The last call in which a command of several words that the request names failed, and that did not pass later."""
    acts = [act for act in stretch.acts if act.turn > request.turn]
    named = [(act, step.words, state) for act in acts for step, state in act.judged_steps if len(step.words) > 2]
    named = [each for each in named if " ".join(each[1]) in request.text]
    last = {words: (act, state) for act, words, state in named}
    return next((act for act, state in last.values() if state in ("failed", "masked")), None)


def _is_not_handed_on(request: UserRequest, last: Act) -> bool:
    """A pull request or a push was asked for, and the recording ends with a commit before it, or with its call."""
    is_open = last.kind == "ship" and last.call.result is None and request.turn < last.turn
    return is_open and _HANDS_ON.search(request.text[:300]) is not None


def _breaks_off(stretch: Stretch) -> bool:
    """The recording ends with a call that does something, and no answer to it; a hook of a commit may have saved it."""
    last = stretch.acts[-1:]
    is_end = all(act.turn == len(stretch.trajectory.messages) and act.call.result is None for act in last)
    return is_end and any(act.is_work and act.kind != "ship" for act in last)


def _stopped_at(stretch: Stretch) -> int | None:
    """The turn in which the user stopped the agent at its last call, when nothing was said afterwards."""
    interrupts = stretch.interrupts()
    if not interrupts or not stretch.acts or _has_run(stretch.acts[-1]):
        return None
    last = stretch.acts[-1]
    is_last_word = not any(request.turn > last.turn for request in stretch.requests)
    return interrupts[-1] if is_last_word and interrupts[-1] > last.turn else None


def _refused_at(stretch: Stretch) -> int | None:
    """The turn in which the user refused the last edit, after which the agent has only talked."""
    done = [act for act in stretch.acts if act.is_work]
    if not done or not done[-1].was_refused or done[-1].kind != "edit":
        return None
    return None if any(request.turn > done[-1].end for request in stretch.requests) else done[-1].end


def _has_result(stretch: Stretch) -> bool:
    """Files were changed, or an earlier request was answered."""
    asked = stretch.last_request_turn()
    return bool(stretch.kept_edits()) or any(turn < asked for turn, _ in stretch.replies())


def _has_run(act: Act) -> bool:
    return act.call.result is not None and act.verdict.state not in ("refused", "called off")


def lowered_where_reverted(stretch: Stretch, shown: Shown) -> Shown:
    """A success is partial where the user had all changes reverted, they were, and no code was changed after that.

    Where the user took the last changes back without a word, the outcome is partial, or a failure if none is left.
    """
    if undone := _undone(stretch):
        edits = {act.turn for act in stretch.acts if act.has_edited}
        outcome: Outcome = "failure" if len(undone) >= len(edits) else "partial"
        return Shown(outcome, "reverted", undone[-1], _UNDO)
    if shown.outcome != "success" or shown.basis in ("recorded", "user"):
        return shown
    ends = [*(request.turn for request in stretch.requests[1:]), stretch.last_turn + 1]
    for request, end in list(zip(stretch.requests, ends, strict=False))[:0:-1]:
        if _REVERT.search(request.text[:300]) and _was_done(stretch, request, end):
            return Shown("partial", "reverted", request.turn, stretch.opening_of(request.turn, request.text))
    return shown


def _undone(stretch: Stretch) -> list[int]:
    """The turns after the last edit in which the user undid a change."""
    last = max((act.end for act in stretch.acts if act.has_edited), default=0)
    return [
        turn
        for turn in range(last + 1, stretch.last_turn if last else 0)
        if stretch.content(turn) == _UNDO and stretch.content(turn + 1).startswith(_UNDONE)
    ]


def _was_done(stretch: Stretch, request: UserRequest, end: int) -> bool:
    changes = [act for act in stretch.acts if act.has_worked and (_changes_code(act) or act.kind == "revert")]
    before = any(_changes_code(act) and act.turn < request.turn for act in changes)
    during = any(request.turn <= act.turn < end for act in changes)
    return before and during and not any(act.turn >= end for act in changes)


def _changes_code(act: Act) -> bool:
    return not all(map(is_prose, act.edits))
