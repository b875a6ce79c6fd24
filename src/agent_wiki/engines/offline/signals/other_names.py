"""A program, or a package, is called by a name under which it is found (signals 7 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, command_of, lesson_of
from agent_wiki.shell.judged_steps import called_steps, failed_steps
from agent_wiki.shell.kinds import is_check, is_inline_script
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.stages.call_effects import has_run
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 10
_NOT_ON_PATH = regex(
    r"(?:^|[\s:])([\w.+-]{1,40}): (?:command )?not found(?!:)|command not found: ([\w.+-]{1,40})"
    r"|^'?([\w.+-]{1,40})(?:' is not recognized as an internal| : The term )",
    re.MULTILINE,
    needs=("not found", "' is not recognized as an internal", " : The term "),
)
_NO_PACKAGE = regex(
    r"satisfies the requirement ([\w.-]{2,60})|404 Not Found - GET https?://[^\s/]{1,80}/([\w.-]{2,60})"
    r"|Unable to locate package ([\w.+-]{2,60})|could not find `([\w-]{2,60})` in registry"
)
_LEAST_ALIKE = 0.6
_MOST_FRONT_WORDS = 3  # in place of a program's name


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call of a program that was not found."""
    failures = (each for each in session.attempts if each.verdict == "failed")
    found = [lesson for failed in failures for lesson in _other_name(session, failed)]
    return list({each.guideline.confirming_turn: each for each in found}.values())  # the last try before it


def _other_name(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """The same program is called by a name that the shell finds, or the same package is."""
    for pattern, named in _STAND_INS:
        match = pattern.search(failed.output)
        if match is None:
            continue
        missing = next(filter(None, match.groups()), "")
        for wanted, later, used in _stand_ins(session, failed, pattern):
            wording = named(missing, wanted, used)
            if _still_misses(missing, later):
                continue
            is_there = later.verdict == "passed" or (is_check(used) and has_run(later.ended))  # with tests that fail
            if is_there and wording is not None and named is _other_package:  # a guessed name may be anybody's
                shown = re.compile(rf"(?<![\w-]){re.escape(wording.title.split()[1])}(?![\w-])")
                before = session.trajectory.messages[: later.turn - 1]
                is_there = any(shown.search(each.content or "") for each in before if each.role != "assistant")
            if wording is not None and is_there:
                start = failed.output.rfind("\n", 0, match.start() + 1) + 1
                line = failed.output[start:].split("\n", 1)[0]
                one, other = (" ".join(each.called or each.words)[:100] for each in (wanted, used))
                rationale = f"`{one}` stopped with `{line.strip()}`; `{other}` ran."
                return lesson_of(session, Recovery(failed, later, wanted, used), later, wording, rationale, 76, line)
    return []


def _stand_ins(
    session: MinedSession, failed: Attempt, pattern: re.Pattern[str]
) -> Iterator[tuple[SimpleCommand, Attempt, SimpleCommand]]:
    """Each failed step with each later one that may stand in for it: of calls that did not meet the same error."""
    others = [each for each in session.attempts_after(failed, _WITHIN_CALLS) if not pattern.search(each.output)]
    for wanted in failed_steps(failed.ended):
        yield from ((wanted, later, used) for later in others for used in called_steps(later.call))


def _other_package(name: str, wanted: SimpleCommand, used: SimpleCommand) -> Wording | None:
    """A registry has the package by another name, much like the one that it has not; the rest is the same."""
    gone, come = (
        [word for word in one.words if word not in two.words] for one, two in ((wanted, used), (used, wanted))
    )
    if gone != [name] or len(come) != 1 or wanted.program != used.program:
        return None
    bare = (re.sub(r"[^a-z0-9]", "", word.lower()) for word in (name, come[0]))
    if SequenceMatcher(None, next(bare), next(bare), autojunk=False).ratio() < _LEAST_ALIKE:
        return None
    return Wording(
        "recoveries/other-package",
        f"Install {come[0]} instead of {name}",
        f"Install `{come[0]}` where `{name}` is meant: `{command_of(wanted).head}` finds no package of that name.",
        f"`{name}` is about to be installed, or `{command_of(wanted).head}` does not find it.",
        (tag(wanted.program), tag(come[0]), "packages"),
    )


def _by_other_name(name: str, wanted: SimpleCommand, used: SimpleCommand) -> Wording | None:
    """The rest of the command is the same: `python3 -m pip` for `pip`, `./mvnw` for `mvn`, `npx tsc` for `tsc`.

    Of code on the command line it may have been changed: `python3` for `python`.
    """
    rest, is_inline = _plain(wanted.words[1:]), is_inline_script(wanted) and is_inline_script(used)
    fronts = (used.words[:at] for at in range(1, _MOST_FRONT_WORDS + 1) if is_inline or _plain(used.words[at:]) == rest)
    front = next(fronts, ()) if (rest or is_inline) and wanted.words[:1] == (name,) != used.words[:1] else ()
    bare = [word.rpartition("/")[2] for word in front]
    is_related = any(each.startswith(name) for each in bare) or "-".join(front) == name
    if not is_related or used.program == name or re.match(r"[/~$]|\w:", front[0]):
        return None
    call = " ".join(front)
    return Wording(
        "recoveries/other-name",
        f"Call {call} instead of {name}",
        f"Call `{call}` instead of `{name}` where the shell does not find `{name}`.",
        f"`{name}` is to be called, or the shell answers that `{name}` is not found.",
        (tag(name), tag(bare[-1]), "shell"),
    )


def _through(name: str, wanted: SimpleCommand, used: SimpleCommand) -> Wording | None:
    """The program is there for the project alone: `uv run pytest` for `pytest`, `mise exec -- ruff` for `ruff`."""
    called = used.called or used.words
    is_bare = wanted.words[:1] == (name,) and (wanted.called or wanted.words)[:1] == (name,)
    if not is_bare or used.words[:1] != (name,) or name not in called[1:] or wanted.words[1:2] != used.words[1:2]:
        return None
    call = " ".join(called[: called.index(name) + 1])
    return Wording(
        "recoveries/other-name",
        f"Run {name} through {call.removesuffix(name).removesuffix(' -- ').strip()}",
        f"Call `{call}` instead of `{name}` in this repository: the shell does not find `{name}` by itself.",
        f"`{name}` is to be called, or the shell answers that `{name}` is not found.",
        (tag(name), tag(called[0]), "shell"),
    )


def _still_misses(name: str, later: Attempt) -> bool:
    """A part of the program is not found either, as a pipe may hide: `jupyter-nbconvert` of `jupyter`."""
    return re.search(rf"\b{re.escape(name)}[\w-]*\W{{0,3}} not found|No module named", later.output) is not None


def _plain(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


_STAND_INS = (
    (_NOT_ON_PATH, _through),
    (_NOT_ON_PATH, _by_other_name),
    (_NO_PACKAGE, _other_package),
)
