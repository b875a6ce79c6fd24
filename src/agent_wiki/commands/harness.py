"""`wiki hook start` and `wiki hook stop` as a harness calls them: lenient arguments, never exit code 2.

A harness holds its agent until this ends, and interprets exit code 2, elsewhere that of usage errors, as an order: not
to begin the session, or to continue the turn. So `main` calls this directly, without the command line's parser, which
also takes longer to load than a harness should wait.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from agent_wiki.harness.background import Background

_Number = TypeVar("_Number", int, float)
_WITH_VALUE = ("--wiki", "--engine", "--calls-a-day", "--usd-a-day", "--agent")
_FOR_HELP = frozenset({"-h", "--help"})
_EXIT_UNKNOWN = 1  # which no harness takes for an order

_HELD_SECONDS = (
    0.9  # the harness waits this long, counted from the start of this process; then the work continues alone
)
_USUAL_START_SECONDS = 0.15  # of the interpreter, on systems that do not report it
_LONGEST_SECONDS = 600  # after which the detached work is stopped


class Words(NamedTuple):
    """The arguments of a hook. `payload` is the harness's JSON, if given as an argument; `unknown` are options."""

    payload: str | None = None
    wiki: Path | None = None
    is_waiting: bool = False
    engine: str = ""  # which mines in the background, "" for the embedded one
    calls_a_day: int | None = None
    usd_a_day: float | None = None
    agent: str = ""
    unknown: tuple[str, ...] = ()


def is_hook(words: Sequence[str]) -> bool:
    """Whether a harness calls this command line; a request for help does not count."""
    return words[:1] == ["hook"] and len(words) > 1 and _FOR_HELP.isdisjoint(words)


def call(name: str, words: Sequence[str]) -> int:
    """Run the hook of that name with what follows on its command line; out: the exit code."""
    if name == "stop":
        return stop(words_of(words))
    if name == "start":
        return start(words_of(words))
    _complain(f"wiki hook: there is start and stop, and no {name}")
    return _EXIT_UNKNOWN


def words_of(words: Sequence[str]) -> Words:
    """The arguments of a hook; unknown ones have no effect."""
    payload = None
    is_waiting = False
    unknown: list[str] = []
    values: dict[str, str] = {}
    rest = list(words)
    while rest:
        name, separator, value = (word := rest.pop(0)).partition("=")
        if name in _WITH_VALUE:
            values[name] = value if separator else rest.pop(0) if rest else values.get(name, "")
        elif word == "--wait":
            is_waiting = True
        elif word.startswith("-"):
            unknown.append(word)
        else:
            payload = word
    return Words(
        payload,
        Path(values["--wiki"]) if values.get("--wiki") else None,
        is_waiting,
        values.get("--engine", ""),
        _number(int, values.get("--calls-a-day")),
        _number(float, values.get("--usd-a-day")),
        values.get("--agent", ""),
        tuple(unknown),
    )


def _number(kind: Callable[[str], _Number], text: str | None) -> _Number | None:
    """A number that a person wrote; None where it is none, for a hook fails at no word."""
    try:
        return None if text is None else kind(text)
    except ValueError:
        return None


def _complain(line: str) -> None:
    """Write a line on standard error, if that is open and can be written to."""
    from agent_wiki.commands.visible import visible

    with suppress(OSError, AttributeError):  # AttributeError: there is none
        try:
            sys.stderr.write(visible(f"{' '.join(line.split())}\n"))
            sys.stderr.flush()
        except OSError:
            sys.stderr.close()  # else the interpreter fails by what is left in its buffer as it ends


def start(words: Words) -> int:
    """Print how to consult the wiki, nothing if there is none, and return 0; what is wrong is a line of its own."""
    from agent_wiki.errors import AgentWikiError
    from agent_wiki.harness.agents import AGENTS
    from agent_wiki.harness.reminders import answer, reminder

    ignored = [*words.unknown, *([] if words.payload is None else [words.payload])]
    if ignored:
        _complain(f"wiki hook start: does not know {', '.join(ignored)}")
    if words.agent and words.agent not in (known := [each.name for each in AGENTS]):
        _complain(
            f"wiki hook start: knows no agent {words.agent}, and answers in plain text; there is {', '.join(known)}"
        )
    try:
        text = answer(reminder(words.wiki, working_folder(), os.environ), words.agent)
        with suppress(AttributeError):  # no standard output
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except (AgentWikiError, OSError) as error:
        _complain(f"wiki hook start: {error}")
    return 0


def stop(words: Words) -> int:
    """Run the hook and return 0, whatever happens. Prints nothing, except for a person who typed it without input."""
    text = words.payload if words.payload is not None else _standard_input()
    if text is None:
        _complain("wiki hook stop: a harness calls this, with JSON on standard input")
        return 0

    def work() -> None:
        from agent_wiki.harness import hooks

        hooks.stop(text, words.wiki, working_folder(), os.environ, _background(words))

    if words.is_waiting or not hasattr(os, "fork"):
        work()
    else:
        _apart(work)
    return 0


def working_folder() -> Path:
    """The folder that this process works in; if it was removed meanwhile, its path as the shell knew it."""
    try:
        return Path.cwd()
    except OSError:
        return Path(os.environ.get("PWD") or os.sep)


def _background(words: Words) -> Background | None:
    """The engine that mines in the background, if one is named; caps that are no numbers are the default's."""
    if not words.engine or words.engine == "offline":
        return None
    from agent_wiki.harness.background import DEFAULT_CALLS_A_DAY, Background

    calls = DEFAULT_CALLS_A_DAY if words.calls_a_day is None else words.calls_a_day
    return Background(words.engine, calls, words.usd_a_day)


def _standard_input() -> str | None:
    """All of standard input; empty if it cannot be read, None if it is a terminal."""
    try:
        return None if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")
    except (OSError, ValueError, AttributeError):  # ValueError: closed; AttributeError: no standard input
        return ""


def _apart(work: Callable[[], None]) -> None:
    """Do the work in a separate process, and wait for it as long as a harness may be held.

    That process has its own session and none of our streams, so that nobody waits for it or stops it with us.
    """
    ended, at_work = os.pipe()
    if os.fork():
        os.close(at_work)
        select.select([ended], [], [], max(0.0, _HELD_SECONDS - _seconds_since_start()))
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        signal.alarm(_LONGEST_SECONDS)
        gc.disable()  # this process ends soon
        work()
    finally:
        os._exit(0)


def _seconds_since_start() -> float:
    """The age of this process, including the interpreter's start; a guess if the system does not report it."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # field 22 of proc(5), seconds since the machine started
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return _USUAL_START_SECONDS
