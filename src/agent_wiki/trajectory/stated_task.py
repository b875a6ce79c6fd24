"""What a run whose prompt is not recorded was to do, as far as its first turns say it."""

from __future__ import annotations

from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.lazily import regex

_MOST_TURNS = 10
_MOST_READ = 20_000
_TITLE = regex(r"\Atitle:[ \t]+(?P<title>[^\n]{8,200})\n", needs=("title:",))  # of `gh issue view`


def issue_read_first(trajectory: Trajectory) -> tuple[int, str] | None:
    """The turn and the title of the issue that a run reads in its first ten turns; None where it reads none."""
    for turn, message in enumerate(trajectory.messages[:_MOST_TURNS], start=1):
        text = (message.content or "")[:_MOST_READ] if message.role == "tool" else ""
        if match := _TITLE.match(text):
            return turn, match["title"].strip()
        issue = object_in(text) if text.startswith("{") else None
        title = issue.get("title") if issue else None
        if issue and isinstance(title, str) and title.strip() and {"description", "body"} & issue.keys():
            return turn, title.strip()
    return None
