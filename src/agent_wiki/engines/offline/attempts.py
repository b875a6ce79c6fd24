"""A session as the signals see it: shell attempts with a verdict, edits, what was said, what is quotable."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

from agent_wiki.engines.offline import shell
from agent_wiki.shell.edited_parts import edit_text
from agent_wiki.shell.folders import folders_in
from agent_wiki.shell.result_lines import quoted, without_start_up
from agent_wiki.shell.tools import EDIT_TOOLS
from agent_wiki.shell.verdict import has_failed, verdict_of
from agent_wiki.stages.extract_guidelines import CitedQuote
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.evidence import texts_of
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import regex

Verdict = Literal["passed", "failed", "unknown"]

_MOST_OUTPUT = 20_000  # characters kept from each end of an output: what matters is at its ends

_CODEX_HEAD = regex(r"\A(?:(?:Chunk ID|Wall time|Process|Original token count)\b.*\n){0,5}Output:\n?")
_EXIT_CODE = regex(r"\A(?:Error: )?Exit code:? (?!14[34]\s*\Z)\d+\n?|\A<returncode>\d+</returncode>\n?")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a shell and its result."""

    call: Call
    line: str
    actions: tuple[shell.Command, ...]
    output: str
    verdict: Verdict
    result_turn: int | None

    @property
    def turn(self) -> int:
        return self.call.turn

    @property
    def position(self) -> int:
        return self.call.position

    @property
    def ended(self) -> Call:
        """The call whose result shows how it went: the last that read on, where the command was still running."""
        return self.call.ended_by or self.call


@dataclass
class MinedSession:
    """A trajectory with what several signals need from it, computed once."""

    trajectory: Trajectory
    calls: list[Call] = field(default_factory=list)

    @classmethod
    def of(cls, trajectory: Trajectory) -> MinedSession:
        return cls(trajectory, paired_calls(trajectory))

    @cached_property
    def attempts(self) -> list[Attempt]:
        """Every shell call, in order."""
        return [
            _attempt(call, line) for call in self.calls if (line := call.command()) is not None and call.mark is None
        ]

    @cached_property
    def edits(self) -> list[Call]:
        """Calls that wrote files and were carried out."""
        return [call for call in self.calls if is_edit(call) and call.mark is None and not has_failed(call)]

    @cached_property
    def has_workspace(self) -> bool:
        """True when the agent works on files or with a shell; False for agents that serve a customer."""
        return any(call.command() is not None or is_edit(call) for call in self.calls)

    def message(self, turn: int) -> Message:
        return self.trajectory.messages[turn - 1]

    def is_in_main_folder(self, attempt: Attempt) -> bool:
        """Whether all of a call ran where the session began; where that is not recorded, where most of it ran."""
        folders = folders_in(self.trajectory)
        return set(folders.get(attempt.position, ())) <= {".", self._main_folder}

    @cached_property
    def _main_folder(self) -> str:
        if self.trajectory.source.cwd:
            return "."
        ran_in = Counter(chain.from_iterable(map(set, folders_in(self.trajectory).values())))
        return max(ran_in, key=lambda folder: (ran_in[folder], folder), default=".")

    def attempts_after(self, attempt: Attempt, most_calls: int) -> Iterator[Attempt]:
        """Attempts among the next `most_calls` calls."""
        start = bisect_right(self.attempts, attempt.position, key=lambda each: each.position)
        end = bisect_right(self.attempts, attempt.position + most_calls, key=lambda each: each.position)
        yield from self.attempts[start:end]

    def edits_between(self, first: int, last: int) -> list[Call]:
        """Edits whose call is between two positions."""
        start = bisect_right(self.edits, first, key=lambda each: each.position)
        return self.edits[start : bisect_left(self.edits, last, key=lambda each: each.position)]

    def last_call_before(self, turn: int) -> Call | None:
        """The last call before a turn."""
        position = bisect_left(self.calls, turn, key=lambda each: each.turn)
        return self.calls[position - 1] if position else None

    def calls_after(self, turn: int, most: int) -> list[Call]:
        """The first `most` calls after a turn."""
        start = bisect_right(self.calls, turn, key=lambda each: each.turn)
        return self.calls[start : start + most]

    def defines(self, names: list[str]) -> bool:
        """Whether the code in the calls makes one of `names`: it is the project's own."""
        made = re.compile(
            r"\b(?:def|class|function|const|let|var|struct|fn|func|interface|type|enum|trait|TABLE)\s+"
            rf"(?:\([^)\n]{{0,80}}\)\s*)?[`\"]?(?:{'|'.join(map(re.escape, names))})\b(?! *[,}}])"
            rf"|\b(?:{'|'.join(map(re.escape, names))}) ?:="
        )
        texts = (text for call in self.calls for text in (edit_text(call), call.result or ""))
        return bool(names) and any(made.search(text) for text in texts)

    def said(self, first_turn: int, last_turn: int) -> list[tuple[int, str]]:
        """`(turn, text)` the agent said or thought in these turns, both ends included."""
        found: list[tuple[int, str]] = []
        for turn in range(max(first_turn, 1), min(last_turn, len(self.trajectory.messages)) + 1):
            message = self.message(turn)
            if message.role == "assistant":
                found += [(turn, text) for text in (message.content, message.thinking) if text]
        return found

    def quote(self, turn: int | None, text: str) -> CitedQuote | None:
        """`text` as evidence of that turn: one line, at most 200 characters, verbatim; None when it is not there."""
        if turn is None or not 1 <= turn <= len(self.trajectory.messages):
            return None
        piece = quoted(next((line for line in text.splitlines() if line.strip()), ""))
        if not piece or not any(piece in each for each in texts_of(self.message(turn))):
            return None
        return CitedQuote(turn=turn, quote=piece)


def is_edit(call: Call) -> bool:
    """True for tools that write files, and for shell commands that do so in place."""
    if call.name.lower() in EDIT_TOOLS:
        return call.arguments.get("command") not in ("view", "undo_edit")
    line = call.command()
    return line is not None and bool(
        re.search(r"\bsed -i|\bperl -p?i|apply_patch|(?:^|\s)>{1,2} ?[\w./-]+\.\w+", line[:2000])
    )


def output_of(result: str) -> str:
    """A shell's output without what the harness wrapped around it, the middle of a long one left out."""
    result = without_start_up(result)
    if len(result) > 2 * _MOST_OUTPUT:
        result = result[:_MOST_OUTPUT] + "\n" + result[-_MOST_OUTPUT:]
    result = _CODEX_HEAD.sub("", _unwrapped(result), count=1)
    result = _EXIT_CODE.sub("", result, count=1)
    return result.removeprefix("<output>").removesuffix("</output>").strip("\n")


def _unwrapped(result: str) -> str:
    """The output of a shell that answers with a JSON object (`{"output": "…", "exit_code": 0}`)."""
    if not result.startswith('{"'):
        return result
    answer = value_or(result, {})
    return next((value for key in ("output", "stdout") if isinstance(value := answer.get(key), str)), result)


def _attempt(call: Call, line: str) -> Attempt:
    ended = call.ended_by or call
    judged = verdict_of(ended)
    verdict: Verdict = "failed" if judged.has_failed else "passed" if judged.has_passed else "unknown"
    actions = tuple(shell.actions(line))
    return Attempt(call, line, actions, output_of(ended.result or ""), verdict, ended.result_turn)
