"""The models that a wiki's stages ask or have asked, each with its price, if it has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_wiki.asking.ledger import cost_report
from agent_wiki.asking.prices import MODELS, Price, read_models
from agent_wiki.trajectory.lazily import dataclass

_HEAD = ("model", "input", "output", "cache write", "cache read", "asked for")


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model: which `stages` ask it by default, and how many `calls` this wiki paid for.

    Without a price its cost is unknown.
    """

    name: str
    price: Price | None
    stages: tuple[str, ...]
    calls: int

    def cells(self) -> tuple[str, ...]:
        """Its row in the table for a person: dollars per million tokens."""
        asked = ", ".join(self.stages) or (f"{self.calls:,} calls so far" if self.calls else "")
        if self.price is None:
            return self.name, "no price", "", "", "", asked
        price = self.price
        written = f"{price.cache_write_5m:g} or {price.cache_write_1h:g}"
        return self.name, f"{price.input:g}", f"{price.output:g}", written, f"{price.cache_read:g}", asked


@dataclass(frozen=True, slots=True)
class ModelList:
    """All of them, and when the prices were valid."""

    dated: str
    models: tuple[ListedModel, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values; a model without a price has null."""
        listed = [
            {
                "model": each.name,
                "price": None if each.price is None else each.price.model_dump(),
                "stages": list(each.stages),
                "calls": each.calls,
            }
            for each in self.models
        ]
        return {"dated": self.dated, "usd_per_tokens": 1_000_000, "models": listed}

    def lines(self) -> list[str]:
        """A table for a person, and what a long prompt costs."""
        rows = [_HEAD, *(each.cells() for each in self.models)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = f"Dollars per million tokens, as of {self.dated}; {MODELS} in the wiki's folder has your own."
        return [head, "", *table, *self._notes()]

    def _notes(self) -> Iterator[str]:
        for each in self.models:
            if each.price is not None and each.price.long_prompt_tokens is not None:
                most, factor = each.price.long_prompt_tokens, each.price.long_prompt_factor
                yield f"{each.name}: a request of more than {most:,} tokens costs {factor:g} times as much"


def model_list(wiki: Path) -> ModelList:
    """The models of a wiki: those that are priced, that stages name, and that have answered. Raises `RunError`."""
    table = read_models(wiki)
    calls = {name: totals.calls for name, totals in cost_report(wiki).models.items()}
    names = sorted({*table.prices, *filter(None, table.stages.values()), *calls})
    stages = {name: tuple(stage for stage, model in table.stages.items() if model == name) for name in names}
    return ModelList(
        table.dated,
        tuple(ListedModel(name, table.prices.get(name), stages[name], calls.get(name, 0)) for name in names),
    )
