"""Text recorded as the user's that Claude Code wrote itself, recognized by the tags around it.

Slash commands, shell escapes, hooks, the editor and background tasks all leave text in the user's
turns. The tags are those of recorded sessions; the text inside them is not interpreted.
"""

from __future__ import annotations

import re

from agent_wiki.trajectory import MessageMark
from agent_wiki.trajectory.harness_text import harness_mark

Piece = tuple[str, MessageMark | None]

INTERRUPT = "[Request interrupted by user"
_INTERRUPTION = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]\s*")
_COMMAND, _MEMORY = "<command-message>", "<user-memory-input>"

# After these tags close, the user's own words may follow in the same text.
_WRAPPERS = frozenset(
    {"ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics", "local-command-caveat",
     "local-command-stdout", "local-command-stderr", "bash-input", "bash-stdout", "bash-stderr", "command-name",
     "command-message", "command-args", "command-contents", "user-prompt-submit-hook", "session-start-hook",
     "post-tool-use-hook", "system-reminder", "system_instruction"}
)  # fmt: skip
_MOST_PIECES = 20
_OPENING = re.compile(r"\s*<([a-z_-]{3,40})(?:\s[^<>]{0,200})?>")


def pieces_of(text: str) -> list[Piece]:
    """Split a user's recorded text into `(text, mark)`; the user's own words have the mark None.

    Only tags are dropped: those around a slash command's words ("/review the last commit") and around a
    memory that the user dictated. A bare slash command has no words of the user, only the harness's name
    for a body that follows as injected text; it is marked too. In an export the user's next words may follow an
    interruption in the same text.
    """
    pieces: list[Piece] = []
    while text and len(pieces) < _MOST_PIECES:
        found, text = _first_pieces(text)
        pieces += found
    return [*pieces, (text, None)] if text or not pieces else pieces


def _first_pieces(text: str) -> tuple[list[Piece], str]:
    """The pieces at the start of a text, and the rest, in which there may be more."""
    start = text.lstrip()
    if start.startswith(INTERRUPT):
        interruption = _INTERRUPTION.match(start)
        rest = start[interruption.end() :] if interruption else ""
        return [(start[: -len(rest)].rstrip() if rest else text, "interrupt")], rest
    return _wrapped_pieces(text, start)


def _whole_pieces(text: str, start: str) -> list[Piece]:
    """The pieces of a text that has one beginning and no rest."""
    if mark := harness_mark(start):
        return [(text, mark)]
    if start.startswith(_MEMORY):
        return [(start.removeprefix(_MEMORY).removesuffix("</user-memory-input>"), None)]
    return _command_pieces(start) or [(text, None)]


def _command_pieces(start: str) -> list[Piece]:
    """The pieces of a slash command with words of the user; [] for a bare one and for any other text.

    Such a command is recorded with its message first. One that only controls the harness (/model, /exit)
    starts with its name.
    """
    if not start.startswith(_COMMAND):
        return []
    words = _between(start, "command-args").strip()
    if not words:
        return []
    pieces: list[Piece] = [(f"{_between(start, 'command-name').strip()} {words}".strip(), None)]
    body = _between(start, "command-contents")
    return [*pieces, (body, "injected")] if body.strip() else pieces


def _between(text: str, tag: str) -> str:
    _, _, rest = text.partition(f"<{tag}>")
    return rest.partition(f"</{tag}>")[0]


def _wrapped_pieces(text: str, start: str) -> tuple[list[Piece], str]:
    """The wrappers at the start of a text and the rest after them; without any, the pieces of the whole text."""
    end = 0 if start.startswith(_COMMAND) and _command_pieces(start) else _wrappers_end(start)
    if end == 0:
        return _whole_pieces(text, start), ""
    rest = start[end:].lstrip()
    return [(start[:end] if rest else start, "injected")], rest


def _wrappers_end(text: str) -> int:
    """Where the wrappers at the start of `text` end; an unclosed one extends to the end."""
    end = 0
    while (opening := _OPENING.match(text, end)) and opening.group(1) in _WRAPPERS:
        closing = f"</{opening.group(1)}>"
        found = text.find(closing, opening.end())
        if found < 0:
            return len(text)
        end = found + len(closing)
    return end
