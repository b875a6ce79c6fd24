"""Runs whose result a grader judges elsewhere: there the agent's own tests are its opinion.

In a benchmark of issues the tests that count are hidden. A suite that passed all along, or a test the agent wrote
for itself, says little about them; a check that had shown the fault before the work began, or one that the task
asks for, says more.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.acts import Act
from agent_wiki.engines.offline.same_check import check_runs
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.shell.tools import bare_tool_name
from agent_wiki.trajectory.lazily import regex

_SUBMITTED = regex(r"submit", re.IGNORECASE)
_HANDED_OVER = regex(r"(?:^|[\s&;|])(?:submit(?:\s|$)|echo ['\"]?COMPLETE_TASK)")
_ISSUE = regex(r"<(?:pr_description|issue_description|problem_statement|uploaded_files|issue)>")
_ASKED_TO_CHECK = regex(
    r"\b(?:re-?)?run (?:the|all|our)(?: \w{1,20})? (?:tests?|test suite|linters?|lint|checks?)\b"
    r"|\b(?:tests|test suite|suite|build|lint|checks) (?:must|should|has to|have to|needs? to) (?:all )?pass",
    re.IGNORECASE,
)
_MOST_READ = 20_000


def is_graded_elsewhere(stretch: Stretch) -> bool:
    """Whether the session handed its work over to a harness that judges it, as far as the recording shows."""
    if _SUBMITTED.search(stretch.trajectory.source.exit_status or ""):
        return True
    last_acts = stretch.acts[-2:]
    if any(bare_tool_name(act.call.name).lower() in ("submit", "finish") for act in last_acts):
        return True
    if any(_HANDED_OVER.search((act.call.command() or "")[:400]) for act in last_acts):
        return True
    return any(_ISSUE.search(request.text[:_MOST_READ]) for request in stretch.requests[:1])


def informative_checks(stretch: Stretch, passed: tuple[Act, ...]) -> tuple[Act, ...]:
    """Of the checks that passed in such a run, those that say something about the task."""
    checks = tuple(act for act in passed if act.kind == "check")
    if any(_ASKED_TO_CHECK.search(request.text[:_MOST_READ]) for request in stretch.requests):
        return checks
    first_edit = next((act.turn for act in stretch.kept_edits()), stretch.last_turn)
    failed_before = [
        run
        for act in stretch.acts
        if act.kind == "check" and act.turn < first_edit and act.finding and act.finding.passed is False
        for run in check_runs(act)
    ]
    return tuple(act for act in checks if any(run.answers(old) for run in check_runs(act) for old in failed_before))
