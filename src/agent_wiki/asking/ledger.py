"""The ledger: the cost of asking models, from the journal, summed by run, stage and model."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.journal_lines import Record
from agent_wiki.spending import Totals, is_by_agent, total_of
from agent_wiki.trajectory.lazily import dataclass


@dataclass(slots=True)
class CostReport:
    """The answers paid for in a wiki's journal, summed in three ways."""

    runs: dict[str, Totals] = field(default_factory=dict)
    stages: dict[str, Totals] = field(default_factory=dict)
    models: dict[str, Totals] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        sums_by_name: dict[str, Any] = {"total": total_of(self.runs.values()).to_json()}
        for name, sums in (("runs", self.runs), ("stages", self.stages), ("models", self.models)):
            sums_by_name[name] = {each: totals.to_json() for each, totals in sorted(sums.items())}
        return sums_by_name

    def lines(self) -> list[str]:
        """The report for a person."""
        if not self.runs:
            return ["no model has been asked yet"]
        lines = [f"total: {total_of(self.runs.values()).line()}"]
        for title, sums in (("run", self.runs), ("stage", self.stages), ("model", self.models)):
            lines.append(f"by {title}:")
            lines += [f"  {name}: {totals.line()}" for name, totals in sorted(sums.items())]
        return lines


def cost_report(wiki: Path) -> CostReport:
    """The ledger of a wiki: every answer in its journal, by run, stage and model."""
    report = CostReport()
    for record in records(journal_folder(wiki), report.warnings):
        if record.get("kind") == "answer" and "of" not in record:  # parts of an answer were paid for with the whole
            for sums, name in (
                (report.runs, _run(record)),
                (report.stages, record.get("stage")),
                (report.models, record.get("model", "(agents, unknown model)" if is_by_agent(record) else None)),
            ):
                sums.setdefault(str(name), Totals()).add(record)
    return report


def _run(record: Record) -> Any:
    """Each `wiki apply` is a run; listed separately, these would only fill the page."""
    return "(agents)" if is_by_agent(record) else record.get("run")
