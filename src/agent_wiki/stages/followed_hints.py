"""A command that a tool printed and the agent then ran: no idea of the agent, and none of the user.

Anybody may make a tool print a line ("npm install -g …"). That it was followed shows nothing; only a cause that the
recording shows does. What an agent reads in a file of the project is no hint, but for a file that it fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent_wiki.shell.fetched import of_strangers
from agent_wiki.shell.judged_steps import called_steps
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.tools import tool_kind
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.own_words import own_text

_CODE = regex(r"`([^`\n]{3,300})`")
_MARKS = regex(r"[`*“”\"]")


def hinted_at(trajectory: Trajectory, title: str, rule: str) -> int | None:
    """The turn of the result that named a command of the rule before anybody else did; None for a rule without one.

    In: a lesson's words. A command counts that the session ran, and that has an argument.
    """
    commands = dict.fromkeys(_commands(trajectory, f"{title}\n{rule}"))
    calls = {call.result_turn: call for call in paired_calls(trajectory)} if commands else {}
    found = [turn for command in commands if (turn := _first_named(trajectory, command, calls))]
    return min(found, default=None)


def _commands(trajectory: Trajectory, words: str) -> Iterator[str]:
    """The commands of a rule: those that the session ran, in code or in plain words."""
    plain = " ".join(_MARKS.sub("", words).split())
    code = {" ".join(span.split()) for span in _CODE.findall(words)}
    for call in paired_calls(trajectory):
        for step in called_steps(call):
            text = step.text()
            if len(step.words) > 1 and (text in plain or any(_begins(text, span) for span in code)):
                yield text if text in plain else next(span for span in code if _begins(text, span))


def _begins(text: str, span: str) -> bool:
    return " " in span and f"{text} ".startswith(f"{span} ")


def _first_named(trajectory: Trajectory, command: str, calls: Mapping[int | None, Call]) -> int | None:
    """The turn of the result in which a command is named first; None where the user or the agent names it first."""
    for turn, message in trajectory.turns():
        if message.role == "tool" and message.mark != "rejected":  # with a refusal the user says why
            if command in (message.content or "") and _is_hint(trajectory, turn, calls.get(turn)):
                return turn
        elif (command in (message.content or "") and command in _own(message)) or any(
            command in each.arguments for each in message.tool_calls
        ):
            return None
    return None


def _own(message: Message) -> str:
    """What the user, or the agent, says in a turn."""
    return own_text(message.content or "", follows_reply=False) if message.role == "user" else message.content or ""


def _is_hint(trajectory: Trajectory, turn: int, call: Call | None) -> bool:
    """Whether a result is what a program or a service said, and not a file of the project that was looked at."""
    return turn in of_strangers(trajectory) or call is None or not _only_looks(call)


def _only_looks(call: Call) -> bool:
    steps = called_steps(call)
    return all(shell_kind(step) == "look" for step in steps) if steps else tool_kind(call) == "look"
