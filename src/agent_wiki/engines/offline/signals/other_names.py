"""A program is called by a name under which it is found, and by options that it knows (signals 7, 8 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Lesson, Wording, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, lesson_of
from agent_wiki.engines.offline.signals.unknown_options import without_option
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.judged_steps import called_steps, failed_steps
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.stages.call_effects import has_run

_WITHIN_CALLS, _MOST_STEPS = 10, 50  # of a call
_NOT_ON_PATH = written("not_on_path", re.MULTILINE)
_UNKNOWN = written("unknown_word", re.IGNORECASE)
_TO_CALL = "`NAME` is to be called, or the shell answers that `NAME` is not found."
_SHORT = 3  # characters: of a value, or of a word that may be a part of any other
_MOST_FRONT_WORDS = 3  # in place of a program's name


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call of a program that was not found."""
    failures = (each for each in session.attempts if each.verdict == "failed")
    found = [lesson for failed in failures for lesson in _renamed(session, failed) or _other_name(session, failed)]
    return list({each.guideline.confirming_turn: each for each in found}.values())  # the last try before it


def _renamed(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """An option that a program does not know is replaced by one that it knows, or left out."""
    if (match := _UNKNOWN.search(failed.output)) is None:
        return []
    for wanted, later, used in _stand_ins(session, failed):
        if later.verdict != "passed":
            continue
        wording = _by_other_option(match, wanted, used) or without_option(session, failed, match, wanted, used)
        if wording is not None:
            return _lesson(session, Recovery(failed, later, wanted, used), wording, match[0])
    return []


def _by_other_option(unknown: re.Match[str], wanted: SimpleCommand, used: SimpleCommand) -> Wording | None:
    """The one option that it did not know is another with the same value or in another number; a word is no option."""
    gone, come = set(wanted.words[1:]) - set(used.words), set(used.words) - set(wanted.words)
    old, new = ("".join(each).partition("=")[0] for each in (gone, come))
    is_other = len(gone) == len(come) == 1 and old.strip("-") == unknown["word"].strip("-")
    is_other = is_other and old[:1] == new[:1] == "-" and wanted.program == used.program and not is_check(wanted)
    value = _value_of(wanted, old) if is_other else ""
    is_same = len(value) > _SHORT and not value.isdigit() and value == _value_of(used, new)
    if not is_other or not (is_same or old.rstrip("s") == new.rstrip("s")):
        return None
    called = " ".join((wanted.program, *(word for word in wanted.words[1:2] if word.isalpha() and word != old)))
    rule = f"Call `{called}` with `{new}` in place of `{old}`, which it does not know."
    trigger = f"`{called}` is to be called with `{old}`, or answers `{unknown[0]}`."
    tags = (tag(wanted.program), tag(new), "shell")
    return Wording("recoveries/renamed", f"Give `{called}` {new}, not {old}", rule, trigger, tags)


def _value_of(command: SimpleCommand, option: str) -> str:
    """What an option is given, behind `=` or as the next word."""
    given = re.search(rf"(?:^| ){re.escape(option)}[= ](?!-)(\S+)", command.text())
    return given[1] if given else ""


def _lesson(session: MinedSession, recovery: Recovery, wording: Wording, line: str) -> list[Lesson]:
    one, other = (
        " ".join(each.called or each.words)[:100].replace("`", "'") for each in (recovery.wanted, recovery.used)
    )
    said = line.strip().replace("`", "'")
    rationale = f"`{one}` stopped with `{said}`; `{other}` ran."
    return lesson_of(session, recovery, recovery.passed, wording, rationale, 76, line)


def _other_name(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """The same program is called by a name that the shell finds."""
    match = _NOT_ON_PATH.search(failed.output)
    missing = next(filter(None, match.groups()), "") if match else ""
    for named in (_through, _by_other_name) if missing else ():
        for wanted, later, used in _stand_ins(session, failed):
            wording = named(missing, wanted, used)
            is_there = later.verdict == "passed" or (is_check(used) and has_run(later.ended))  # with tests that fail
            if wording is not None and is_there and not _still_misses(missing, later):
                line = next(each for each in failed.output.splitlines() if _NOT_ON_PATH.search(each))
                return _lesson(session, Recovery(failed, later, wanted, used), wording, line)
    return []


def _stand_ins(session: MinedSession, failed: Attempt) -> Iterator[tuple[SimpleCommand, Attempt, SimpleCommand]]:
    """Each failed step with each later one that may stand in for it: of calls that did not meet the same error."""
    others = [each for each in session.attempts_after(failed, _WITHIN_CALLS) if not _NOT_ON_PATH.search(each.output)]
    for wanted in failed_steps(failed.ended)[:_MOST_STEPS]:
        yield from ((wanted, later, used) for later in others for used in called_steps(later.call)[:_MOST_STEPS])


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
    title, trigger = f"Call `{call}` instead of `{name}`", _TO_CALL.replace("NAME", name)
    rule = f"{title} where the shell does not find `{name}`."
    return Wording("recoveries/other-name", title, rule, trigger, (tag(name), tag(bare[-1]), "shell"))


def _through(name: str, wanted: SimpleCommand, used: SimpleCommand) -> Wording | None:
    """The program is there for the project alone: `uv run pytest` for `pytest`, `mise exec -- ruff` for `ruff`."""
    called = used.called or used.words
    is_bare = wanted.words[:1] == (name,) and (wanted.called or wanted.words)[:1] == (name,)
    if not is_bare or used.words[:1] != (name,) or name not in called[1:] or wanted.words[1:2] != used.words[1:2]:
        return None
    call = " ".join(called[: called.index(name) + 1])
    title = f"Run `{name}` through `{call.removesuffix(name).removesuffix(' -- ').strip()}`"
    rule = f"Call `{call}` instead of `{name}` in this repository: the shell does not find `{name}` by itself."
    tags = (tag(name), tag(called[0]), "shell")
    return Wording("recoveries/other-name", title, rule, _TO_CALL.replace("NAME", name), tags)


def _still_misses(name: str, later: Attempt) -> bool:
    """A part of the program is not found either, as a pipe may hide: `jupyter-nbconvert` of `jupyter`."""
    return re.search(rf"\b{re.escape(name)}[\w-]*\W{{0,3}} not found|No module named", later.output) is not None


def _plain(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if not word.startswith("-")]
