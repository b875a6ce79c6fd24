"""What `wiki check` found as SARIF: a rule for each check, files as seen from the folder that the command ran in."""

from __future__ import annotations

from typing import Any

from agent_wiki.checks.order import CHECKS
from agent_wiki.checks.running import CheckReport
from agent_wiki.pipeline.sarif import SarifResult, sarif_log


def sarif_of(report: CheckReport) -> dict[str, Any]:
    """The SARIF log of one run."""
    results = [
        SarifResult(each.check, f"{each.what} ({each.fix})", f"{report.wiki}/{each.file}", each.line)
        for each in report.faults
    ]
    failures = [report.left_out] if report.left_out else []
    return sarif_log({check.id: check.summary for check in CHECKS}, results, failures)
