"""What a run would cost: calls, tokens and cost by stage, before anything is sent.

A dry run whose engine notes what it would send (`engines/estimating.py`), summed here. How tokens are counted is in
`token_counts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from pathlib import Path
from threading import Lock
from typing import Any

from agent_wiki.asking.budget import Budget
from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prices import Models, Price, cost_usd, worst_cost_usd
from agent_wiki.engines import engine_that_asks
from agent_wiki.engines.anthropic_api import NAME
from agent_wiki.engines.anthropic_api.providers import provider_of
from agent_wiki.engines.anthropic_api.service import Service
from agent_wiki.engines.estimating import EstimatingEngine, Forecast
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.report import Report, as_lines, listed_lines
from agent_wiki.pipeline.token_counts import PROMPT_TOKENS, ByBytes, ByService, Density, densities_of
from agent_wiki.stages.order import ASKING_STAGES, stage_named
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

_ENOUGH_ANSWERS = 5
_STATUSES = {"mined": "to mine", "left-out": "left out"}


@dataclass(slots=True)
class StageEstimate:
    """One stage's sums. Costs are None where the model has no price. `possible_calls` are in none of the others but
    `most`, which is with the longest answers, no read from a cache, and tokens at their estimate's upper bound.
    Corrections come on top of all."""

    model: str
    calls: int = 0
    answered: int = 0
    waiting: int = 0
    possible_calls: int = 0
    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0
    most_output_tokens: int = 0
    cost_usd: float | None = 0.0
    possible_cost_usd: float | None = 0.0
    most_cost_usd: float | None = 0.0

    def to_json(self) -> dict[str, Any]:
        """The sums as JSON values, costs to a millionth of a dollar."""
        return {name: round(each, 6) if isinstance(each, float) else each for name, each in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Habits:
    """What a wiki's journal shows about answers: mean output tokens by stage, and how many questions were put again."""

    output_tokens: Mapping[str, int] = field(default_factory=dict)
    questions: int = 0
    corrections: int = 0


def habits_of(wiki: Path) -> Habits:
    """What the journal shows about answers that were billed. A stage counts from five of them on."""
    outputs: dict[str, list[int]] = {}
    prompts: set[str] = set()
    requests = 0
    for record in records(journal_folder(wiki), []):
        usage = record.get("usage")
        count = usage.get("output_tokens") if isinstance(usage, Mapping) else None
        if record.get("kind") == "answer" and isinstance(count, int):
            prompts.add(str(record.get("prompt")))
            requests += 1
            outputs.setdefault(str(record.get("stage")), []).append(count)
    means = {
        stage: round(sum(counts) / len(counts)) for stage, counts in outputs.items() if len(counts) >= _ENOUGH_ANSWERS
    }
    return Habits(means, len(prompts), requests - len(prompts))


