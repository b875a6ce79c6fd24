"""Text that a reader does not see as it is: invisible characters, comments, encoded text, links that lie."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.shell.hosts import hosts_in
from agent_wiki.trajectory.lazily import regex

_UNSEEN = regex(
    r"[\u200b\u200c\u200d\u2060-\u2064\u180e\ufeff\u3164\u115f\u1160\U000e0000-\U000e007f\U000e0100-\U000e01ef]+"
)
# A joiner within an emoji or a word of a script that needs it, and the tags of a flag, are seen.
_JOINED = regex(
    r"(?:(?<=[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"
    r"|(?<=[\u0600-\u08ff\u0900-\u0dff])[\u200c\u200d]|\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f)"
)
_REORDERS = regex(r"[\u202a-\u202e\u2066-\u2069]")
_COMMENT = regex(r"[<‹]!--(.*?)(?:--[>›]|$)", re.DOTALL)
_FEWEST_WORDS = 4  # fewer are a mark for a program: `<!-- toc -->`
_MARKS = regex(
    r"\s*(?:prettier-|markdownlint-|eslint-|toc\b|begin\b|end\b|generated|spell-?check|omit"
    r"|region\b|[\w -]{1,30}: made by\b|/?\w+-\w+\s*$)",
    re.IGNORECASE,
)
_DATA_URI = regex(
    r"\bdata:(?:text/html|application/(?:javascript|x-javascript|ecmascript|xhtml\+xml)|image/svg\+xml"
    r"|text/javascript)[;,]\S*"
    r"|\bdata:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/]{64,}\S*",
    re.IGNORECASE,
)
_BLOB = regex(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,}={0,2}(?![A-Za-z0-9+/_-])")
_HEX = regex(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){24,}(?![0-9a-fA-F])")
_ESCAPED = regex(
    r"(?:\\x[0-9a-fA-F]{2}){8,}|(?:%[0-9a-fA-F]{2}){10,}|(?:&#x?[0-9a-fA-F]{2,5};){8,}", needs=("\\x", "%", "&#")
)
_SHORTEST_BLOB = 24  # characters; as hexadecimal twice as many
_READABLE = 0.95  # of the characters that come out
_LINK = regex(r"\[([^\]\n]{3,200})\]\s?\(\s*<?([^)\s>]{3,500})[^)\n]*\)")
_LIVE_SCHEME = regex(r"^\s*(?:javascript|vbscript|data):", re.IGNORECASE)


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """What a text hides. It is looked for in the text as it is, in code too."""
    text = passage.text
    if not text.isascii():
        if _UNSEEN.search(text) and (unseen := _UNSEEN.search(_JOINED.sub("", text))):
            yield finding("hides/characters", unseen.group())
        if reorders := _REORDERS.search(text):
            yield finding("hides/reordering", text[reorders.start() : reorders.start() + 40])
    for comment in _COMMENT.finditer(text) if "!--" in text else ():
        if len(comment[1].split()) >= _FEWEST_WORDS and not _MARKS.match(comment[1]):
            yield finding("hides/comment", comment.group())
    if "data:" in passage.lower:
        yield from (finding("hides/data-uri", address.group()) for address in _DATA_URI.finditer(text))
    longest = max(map(len, text.split()), default=0)
    if longest >= _SHORTEST_BLOB:
        yield from _encoded(text, may_have_hex=longest >= 2 * _SHORTEST_BLOB)
    if "](" in text or "] (" in text:
        yield from (finding("hides/link", link.group()) for link in _LINK.finditer(text) if _lies(link[1], link[2]))


def _encoded(text: str, *, may_have_hex: bool) -> Iterator[SafetyFinding]:
    for pattern, decoded in ((_BLOB, _from_base64), (_HEX, bytes.fromhex))[: 1 + may_have_hex]:
        for blob in pattern.finditer(text):
            if _is_readable(decoded(blob.group())):
                yield finding("hides/encoded-text", blob.group())
    for escaped in _ESCAPED.finditer(text):
        yield finding("hides/encoded-text", escaped.group())


def _from_base64(blob: str) -> bytes:
    try:
        return base64.b64decode(blob + "=" * (-len(blob) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _is_readable(content: bytes) -> bool:
    """Whether bytes are words: a digest or an image that happens to fit decodes to other characters."""
    if len(content) < 12 or b" " not in content:
        return False
    shown = sum(32 <= byte < 127 or byte in (9, 10, 13) for byte in content)
    return shown >= _READABLE * len(content)


def _lies(shown: str, target: str) -> bool:
    """Whether a link's text names one host and leads to another, or to code."""
    if _LIVE_SCHEME.match(target):
        return True
    named = next(hosts_in(shown.strip("` ") + "/x"), "")
    leads_to = next(hosts_in(target if "://" in target else f"{target}/x"), "")
    return bool(named and leads_to) and _site(named) != _site(leads_to)


def _site(host: str) -> str:
    return ".".join(host.removeprefix("www.").split(".")[-2:])
