"""The ledger: what asking models came to, from the journal, summed by run, stage and model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_wiki.asking.journal import Record, journal_folder, records
from agent_wiki.spending import Totals, is_by_agent, total_of


@dataclass(slots=True)
class CostReport:
    """What a wiki's journal says was paid for, summed three ways."""

    runs: dict[str, Totals] = field(default_factory=dict)
    stages: dict[str, Totals] = field(default_factory=dict)
    models: dict[str, Totals] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"total": total_of(self.runs.values()).to_json()}
        for name, sums in (("runs", self.runs), ("stages", self.stages), ("models", self.models)):
            told[name] = {each: totals.to_json() for each, totals in sorted(sums.items())}
        return told

    def lines(self) -> list[str]:
        """The report for a person."""
        if not self.runs:
            return ["no model was asked yet"]
        lines = [f"total: {total_of(self.runs.values()).line()}"]
        for title, sums in (("run", self.runs), ("stage", self.stages), ("model", self.models)):
            lines.append(f"by {title}:")
            lines += [f"  {name}: {totals.line()}" for name, totals in sorted(sums.items())]
        return lines


def cost_report(wiki: Path) -> CostReport:
    """The ledger of a wiki: every answer in its journal, by run, stage and model."""
    told = CostReport()
    for record in records(journal_folder(wiki), told.warnings):
        if record.get("kind") == "answer" and "of" not in record:  # a part of an answer was paid for with the whole
            for sums, name in (
                (told.runs, _run(record)),
                (told.stages, record.get("stage")),
                (told.models, _model(record)),
            ):
                sums.setdefault(str(name), Totals()).add(record)
    return told


def _run(record: Record) -> Any:
    """Each `wiki apply` is a run of its own; as runs they would only fill the page."""
    return "(agents)" if is_by_agent(record) else record.get("run")


def _model(record: Record) -> Any:
    return record.get("model", "(agents, no model told)" if is_by_agent(record) else None)
