"""Whether a call that passed is the failed one over again: then it may have passed by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from agent_wiki.shell.judged_steps import called_steps
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.step_changes import SHOWS_OTHERWISE
from agent_wiki.shell.tools import bare_tool_name, tool_kind
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_COMMAND = frozenset({"command", "cmd", "script", "code", "input", "CommandLine"})
# What a harness shows of a call, or how long it waits before it reads on.
_SHOWN = frozenset(
    {"description", "justification", "explanation", "max_output_tokens", "yield_time_ms", "prefix_rule", "tty"}
)
_LIMITS = frozenset({"timeout", "timeout_ms", "timeoutMs", "timeout_seconds", "run_in_background"})
_OF_TIME = regex(r"timed?[ -]?(?:out|limit)|deadline|too long", re.IGNORECASE)
_REDIRECTION = regex(r"\d?&?>+(?:&\d|\s*/dev/null)?|/dev/null|nohup|time|\|?&")
# Tools that end what still runs, and so make room for what comes next.
_ENDING = frozenset({"close_agent", "killshell", "killbash"})
# A shell's own commands, and a few others, that only look and yet change how the next step goes.
_PREPARING = frozenset(
    {"cd", "pushd", "popd", "export", "unset", "set", "source", ".", "eval", "alias", "ulimit", "umask", "mkdir",
     "chmod", "sleep", "wait"}
)  # fmt: skip


def prepares(step: SimpleCommand) -> bool:
    """Whether a step may be why a later one goes otherwise."""
    return shell_kind(step) != "look" or step.program in _PREPARING or step.words[:2] == ("git", "fetch")


def may_change(call: Call, event: Call) -> bool:
    """Whether a call may be why a later one goes otherwise than `event`: it does more than look, and more than that."""
    verdict, steps = verdict_of(call), called_steps(call)
    if verdict.has_failed or verdict.state in ("refused", "called off"):
        return False
    if not steps:
        is_look = tool_kind(call) in ("look", "plan", "check") and bare_tool_name(call.name).lower() not in _ENDING
        return not is_look and call.raw_arguments != event.raw_arguments
    done = [_said(step) for step in called_steps(event)]
    return any(prepares(step) and _said(step) not in done for step in steps)


def is_same_run(one: SimpleCommand, other: SimpleCommand) -> bool:
    """Whether two commands are one, but for what they show of it; of a loop's each run may be another."""
    return _said(one) == _said(other) and not (one.is_repeated or other.is_repeated)


def prepares_more(event: Call, passed: SimpleCommand, confirming: Call) -> bool:
    """Whether the confirming call does something before its step that the event had not done."""
    steps = called_steps(confirming)
    done = [_said(step) for step in called_steps(event)]
    return any(prepares(step) and _said(step) not in done for step in steps[: steps.index(passed)])


def options_of(call: Call, failure: str) -> str:
    """The arguments of a call that may decide how it goes, a shell's command aside; `failure`: what it said."""
    left_out = _SHOWN if _OF_TIME.search(failure) else _SHOWN | _LIMITS
    left_out |= _COMMAND if called_steps(call) else frozenset()
    kept = {name: value for name, value in call.arguments.items() if name not in left_out}
    return json.dumps(kept, sort_keys=True, default=str)


def _said(step: SimpleCommand) -> tuple[Sequence[str], str, Sequence[str]]:
    words = [
        word for word in step.source.split() if not _REDIRECTION.fullmatch(word) and not SHOWS_OTHERWISE.fullmatch(word)
    ]
    return words, step.body, step.inputs
