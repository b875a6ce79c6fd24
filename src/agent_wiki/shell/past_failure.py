"""Whether a check that still fails has got past what had failed it before."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_wiki.shell.failures import is_unread
from agent_wiki.shell.judged_steps import called_steps, failed_steps, passed_steps
from agent_wiki.shell.result_lines import lines_of
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.tools import is_escalated
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_COMPILERS = regex(r"\berror(?:\[E\d{4}\]|:? TS\d{3,5}\b)|^(?:Type )?error: |: error: ", needs=("error",))
# What a parser or a resolver says: behind it nothing else is looked for, so that what was there may be there still.
_COMES_FIRST = regex(
    r"[Ss]yntax ?[Ee]rror|\bunexpected\b|\bexpected (?:one of|`|'|;)|unknown start|parse|unterminated|unclosed|resolve"
    r"|no matching package|TS1\d{3}\b"
)
_NO_WRAPPER = regex(r"command not found: g?timeout\b|\bg?timeout: (?:command )?not found", needs=("not found",))
_PLACE = regex(r"^\s*\S{1,200}?(?:\(\d+,\d+\)|:\d+(?::\d+)?):?(?: -)? ")
_NUMBERS = regex(r"\d+")
REFUSED = regex(
    r"EPERM|EACCES|:eperm\b|:eacces\b|not permitted|[Pp]ermission denied|Access is denied|[Rr]ead-only file"
    r"|Failed to (?:write file|create parent directories for) [^\s:]{1,300}\s*$"  # of a patch
)
"""By an operating system, of what a program wanted to do."""
_DENIED = regex(r"Sandbox(?:Denied \{|\(Denied)")  # by Codex, with the output behind it
_MOST_READ = 20_000
_BUILD = regex(r"(?m)^(?:BUILD FAILED|e: \S+\.kts?:\d|\S{1,200}:\d+:\d+: error: |error\[E\d{4}\])")
_TALLY = regex(r"\b\d{1,6} (?:passed|failed|passing|failing)\b|\bRan \d{1,6} tests?\b|\b\d{1,6} tests? completed\b")


def gets_past(later: Call, lines: Iterable[str]) -> bool:
    """Whether a compiler's later run shows errors, and none of `lines`: the lines of the earlier failure.

    Not where an error that comes before all others may hide them, nor where only a part of the output is seen.
    """
    if not verdict_of(later).has_failed:
        return False
    wanted = [_bare(line) for line in lines if _COMPILERS.search(line)]
    errors = [line for line in lines_of(later.result or "") if _COMPILERS.search(line)] if wanted else []
    if not errors or _is_cut(later):
        return False
    shown = {_bare(line) for line in errors}
    return not any(map(_COMES_FIRST.search, errors)) and not any(line in each for line in wanted for each in shown)


def has_started(event: Call, later: Call) -> bool:
    """Whether a test run that had not begun reports its tests in `later`, however they went."""
    before, after = (_TALLY.search(call.result or "") for call in (event, later))
    line = verdict_of(event).line
    return before is None and after is not None and bool(line) and line not in (later.result or "")


def was_read(call: Call) -> bool:
    """Whether the shell was given a command line and could read it, however that went."""
    return verdict_of(call).state not in ("refused", "called off") and not _ran_nothing(call.result or "")


def is_read_now(event: Call, later: Call) -> bool:
    """Whether the shell could not read a command line, so that it ran nothing, and could read `later`."""
    return _ran_nothing(event.result or "") and was_read(later)


def _ran_nothing(result: str) -> bool:
    """The shell could not read the line, or did not find the program that was to run another one."""
    return is_unread(result) or _NO_WRAPPER.search(result) is not None


def has_followed(event: Call, remedies: Iterable[Call], later: Call) -> bool:
    """Whether what the failure says to run was run, and the very check then failed otherwise."""
    line, result = verdict_of(event).line, event.result or ""
    if not line or line in (later.result or "") or not verdict_of(later).has_failed:
        return False
    done = {" ".join(step.words[:2]) for call in remedies for step in passed_steps(call) if len(step.words) > 1}
    is_named = any(re.search(rf"(?<![\w-]){re.escape(words)}(?![\w-])", result) for words in done)
    again = {step.text() for step in failed_steps(later)}
    return is_named and any(step.text() in again for step in failed_steps(event))


def is_past_sandbox(event: Call, later: Call) -> bool:
    """Whether what a sandbox refused was let out of it, and then reported of tests or a build, which failed.

    In: both calls as they ended, of the same command in the same folder, one right after the other: a call between
    them may be what helped. Another failure alone is no proof that the command ran: it may be refused in other words.
    """
    asked, before, line = later.continues or later, event.continues or event, verdict_of(event).line
    is_refused = REFUSED.search(line) is not None or _DENIED.search((event.result or "")[:_MOST_READ]) is not None
    is_same = before.command() == asked.command() and before.arguments.get("workdir") == asked.arguments.get("workdir")
    is_out = is_same and is_escalated(asked) and not is_escalated(before) and asked.position == event.position + 1
    shown = later.result or ""
    has_gone_on = verdict_of(later).has_failed and _reports(shown) and not _reports(event.result or "")
    return is_refused and is_out and has_gone_on and line not in shown and not REFUSED.search(shown)


def gone_on_steps(event: Call, later: Call) -> list[SimpleCommand]:
    """The steps of `later` that passed, and those that only a sandbox had kept from failing by themselves."""
    return [*passed_steps(later), *(failed_steps(later) if is_past_sandbox(event, later) else ())]


def _reports(result: str) -> bool:
    """Whether an output tells how tests or a build went."""
    return _TALLY.search(result) is not None or _BUILD.search(result) is not None


def run_again(failed: Call, later: Call) -> tuple[SimpleCommand, SimpleCommand] | None:
    """The step that failed, and the same check where `later` runs it, however it went; None where it does not."""
    ran = [*passed_steps(later), *(failed_steps(later) if verdict_of(later).has_failed else ())]
    pairs = ((one, other) for one in failed_steps(failed) for other in ran if is_same_check(one, other))
    return next(pairs, None)


def _bare(line: str) -> str:
    """A diagnostic without its place, and with any number as the same."""
    return _NUMBERS.sub("0", _PLACE.sub("", line).strip())


def _is_cut(call: Call) -> bool:
    """The output went through something that shows a part of it."""
    lines = len((call.result or "").splitlines())
    for step in called_steps(call):
        if step.program in ("grep", "rg", "awk", "sed"):
            return True
        if step.program in ("head", "tail"):
            number = re.search(r"\d+", " ".join(step.words[1:]))
            if lines >= (int(number[0]) if number else 10):
                return True
    return False
