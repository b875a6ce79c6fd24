"""A shell command line as pipelines: where one operation ends and the next begins, and what joins them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import lru_cache

from agent_wiki.shell.syntax import MOST_CHARACTERS, PIPES, HereDocument, Step, Word, shell_line
from agent_wiki.trajectory.lazily import dataclass


@dataclass(frozen=True, slots=True)
class Pipeline:
    """`a | b | c`. `text` is its source; `commands` the words of each part, placed in `text`.

    `joint` is the operator before it; `here_documents` those of all its parts.
    """

    text: str
    commands: list[list[Word]]
    joint: str = ""
    here_documents: list[HereDocument] = field(default_factory=list)
    start: int = 0  # where it begins in the line


@lru_cache(maxsize=512)  # each family of recipes looks at the same lines
def pipelines(line: str) -> tuple[Pipeline, ...]:
    """Command line → its pipelines in order; empty when it is too long or its quoting is broken."""
    if len(line) > MOST_CHARACTERS or not (parsed := shell_line(line)).is_whole:
        return ()
    found: list[Pipeline] = []
    joint = ""
    for steps in _joined(step for step in parsed.steps if step.words):
        found.append(_pipeline(line, steps, joint))
        joint = steps[-1].after
    return tuple(found)


def _joined(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """The steps of each pipeline."""
    waiting: list[Step] = []
    for step in steps:
        waiting.append(step)
        if step.after not in PIPES:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _pipeline(line: str, steps: list[Step], joint: str) -> Pipeline:
    parts = [step.words for step in steps]
    first, last = parts[0][0].start, parts[-1][-1].end
    commands = [[replace(word, start=word.start - first, end=word.end - first) for word in words] for words in parts]
    return Pipeline(line[first:last], commands, joint, [each for step in steps for each in step.here_documents], first)
