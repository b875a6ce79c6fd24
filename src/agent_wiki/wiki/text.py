"""Text from a recording made safe to be shown on a page: recordings are hostile, pages are read by agents.

`plain_line` is the one function that neutralises text. It returns one line that stays plain wherever it is put: in
frontmatter, in a list, in a table cell of prose, at the start of a line. Nothing in it can open a tag, a
link, a heading or a code span that swallows what follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO

from agent_wiki.trajectory.hidden_characters import HIDING
from agent_wiki.trajectory.lazily import regex

_HOME = re.compile(r"(?:~|/(?:home|Users)/[^/]+|/root)/")
_LONG_PATH = re.compile(r"(?<![\w.:/~])~?(?:/[\w.@+-]+){3,}")
_ESCAPES = re.compile(r"\x1b\[[0-9;:?<=>]*[@-~]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|\x1b.")
# Control and invisible characters: bidi overrides, zero-width marks and tag characters can hide text from a person.
_INVISIBLE = re.compile(f"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f{HIDING}]")
_SCHEME = regex(r"\b(?:https?|ftp)://(?:www\.)?|\bwww\.", re.IGNORECASE, needs=("://", "www."))
_LINK = regex(r"!?\[([^\[\]]{1,200})\]\s?\((?:[^()\s]|\([^()\s]{0,80}\)){1,400}(?:\)|$)", needs=("]",))
_RULE = regex(r"[\u2500-\u257f\u23af=_*~-]{8,}|[\u2500-\u257f\u23af]{3,}|^hint: [^\n]*", re.MULTILINE)
_MOST_PASSES = 8
_DOUBLED = re.compile(r"\[(?=\[)")
_DEFINES = re.compile(r"^(\s*\[[^\[\]]*\]):")  # a link's address, or a note
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_BLOCK_MARK = re.compile(r"^(?:(?:#{1,6}|[-+*>=]+|\d{1,3}[.)]|❯|\|)(?:\s+|$)|[>#]+|[-=_*~]{3,})+")
# Letters, digits, single spaces and harmless marks: most text, which needs no cleaning.
_PLAIN_ALREADY = re.compile(
    r"""(?:(?:[A-Za-z`]|[0-9](?![0-9]{0,2}[.)](?: |\Z)))[A-Za-z0-9 .,:;!?'"()/_%&@$={}`+-]*)?(?<! )"""
).fullmatch
_SPACES = re.compile(r" {2,}")
_ELLIPSIS = "…"
_PICTURES = 0x2400  # of the first 32 characters: ␀ to ␟


def plain_line(text: str, most: int) -> str:
    """`text` as one plain line of at most `most` characters (at least 1), cut at a word with `…`.

    In: any text, also of megabytes (only as much as may be shown is looked at) and with lone surrogates.
    Out: no line breaks, control or invisible characters, no HTML tag, link, image, heading or list mark;
    backticks come in pairs, so that joining two results is safe. Empty when nothing visible is left.
    """
    for _ in range(_MOST_PASSES):
        if len(text) <= most and _is_plain(text):
            break
        before, text = text, _made_plain(text, most)
        if text == before:
            break  # else a mark that went may have made one of what it stood between
    return text


def _made_plain(text: str, most: int) -> str:
    text = text[: 8 * most + 400]
    text = _INVISIBLE.sub("", _ESCAPES.sub("", text) if "\x1b" in text else text)
    text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    text = _BLOCK_MARK.sub("", text).strip()
    text = _without_markup(text)
    if len(text) > most:
        text = _cut(text, most)
    text = _balanced(text, most)
    return _without_tags(_SPACES.sub(" ", text) if "  " in text else text)  # a mark that went stood between two


def lines_of(text: str) -> list[str]:
    r"""The lines of a file, each with its `\n`.

    `str.splitlines` also ends one at U+2028 and the like, which a text in JSON has as they are.
    """
    return list(StringIO(text))


def without_links(text: str) -> str:
    """A text with the names of its links only, also of one that the end of the text cuts."""
    return _LINK.sub(r"\1", text)


def with_cut_paths(text: str, most: int = 4) -> str:
    """Absolute paths cut to their last `most` parts, so that the cut shows: `…/shop/cart.py` is not `shop/cart.py`.

    In someone's words more parts are kept: which folder could not be written to may be all that they say.
    """
    return _LONG_PATH.sub(lambda match: _cut_path(match.group(), most), text)


def _cut_path(path: str, most: int) -> str:
    home = _HOME.match(path)
    parts = path[home.end() if home else 0 :].strip("/").split("/")
    return "/".join(["…", *parts[-min(most, max(len(parts) - (home is None), 1)) :]])


def without_rules(text: str) -> str:
    """A text without the rules that a terminal draws and the hints that git gives, which fill a quote."""
    return _RULE.sub(" ", text)


def _is_plain(text: str) -> bool:
    if text.isalnum() and text.isascii():
        return True  # as ids are
    if not _PLAIN_ALREADY(text) or text.count("`") % 2:
        return False
    return not ("  " in text or "``" in text or "://" in text or "www." in text.lower())


def _without_markup(text: str) -> str:
    """Text in which active markup is made inert; the words remain."""
    if "``" in text or "\\`" in text:  # after runs and escapes, an odd count would not show an open span
        text = re.sub(r"\\*`+", "`", text)
    pieces = text.split("`")  # in a code span two stars are no emphasis, but any folder, and an address is no link
    return "`".join(
        each if at % 2 and at < len(pieces) - 1 else _without_brackets(_without_scheme(each.replace("**", "")))
        for at, each in enumerate(pieces)
    )


def _without_brackets(text: str) -> str:
    """Text in which no bracket makes a link, a note or a page's name. In a code span `[[ -f x ]]` is a test of bash."""
    if "]" in text or "[" in text:
        text = _DEFINES.sub(r"\1 :", _DOUBLED.sub("[ ", text.replace("](", "] (").replace("][", "] [")))
    return text


def _without_scheme(text: str) -> str:
    """Text in which no address is a link. A command in a code span needs its `https://`: without it means `http://`."""
    plain = _SCHEME.sub("", text)
    if plain != text and _SCHEME.search(plain):  # one scheme inside another
        plain = plain.replace("://", ":").replace("www.", "www")
    return plain


def _without_tags(text: str) -> str:
    """Text in which no tag opens outside a code span; inside one, `<file>` is a placeholder and is kept."""
    if "<" not in text:
        return text
    pieces = text.split("`")  # backticks come in pairs: every second piece is code
    return "`".join(piece if position % 2 else _TAG_START.sub("‹", piece) for position, piece in enumerate(pieces))


def _cut(text: str, most: int) -> str:
    """The first words of `text` that fit, with an ellipsis."""
    head = text[: max(most - 1, 0)]
    at_word = head.rfind(" ")
    if at_word > len(head) * 2 // 3:
        head = head[:at_word]
    return head.rstrip(" ,;:(") + _ELLIPSIS


def _balanced(text: str, most: int) -> str:
    """Close an open code span, or remove its mark where there is no room."""
    if text.count("`") % 2 == 0:
        return text
    if text.endswith(_ELLIPSIS) and len(text) < most and not text[:-1].endswith("`"):
        return text[:-1] + _ELLIPSIS + "`"
    position = text.rfind("`")
    return (text[:position] + _without_scheme(text[position + 1 :])).strip()


def without_markup(line: str) -> str:
    """A line of Markdown in which no tag opens and no link leads out; headings, lists and code spans stay."""
    return _without_tags(_without_markup(_INVISIBLE.sub("", _ESCAPES.sub("", line))))


def plain_code(text: str, most: int) -> str:
    """`text` as what stands between two backticks: a plain line without any, in which addresses are whole."""
    return plain_line(f"`{text.replace('`', chr(39))}`", most + 2).strip("`")


def link_label(text: str, most: int) -> str:
    """`text` as the words of a link: a plain line without square brackets, which could end them."""
    return plain_line(text, most).replace("[", "(").replace("]", ")")


def symbol_of(letter: str) -> str:
    """What is shown in the place of a hidden character: `␛` for escape, `\\u202e` for a right-to-left override."""
    code = ord(letter)
    if code < 0x20 or code == 0x7F:
        return chr(_PICTURES + (0x21 if code == 0x7F else code))
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def some_of(names: Sequence[str], most: int = 8) -> str:
    """The first of some names, and how many there are besides: `a, b and 3 more`."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def counted(number: int, noun: str) -> str:
    """A number of things: `1 file`, `2 files`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def upper_first(line: str) -> str:
    """The line with a capital, unless it begins with a name from code."""
    return line[:1].upper() + line[1:] if re.match(r"[a-z]+(?:'[a-z]+)?(?:[ ,:!?]|\.\s)", line) else line
