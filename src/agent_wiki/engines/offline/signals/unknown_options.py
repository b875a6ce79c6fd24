"""An option that a program does not know: the same command passes without it (signals 7 and 8)."""

from __future__ import annotations

import re
from itertools import takewhile

from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.lessons import Wording, tag
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.shell.edited_parts import edit_text
from agent_wiki.shell.judged_steps import called_steps, passed_steps
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_NAME, _OPTION = regex(r"\+?[a-z][a-z:@-]{1,24}"), regex(r"--?[A-Za-z][\w-]*(?:=|\Z)")
_TO_REFUSE = regex(r"unknown|invalid|refus|reject|bogus", re.IGNORECASE)
_HELP = frozenset({"help", "h", "version"})
_MOST_WORDS = 3  # of a name with its subcommands
_FILE, _SPEAKER = regex(r"[^=]*\.[a-z]{1,5}"), regex(r"([\w./@-]{1,40}):\s")
_RUN_OTHERS = named("run_others")  # whose options may be another's
_CHANGES, _KEEPS_SAFE = written("changes_for_good"), written("keeps_safe", re.IGNORECASE)


def without_option(
    session: MinedSession, failed: Attempt, unknown: re.Match[str], wanted: SimpleCommand, used: SimpleCommand
) -> Wording | None:
    """How to call a program that did not know an option. In: its refusal, what was called, and what passed then.

    None where the option may be known: to another program of the line, in another form, or in the session itself; and
    where without it more might be done than was wanted.
    """
    name = unknown["word"].strip("-")
    called, again = (tuple(takewhile(_NAME.fullmatch, each.words)) for each in (wanted, used))
    option = next((word for word in _options(wanted) if word.strip("-") == name), "")
    later = {each.strip("-") for each in _options(used)}
    is_same = bool(called) and called == again and name not in later and not later & _HELP
    if not option or not is_same or wanted.program in _RUN_OTHERS or is_check(wanted):
        return None
    is_risk = any(map(_CHANGES.fullmatch, called)) or _KEEPS_SAFE.match(name)
    if is_risk or _is_of_another(failed, unknown, wanted, option) or _is_known(session, called, option):
        return None
    front = " ".join(called[:_MOST_WORDS])
    rule = f"Call `{front}` without `{option}`, which it does not know."
    trigger = f"`{front}` is to be called with `{option}`, or answers `{unknown[0]}`."
    tags = (tag(wanted.program), tag(option), "shell")
    return Wording("recoveries/unknown-option", f"Call `{front}` without {option}", rule, trigger, tags)


def _options(step: SimpleCommand) -> list[str]:
    return [word.partition("=")[0] for word in step.words[1:] if _OPTION.match(word)]


def _is_of_another(failed: Attempt, unknown: re.Match[str], wanted: SimpleCommand, option: str) -> bool:
    """Another step has the option too, a program that it runs is given it, or the refusal has another's name."""
    before = list(takewhile(lambda word: word.partition("=")[0] != option, wanted.words))
    line = failed.output[failed.output.rfind("\n", 0, unknown.start()) + 1 : unknown.start()]
    speaker = _SPEAKER.match(line.strip() + " ")
    own = {"error", "fatal", *(word.lower() for word in wanted.words)}
    is_elsewhere = sum(option in _options(step) for step in called_steps(failed.call)) > 1
    is_handed_on = "--" in before or any(map(_FILE.fullmatch, before))
    return is_elsewhere or is_handed_on or (speaker is not None and speaker[1].lower() not in own)


def _is_known(session: MinedSession, called: tuple[str, ...], option: str) -> bool:
    """The session shows that the command takes it, or it is what the session writes or tests."""
    steps = (step for each in session.attempts for step in passed_steps(each.ended))
    passed = (step for step in steps if tuple(takewhile(_NAME.fullmatch, step.words)) == called)
    is_own = any(option in edit_text(call) for call in session.calls if call.command() is None)
    users = (each.content or "" for each in session.trajectory.messages if each.role == "user")
    is_wanted = any(option in words and _TO_REFUSE.search(words) for words in users)
    return is_own or is_wanted or any(option in _options(step) for step in passed)
