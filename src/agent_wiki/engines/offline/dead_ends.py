"""Attempts that were given up: reverted, refused or stopped by the user.

Not the same as errors: what failed again and again may have passed later in other words, with its output cut or in a
wider check. Its failures alone do not show that it was given up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from agent_wiki.engines.offline.acts import Act, distinct
from agent_wiki.engines.offline.meant_to_fail import is_said_to_fail
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.what_changed import again_in
from agent_wiki.engines.offline.wording import called, code, shown_path
from agent_wiki.recall.own_calls import own_turns
from agent_wiki.shell.files_written import bare_name, is_same_file
from agent_wiki.shell.result_lines import quoted
from agent_wiki.stages.summarize import TurnNote
from agent_wiki.stages.trust import words_of_refusal
from agent_wiki.wiki.text import plain_line, some_of

MOST_DEAD_ENDS = 8
_OFTEN = 2  # times after the first


def dead_ends_of(stretch: Stretch) -> list[TurnNote]:
    """The dead ends of a stretch in turn order, at most eight; what was tried with the wiki itself is none."""
    own = own_turns(stretch.trajectory)
    by_turn: dict[int, TurnNote] = {}
    for note in (*_reverts(stretch), *_stopped(stretch), *_not_let_through(stretch)):
        if note.turn not in own:
            by_turn.setdefault(note.turn, note)
    return [by_turn[turn] for turn in sorted(by_turn)][:MOST_DEAD_ENDS]


def _note(turn: int, text: str) -> TurnNote:
    return TurnNote(turn=turn, text=plain_line(text[:1].upper() + text[1:], 240))


def _reverts(stretch: Stretch) -> Iterator[TurnNote]:
    """What was changed, and restored by version control for good: not committed before, and not changed again."""
    edited: list[str] = []
    for act in stretch.acts:
        if act.kind == "revert" and act.has_worked:
            words = {bare_name(word) for each in act.commands for word in each.words}
            is_all = "." in words or ("--hard" in words and not words & {"checkout", "switch"})  # of another branch
            files = [path for path in edited if bare_name(path) in words] or (edited if is_all else [])
            later = [path for each in stretch.acts if each.turn >= act.turn for path in each.edits]
            left = [path for path in files if not any(is_same_file(path, it) for it in later)]
            names = distinct([code(shown_path(path, stretch.trajectory.source.cwd)) for path in left])
            if names and not is_said_to_fail(stretch, act):
                yield _note(act.turn, f"Changes to {some_of(names, 3)} were reverted with {called(act)}")
            edited = [path for path in edited if path not in files]
        is_commit = act.has_worked and any(each.words[:2] == ("git", "commit") for each in act.commands)
        is_commit = is_commit or "Initialized empty Git repository" in (act.call.result or "")  # it knew nothing of it
        edited = distinct([*([] if is_commit else edited), *act.edits])


def _not_let_through(stretch: Stretch) -> Iterator[TurnNote]:
    """A command that the harness refused several times over, however it was worded."""
    calls: dict[tuple[str, ...], list[Act]] = {}
    for act in stretch.acts:
        if act.was_refused and act.call.mark is None and act.commands:
            calls.setdefault(act.commands[0].words[:3], []).append(act)
    for first, *again in calls.values():
        if len(again) >= _OFTEN:
            why = plain_line(again[-1].verdict.line or quoted(again[-1].call.result or ""), 120)
            text = f"The harness refused {called(again[-1])} {len(again) + 1} times from T{first.end} on: “{why}”"
            yield _note(again[-1].end, text)


def _stopped(stretch: Stretch) -> list[TurnNote]:
    """The user refused a call or stopped the agent; a refusal and the interrupt after it are one event."""
    notes = []
    refused: set[int] = set()
    for act in stretch.acts:
        if act.was_refused_by_user and act.kind not in ("ask", "look"):
            refused.update(range(act.turn, act.end + 3))
            if _is_done_later(act, stretch.acts) or _is_approved_later(act, stretch.acts):
                continue
            reason = refusal_words(act)
            why = f": “{plain_line(reason, 120)}”" if reason else ""
            notes.append(_note(act.turn, f"The user refused {called(act)}{why}"))
    turns = [act.turn for act in stretch.acts]
    messages = enumerate(stretch.trajectory.messages, start=1)
    said = [turn for turn, message in messages if message.role == "user" and message.mark is None]
    for turn in stretch.interrupts():
        asked = max((each.turn for each in stretch.requests if each.turn < turn), default=0)
        at = bisect_left(said, turn)
        is_again = 0 < at < len(said) and stretch.content(said[at - 1]) == stretch.content(said[at])
        if turn in refused or asked == turn - 1 or is_again:  # the user took a message of their own back
            continue
        following = next((each for each in (*stretch.requests, stretch.followed_by) if each and each.turn > turn), None)
        if following is not None and following.kind != "objection":
            continue  # it was stopped for something to be said or done first
        before = bisect_left(turns, turn) - 1
        is_of_call = before >= 0 and turns[before] > asked  # else it stopped an answer to what was asked since
        if is_of_call and stretch.acts[before].kind == "look":
            continue
        after = f" after {called(stretch.acts[before])}" if is_of_call else ""
        notes.append(_note(turn, f"The user stopped the agent{after}"))
    return notes


def _is_done_later(refused: Act, acts: Sequence[Act]) -> bool:
    """Whether a later call that the user let pass does what a refused command line was to do: it was only too early."""
    steps = [step for step, kind in zip(refused.commands, refused.kinds, strict=True) if kind != "look"]
    later = [act for act in acts if act.turn > refused.turn and not act.was_refused]
    if refused.kind == "edit" and any(act.edits and act.call.path() == refused.call.path() for act in later):
        return True
    return any(again_in(step, act) for step in steps for act in later)


def _is_approved_later(refused: Act, acts: Sequence[Act]) -> bool:
    """Whether the plan that was refused was amended, and then approved."""
    plans = (act for act in acts if act.turn > refused.turn and act.kind == refused.kind == "plan")
    return any(act.call.name == refused.call.name and not act.was_refused for act in plans)


def refusal_words(act: Act) -> str:
    """The user's own words in a refusal, verbatim; empty when none were given."""
    return quoted(next(iter(words_of_refusal(act.call.result or "").splitlines()), ""))
