"""What was different in the try that worked: a step before it, words that came or went, or what ran in between."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from agent_wiki.engines.offline.acts import Act, main_command
from agent_wiki.engines.offline.wording import called, code, listing, shown_step
from agent_wiki.shell.files_written import bare_name
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.tools import is_escalated
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import with_cut_paths

_PREPARES = frozenset({"mkdir", "chmod", "export", "source", "."})  # by themselves they change nothing of the work
_READIES = frozenset(  # for a commit or a push
    {("git", verb) for verb in ("pull", "rebase", "merge", "fetch", "config", "remote", "filter-branch", "filter-repo")}
    | {("gh", "auth")}
)
_ALIKE = 0.5  # two words of which one may be the other, corrected
_UNREADABLE = regex(r"unexpected EOF|syntax error near|unmatched [\"'`]|unterminated quoted|no matches found: ")
_REDIRECTION = regex(r"\d?&?>+(?:&\d|/dev/null)?")  # where the output goes changes nothing
_MOST_READ = 600
_LEAST_SHARED = 0.5  # of the arguments of a call that is tried again
_MOST_WORDS = 5  # that came or went and are named one by one
_MOST_SHOWN = 60
LATER = "on a later try"  # where nothing shows what was different
_OUTSIDE = "outside the sandbox"
AFTERWARDS = "after other steps"  # of which nothing shows which one mattered


def in_words(difference: str) -> str:
    """A difference as it follows "it worked"; where nothing shows what mattered, that it was later."""
    return "later" if difference in (LATER, AFTERWARDS) else difference


def is_again(failed: Act, later: Act) -> bool:
    """Whether `later` tries what had failed once more: the same thing done to the same things, or nearly the same."""
    step = main_command(failed)
    if step is not None:
        return again_in(step, later) is not None or _is_quoted_again(failed, later)
    mine, theirs = failed.call.arguments, later.call.arguments
    if failed.call.path() is not None:
        return failed.call.path() == later.call.path()
    shared = sum(name in theirs and _alike(value, theirs[name]) for name, value in mine.items())
    return shared >= _LEAST_SHARED * len(mine)


def outside(failures: Sequence[Act], worked: Act) -> str:
    """That only the try that worked had leave to run outside the sandbox; empty where that is not so."""
    had_leave = any(is_escalated(each.call.continues or each.call) for each in failures)
    return _OUTSIDE if is_escalated(worked.call) and not had_leave else ""


def variables_gone(failed: Act, worked: Act) -> list[str]:
    """What was set for the try that failed (`LIMIT=99`), of variables that the one that worked does not set."""
    had, has = ({value for each in act.commands for value in each.environment} for act in (failed, worked))
    names = {value.partition("=")[0] for value in has}
    return sorted(value for value in had if value.partition("=")[0] not in names)


def what_changed(failures: Sequence[Act], worked: Act, between: Sequence[Act]) -> str:
    """What set the try that worked apart from all `failures`, in words that follow "it worked"; never empty.

    `between`: what was done with success after the last of the failures. What only ran in between is named before a
    check alone: before anything else it was mostly a look, or a try of something else.
    """
    if way := outside(failures, worked):
        return way
    differences = [_difference(each, worked) for each in failures]
    before = [act for act in between if act is not worked]
    # Where something else ran in between, nothing says that the difference is what mattered.
    is_alone = failures[0].kind == "check" or not any(act.kind in ("run", "edit", "ship") for act in before)
    said = differences[0] if len(set(differences)) == 1 and is_alone else ""
    shipped = main_command(failures[0]) if failures[0].kind == "ship" else None
    removed = [called(act) for act in before if act.kind in ("delete", "revert")]
    if shipped is not None and shipped.words[:2] == ("git", "push"):  # files put aside have no part in it
        removed = [each for each in removed if not each.startswith("`git stash")]
    if shipped is not None:
        readied = (act for act in before if act.kind != "look")
        removed += [called(act) for act in readied if any(each.words[:2] in _READIES for each in act.commands)]
    is_check = failures[0].kind == "check" and not said
    done = removed or [called(act) for act in before if is_check and act.kind == "run"]
    if done:
        return f"{said}{', ' if said else ''}after {listing(list(dict.fromkeys(done)), 2)}"
    is_same = failures[-1].call.raw_arguments == worked.call.raw_arguments
    is_idle = not any(act.kind in ("run", "edit", "ship", "probe", "service", "check") for act in before)
    return said or (f"unchanged {LATER}" if is_same and is_idle else LATER if is_idle else AFTERWARDS)


def after(done: Sequence[str], failed: Act, worked: Act) -> str:
    """What was done before the try that worked, and its form where that is another: that may be what mattered."""
    otherwise, after_it = _difference(failed, worked), f"after {listing(done, 2)}"
    return f"{otherwise} {after_it}" if otherwise.startswith("as ") else after_it


def _difference(failed: Act, worked: Act) -> str:
    """What one try that failed had otherwise than the one that worked; empty where nothing of it shows."""
    step = main_command(failed)
    if step is None:
        return ""
    if _is_quoted_again(failed, worked):
        return "in another form"
    again = again_in(step, worked)
    return "" if again is None else _of_commands(failed, step, worked, again)


def steps_ahead(failed: Sequence[SimpleCommand], worked: Sequence[SimpleCommand]) -> list[SimpleCommand]:
    """The steps of a line before what was tried again that do something and that the failed line had not."""
    known = {(each.environment, each.words) for each in failed}
    fresh = [each for each in worked if each.words and (each.environment, each.words) not in known]
    ahead = [each for each in fresh if shell_kind(each) != "look" or each.program in _PREPARES]
    return [each for each in ahead if each.after.strip() not in ("||", "|", "&")]


def again_in(step: SimpleCommand, later: Act) -> SimpleCommand | None:
    """The step of a later call that tries a step again."""
    return next((each for each in later.commands if is_same_check(step, each) and _is_same_thing(step, each)), None)


def _is_quoted_again(failed: Act, later: Act) -> bool:
    """The shell could not read the line, and the later one has much the same text."""
    if _UNREADABLE.search((failed.call.result or "")[:_MOST_READ]) is None:
        return False
    old, new = ((act.call.command() or "")[:_MOST_READ] for act in (failed, later))
    return _share_most(old, new)


@lru_cache(maxsize=64)  # the same two lines are asked for again where it is said what changed
def _share_most(one: str, other: str) -> bool:
    """Whether texts have most of their characters in the same order. The bounds take far less time than the ratio."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return all(ratio() >= _ALIKE for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio))


