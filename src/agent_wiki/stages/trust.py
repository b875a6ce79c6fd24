"""Whose words a cited turn holds, and whether a quote bears the rule that cites it: the one place that decides both."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.shell.fetched import of_strangers, only_run
from agent_wiki.shell.program_reports import reports
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.calls import command_of
from agent_wiki.trajectory.evidence import Trust, argument_texts
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.own_words import voice_of

_CODE = regex(r"`([^`\n]{2,300})`")
_MARKS = regex(r"[`*\"“”]")
_SHORTEST_QUOTE = 12  # characters
_MOST_WORDS = 6  # that somebody repeats by chance
# How Claude Code writes a refusal, up to the user's own words; what it adds below them; and a form in their place.
# And how Antigravity does, which repeats the call before them.
_REFUSAL = regex(
    r"\s*Encountered error in step execution: user denied permission for \w{1,40}\([\s\S]{0,8000}\)\. "
    r"The following instruction was provided by the user as an alternative:"
    r"|\s*(?:<tool_use_error>)?The user doesn't want to (?:proceed with this tool use|take this action right now)\."
    r"[^\n]*?"
    r"(?:the user said:|reason for the rejection:)"
)
_AFTER_REASON = regex(r"\n\s*Note: ")
_FORM = "The user wants to clarify these questions."


def trust_of(trajectory: Trajectory, turn: int, quote: str = "") -> Trust:
    """Whose words a turn has, or a quote from it. Text that a harness put into a user's turn is not the user's.

    Nor is what the user pasted, quoted or forwarded; and what an agent repeats of strangers' words stays theirs. The
    reason that a user gave for refusing a call stands in the call's result: it is the user's where the reader marked
    the call as refused, and never where strangers may have written the result, whatever it says of itself. A quote of a
    few letters bears no rule: it gives the user's trust only if it is all that was said. Where a program ran what was
    fetched, or worked on it, a line in which it reports how that went is the tool's, and all else strangers'.
    """
    message = trajectory.messages[turn - 1]
    if message.role == "user":
        return _of_user(trajectory, turn, quote) if message.mark in (None, "interrupt") else "tool"
    if message.role == "assistant":
        return "external" if _repeats_strangers(trajectory, turn, quote) else "assistant"
    if message.role == "tool" and turn in of_strangers(trajectory):
        return "tool" if quote and turn in only_run(trajectory) and reports(quote) else "external"
    reason = refusal_reason(message)
    return "user" if quote and quote in reason and _is_long_enough(quote, reason) else "tool"


def _repeats_strangers(trajectory: Trajectory, turn: int, quote: str) -> bool:
    """Whether a quote from what an agent says or writes has a run of words that it had read from strangers before.

    What it writes are the arguments of calls: a file, a memory, a list of what is to do. A few words of these are its
    own, for code that follows a manual says what the manual says; so is a command that it runs, of which
    `followed_hints` knows who had said it first.
    """
    said = trajectory.messages[turn - 1]
    words = quote.lower().split()
    is_said = bool(quote) and quote in f"{said.content or ''}\n{said.thinking or ''}"
    if not is_said and not (len(words) > _MOST_WORDS and any(quote in text for text in _written(said))):
        return False
    read = [text for each, text in trajectory.worked_out(_texts_of_strangers).items() if each < turn]
    return any(run in text for run in _runs(words) for text in read)


def is_said_by_strangers(trajectory: Trajectory, words: str) -> bool:
    """Whether a line of a lesson, by six words on end or its code, stands in what strangers wrote in the session."""
    lines = [_MARKS.sub("", line).lower().split() for line in words.splitlines()]
    code = [" ".join(span.lower().split()) for span in _CODE.findall(words)]
    parts = [
        *(run for line in lines for run in _runs(line)),
        *(span for span in code if " " in span or span.startswith("-") or "://" in span),
    ]
    shown = trajectory.worked_out(_texts_of_strangers).values()
    read = [*shown, *(_MARKS.sub("", text) for text in shown)]
    return any(part in text for part in parts for text in read)


def _written(message: Message) -> Iterator[str]:
    for call in message.tool_calls:
        if command_of(call) is None:
            yield from argument_texts(call)


def _texts_of_strangers(trajectory: Trajectory) -> dict[int, str]:
    """What strangers wrote, in lower case and with single blanks, by the turn that shows it."""
    return {
        turn: " ".join((trajectory.messages[turn - 1].content or "").split()).lower()
        for turn in of_strangers(trajectory)
    }


def _runs(words: list[str]) -> Iterator[str]:
    """Every run of so many words; all of them where there are fewer, unless that is too short to be anybody's."""
    whole = " ".join(words)
    if len(words) <= _MOST_WORDS:
        yield from [whole] if len(whole) >= _SHORTEST_QUOTE else []
        return
    yield from (" ".join(words[start : start + _MOST_WORDS]) for start in range(len(words) - _MOST_WORDS + 1))


def _of_user(trajectory: Trajectory, turn: int, quote: str) -> Trust:
    said = trajectory.messages[turn - 1].content or ""
    follows_reply = any(each.role == "assistant" for each in trajectory.messages[: turn - 1])
    voice = voice_of(said, quote, follows_reply=follows_reply)
    return "tool" if voice == "user" and not _is_long_enough(quote, said) else voice


def _is_long_enough(quote: str, said: str) -> bool:
    return not quote or len(quote.strip()) >= _SHORTEST_QUOTE or quote.strip() == said.strip()


def refusal_reason(result: Message) -> str:
    """What the user said in refusing a call, verbatim, from its result; empty where nothing is said or not refused."""
    return words_of_refusal(result.content or "") if result.role == "tool" and result.mark == "rejected" else ""


def words_of_refusal(result: str) -> str:
    """The same for a result that reads as a refusal, of which nothing may show that it is one."""
    match = _REFUSAL.match(result)
    reason = _AFTER_REASON.split(result[match.end() :])[0] if match else ""
    return "" if reason.lstrip().startswith(_FORM) else reason.strip()
