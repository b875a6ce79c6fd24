"""A failed command and a similar one that then worked (signals 8 and 12).

Kept only when what was added is a flag or a `NAME=value` that the failure itself names: without that filter most pairs
are junk. When the session tried several forms, the one that worked is the recommendation.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_word
from agent_wiki.engines.offline.lessons import (
    Lesson,
    Wording,
    error_line,
    error_name,
    lesson,
    quote_command,
    quote_line,
)
from agent_wiki.engines.offline.tables import table
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.trajectory.lazily import dataclass, regex

_WITHIN_CALLS = 6
_SCOPE_FLAGS = frozenset(table("retries")["scope"].split())
_UNSAFE_FLAGS = frozenset(table("retries")["unsafe"].split())
# They leave out what fails, or only end the list of flags.
_NARROWING_FLAGS = frozenset({"--skip", "--deselect", "-k", "--ignore", "--exclude", "--ignore-glob", "--"})
_CODE_FAILED = regex(
    r"--- FAIL|\b\d{1,6} (?:failed|failures?)\b|FAILED \(|AssertionError|assert |^FAIL\b|error TS|:\d+:\d+: ",
    re.MULTILINE,
)
_SHOWS_MORE = regex(r"[A-Z_]*(?:TRACE|DEBUG|VERBOSE|LOG|LOG_LEVEL|BACKTRACE)=")
_CONSTANT = regex(r"=(?:[01]|true|false|on|off|yes|no|production|test|development)$")
_NEVER = frozenset({"rm", "kill", "pkill", "killall", "chown", "dd", "curl", "wget", "for", "while", "if", "find"})


@dataclass(frozen=True, slots=True)
class _Difference:
    """What the command that worked had and the failed one had not."""

    flags: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each failed command whose repetition with something added worked."""
    found: list[Lesson] = []
    for failed in session.attempts:
        if failed.verdict == "failed" and failed.actions:
            found += _lesson(session, failed)
    return found


def _lesson(session: MinedSession, failed: Attempt) -> list[Lesson]:
    line = error_line(failed.output)
    name = error_name(line, session) if line else None
    if line is None or name is None:
        return []
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        if later.verdict != "passed":
            continue
        for wanted in failed.actions:
            for used in later.actions:
                difference = _difference(session, failed, later, wanted, used)
                if difference:
                    return _worded(session, (failed, later), (wanted, used), difference, name, line)
    return []


def _difference(
    session: MinedSession, failed: Attempt, later: Attempt, wanted: shell.Command, used: shell.Command
) -> _Difference | None:
    if wanted.head != used.head or wanted.program in _NEVER or not _similar(wanted, used):
        return None
    if _CODE_FAILED.search(failed.output) and session.edits_between(failed.position, later.position):
        return None  # the edit was the remedy
    flags = tuple(dict.fromkeys(flag for flag in used.flags if flag not in wanted.flags))
    if flags and (set(flags) & (_UNSAFE_FLAGS | _NARROWING_FLAGS) or set(flags) <= _SCOPE_FLAGS):
        return None
    removed = set(wanted.flags) - set(used.flags) - _SCOPE_FLAGS
    old_names = [each.partition("=")[0] for each in wanted.env]
    env = tuple(each for each in used.env if each.partition("=")[0] not in old_names)
    if _here_documents(failed.line) != _here_documents(later.line) or any(map(_SHOWS_MORE.match, env)):
        return None  # other code, or a variable that only shows more
    if removed or not all(_is_named(each, failed.output) for each in (*flags, *env)):
        return None  # the failure does not ask for it
    added = tuple(flag for flag in flags if flag not in _SCOPE_FLAGS)
    return _Difference(added, env) if added or env else None


def _is_named(added: str, output: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(added.partition('=')[0])}(?![\w-])", output) is not None


def _here_documents(line: str) -> list[str]:
    return [step.body for step in simple_commands(line) if step.body]


def _similar(wanted: shell.Command, used: shell.Command) -> bool:
    """The same work: what the failed command was about, the other is about too; a third of the words shared."""
    mine, theirs = set(wanted.words), set(used.words)
    shared = len(mine & theirs) / max(len(mine | theirs), 1)
    return shared >= 1 / 3 and set(wanted.targets) <= theirs


def _worded(
    session: MinedSession,
    attempts: tuple[Attempt, Attempt],
    commands: tuple[shell.Command, shell.Command],
    difference: _Difference,
    name: str,
    line: str,
) -> list[Lesson]:
    failed, worked = attempts
    wanted, used = commands
    head = used.head
    rule_id, added, title, rule = _words(session, wanted, used, difference)
    if not 3 <= len(title.split()) <= 7:
        return []
    rationale = f"`{head}` stopped with `{line.strip()}`; with `{added}`, which the failure names, it worked."
    tags = [re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in (used.program, *head.split()[1:2])]
    wording = Wording(
        rule_id,
        title,
        f"{rule} when it stops with `{name}`.",
        f"`{head}` stops with `{name}`.",
        (*filter(None, tags), "retry"),
    )
    evidence = [quote_line(session, failed, line), quote_command(session, failed, used.program)]
    evidence.append(quote_command(session, worked, used.text[:80]))
    return lesson(wording, rationale, evidence, {failed.turn}, 72, remedy=worked.turn, confirmed=worked.turn)


def _words(
    session: MinedSession, wanted: shell.Command, used: shell.Command, difference: _Difference
) -> tuple[str, str, str, str]:
    """`(id of the rule, what was added, title, rule without its condition)`."""
    head = used.head
    if difference.flags:
        added = " ".join(_with_value(session, wanted, used, flag) for flag in difference.flags[:3])
        return "retries/flag-added", added, f"Run {head} with {difference.flags[0]}", f"Add `{added}` to `{head}`"
    names = [each.partition("=")[0] for each in difference.env[:3]]
    added = " ".join(
        each if _CONSTANT.search(each) else f"{each.partition('=')[0]}=<value>" for each in difference.env[:3]
    )
    return "retries/variable-set", added, f"Set {' and '.join(names[:2])} for {head}", f"Set `{added}` for `{head}`"


def _with_value(session: MinedSession, wanted: shell.Command, used: shell.Command, flag: str) -> str:
    """A flag with its value where one follows, generalised."""
    for position, word in enumerate(used.words):
        if word.startswith(flag + "="):
            return general_word(word, session.trajectory)
        if word == flag:
            value = next(iter(used.words[position + 1 : position + 2]), "-")
            is_value = not value.startswith("-") and value not in wanted.words
            return f"{flag} {general_word(value, session.trajectory)}" if is_value else flag
    return flag
