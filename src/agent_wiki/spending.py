"""What asking a model came to: calls, tokens and cost, by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from threading import Lock
from typing import Any

from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

TOKEN_KINDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_COUNTS = ("calls", "replayed", "unpriced", "uncounted", "by_agents", "cost_usd")


AGENT = "agent"
"""What a journal's record of an answer has as `answered_by` where an agent gave it, through `wiki apply`."""


def is_by_agent(record: Mapping[str, Any]) -> bool:
    """True for an answer that an agent gave."""
    return record.get("answered_by") == AGENT


@dataclass(slots=True)
class Totals:
    """Sums over answers. `unpriced` counts those whose model has no price: their cost is unknown, not zero.

    `uncounted` counts those whose tokens nobody reported, `by_agents` those that an agent gave, whose own session paid:
    nothing is known of their tokens and cost.
    """

    calls: int = 0
    replayed: int = 0
    unpriced: int = 0
    uncounted: int = 0
    by_agents: int = 0
    cost_usd: float = 0.0
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKEN_KINDS, 0))

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one answer that was paid for. In: a journal's record of kind `answer`."""
        self.calls += 1
        usage = record.get("usage")
        for kind in TOKEN_KINDS:
            count = usage.get(kind, 0) if isinstance(usage, Mapping) else 0
            self.tokens[kind] += count if isinstance(count, int) else 0
        self.uncounted += not usage and not is_by_agent(record)
        cost = record.get("cost_usd")
        if isinstance(cost, int | float):
            self.cost_usd += cost
        elif is_by_agent(record):
            self.by_agents += 1
        else:
            self.unpriced += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "replayed": self.replayed,
            **self.tokens,
            "cost_usd": round(self.cost_usd, 6),
            "unpriced": self.unpriced,
            "uncounted": self.uncounted,
            "by_agents": self.by_agents,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Totals:
        """The sums again, from what `to_json` gave."""
        tokens = {kind: values[kind] for kind in TOKEN_KINDS}
        counts = {name: values.get(name, 0) for name in _COUNTS}
        return cls(**counts, tokens=tokens)

    def line(self) -> str:
        """The sums for a person."""
        tokens = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in self.tokens.items() if count)
        if self.uncounted:
            tokens = (
                f"{tokens + ' and ' if tokens else ''}{counted(self.uncounted, 'answer')} whose tokens nobody reported"
            )
        unpriced = f" and {counted(self.unpriced, 'answer')} without a price" if self.unpriced else ""
        cost = f"${self.cost_usd:.4f}{unpriced}"
        if self.calls and self.unpriced == self.calls:
            cost = "no price"
        if self.by_agents:
            paid = f"{counted(self.by_agents, 'answer')} by agents, whose own sessions paid"
            cost = paid if self.by_agents == self.calls else f"{cost} and {paid}"
        replayed = f", {counted(self.replayed, 'answer')} from the journal" if self.replayed else ""
        return f"{counted(self.calls, 'call')}{replayed}, {tokens or 'no tokens'}, {cost}"


class Spending:
    """What the stages of one run asked, shared by its threads."""

    def __init__(self) -> None:
        self._stages: dict[str, Totals] = {}
        self._counted: set[str] = set()
        self._lock = Lock()

    def paid(self, record: Mapping[str, Any]) -> None:
        """An answer that a service gave in this run."""
        with self._lock:
            self._counted.add(str(record.get("request")))
            self._of(record).add(record)

    def replayed(self, record: Mapping[str, Any]) -> None:
        """An answer that was in the journal, counted once: not in each round of a run, nor if the run paid for it."""
        names = {str(record.get("request")), str(record.get("of", record.get("request")))}
        with self._lock:
            if not self._counted & names:
                self._of(record).replayed += 1
            self._counted.add(str(record.get("request")))

    def by_stage(self) -> dict[str, Totals]:
        """Stage → totals, in the order of names."""
        with self._lock:
            return dict(sorted(self._stages.items()))

    def _of(self, record: Mapping[str, Any]) -> Totals:
        return self._stages.setdefault(str(record.get("stage")), Totals())


def total_of(parts: Iterable[Totals]) -> Totals:
    """The sum of several totals."""
    whole = Totals()
    for part in parts:
        for name in _COUNTS:
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        for kind in TOKEN_KINDS:
            whole.tokens[kind] += part.tokens[kind]
    return whole
