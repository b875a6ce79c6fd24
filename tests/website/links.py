"""What a built site's pages refer to, for tests: every link, file and anchor, and what a browser would run."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

OUR_TAGS = frozenset(
    tag
    for line in (
        "html head meta title link script body header nav main article aside section footer noscript",
        "h1 h2 h3 h4 p div span ul ol li dl dt dd table thead tbody tr th td figure figcaption details summary hr br",
        "a b i q em strong code pre blockquote mark time form label input button select option",
        "svg g line path text rect circle",
    )
    for tag in line.split()
)
"""What a page of the site is made of."""


@dataclass
class PageParts:
    """What a page holds: where it leads, its anchors, its tags, and what would be run in it."""

    leads_to: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    policy: str = ""
    headings: list[int] = field(default_factory=list)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts = PageParts()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.parts.tags.append(tag)
        self.parts.leads_to += [named[name] or "" for name in ("href", "src", "action") if name in named]
        self.parts.live += [f"{tag} {name}" for name in named if name.startswith("on") or name == "style"]
        self.parts.live += [tag] if tag in ("style", "iframe", "object", "embed", "img", "base") else []
        self.parts.live += ["script"] if tag == "script" and "src" not in named else []
        if "id" in named:
            self.parts.anchors.append(named["id"] or "")
        if tag in ("h1", "h2", "h3", "h4"):
            self.parts.headings.append(int(tag[1]))
        if named.get("http-equiv") == "Content-Security-Policy":
            self.parts.policy = named.get("content") or ""


def parts_of(page: Path) -> PageParts:
    """What a page holds."""
    parser = _Parser()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser.parts


def pages_of(site: Path) -> dict[Path, PageParts]:
    """What every page of a site holds."""
    return {page: parts_of(page) for page in sorted(site.rglob("*.html"))}


def broken_links(site: Path, pages: dict[Path, PageParts] | None = None) -> list[str]:
    """Every link of a site that leads out of it, to no file, or to no anchor; and every anchor that is there twice."""
    pages = pages_of(site) if pages is None else pages
    root = site.resolve()
    broken: list[str] = []
    for page, parts in pages.items():
        broken += [f"{page.name}: {each} twice" for each in set(parts.anchors) if parts.anchors.count(each) > 1]
        for address in set(parts.leads_to):
            split = urlsplit(address)
            target = Path(normpath(page.parent / unquote(split.path))) if split.path else page
            if split.scheme or split.netloc or not target.is_file() or not target.resolve().is_relative_to(root):
                broken.append(f"{page.name}: {address}")
            elif split.fragment and unquote(split.fragment) not in pages[target].anchors:
                broken.append(f"{page.name}: {address} has no such anchor")
    return broken
