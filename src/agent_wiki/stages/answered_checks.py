"""Which later call answers what failed: the same check passed, or what had stopped it is gone."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_wiki.shell.folders import folders_in
from agent_wiki.shell.judged_steps import called_steps, failed_steps, passed_steps
from agent_wiki.shell.kinds import script_of
from agent_wiki.shell.past_failure import gets_past, has_followed, has_started, is_past_sandbox, is_read_now
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.step_changes import Part
from agent_wiki.shell.verdict import is_one_pipeline, verdict_of
from agent_wiki.stages.call_effects import (
    MISSING,
    asked_in,
    gives_the_same,
    has_run,
    is_same_job,
    is_same_tool,
    is_written_otherwise,
    shares_most,
    wanted_steps,
)
from agent_wiki.stages.objections import ObjectedCase
from agent_wiki.stages.turnings import Turning
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

OF_PLACE = regex(
    r"not permitted|[Pp]ermission denied|exec format error|[Rr]ead-only file system|No space left|[Cc]onnection refused"
    r"|[Cc]ould not resolve|certificate|timed out"
)


class AnsweredCase(ObjectedCase):
    """A lesson before the recording, and what answers its failure.

    `event` is the call that failed there; `shown` the one that showed what was to be mended, where none failed.
    """

    def __init__(self, trajectory: Trajectory, turning: Turning, quotes: Sequence[tuple[int, str]]) -> None:
        super().__init__(trajectory, turning, quotes)
        at_event = [call.ended_by or call for call in self.calls_at(turning.event)]
        self.event = next((call for call in at_event if verdict_of(call).has_failed), None)
        self.shown = at_event[0] if at_event and self.event is None and self.is_shown(turning.event) else None
        if turning.is_known and self.event is None:  # a pipe hid its status, and a table knows what it printed
            self.shown = next((call for call in at_event if self._prints_cited(call)), None)

    def confirming(self, event: Call) -> Call | None:
        """The call at the turn of confirmation that confirms the remedy, where one does."""
        turn = self.turning.confirmation
        ended = [call.ended_by or call for call in self.calls_at(turn)] if turn else []
        later = [call for call in ended if call.position > event.position]
        return next((call for call in later if self._confirms(event, call)), None)

    def has_known_remedy(self, confirming: Call) -> bool:
        """The error is a known one, and the confirming call itself is what the table gives for it."""
        return self.turning.is_known and self.turning.remedy == asked_in(confirming).turn

    def answers(self, event: Call, later: Call) -> Iterator[tuple[SimpleCommand, SimpleCommand]]:
        """Each step that failed with each step of `later` that answers it: it passed, or ran where nothing had run."""
        lines = [verdict_of(event).line, *self.quoted_at(event)]
        is_missing = any(map(MISSING.search, lines))
        is_in_pipe = is_missing and any("The term '" in line for line in lines)  # PowerShell ran nothing of it
        is_in_pipe = is_in_pipe and is_one_pipeline(event.command() or "")
        is_of_place = any(OF_PLACE.search(line) and line not in (later.result or "") for line in lines)
        is_past = (is_missing and has_run(later)) or gets_past(later, lines)
        is_past = is_past or has_followed(event, self.calls_at(self.turning.remedy), later)
        is_past = is_past or is_past_sandbox(event, later)
        worked = [*passed_steps(later), *(failed_steps(later) if is_past else ())]
        is_read = is_read_now(event, later)
        worked += called_steps(later) if is_read or has_started(event, later) else ()
        for failed in failed_steps(event):
            for passed in worked:
                named = self.named_alike((event, failed), (later, passed))
                is_stand_in = (is_missing and is_same_job(failed, passed)) or (
                    (is_of_place or is_read) and is_same_tool(failed, passed)
                )
                # Behind a folder that was not there nothing was begun: the rest of the line is what failed.
                rest = called_steps(event) if is_in_pipe or (is_missing and failed.program == "cd") else ()
                if is_stand_in or any(is_same_check(step, named) for step in (failed, *rest)):
                    yield failed, passed

    def named_alike(self, one: tuple[Call, SimpleCommand], other: tuple[Call, SimpleCommand]) -> SimpleCommand:
        """The second command; a script that both run is named as in the first: by its path or from a folder."""
        script, again = script_of(one[1]), script_of(other[1])
        if script is None or again is None or script == again:
            return other[1]
        paths = [
            posixpath.normpath(posixpath.join(self.trajectory.source.cwd or ".", self._folder(call, step), named))
            for (call, step), named in ((one, script), (other, again))
        ]
        if paths[0] != paths[1]:
            return other[1]
        return replace(other[1], words=tuple(script if word == again else word for word in other[1].words))

    def folder_changed(self, one: tuple[Call, SimpleCommand], other: tuple[Call, SimpleCommand]) -> set[Part]:
        """The part in which two steps differ that are run in other folders."""
        return {"folder"} if self._folder(*one) != self._folder(*other) else set()

    def _folder(self, call: Call, step: SimpleCommand) -> str:
        return folders_in(self.trajectory)[asked_in(call).position][called_steps(call).index(step)]

    def _prints_cited(self, call: Call) -> bool:
        return any(quote in (call.result or "") for quote in self.quoted_at(call) if quote not in call.raw_arguments)

    def _confirms(self, event: Call, later: Call) -> bool:
        """Whether `later` is the check that failed, and passed."""
        if self.shown is not None and self.has_known_remedy(later) and called_steps(event):
            is_same = any(is_same_check(one, two) for one in called_steps(event) for two in passed_steps(later))
            return (is_same and not self._shows_again(event, later)) or self._is_remedied(event, later)
        if self.shown is not None:
            programs = {step.program for step in called_steps(event)} & {step.program for step in called_steps(later)}
            is_same = bool(programs) if called_steps(event) else event.name == later.name
            is_same = is_same or gives_the_same(event, later)
            return is_same and not self._shows_again(event, later)
        if not called_steps(event) or not called_steps(later):
            return verdict_of(later).has_passed and (event.name == later.name or gives_the_same(event, later))
        answered = {failed for failed, _ in self.answers(event, later)}
        return answered == set(failed_steps(event)) or self._is_remedied(event, later)

    def _shows_again(self, event: Call, later: Call) -> bool:
        """Whether a later call prints what is cited of the event."""
        return any(line in (later.result or "") for line in self.quoted_at(event))

    def _is_remedied(self, event: Call, later: Call) -> bool:
        """Whether `later` is what failed by a known error, with its remedy: it passed, without that error."""
        if not self.has_known_remedy(later) or not verdict_of(later).has_passed:
            return False
        if self._shows_again(event, later):
            return False
        one, other = asked_in(event), asked_in(later)
        if one.name != other.name:  # another tool is given the same line
            lines = one.command() or "", other.command() or ""
            return shares_most(*lines) and shares_most(*reversed(lines))
        return any(is_written_otherwise(one, two) for one in wanted_steps(event) for two in passed_steps(later))
