"""What differs between two runs of a command: the parts of which one may be why the second went otherwise."""

from __future__ import annotations

from typing import Literal

from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

Part = Literal["program", "flags", "arguments", "environment", "folder", "here-document", "installation"]

SHOWS_OTHERWISE = regex(
    r"-[vqs]{1,3}|--(?:verbose|quiet|silent|no-colou?r|colou?r(?:=\w+)?|tb=\w+|nocapture|no-pager|progress)"
)


def changed_parts(one: SimpleCommand, other: SimpleCommand) -> frozenset[Part]:
    """The parts in which two commands differ; flags that only change what is shown and comments do not count."""
    found: set[Part] = set()
    # The code of an interpreter in a here-document, and no longer in its arguments, is one change.
    is_moved = one.words[1:2] in (("-e",), ("-c",)) and not one.body and bool(other.body)
    if one.words[:1] != other.words[:1]:
        found.add("program")
    if _flags(one) != _flags(other) and not is_moved:
        found.add("flags")
    if _plain(one) != _plain(other) and not is_moved:
        found.add("arguments")
    if one.environment != other.environment:
        found.add("environment")
    if _without_comments(one.body) != _without_comments(other.body):
        found.add("here-document")
    return frozenset(found)


def _flags(step: SimpleCommand) -> frozenset[str]:
    return frozenset(word for word in step.words[1:] if word.startswith("-") and not SHOWS_OTHERWISE.fullmatch(word))


def _plain(step: SimpleCommand) -> list[str]:
    return [_without_comments(word) for word in step.words[1:] if not word.startswith("-")]


def _without_comments(text: str) -> str:
    """Code over several lines without those that only say something or are empty; other texts as they are."""
    if "\n" not in text:
        return text
    return "\n".join(line for line in text.splitlines() if line.strip() and not line.strip().startswith(("#", "//")))