@dataclass(slots=True)
class Estimate:
    """What a run would cost. `bytes_per_token` is by model, for what the service does not count."""

    command: str
    wiki: str
    table: Models
    asking: AskingOptions
    bytes_per_token: dict[str, Density]
    habits: Habits
    report: Report
    service_count: ByService | None = None
    program: str = ""  # the engine that is a program on this machine, with words of its own around a prompt
    stages: dict[str, StageEstimate] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)

    def add(self, forecast: Forecast) -> None:
        """Count one prompt."""
        with self.lock:
            sums = self.stages.setdefault(forecast.stage, StageEstimate(forecast.model))
            if forecast.state in ("answered", "waiting"):
                sums.answered += forecast.state == "answered"
                sums.waiting += forecast.state == "waiting"
                return
            price = self.table.prices.get(forecast.model)
            sums.most_output_tokens += forecast.max_tokens
            sums.most_cost_usd = _sum(sums.most_cost_usd, self._most_cost(forecast, price))
            cost = self._cost(forecast, price)
            if forecast.state == "possible":
                sums.possible_calls += 1
                sums.possible_cost_usd = _sum(sums.possible_cost_usd, cost)
                return
            sums.calls += 1
            sums.input_tokens += forecast.tokens.plain
            sums.cache_creation_input_tokens += forecast.tokens.written
            sums.cache_read_input_tokens += forecast.tokens.read
            sums.output_tokens += self._output_tokens(forecast)
            sums.cost_usd = _sum(sums.cost_usd, cost)

    def _cost(self, forecast: Forecast, price: Price | None) -> float | None:
        """What is expected: tokens as forecast, an answer of the usual length."""
        tokens = forecast.tokens
        usage = {
            "input_tokens": tokens.plain,
            "cache_creation_input_tokens": tokens.written,
            "ephemeral_5m_input_tokens": tokens.written if tokens.lifetime == "5m" else 0,
            "cache_read_input_tokens": tokens.read,
            "output_tokens": self._output_tokens(forecast),
        }
        return None if price is None else self._factor * cost_usd(usage, price)

    @property
    def _factor(self) -> float:
        return self.table.batch_factor if self.asking.is_batched else 1.0

    def _output_tokens(self, forecast: Forecast) -> int:
        usual = self.habits.output_tokens.get(forecast.stage)
        if usual is None:
            usual = sum(stage_named(stage).output_tokens for stage in forecast.stage.split(_AND))
        return min(usual, forecast.max_tokens)

    def _most_cost(self, forecast: Forecast, price: Price | None) -> float | None:
        if price is None:
            return None
        error = 0.0 if self.is_exact else self.bytes_per_token[forecast.model].error
        tokens = round(forecast.tokens.total * (1 + error))
        is_long_lived = forecast.tokens.lifetime == "1h"
        return self._factor * worst_cost_usd(tokens, forecast.max_tokens, price, is_long_lived=is_long_lived)

    def total(self) -> StageEstimate:
        """The sum over all stages; a cost is None where that of a stage is."""
        whole = StageEstimate("")
        for stage in self.stages.values():
            for name in _SUMS:
                setattr(whole, name, _sum(getattr(whole, name), getattr(stage, name)))
        return whole

    @property
    def bugs(self) -> list[str]:
        """Tracebacks of the dry run."""
        return self.report.bugs

    def is_within(self, cost_usd: float | None) -> bool | None:
        """Whether a cost is within `--max-usd`; None where there is no such bound, or the cost is unknown."""
        if self.asking.max_usd is None or cost_usd is None:
            return None
        return cost_usd <= self.asking.max_usd

    @property
    def is_exact(self) -> bool:
        """True where the service counted every token."""
        return self.service_count is not None and not self.service_count.uncounted

    @property
    def exit_code(self) -> int:
        """3 when the expected cost is more than `--max-usd`, else 1 when some unit failed, else 0."""
        if self.is_within(self.total().cost_usd) is False:
            return 3
        return 1 if self.report.failures else 0

    def to_json(self) -> dict[str, Any]:
        """The estimate as JSON values, keys always the same. A cost that is not known is null."""
        total = self.total().to_json()
        del total["model"]
        return {
            "command": self.command,
            "wiki": self.wiki,
            "stages": {stage: sums.to_json() for stage, sums in self._ordered()},
            "total": total,
            "unpriced_models": self.unpriced_models(),
            "prices_dated": self.table.dated,
            "is_batched": self.asking.is_batched,
            "is_exact": self.is_exact,
            "bytes_per_token": {model: asdict(density) for model, density in sorted(self.bytes_per_token.items())},
            "max_usd": self.asking.max_usd,
            "fits": self.is_within(self.total().cost_usd),
            "most_fits": self.is_within(self.total().most_cost_usd),
            "recordings": self.report.recordings,
            "sessions": dict(sorted(self.report.sessions.items())),
            **{name: self.report.to_json()[name] for name in ("failures", "warnings", "left_out", "bugs")},
            "notes": self.all_notes(),
            "exit_code": self.exit_code,
        }

    def _ordered(self) -> list[tuple[str, StageEstimate]]:
        """The stages in the order in which they run."""
        return sorted(
            self.stages.items(), key=lambda each: [ASKING_STAGES.index(stage) for stage in each[0].split(_AND)]
        )

    def unpriced_models(self) -> list[str]:
        """Models that would be asked and have no price."""
        asked = {stage.model for stage in self.stages.values() if stage.calls or stage.possible_calls}
        return sorted(asked - self.table.prices.keys())

    def lines(self) -> list[str]:
        """The estimate for a person."""
        counts = ", ".join(
            f"{count} {_STATUSES.get(status, status)}" for status, count in sorted(self.report.sessions.items())
        )
        recordings = self.report.recordings - self.report.recordings_waiting
        lines = [f"read:  {counted(recordings, 'recording')}; sessions: {counts or 'none to read'}"]
        total = self.total()
        if total.calls or total.answered or total.waiting:
            lines += _table([*self._ordered(), ("total", total)])
        else:
            lines.append("nothing to ask: it costs nothing")
        lines += [f"note:  {note}" for note in self.all_notes()]
        lines += listed_lines("warning", as_lines(self.report.warnings))
        lines += listed_lines("FAILED", as_lines(self.report.failures))
        return [*lines, *self._verdict(total)]

    def all_notes(self) -> list[str]:
        """What has to be known to read the figures."""
        total = self.total()
        notes = list(self.service_count.notes) if self.service_count is not None else []
        if total.calls and self.program and not any(each.answers for each in self.bytes_per_token.values()):
            notes.append(f"what {self.program} puts around each prompt is not counted before its first answers")
        if total.calls:
            notes += [*self._notes_on_tokens(), *self._notes_on_questions(total)]
        notes += [f"no price for {model}: its cost is unknown" for model in self.unpriced_models()]
        if total.waiting:
            notes.append(f"{counted(total.waiting, 'request')} in batches that were sent before: not counted again")
        if self.asking.is_batched and total.calls:
            notes.append(f"as batches, at {self._factor:g} of the price")
        return notes

    def _notes_on_tokens(self) -> list[str]:
        if self.is_exact and self.service_count is not None:
            return [f"tokens by the service's own count ({counted(self.service_count.counted, 'counting request')})"]
        notes = []
        for model in sorted({stage.model for stage in self.stages.values() if stage.calls}):
            each = self.bytes_per_token[model]
            source = (
                f"by {counted(each.answers, 'answer')} in the journal"
                if each.answers
                else f"by default{'' if self.program else '; --exact counts them'}"
            )
            error = f"±{each.error:.0%}"
            notes.append(f"{model}: {each.bytes_per_token:.2f} bytes of a prompt taken for a token ({source}; {error})")
        return notes

    def _notes_on_questions(self, total: StageEstimate) -> list[str]:
        notes = ["later questions depend on earlier answers; the embedded engine's stand in for those still to come"]
        if total.possible_calls:
            notes.append(
                f"a skill is asked for where a session worked; a model may find that up to {total.possible_calls} more "
                f"did ({_dollars(total.possible_cost_usd)}), which only `at most` counts"
            )
        asked = [stage for stage, sums in self.stages.items() if sums.calls]
        by_default = [stage for stage in asked if stage not in self.habits.output_tokens]
        if by_default:
            notes.append(f"lengths of answers by default: {', '.join(sorted(by_default))}")
        again = "answers that have to be corrected are asked for again, which comes on top"
        if self.habits.questions:
            again += (
                f" (so far {counted(self.habits.corrections, 'time')} in {counted(self.habits.questions, 'question')})"
            )
        return [*notes, again]

    def _verdict(self, total: StageEstimate) -> list[str]:
        fits, most_fits = self.is_within(total.cost_usd), self.is_within(total.most_cost_usd)
        if fits is None:
            return []
        if not fits:
            verdict = "does not fit: the run would stop before its end"
        elif most_fits:
            verdict = "fits, at most as well"
        else:
            verdict = "fits as expected; at most it does not, and the run would stop before its end"
        return [f"--max-usd {self.asking.max_usd:g}: {verdict}"]


