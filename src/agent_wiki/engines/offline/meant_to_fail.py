"""Calls that were meant to fail: a new test on the code without its fix, a probe with input that must be refused.

They are good practice, and no trouble of the session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.engines.offline.acts import Act, main_command
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.shell.judged_steps import called_steps
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_MOST_READ = 1_000
_SEES = r"(?:confirm|verif[yi]|prove|ensure|make sure|see|check|show|demonstrat|watch|expect|test)\w*"
_EXPECTED = regex(
    rf"\b{_SEES}\b(?![^.\n]{{0,60}}\b(?:why|what|which|whether|if|how|no)\b)(?:[^.\n]|\.(?=\w)){{0,70}}"
    r"\b(?:fails?|failing|red|catch(?:es)?|(?:is|are|gets?) (?:rejected|refused)|errors? out)\b(?! tests?\b)"
    rf"|\b{_SEES} [^.\n]{{0,40}}\b(?:unknown|invalid|bad|wrong|malformed|non-?existent) "
    r"(?:commands?|flags?|options?|arguments?|inputs?|keys?)\b"
    r"|\b(?:should|must|will|expected to) (?:still |now )?(?:fail|be red|be rejected|be refused|error)\b"
    r"|\bfails? (?:without|before|against|on) (?:the |my |this )?(?:fix|change|pre-fix|old|unfixed|original)",
    re.IGNORECASE,
)
# What was to be seen failing was not reached.
_NOT_REACHED = regex(r"/activate: No such file|command not found|ImportError while loading conftest")
_MADE_UP = regex(r"(?:^|[-_/.])(?:bogus|invalid|non-?exist\w*|does-?not-?exist|unknown\w*|garbage)(?:$|[-_/.])")
_NO_STASH = frozenset({"pop", "apply", "list", "drop", "show", "branch", "clear"})
_MOST_BETWEEN = 4


def meant_to_fail(stretch: Stretch) -> dict[int, bool]:
    """The positions of the failed calls of a stretch that were meant to, each with whether the change was set aside."""
    aside = _set_aside(stretch.acts)
    found = {}
    for act in stretch.acts:
        if act.has_failed:
            is_aside = act.call.position in aside or _runs_without_change(act)
            if not _is_git(act) and (is_aside or _is_expected(stretch, act)):
                found[act.call.position] = is_aside
    return found


def _is_git(act: Act) -> bool:
    """What failed is not what was to be seen failing, but the putting away or the bringing back."""
    command = main_command(act)
    return command is not None and command.program == "git"


def _is_expected(stretch: Stretch, act: Act) -> bool:
    """The agent's words at the call, or input with a name that says it is wrong."""
    if act.kind not in ("check", "probe", "run", "revert"):
        return False
    described = act.call.arguments.get("description")
    said = [stretch.content(act.turn)[-_MOST_READ:], described if isinstance(described, str) else ""]
    command = main_command(act)
    is_made_up = command is not None and any(map(_MADE_UP.search, command.words[1:]))
    is_reached = not _NOT_REACHED.search((act.call.result or "")[: 2 * _MOST_READ])
    return is_made_up or (is_reached and any(map(_EXPECTED.search, said)))


def _runs_without_change(act: Act) -> bool:
    """One line puts the change away, runs something, and brings it back."""
    steps = called_steps(act.call)
    away = next((at for at, step in enumerate(steps) if _puts_away(step)), None)
    return away is not None and any(map(_brings_back, steps[away + 2 :]))


def _set_aside(acts: Sequence[Act]) -> set[int]:
    """The positions of the calls between a `git stash` and the `git stash pop` shortly after it."""
    found: set[int] = set()
    for at, act in enumerate(acts):
        if not (act.has_worked and any(map(_stashes, act.commands)) and not any(map(_pops, act.commands))):
            continue
        window = acts[at + 1 : at + 2 + _MOST_BETWEEN]
        back = next((place for place, each in enumerate(window) if any(map(_pops, each.commands))), None)
        if back is not None and not any(each.edits for each in window[:back]):
            found.update(each.call.position for each in window[:back])
    return found


def _puts_away(step: SimpleCommand) -> bool:
    is_old_file = step.words[:2] == ("git", "show") and bool(step.writes)
    is_checkout = step.words[:2] in (("git", "checkout"), ("git", "restore")) and len(step.words) > 3
    is_reverse = step.words[:2] == ("git", "apply") and bool({"-R", "--reverse"}.intersection(step.words))
    return _stashes(step) or is_old_file or is_checkout or is_reverse


def _brings_back(step: SimpleCommand) -> bool:
    return _pops(step) or step.words[:2] in (("git", "checkout"), ("git", "restore"), ("git", "apply"))


def _stashes(step: SimpleCommand) -> bool:
    return step.words[:2] == ("git", "stash") and not _NO_STASH.intersection(step.words[2:3])


def _pops(step: SimpleCommand) -> bool:
    return step.words[:2] == ("git", "stash") and step.words[2:3] in (("pop",), ("apply",))
