"""A text as a person would see it, for the search for secrets: what terminals, pages and editors hide is taken out.

A colour in front of a key (`ESC[33mghp_…`) joins it to other characters; a zero-width character or the soft line
break of a terminal splits it; JSON may write `\\/` for a slash and `\\u0070` for a letter. A `View` is the text without
them, and knows where each of its characters stands in the text, so that a secret found in the view is replaced there.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator

from agent_wiki.trajectory.lazily import dataclass, regex

_ESCAPE = regex(
    r"(?:\x1b|\\{1,2}u001[bB]|\\{1,2}x1[bB]|\\{1,2}033|\\{1,2}e|\^\[)"  # the character, or as it is written
    r"\[[0-9;:?<=>]{0,40}[ -/]{0,3}[@-~]"
    r"|\x9b[0-9;:?]{0,40}[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"  # titles and links
    r"|\x1b[ -/]{1,3}[0-~]|\x1b[@-Z\\^_=>78c]"
    r"|[^\n]\x08"  # struck over
    r"|\[(?:\d{1,3}(?:;\d{1,3}){0,6})?m"  # a colour that lost its escape character
)
_INVISIBLE = regex(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    r"\U000e0000-\U000e0fff]"
)
_ASCII = bytes(range(128))
_VARIATION_SELECTORS = ("\ufe00", "\ufe0f")
_ENTITY = regex(r"&(?:#\d{2,6}|#[xX][0-9a-fA-F]{2,5}|quot|apos|amp|lt|gt|nbsp|equals|colon|lowbar|NewLine);")
_SPELT = regex(  # a slash, a letter, and what is unseen between characters of a key
    r"\\(?:/|u00[2-7][0-9a-fA-F]|\\{0,3}+u(?:(?<=[\w+/=.-]\\u)|(?<=[\w+/=.-]\\\\u)|(?<=[\w+/=.-]\\{4}u))"
    r"(?<!\\u[0-9a-fA-F]{4}\\u)(?i:00ad|034f|061c|115f|1160|17b[45]|180[b-f]|200[b-f]|202[a-e]|206[0-9a-f]|fe0[0-9a-f]"
    r"|feff|db4[0-3]\\{1,4}ud[c-f][0-9a-f]{2})(?=[\w+/=.-]))"
)
_KEY_CHARACTER = re.compile(r"[\w+/=.-]")
_BEFORE_A_VALUE = re.compile(r"[\w+/=.:'\"`@-]")  # a line may be full where a value, or its quote, begins
_NARROWEST, _WIDEST = 40, 400  # columns of a terminal
_USUAL_WIDTHS = (80, 100, 120, 132, 160, 200, 240)

Change = tuple[int, int, str]  # start and end in the text, what the view has instead


@dataclass(frozen=True, slots=True)
class View:
    """A text with parts of it taken out or decoded; `begins` and `pieces` say where what is left stands in the text.

    Each of `pieces` is `(start, end)` in the text of the piece that begins at the same index of `begins` in the view.
    A piece of other length in the view (a decoded character) stands for its whole place in the text. A view of a view
    has that one as `base`.
    """

    text: str
    begins: tuple[int, ...]
    pieces: tuple[tuple[int, int], ...]
    base: View | None = None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from `start` up to `end` of the view stand in the text, with what is hidden between."""
        first, last = (bisect_right(self.begins, position) - 1 for position in (start, end - 1))
        begin = self.pieces[first][0] + start - self.begins[first]
        until = min(self.pieces[last][0] + end - self.begins[last], self.pieces[last][1])
        until = until if self._is_verbatim(last) else self.pieces[last][1]
        return self.base.place(begin, until) if self.base else (begin, until)

    def _is_verbatim(self, index: int) -> bool:
        following = self.begins[index + 1] if index + 1 < len(self.begins) else len(self.text)
        start, end = self.pieces[index]
        return following - self.begins[index] == end - start


def views(text: str, *, may_be_split: bool) -> list[View]:
    """The views of a text that differ from it; none for most texts.

    What is hidden is taken out in one view and a space in another: a colour may stand inside a key, or be all that
    keeps it apart from the word before. `may_be_split` looks for keys over soft line breaks of any width: without it
    the text has no sign of a secret, and only what is as wide as terminals are may have one that a break divides.
    """
    found: list[View] = []
    if may_hide(text):
        changes = _hidden(text)
        spaced = [(start, end, instead or " ") for start, end, instead in changes]
        found = [view_of(text, each) for each in ([changes, spaced] if spaced != changes else [changes]) if each]
    if "\n" in text:
        base = found[0] if found else None
        plain = base.text if base else text
        breaks = [*_soft_breaks(plain, is_any_width=may_be_split)]
        found += [view_of(plain, breaks, base)] if breaks else []
    return found