_AND = "+"  # joins the names of stages whose questions are one request
_SUMS = [each.name for each in fields(StageEstimate) if each.name != "model"]
_HEADS = ("stage", "model", "calls", "answered", "input", "to cache", "from cache", "output", "expected", "at most")


def _sum(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right


def _table(rows: Sequence[tuple[str, StageEstimate]]) -> list[str]:
    cells = [_HEADS, *(_cells(name, row) for name, row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(_HEADS))]
    return [
        "  ".join(cell.ljust(width) if at < 2 else cell.rjust(width) for at, (cell, width) in enumerate(pairs)).rstrip()
        for pairs in (tuple(zip(row, widths, strict=True)) for row in cells)
    ]


def _cells(name: str, row: StageEstimate) -> tuple[str, ...]:
    numbers = (row.calls, row.answered, *(getattr(row, kind) for kind in PROMPT_TOKENS), row.output_tokens)
    return (
        name,
        row.model,
        *(f"{number:,}" for number in numbers),
        _dollars(row.cost_usd),
        _dollars(row.most_cost_usd),
    )


def _dollars(cost: float | None) -> str:
    return "no price" if cost is None else f"${cost:.4f}"


def estimate(options: Options, report: Report, work: Callable[[Options], object]) -> Estimate:
    """What `work` would cost if it asked models. Nothing is written, and nothing is sent but, with `is_exact`,
    requests to count tokens.

    In: the run's options, as they would be without estimating; the report that `work` fills in; what runs it, given
    options whose engine forecasts. Raises `UsageError` for an engine that asks no model, and `RunError`.
    """
    name = options.engine
    if not isinstance(name, str):
        raise UsageError(f"--estimate: {name.name} is an engine that comes opened; name one")
    asking = replace(options.asking, is_waiting=False)
    real = engine_that_asks(name, options.wiki, asking, options.stages)
    table = real.table
    service = Service(asking.base_url, table.prices, Budget(), provider_of(asking))
    habits = habits_of(options.wiki) if asking.is_journaled else Habits()
    densities = densities_of(options.wiki, name, asking)
    by_bytes = ByBytes(densities)
    if asking.is_exact and real.name != NAME:
        raise UsageError(f"--exact: {real.name} counts no tokens before it is asked; leave it out")
    by_service = ByService(service, by_bytes, asking.concurrency) if asking.is_exact else None
    program = "" if real.name == NAME else real.name
    made = Estimate(report.command, report.wiki, table, asking, densities, habits, report, by_service, program)
    engine = EstimatingEngine(real, options.wiki, asking, options.stages, by_service or by_bytes, made.add)
    try:
        work(replace(options, engine=engine, dry_run=True, asking=asking))
    finally:
        engine.close()
        service.close()
    return made
