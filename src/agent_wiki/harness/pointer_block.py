"""A block of text in a Markdown file: marked, only once, and removable without a trace.

It is between two markers at the end of the file, with exactly one line end before it, which is removed with it.
"""

from __future__ import annotations

import re

from agent_wiki.errors import RunError

BEGIN, END = "<!-- agent-wiki:begin -->", "<!-- agent-wiki:end -->"

_MARKER = re.compile(rb"^[ \t]*<!-- agent-wiki:(begin|end) -->[ \t]*\r?$", re.MULTILINE)


def has_block(content: bytes | None) -> bool:
    """Whether a file has the markers of a block."""
    return content is not None and _MARKER.search(content) is not None


def with_block(before: bytes | None, text: str, name: str, head: str = "") -> bytes:
    """A file's content with a block of `text`, which replaces an existing block or is appended.

    A new file begins with `head`. Raises `RunError` with file and line if markers do not match.
    """
    content = before if before is not None else b""
    if b"\0" in content:
        raise RunError(f"{name}: not UTF-8 text; nothing was written")
    span = _block_span(content, name)
    judged = content if span is None else content[span[0] :]  # an existing block keeps its line ends
    line_end = b"\r\n" if re.match(rb"[^\n]*\r\n", judged) else b"\n"
    block = line_end.join([BEGIN.encode(), *text.rstrip("\n").encode("utf-8", "replace").split(b"\n"), END.encode()])
    if span is not None:
        return content[: span[0]] + block + content[span[1] :]
    if before is None:
        return head.encode() + block + line_end
    apart = b"\r\n" if content.endswith(b"\r") else line_end
    return content + apart + block + line_end


def without_block(content: bytes, name: str, head: str = "") -> bytes | None:
    """A file's content as it was before the block; None for a file with nothing else. Raises `RunError`."""
    span = _block_span(content, name)
    if span is None:
        return content
    before, after = content[: span[0]], content[span[1] :]
    for line_end in (b"\r\n", b"\n"):
        if after.startswith(line_end):
            after = after[len(line_end) :]
            break
    if before == head.encode() and not after:
        return None
    for line_end in (b"\r\n", b"\n"):
        if before.endswith(line_end):
            return before[: -len(line_end)] + after
    return before + after


def _block_span(content: bytes, name: str) -> tuple[int, int] | None:
    """The span of the block, from the start of its first marker to the end of its last; None without one."""
    found = [(match[1], match.start(), match.end() - match[0].endswith(b"\r")) for match in _MARKER.finditer(content)]
    if not found:
        return None
    if [kind for kind, _, _ in found] != [b"begin", b"end"]:
        line = content.count(b"\n", 0, found[0][1]) + 1
        raise RunError(f"{name}:{line}: the markers of agent-wiki must be there once, begin before end; fix them")
    return found[0][1], found[1][2]