def may_hide(text: str) -> bool:
    """Whether a text has signs of what a person would not see; quick, and now and then wrong."""
    return (
        _may_have_escapes(text)
        or ("&" in text and _ENTITY.search(text) is not None)
        or ("\\" in text and _SPELT.search(text) is not None)
        or (not text.isascii() and _INVISIBLE.search(_without_ascii(text)) is not None)
    )


def _without_ascii(text: str) -> str:
    """What of a text is not ASCII: mostly a few of its characters, which are searched at once."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _may_have_escapes(text: str) -> bool:
    """Whether a text has signs of an escape; each that is looked for costs time on every text, one character least."""
    if "\x1b" in text or "\x9b" in text or "\b" in text:
        return True
    return "[" in text and ("1b[" in text or "033[" in text or "[0m" in text)


def _hidden(text: str) -> list[Change]:
    """What is hidden, in order and without overlap."""
    changes = [(*match.span(), _character(match.group())) for match in _ENTITY.finditer(text)]
    if "\\" in text:
        changes += [(*match.span(), _spelt(match.group())) for match in _SPELT.finditer(text)]
    if _may_have_escapes(text):
        changes += [(*match.span(), "") for match in _ESCAPE.finditer(text)]
    if not text.isascii():
        changes += [(*match.span(), "") for match in _INVISIBLE.finditer(text) if not _is_of_an_emoji(match)]
    apart: list[Change] = []
    for change in sorted(changes):
        if not apart or change[0] >= apart[-1][1]:
            apart.append(change)
    return apart


def _is_of_an_emoji(character: re.Match[str]) -> bool:
    """Whether a variation selector stands where it belongs, after a sign, and not between characters of a key."""
    first, last = _VARIATION_SELECTORS
    before = character.string[max(0, character.start() - 1) : character.start()]
    return first <= character.group() <= last and not _KEY_CHARACTER.match(before)


def _character(entity: str) -> str:
    decoded = html.unescape(entity)
    return decoded if len(decoded) == 1 else " "


def _spelt(escape: str) -> str:
    """The character that an escape stands for; nothing where it is one that is not seen."""
    digits = escape.lstrip("\\").removeprefix("u")
    return "/" if digits == "/" else chr(int(digits, 16)) if digits[:2] == "00" and digits.lower() != "00ad" else ""


def _soft_breaks(text: str, *, is_any_width: bool) -> Iterator[Change]:
    """Line breaks of a terminal: after a line as long as the longest of the text, between characters of a key.

    A single longest line may be one that ends there; it counts only where terminals are usually that wide.
    """
    lines = text.split("\n")
    lengths = [*map(len, lines)]
    widest = max(lengths)
    width = widest - ("\r\n" in text)
    if not _NARROWEST <= width <= _WIDEST:
        return
    if width not in _USUAL_WIDTHS and not (is_any_width and lengths.count(widest) >= 2):
        return
    position = begun = 0
    for at in [at for at, length in enumerate(lengths[:-1]) if length == widest]:
        position += sum(lengths[begun : at + 1]) + at + 1 - begun
        begun = at + 1
        end = lines[at].removesuffix("\r")
        if _BEFORE_A_VALUE.match(end[-1]) and _BEFORE_A_VALUE.match(lines[begun]):
            yield position - 1 - widest + len(end), position, ""


def view_of(text: str, changes: list[Change], base: View | None = None) -> View:
    """A text with changes made in it, in order and without overlap; `base` is the view that the text is of."""
    parts: list[str] = []
    begins: list[int] = []
    pieces: list[tuple[int, int]] = []
    position = length = 0
    for start, end, instead in [*changes, (len(text), len(text), "")]:
        for part, place in ((text[position:start], (position, start)), (instead, (start, end))):
            if part:
                parts.append(part)
                begins.append(length)
                pieces.append(place)
                length += len(part)
        position = end
    return View("".join(parts), tuple(begins), tuple(pieces), base)
