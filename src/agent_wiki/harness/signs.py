"""Signs that a stretch of a session may hold a lesson, so that trivial turns are not mined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_wiki.trajectory.lazily import regex

if TYPE_CHECKING:
    from agent_wiki.trajectory import Trajectory
    from agent_wiki.trajectory.calls import Call

_SCRIPT_NAME = regex(r"\.(?:sh|bash|zsh|fish|ps1)$", re.IGNORECASE)
_INTERPRETER = regex(r"^(?:python[\d.]*|node|ruby|perl|bash|sh|zsh|deno|bun|Rscript)$")
_OBJECTION = regex(
    r"^\W*(?:no|nope|don't|do not|stop|wait|actually|instead|wrong|undo|revert|why (?:did|are|would) you|that's not"
    r"|that is not|not what|you (?:should|forgot|missed|didn't|did not|broke)|still|never|always"
    r"|please (?:don't|never))\b"
    r"|\b(?:instead of|rather than|not what i|(?:doesn't|does not|didn't|isn't|not) work|wrong|broke|fails?|failing"
    r"|did(?:n't| not) ask|unrelated|overkill|simpler|shorter|more concise|too (?:verbose|many|complicated|complex))\b",
    re.IGNORECASE,
)
_MOST_OF_A_REPLY = 2_000  # characters of a user's message that are searched


def signs_to_learn(trajectory: Trajectory, after_turn: int) -> tuple[str, ...]:
    """What may hold a lesson in the turns after `after_turn`: an error, a correction, a script, and the like.

    Empty for trivial turns. A workaround needs no sign of its own, for it follows an error.
    """
    from agent_wiki.recall.reads import wiki_reads
    from agent_wiki.shell.verdict import has_failed
    from agent_wiki.trajectory.calls import paired_calls

    calls = [call for call in paired_calls(trajectory) if max(call.turn, call.result_turn or 0) > after_turn]
    signs = {
        "an error": any(has_failed(call) for call in calls),
        "a correction": any(call.mark == "rejected" for call in calls) or _is_corrected(trajectory, after_turn),
        "a standing instruction": _is_instructed(trajectory, after_turn),
        "a script": any(_writes_script(call) for call in calls),
        "a wiki page read": any(read.turn > after_turn and read.shows_page for read in wiki_reads(trajectory)),
    }
    return tuple(name for name, is_present in signs.items() if is_present)


def _is_corrected(trajectory: Trajectory, after_turn: int) -> bool:
    """The user interrupted the agent, or objected to what it did after the first request."""
    if trajectory.source.parent_session_id:
        return False  # a subagent's "user" is another agent
    is_first = True
    for turn, message in trajectory.turns():
        if message.mark == "interrupt" and message.role == "user" and turn > after_turn:
            return True
        if message.role != "user" or message.mark is not None:
            continue
        text = (message.content or "")[:_MOST_OF_A_REPLY]
        folded = text.lower().replace("’", "'")
        if turn > after_turn and not is_first and _OBJECTION.search(folded):
            return True
        is_first = False
    return False


def _is_instructed(trajectory: Trajectory, after_turn: int) -> bool:
    """The user said how things are done in general, beyond this one request."""
    from agent_wiki.stages.user_reactions import is_standing

    return any(
        is_standing((message.content or "")[:_MOST_OF_A_REPLY])
        for turn, message in trajectory.turns()
        if turn > after_turn and message.role == "user" and message.mark is None
    )


def _writes_script(call: Call) -> bool:
    """A shell script, a file with a `#!` line, or a program given to an interpreter as a here-document."""
    from agent_wiki.shell.simple_commands import simple_commands

    command = call.command()
    if command is None:
        content = call.arguments.get("content") or call.arguments.get("file_text")
        if not isinstance(content, str):
            return False
        return content.startswith("#!") or bool(_SCRIPT_NAME.search(call.path() or ""))
    if ">" not in command and "<<" not in command:
        return False
    for each in simple_commands(command):
        if any(_SCRIPT_NAME.search(file) for file in each.writes) or each.body.startswith("#!"):
            return True
        if each.body.count("\n") >= 3 and _INTERPRETER.match(each.program):
            return True
    return False
