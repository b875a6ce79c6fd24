"""Failed checks that speak of the work: not settled in other words, and not of files that nobody touched."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.meant_to_fail import is_of_another_state
from agent_wiki.engines.offline.same_check import check_verdicts
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.files_written import bare_name
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.result_lines import error_line
from agent_wiki.shell.same_check import check_run, writes_what_was_checked
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_LEAST_NAME, _LEAST_LINE = 6, 24  # characters
_MOST_READ = 40_000
_TURNS_AFTER = 8
_PLACE = regex(r"(?P<file>[\w@./\\-]{1,200}\.\w{1,5})(?:[:(]\d+|\s+\d+:\d+)", needs=(".",))
_OLDER = written("older_failure", re.IGNORECASE)
_NOT_STARTED = written("not_started")
_LACKS_PACKAGE = regex(r"error TS2307: Cannot find module '[^.'][^']{0,100}'", needs=("TS2307",))
_Passed = dict[str, list[tuple[int, set[str]]]]  # by what a check names: in which turn, and to what it was narrowed


def own_failures(stretch: Stretch, failed: Sequence[Act]) -> tuple[Act, ...]:
    """Those of the failed checks of a stretch that speak of its work."""
    passed: _Passed = {}
    printed: list[tuple[int, str]] = []
    for act in stretch.acts if failed else []:
        verdicts = check_verdicts(act) if act.kind == "check" and act.has_worked else []
        if verdicts and all(has_passed for _, has_passed in verdicts):
            printed.append((act.turn, (act.call.result or "")[:_MOST_READ]))
            for step in filter(is_check, act.commands):
                for name in _names(step):
                    passed.setdefault(name, []).append((act.turn, _narrowed(step)))
    failed = [act for act in failed if not _NOT_STARTED.search((act.call.result or "")[:_MOST_READ])]
    own = (act for act in failed if not _is_settled(act, passed, printed) and not _is_older(act, stretch))
    return tuple(act for act in own if not _is_formatted(act, stretch))


def _is_formatted(failed: Act, stretch: Stretch) -> bool:
    """Its formatters, which only checked, have written the files since."""
    steps = [step for step, state in failed.judged_steps if is_check(step) and state != "passed"]
    later = [each for act in stretch.acts if act.turn > failed.end and act.has_worked for each in act.commands]
    return bool(steps) and all(any(writes_what_was_checked(step, each) for each in later) for step in steps)


def _is_settled(failed: Act, passed: _Passed, printed: list[tuple[int, str]]) -> bool:
    """A later check of the same file or script passes, under another name or in a wider run, narrowed no further."""
    steps = [step for step, state in failed.judged_steps if is_check(step) and state != "passed"]
    return bool(steps) and all(_settles(step, failed.turn, passed, printed) for step in steps)


def _settles(step: SimpleCommand, turn: int, passed: _Passed, printed: list[tuple[int, str]]) -> bool:
    names, narrowed = _names(step), _narrowed(step)
    scripts = [name for name in names if ":" in name]
    if scripts and any(at > turn and any(name in result for name in scripts) for at, result in printed):
        return True
    return any(at > turn and theirs <= narrowed for name in names for at, theirs in passed.get(name, ()))


def _names(step: SimpleCommand) -> set[str]:
    """The files and scripts that a check names, without their folders and what they were narrowed to."""
    words = (bare_name(word.partition("::")[0]) for word in step.words[1:] if not word.startswith("-"))
    return {word for word in words if len(word) >= _LEAST_NAME and not word.isalpha()}


def _narrowed(step: SimpleCommand) -> set[str]:
    return {target for target in check_run(step).targets if target.startswith("-") or "::" in target}


def _is_older(failed: Act, stretch: Stretch) -> bool:
    """All places that it reports lie in files that were not changed, and the agent says that it was so before, or
    packages are missing there; or it fails alike with the work put away (`git stash`).

    Not where the user stopped the agent after it said so.
    """
    line = failed.verdict.line or error_line(failed.call.result or "")
    of_others = (act for act in stretch.acts if is_of_another_state(act) and any(map(is_check, act.commands)))
    elsewhere = (act.call.result or "" for act in of_others)
    if len(line) >= _LEAST_LINE and any(line in each for each in elsewhere):
        return True  # it fails the same way without the work
    places = _PLACE.finditer((failed.call.result or "")[:_MOST_READ])
    files = {bare_name(match["file"].replace("\\", "/")) for match in places}
    changed = {bare_name(path) for act in stretch.acts for path in act.edits}
    if not files or files & changed or any(turn > failed.end for turn in stretch.interrupts()):
        return False
    if all(map(_LACKS_PACKAGE.search, filter(_PLACE.search, (failed.call.result or "")[:_MOST_READ].splitlines()))):
        return True  # packages that are not installed, in files that nobody touched
    messages = stretch.trajectory.messages[failed.end : min(failed.end + _TURNS_AFTER, stretch.last_turn)]
    return any(each.role == "assistant" and _OLDER.search(each.content or "") for each in messages)
