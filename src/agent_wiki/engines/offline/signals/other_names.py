"""A program is called by a name under which it is found (signals 7 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, lesson_of
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.judged_steps import called_steps, failed_steps
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.stages.call_effects import has_run
from agent_wiki.trajectory.lazily import regex

_WITHIN_CALLS = 10
_NOT_ON_PATH = written("not_on_path", re.MULTILINE)
_STUB = written("stub_of_python", re.MULTILINE, needs=("49", "Python was not found"))
_PYTHON = regex(r"python3?(?:\.exe)?")
_MOST_FRONT_WORDS = 3  # in place of a program's name


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call of a program that was not found."""
    failures = (each for each in session.attempts if each.verdict == "failed")
    found = [lesson for failed in failures for lesson in _stubbed(session, failed) or _other_name(session, failed)]
    return list({each.guideline.confirming_turn: each for each in found}.values())  # the last try before it


def _stubbed(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """The Store's stub was called in place of Python, which has another name."""
    result = failed.ended.result or ""
    wanted = next((each for each in failed_steps(failed.ended) if _PYTHON.fullmatch(each.program)), None)
    if wanted is None or _STUB.search(result) is None:
        return []
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        pythons = (each for each in called_steps(later.call) if _PYTHON.fullmatch(each.program))
        used = next((each for each in pythons if each.program != wanted.program), None)
        if used is not None and (later.verdict == "passed" or has_run(later.ended)):
            name, call = wanted.program, used.program
            wording = Wording(
                "recoveries/other-name",
                f"Call `{call}` instead of `{name}` on Windows",
                f"On Windows, call `{call}` where `{name}` ends with exit code 49: it is the Microsoft Store's stub.",
                f"`{name}` is to be called on Windows, or it ends with exit code 49 without a word.",
                (tag(name), tag(call), "windows"),
            )
            line = next(each for each in result.splitlines() if each.strip())
            rationale = f"`{name}` ended with `{line.strip()[:100]}`; `{call}` ran."
            return lesson_of(session, Recovery(failed, later, wanted, used), later, wording, rationale, 76, line)
    return []


def _other_name(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """The same program is called by a name that the shell finds."""
    match = _NOT_ON_PATH.search(failed.output)
    missing = next(filter(None, match.groups()), "") if match else ""
    for named in (_through, _by_other_name) if missing else ():
        for wanted, later, used in _stand_ins(session, failed):
            wording = None if _still_misses(missing, later) else named(missing, wanted, used)
            is_there = later.verdict == "passed" or (is_check(used) and has_run(later.ended))  # with tests that fail
            if wording is not None and is_there:
                line = next(each for each in failed.output.splitlines() if _NOT_ON_PATH.search(each))
                one, other = (" ".join(each.called or each.words)[:100] for each in (wanted, used))
                rationale = f"`{one}` stopped with `{line.strip()}`; `{other}` ran."
                return lesson_of(session, Recovery(failed, later, wanted, used), later, wording, rationale, 76, line)
    return []


def _stand_ins(session: MinedSession, failed: Attempt) -> Iterator[tuple[SimpleCommand, Attempt, SimpleCommand]]:
    """Each failed step with each later one that may stand in for it: of calls that did not meet the same error."""
    later_ones = session.attempts_after(failed, _WITHIN_CALLS)
    others = [each for each in later_ones if not _NOT_ON_PATH.search(each.output)]
    for wanted in failed_steps(failed.ended):
        yield from ((wanted, later, used) for later in others for used in called_steps(later.call))


def _by_other_name(name: str, wanted: SimpleCommand, used: SimpleCommand) -> Wording | None:
    """The rest of the command is the same: `python3 -m pip` for `pip`, `./mvnw` for `mvn`, `npx tsc` for `tsc`.

    A name with a version (`python3` for `python`) teaches nothing: any agent tries it at once.
    """
    rest = _plain(wanted.words[1:])
    fronts = (used.words[:at] for at in range(1, _MOST_FRONT_WORDS + 1) if _plain(used.words[at:]) == rest)
    front = next(fronts, ()) if rest and wanted.words[:1] == (name,) != used.words[:1] else ()
    bare = [word.rpartition("/")[2] for word in front]
    is_related = any(each.startswith(name) for each in bare) or "-".join(front) == name
    is_known = any(re.fullmatch(rf"{re.escape(name)}[\d.]+", each) for each in bare)
    if not is_related or is_known or used.program == name or re.match(r"[/~$]|\w:", front[0]):
        return None
    call = " ".join(front)
    return Wording(
        "recoveries/other-name",
        f"Call `{call}` instead of `{name}`",
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
        f"Run `{name}` through `{call.removesuffix(name).removesuffix(' -- ').strip()}`",
        f"Call `{call}` instead of `{name}` in this repository: the shell does not find `{name}` by itself.",
        f"`{name}` is to be called, or the shell answers that `{name}` is not found.",
        (tag(name), tag(called[0]), "shell"),
    )


def _still_misses(name: str, later: Attempt) -> bool:
    """A part of the program is not found either, as a pipe may hide: `jupyter-nbconvert` of `jupyter`."""
    return re.search(rf"\b{re.escape(name)}[\w-]*\W{{0,3}} not found|No module named", later.output) is not None


def _plain(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if not word.startswith("-")]
