"""Pages as text for a terminal: nothing in a page can control the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_wiki.trajectory.hidden_characters import NOT_SHOWN
from agent_wiki.wiki.kinds import EPISODE
from agent_wiki.wiki.text import counted, plain_line

if TYPE_CHECKING:
    from agent_wiki.retrieval.consulting import Hit

_ESCAPE = re.compile(r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?")
_MOST_TITLE = 120
_MOST_EPISODE = 240


def plain_text(text: str) -> str:
    """Multi-line text without escape sequences, control and invisible characters; lone surrogates are replaced."""
    text = NOT_SHOWN.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n")))
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """A path as one line that cannot control a terminal, otherwise unchanged."""
    return " ".join(plain_text(text).split("\n"))


_NONE = (0, "partial")  # most pages have no such session


def support_and_trust(row: Mapping[str, Any]) -> str:
    """A page's support, trust and cause in words, and where it holds; what the row does not have is left out."""
    parts = []
    support = row.get("support")
    if isinstance(support, dict) and isinstance(support.get("sessions"), int):
        counts = [(support.get(name), name) for name in ("success", "partial", "failure")]
        endings = [f"{count} {name}" for count, name in counts if isinstance(count, int) and (count, name) != _NONE]
        parts.append(counted(support["sessions"], "session") + (f" ({', '.join(endings)})" if endings else ""))
    if isinstance(row.get("trust"), str):
        parts.append(f"trust {plain_line(row['trust'], 20)}")
    if isinstance(row.get("cause"), str):
        parts.append(f"cause {plain_line(row['cause'], 20)}")
    if isinstance(row.get("scope"), str) and row["scope"] != "general":
        parts.append(f"for {plain_line(row['scope'].replace(':', ' ', 1), 80)} alone")
    used = row.get("used")
    if isinstance(used, dict):
        parts += [f"{plain_line(str(status), 20)} {count}" for status, count in used.items() if isinstance(count, int)]
    return ", ".join(parts)


def summary_line(hit: Hit) -> str:
    """One line that names a hit: link, kind, support and trust."""
    behind = support_and_trust(hit.row)
    return f"{one_line(hit.link)} [{hit.kind}]" + (f" {behind}" if behind else "")


def hit_lines(hit: Hit, position: int) -> list[str]:
    """A hit as listed: title and kind, why, path, support and trust. An episode is listed by its dead ends."""
    behind = support_and_trust(hit.row)
    title, most = (hit.row.get("summary"), _MOST_EPISODE) if hit.kind == EPISODE else (hit.title, _MOST_TITLE)
    warning = "   careful: it did more harm than good in the sessions that read it" if hit.has_sunk else ""
    lines = [
        f"{position}. {plain_line(str(title), most)} [{hit.kind}, {hit.score:.2f}]",
        f"   why: {plain_line(hit.why, 200)}",
        f"   {one_line(str(hit.wiki / hit.link))}" + (f" ({behind})" if behind else ""),
    ]
    return [*lines, warning] if warning else lines
