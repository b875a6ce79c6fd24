"""A check fails, what an earlier run had left is cleared away, and the same check passes (signal 8).

A volume of a database, a cache or a generated folder was stale: the next one who meets the failure cannot read that off
it. Nothing else may have been done in between; whether the failure is gone is judged by the lesson's grade.
"""

from __future__ import annotations

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import general_command
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, tag
from agent_wiki.engines.offline.signals.recovery import Recovery, command_of, lesson_of
from agent_wiki.engines.offline.tables import pattern, table, written
from agent_wiki.shell.judged_steps import passed_steps
from agent_wiki.shell.kinds import is_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.tools import tool_kind
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.call_effects import doing
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 12
_RESETS, _STARTS = written("resets"), written("starts_again")
_GENERATED = tuple(map(pattern, table("runners")["generated"]))


def reset(session: MinedSession, recovery: Recovery) -> list[Lesson]:
    """One lesson where one command that clears something away, and no edit, stands between a failure and its pass."""
    has_passed = is_check(recovery.wanted) and recovery.used in passed_steps(recovery.passed.ended)
    done = _done(session, recovery) if has_passed else []
    found = [each for each in done if not _STARTS.match(each[0].text())]
    if len({step.text() for step, _ in found}) != 1 or not clears(found[0][0]) or _is_touched(session, recovery):
        return []
    step, remedy = found[0]
    again = "start it again and check" if len(found) < len(done) else "check again"
    wanted = recovery.wanted  # the check itself, not the container that it ran in
    call, head = general_command(command_of(step), session.trajectory), shell.Command(wanted.words, (), "", "").head
    line = verdict_of(recovery.failed.ended).line
    name = error_name(line, session) if line else None
    if name is None or "<" in call:
        return []
    wording = Wording(
        "recoveries/reset",
        f"Reset with {' '.join(call.split()[:4])}",
        f"When `{head}` fails with `{name}`, run `{call}`, {again}: what an earlier run left is in its way.",
        f"`{head}` fails with `{name}`.",
        (tag(step.program), tag(wanted.program), "reset"),
    )
    rationale = f"`{head}` failed with `{plain_line(line, 160)}`; after `{step.text()[:100]}`, and no edit, it passed."
    return lesson_of(session, recovery, remedy, wording, rationale, 70, line)


def clears(step: SimpleCommand) -> bool:
    """Whether a command only clears away what a tool had written: a volume, a cache, a generated folder."""
    if step.program == "rm":
        files = [word for word in step.words[1:] if not word.startswith("-")]
        return bool(files) and all(any(each.search(file) for each in _GENERATED) for file in files)
    return _RESETS.match(step.text()) is not None


def _is_touched(session: MinedSession, recovery: Recovery) -> bool:
    """An edit, another call that does more than look, or a word of the user lies in between."""
    first, last = recovery.failed, recovery.passed
    calls = (each for each in session.calls if first.position < each.position < last.position)
    others = any(each.command() is None and tool_kind(each) != "look" for each in calls)
    messages = session.trajectory.messages[first.turn : last.turn]
    return others or any(each.role == "user" and each.mark is None for each in messages)


def _done(session: MinedSession, recovery: Recovery) -> list[tuple[SimpleCommand, Attempt]]:
    """All that was done between a failure and the pass, in the line of the pass too, but for the check itself."""
    found = []
    for attempt in session.attempts_after(recovery.failed, _WITHIN_CALLS):
        if attempt.position > recovery.passed.position:
            break
        worked, steps = set(passed_steps(attempt.ended)), doing(attempt.call)
        if attempt is recovery.passed:
            steps = steps[: steps.index(recovery.used)] if recovery.used in steps else steps
        found += [(step, attempt) for step in steps if step in worked and step.program != "sleep"]
    return found
