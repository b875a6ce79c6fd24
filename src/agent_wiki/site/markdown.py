"""Markdown of pages → HTML in which nothing is live but links to pages of this wiki.

Pages hold words of recordings and of strangers. Raw HTML is text, pictures are their descriptions, and a link that
leads out of the wiki is its text with the address behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from agent_wiki.site.addresses import turn_anchor
from agent_wiki.site.shown_text import visible

Resolve = Callable[[str], str | None]
"""An address as a page has it → the address in the site; None for what leads nowhere in it."""

_TURN = re.compile(r"\bT(\d{1,6})\b")
_FENCED = re.compile(r"^```[^\n`]{0,40}\n(.*?)\n?^```[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_SPOKEN = re.compile(r"`([^`\n]{1,300})`|\*\*([^*\n]{1,300})\*\*|^#{1,4} ([^\n]{1,200})$", re.MULTILINE)
_SPOKEN_TAGS = ("code", "strong", "strong")
_TICKS = re.compile(r"`([^`]+)`")
_LOWEST_HEADING = 3


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _table_open(_renderer: object, _tokens: object, _at: int, _options: object, env: MutableMapping[str, Any]) -> str:
    """A wide table is moved within its place, also with the keyboard; so it has a name of its own."""
    env["tables"] = env.get("tables", 0) + 1
    name = f"{env['label']}, table {env['tables']}"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}"><table>\n'


def _table_close(*_: object) -> str:
    return "</table></div>\n"


def html_of(text: str, resolve: Resolve, turns_at: str | None = None, label: str = "Page") -> Markup:
    """A stretch of Markdown as HTML. `T12` in its words leads to that turn of the session page `turns_at`, if given.

    `label`: what the stretch is called, for those who do not see it.
    """
    parser = _parser()
    tokens = parser.parse(visible(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{max(int(token.tag[1]), _LOWEST_HEADING)}"
        elif token.type == "inline":
            token.children = list(_inert(token.children or [], resolve, turns_at))
        elif token.type in ("th_open", "td_open"):
            token.attrs = {"class": "number"} if "right" in str(token.attrGet("style")) else {}
        elif token.type == "fence":
            token.info = ""
    return Markup(parser.renderer.render(tokens, parser.options, {"label": plain_words(label)}))


def _inert(tokens: list[Token], resolve: Resolve, turns_at: str | None) -> Iterator[Token]:
    closing: list[Token] = []
    for token in tokens:
        if token.type == "link_open":
            opening, end = _link(token, resolve)
            closing.append(end)
            yield from [opening] if opening else []
        elif token.type == "link_close":
            yield closing.pop()
        elif token.type == "image":
            yield _text(token.content)
        elif token.type == "text" and turns_at is not None and not closing:
            yield from _with_turns(token, turns_at)
        else:
            yield token


def _link(token: Token, resolve: Resolve) -> tuple[Token | None, Token]:
    """What replaces the two ends of a link."""
    address = str(token.attrGet("href") or "")
    target = resolve(address)
    if target is None:
        is_elsewhere = token.markup != "autolink" and "://" in address
        return None, _text(f" ({address})" if is_elsewhere else "")
    token.attrs = {"href": target}
    return token, Token("link_close", "a", -1)


def _with_turns(token: Token, turns_at: str) -> Iterator[Token]:
    at = 0
    for match in _TURN.finditer(token.content):
        yield _text(token.content[at : match.start()])
        opening = Token("link_open", "a", 1)
        opening.attrs = {"href": f"{turns_at}#{turn_anchor(int(match[1]))}", "class": "turn"}
        yield from (opening, _text(match[0]), Token("link_close", "a", -1))
        at = match.end()
    yield _text(token.content[at:])


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def line_html(text: str, turns: int = 0) -> Markup:
    """One line in which backticks mark code, as titles have it. `T12` leads to that turn of a page that has as many."""

    def linked(match: re.Match[str]) -> str:
        number = int(match[1])
        return f'<a class="turn" href="#{turn_anchor(number)}">{match[0]}</a>' if 0 < number <= turns else match[0]

    parts = _TICKS.split(escape(visible(text)))  # every second one stood between backticks
    shown = (f"<code>{part}</code>" if at % 2 else _TURN.sub(linked, part) for at, part in enumerate(parts))
    return Markup("".join(shown))


def spoken_html(text: str) -> Markup:
    """What somebody said, as they meant it to look: code, bold words and headings; all else as it was typed."""
    parts = _FENCED.split(escape(visible(text), quote=False))  # every second one stood between fences
    return Markup("".join(_fenced(part) if at % 2 else _SPOKEN.sub(_emphasized, part) for at, part in enumerate(parts)))


def _fenced(code: str) -> str:
    return f'<code class="block">{code}</code>'


def _emphasized(match: re.Match[str]) -> str:
    tag = _SPOKEN_TAGS[(match.lastindex or 1) - 1]
    return f"<{tag}>{match[match.lastindex or 1]}</{tag}>"


def plain_words(text: str) -> str:
    """The same without marks, for a window's title and for labels."""
    return visible(text).replace("`", "")
