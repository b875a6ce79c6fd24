"""The user stopped the agent in the middle of the last thing that was asked for: the end is missing."""

from __future__ import annotations

from dataclasses import replace

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.shown import Shown
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.shell.result_lines import quoted

_STANDS = ("check", "shipped", "user", "cluster")  # shown after the request: what was stopped was something more


def lowered_where_stopped(stretch: Stretch, shown: Shown) -> Shown:
    """The outcome where the user refused the last call and stopped the agent, without a word after it.

    What was done before makes it partial; where the calls before had failed and nothing was made, it is a failure.
    """
    turn = _stopped_at(stretch)
    if turn is None or shown.outcome in ("failure", "partial"):
        return shown
    if shown.outcome == "success" and shown.basis in _STANDS and (shown.turn or 0) > stretch.last_request_turn():
        return shown
    quote = quoted(stretch.content(turn).split("\n", 1)[0]) or None
    stopped = replace(shown, basis="stopped", turn=turn, quote=quote, act=None)
    if shown.outcome == "success" or _has_result(stretch):
        return replace(stopped, outcome="partial")
    done = [act for act in stretch.acts if act.kind not in ("look", "plan", "ask") and _has_run(act)]
    return replace(stopped, outcome="failure") if done and done[-1].has_failed else shown


def _stopped_at(stretch: Stretch) -> int | None:
    """The turn in which the user stopped the agent at its last call, when nothing was said afterwards."""
    interrupts = stretch.interrupts()
    if not interrupts or not stretch.acts or _has_run(stretch.acts[-1]):
        return None
    last = stretch.acts[-1]
    is_last_word = not any(request.turn > last.turn for request in stretch.requests)
    return interrupts[-1] if is_last_word and interrupts[-1] > last.turn else None


def _has_result(stretch: Stretch) -> bool:
    """Files were changed, or an earlier request was answered."""
    asked = stretch.last_request_turn()
    return bool(stretch.kept_edits()) or any(turn < asked for turn, _ in stretch.replies())


def _has_run(act: Act) -> bool:
    return act.call.result is not None and act.verdict.state not in ("refused", "called off")