def _is_same_thing(one: SimpleCommand, other: SimpleCommand) -> bool:
    """Where words were replaced, by such as correct them: `sync --bogus` is not tried again by `version`."""
    mine, theirs = ([word for word in each.words[1:] if word[:1] != "-" and " " not in word] for each in (one, other))
    gone, come = ([word for word in of if word not in rest] for of, rest in ((mine, theirs), (theirs, mine)))
    return not come or all(any(_alike(word, each) for each in come) for word in gone)


def _alike(one: Any, other: Any) -> bool:
    """Equal, the same file in another folder, or texts that share most of their characters."""
    if one == other or not (isinstance(one, str) and isinstance(other, str)):
        return bool(one == other)
    is_same_file = "." in bare_name(one) and bare_name(one) == bare_name(other)
    return is_same_file or _share_most(one[:200], other[:200])


def _of_commands(failed: Act, step: SimpleCommand, worked: Act, again: SimpleCommand) -> str:
    ahead = steps_ahead(failed.commands, worked.commands[: worked.commands.index(again)])
    prepared = f"with {listing([shown_step(each) for each in ahead], 2)} run before it" if ahead else ""
    said = _of_words(step, again)
    return " ".join(filter(None, (said, prepared)))


def _of_words(step: SimpleCommand, again: SimpleCommand) -> str:
    before, after = ([*each.environment, *each.words] for each in (step, again))
    if before == after:  # what is given to the program itself, as in `git -c name=value commit`
        before, after = (_as_written(each) for each in (step, again))
    come, gone = [word for word in after if word not in before], [word for word in before if word not in after]
    is_quoted_otherwise = any((mark in step.source) != (mark in again.source) for mark in "\"'")
    if is_quoted_otherwise or any(len(word) > _MOST_SHOWN for word in (*come, *gone)) or len(come) > _MOST_WORDS:
        return _as_shown(step, again)
    if come and not gone:
        return f"with {code(with_cut_paths(' '.join(come)))}"
    if gone and not come:
        return f"without {code(with_cut_paths(' '.join(gone)))}"
    return _as_shown(step, again) if come else ""


def _as_written(step: SimpleCommand) -> list[str]:
    try:
        words = shlex.split(step.source)
    except ValueError:  # a quotation that is not closed
        words = step.source.split()
    return [word for word in words if not _REDIRECTION.fullmatch(word)]


def _as_shown(step: SimpleCommand, again: SimpleCommand) -> str:
    """The whole new form, where its beginning shows the difference."""
    old, new = shown_step(step), shown_step(again)
    return f"as {new}" if new != old else ""
