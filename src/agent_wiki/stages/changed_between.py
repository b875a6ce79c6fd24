"""What else was changed between a failure and what confirms its remedy: the cause may be any of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.shell.judged_steps import called_steps, failed_steps
from agent_wiki.shell.kinds import is_check, shell_kind
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.step_changes import Part, changed_parts
from agent_wiki.shell.tools import tool_kind
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.answered_checks import OF_PLACE, AnsweredCase
from agent_wiki.stages.call_effects import (
    CHANGING,
    asked_in,
    changes_something,
    done_besides,
    is_same_tool,
    is_scratch,
    only_records,
)
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

NO_PROGRAM = regex(r"command not found|: not found\b|' is not recognized as an internal|: The term ")
RULE_OF_HOST = regex(r"GITHUB PUSH PROTECTION|\bGH013: ", needs=("PUSH PROTECTION", "GH013"))
_FINDING = regex(
    r"^\S+:\d+(?::\d+)?:? .* \([a-z][\w-]+\)$|^\S+:\d+:\d+:? [A-Z]{1,5}\d{2,4}\b|^\S+:\d+(?::\d+)? (?:error )?MD\d{3}\b"
)
_SLASH = r"[/\\]"
_ELSEWHERE = frozenset({"curl", "wget", "echo", "sleep"})  # they change nothing of the state that a look has shown
_BESIDE_COMMITS = frozenset({("git", "stash"), ("git", "add")})
# Parts of which none may change together with another, if one of them must be the cause.
_APART: frozenset[Part] = frozenset({"folder", "environment", "here-document"})


class ChangedCase(AnsweredCase):
    """A lesson before the recording, and what was changed meanwhile."""

    def changes(self, event: Call, confirming: Call) -> Iterator[Call]:
        """What changed something between the two: edits, installations, and other commands that ran."""
        later = asked_in(confirming)
        for call in self.calls[event.position + 1 : later.position]:
            verdict = verdict_of(call)
            is_meanwhile = call.turn < confirming.turn < (call.result_turn or 0)  # issued together, not in between
            is_done = verdict.state not in ("refused", "called off") and not verdict.has_failed and not is_meanwhile
            programs = {step.program for step in called_steps(call)}
            is_elsewhere = self.shown is not None and bool(programs) and programs <= _ELSEWHERE
            is_idle = (
                is_elsewhere or not changes_something(call) or only_records(call) or self._leaves_commits(event, call)
            )
            if not is_done or is_idle or self.is_attempt(event, call):
                continue
            if not is_scratch(call, self.calls[: call.position], later):
                yield call

    def _leaves_commits(self, event: Call, call: Call) -> bool:
        """What does not touch the commits changes nothing of what their host refuses."""
        is_push = any(step.words[:2] == ("git", "push") for step in failed_steps(event))
        if not is_push or not RULE_OF_HOST.search(event.result or ""):
            return False
        heads = {step.words[:2] for step in called_steps(call) if shell_kind(step) in CHANGING}
        return heads <= _BESIDE_COMMITS if called_steps(call) else tool_kind(call) == "edit"

    def is_attempt(self, event: Call, call: Call) -> bool:
        """The same check run again changes nothing."""
        steps = [step for step in called_steps(call) if shell_kind(step) in CHANGING]
        return bool(steps) and all(
            any(is_same_check(failed, step) or is_same_check(step, failed) for failed in failed_steps(event))
            for step in steps
        )

    def is_remedy(self, call: Call) -> bool:
        """The call that is named, or another edit of the file that it edits, or of one with findings of its own."""
        if self._has_findings(call.path() if tool_kind(call) == "edit" else None):
            return True
        if self.turning.remedy is not None:
            paths = {each.path() for each in self.calls_at(self.turning.remedy) if tool_kind(each) == "edit"} - {None}
            return self.turning.remedy in (call.turn, call.result_turn) or call.path() in paths
        return any(turn in (call.turn, call.result_turn) for turn, _ in self.quotes)

    def changed_besides(self, event: Call, confirming: Call) -> list[Part]:
        """The parts of the confirming call that differ though they are not the remedy."""
        if self.shown is not None or not called_steps(event) or not called_steps(confirming):
            return []
        found = [
            self._besides((event, failed), (confirming, passed)) for failed, passed in self.answers(event, confirming)
        ]
        fewest = sorted(found, key=len)[:1]
        return sorted(fewest[0]) if fewest else []

    def _besides(self, one: tuple[Call, SimpleCommand], other: tuple[Call, SimpleCommand]) -> set[Part]:
        failed, passed = one[1], self.named_alike(one, other)
        parts = set(changed_parts(failed, passed)) | self.folder_changed(one, other)
        if done_besides(asked_in(other[0]).command() or "", asked_in(one[0]).command() or ""):
            parts.add("installation")
        # How much was run again is settled by what makes it the same check, and says nothing of the surroundings.
        is_settled = is_check(failed) or OF_PLACE.search(verdict_of(one[0]).line) is not None
        if is_settled and (is_same_check(failed, passed) or is_same_tool(failed, passed)):
            parts -= {"flags", "arguments"}
        if RULE_OF_HOST.search(one[0].result or ""):
            parts.discard("flags")  # no option of a push overrules its host
        line = verdict_of(one[0]).line
        if failed.program == "apply_patch" or (NO_PROGRAM.search(line) and failed.program in line):
            parts.discard("here-document")  # what it does is all in there; or nothing had read it
        is_between = self.turning.remedy is not None and self.turning.remedy < asked_in(other[0]).turn
        return parts if is_between or (len(parts) > 1 and parts & _APART) else set()

    def _has_findings(self, path: str | None) -> bool:
        """Whether the linter that is cited reported something in a file: findings are mended file by file."""
        if self.event is None or not path or not any(map(_FINDING.search, self.quoted_at(self.event))):
            return False
        return re.search(rf"\b{re.escape(re.split(_SLASH, path)[-1])}\b", self.event.result or "") is not None
