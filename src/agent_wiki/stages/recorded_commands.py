"""Whether a recording shows a command of a skill: as it ran, once the parameters are put back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

from agent_wiki.shell.files_written import whole_line
from agent_wiki.shell.programs import LOOKERS
from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.shell.syntax import PIPES, Step
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.model import Trajectory

PLACEHOLDER = regex(r"<([a-z][a-z0-9_-]*)>")
_MARK = "\ue000"  # stands for a parameter where `<name>` would be read as a redirection
QUIETING = regex(r"(?:[012&]?>{1,2}&?(?:/dev/null|\d)|2>&1)")
_COMPLAINS = regex(r"(?m)^(?:fatal|error|git|[\w/-]*sh): |not found|timed out")
_SCRIPTS = "scripts/"
_MOST_TEXT = 40_000


@dataclass(frozen=True, slots=True)
class _Ran:
    """One simple command: its words without what only quiets it, what was fed to it, whether its output is piped on."""

    words: tuple[str, ...]
    fed: tuple[str, ...]
    is_piped: bool


@dataclass(slots=True)
class RecordedCommands:
    """What a session ran and what did not fail: simple commands in order, and the other tools' texts.

    None among the commands stands for one that failed or did not run: no run of commands goes over it.
    """

    steps: list[_Ran | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, trajectory: Trajectory) -> RecordedCommands:
        """The commands of a recording."""
        found = cls()
        for call in paired_calls(trajectory):
            if call.result is not None and call.mark is None:
                found._add(call)
        return found

    def _add(self, call: Call) -> None:
        verdict = verdict_of(call.ended_by or call)
        command = call.command()
        steps = whole_line(command).steps if command is not None else ()
        if not steps:
            self.texts += () if verdict.has_failed else _strings(call.arguments)
            return
        states = zip(steps_of(command or ""), verdict.steps, strict=False)
        bad = {each.start for each, state in states if state == "not run" or _has_failed(each, state, call)}
        self.steps += (None if step.words and step.words[0].start in bad else _ran(step) for step in steps)

    def shows(self, command: str, scripts: Collection[str] = ()) -> bool:
        """Whether the command ran and did not fail, with something in the place of each `<name>`.

        `scripts` are the file names of the skill's own scripts: in a recording they are elsewhere than in `scripts/`.
        """
        marked = PLACEHOLDER.sub(_MARK, command)
        wanted = [_ran(step) for step in whole_line(marked).steps]
        if not wanted:
            return False
        starts = range(len(self.steps) - len(wanted) + 1)
        if any(_is_run(wanted, self.steps[start : start + len(wanted)], scripts) for start in starts):
            return True
        return any(_fits(_squeezed(marked), part) for text in self.texts for part in (_squeezed(text), *_lines(text)))


def _has_failed(step: SimpleCommand, state: str, call: Call) -> bool:
    """The failure of a program that only looks is its answer, and so is that of `git grep` without a complaint."""
    is_search = step.words[:2] == ("git", "grep") and not _COMPLAINS.search((call.ended_by or call).result or "")
    return state in ("failed", "masked") and step.program not in LOOKERS and not is_search


def _ran(step: Step) -> _Ran:
    words = tuple(word.value for word in step.words if not QUIETING.fullmatch(word.value))
    return _Ran(words, tuple(each.text.strip() for each in step.here_documents), step.after in PIPES)


def _strings(value: Any) -> Iterator[str]:
    """Every string inside decoded arguments, without recursion: hostile arguments are nested deeply."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each[:_MOST_TEXT]
        elif isinstance(each, dict | list):
            waiting.extend(each.values() if isinstance(each, dict) else each)


def _is_run(wanted: Sequence[_Ran], ran: Sequence[_Ran | None], scripts: Collection[str]) -> bool:
    """Whether commands that ran one after the other are the wanted ones, piped where those are."""
    last = len(wanted) - 1
    for at, (want, had) in enumerate(zip(wanted, ran, strict=True)):
        if had is None or len(want.fed) != len(had.fed) or (at < last and want.is_piped != had.is_piped):
            return False
        if not all(map(_fits, want.fed, had.fed)) or not _are_words(want.words, had.words, scripts):
            return False
    return True


def _are_words(wanted: Sequence[str], had: Sequence[str], scripts: Collection[str]) -> bool:
    """Word by word; a parameter takes a word, and the ones after it up to the next flag."""
    places = {0}
    for want in wanted:
        if want == _MARK:
            places = {end for place in places for end in _ends(had, place)}
        else:
            places = {place + 1 for place in places if place < len(had) and _is_word(want, had[place], scripts)}
    return len(had) in places


def _ends(had: Sequence[str], place: int) -> Iterator[int]:
    for end in range(place + 1, len(had) + 1):
        if end > place + 1 and had[end - 1].startswith("-"):
            return
        yield end


def _is_word(want: str, had: str, scripts: Collection[str]) -> bool:
    path = want.removeprefix("./")
    name = path.removeprefix(_SCRIPTS)
    if path.startswith(_SCRIPTS) and name in scripts:
        return had.rpartition("/")[2] == name
    return _fits(want, had)


def _fits(marked: str, text: str) -> bool:
    """Whether a text is the marked one with something in the place of each mark."""
    first, *rest = marked.split(_MARK)
    if not rest:
        return first == text
    place = len(first)
    if not text.startswith(first) or not text.endswith(rest[-1]):
        return False
    for part in rest[:-1]:
        found = text.find(part, place + 1)
        if found < 0:
            return False
        place = found + len(part)
    return len(text) - len(rest[-1]) > place


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _lines(text: str) -> Iterable[str]:
    return (_squeezed(line) for line in text.splitlines())
