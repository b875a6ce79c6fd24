"""What a built site's pages refer to, for tests: every link, file and anchor, and what a browser would run."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


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


def broken_links(site: Path) -> list[str]:
    """Every link of a site that leads out of it, to no file, or to no anchor; and every anchor that is there twice."""
    pages = {page: parts_of(page) for page in sorted(site.rglob("*.html"))}
    broken: list[str] = []
    for page, parts in pages.items():
        broken += [f"{page.name}: {each} twice" for each in set(parts.anchors) if parts.anchors.count(each) > 1]
        for address in parts.leads_to:
            split = urlsplit(address)
            target = (page.parent / unquote(split.path)).resolve() if split.path else page
            if split.scheme or split.netloc or not target.is_file() or not target.is_relative_to(site.resolve()):
                broken.append(f"{page.name}: {address}")
            elif split.fragment and unquote(split.fragment) not in pages[target].anchors:
                broken.append(f"{page.name}: {address} has no such anchor")
    return broken
