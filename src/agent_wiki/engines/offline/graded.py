"""Runs whose result a grader judges elsewhere: what it said is often not recorded, and its tests are hidden.

Of 99 runs whose own checks passed at the end, 74 were resolved by the grader's verdict.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.stretch import HANDED_OVER, Stretch
from agent_wiki.shell.tools import bare_tool_name
from agent_wiki.trajectory.lazily import regex

_SUBMITTED = regex(r"submit", re.IGNORECASE)
_ISSUE = regex(r"<(?:pr_description|issue_description|problem_statement|uploaded_files|issue)>")
_MOST_READ = 20_000


def is_graded_elsewhere(stretch: Stretch) -> bool:
    """Whether the session handed its work over to a harness that judges it, as far as the recording shows."""
    calls = [act.call for act in stretch.acts[-2:]]
    is_handed_over = any(bare_tool_name(each.name).lower() in ("submit", "finish") for each in calls)
    is_handed_over |= any(HANDED_OVER.search((each.command() or "")[:400]) for each in calls)
    if is_handed_over or _SUBMITTED.search(stretch.trajectory.source.exit_status or ""):
        return True
    is_judgeable = any(act.has_edited for act in stretch.acts)
    last = stretch.acts[-1] if stretch.acts else None
    if last is not None and last.end >= stretch.last_turn:
        return False  # it breaks off in the middle of the work
    return is_judgeable and any(_ISSUE.search(request.text[:_MOST_READ]) for request in stretch.requests[:1])
