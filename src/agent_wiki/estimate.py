"""What a run would come to: calls, tokens and cost by stage, told before anything is sent.

A dry run whose engine notes what it would send (`engines/estimating.py`), summed here. Tokens are bytes of UTF-8 over
`BYTES_PER_TOKEN`, or over what this wiki's journal shows, or with `--exact` the service's own count.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any

from agent_wiki import recordings_cache
from agent_wiki.asking import AskingOptions
from agent_wiki.budget import Budget
from agent_wiki.engines.anthropic_api import NAME
from agent_wiki.engines.anthropic_api.service import NotTaken, Service
from agent_wiki.engines.estimating import EstimatingEngine, Forecast, Piece
from agent_wiki.errors import ServiceFailed, UsageError
from agent_wiki.ingest import Options
from agent_wiki.journal import journal_folder, records
from agent_wiki.mine import SESSION_STAGES, Assignment, mine
from agent_wiki.prices import Models, Price, cost_usd, read_models, worst_cost_usd
from agent_wiki.prompts import STAGES
from agent_wiki.report import Report
from agent_wiki.wiki.store import WikiFolder

BYTES_PER_TOKEN = 2.5
"""Where nothing else is known. Recorded sessions of six models that say what each turn added to the prompt have 2.0 to
3.2 bytes a token over all (95 tool results of 2 to 170 kB); newer models' tokens are the shorter ones."""
DEFAULT_ERROR = 0.3
JOURNAL_ERROR = 0.1

OUTPUT_TOKENS = {
    "summarize": 700,
    "extract-guidelines": 400,
    "synthesize-skill": 600,
    "consolidate-clusters": 300,
    "discover-tasks": 500,
}
"""Of an answer, where the journal does not say. For the first three: 56 answers that were given with care to the
shipped prompts have 640, 300 and 600 on average, of short sessions; the others by what their prompts ask for."""

_ENOUGH_ANSWERS = 5
_MOST_SAMPLED = 20


@dataclass(slots=True)
class StageEstimate:
    """One stage's sums. Costs are None where the model has no price. `most` is with the longest answers, no read from a
    cache, tokens at their estimate's upper bound, and the `possible_calls`; corrections come on top of all."""

    model: str
    calls: int = 0
    answered: int = 0
    possible_calls: int = 0
    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0
    most_output_tokens: int = 0
    cost_usd: float | None = 0.0
    most_cost_usd: float | None = 0.0

    def to_json(self) -> dict[str, Any]:
        costs = {name: None if cost is None else round(cost, 6) for name, cost in self._costs().items()}
        return {**asdict(self), **costs}

    def _costs(self) -> dict[str, float | None]:
        return {"cost_usd": self.cost_usd, "most_cost_usd": self.most_cost_usd}


@dataclass(frozen=True, slots=True)
class Density:
    """Bytes a token of one model's prompts, the share by which that may be wrong, and how many answers told it (0:
    none, it is the default)."""

    bytes_per_token: float = BYTES_PER_TOKEN
    error: float = DEFAULT_ERROR
    answers: int = 0


@dataclass(frozen=True, slots=True)
class Habits:
    """What a wiki's journal tells of answers: mean output tokens by stage, and how many questions were put again."""

    output_tokens: Mapping[str, int] = field(default_factory=dict)
    questions: int = 0
    corrections: int = 0


def habits_of(wiki: Path) -> Habits:
    """What the journal says of answers that were billed. A stage counts from five of them on."""
    outputs: dict[str, list[int]] = {}
    prompts: set[str] = set()
    requests = 0
    for record in records(journal_folder(wiki), []):
        usage = record.get("usage")
        told = usage.get("output_tokens") if isinstance(usage, Mapping) else None
        if record.get("kind") == "answer" and isinstance(told, int):
            prompts.add(str(record.get("prompt")))
            requests += 1
            outputs.setdefault(str(record.get("stage")), []).append(told)
    means = {
        stage: round(sum(counts) / len(counts)) for stage, counts in outputs.items() if len(counts) >= _ENOUGH_ANSWERS
    }
    return Habits(means, len(prompts), requests - len(prompts))


class ByBytes:
    """Counts tokens by the length of the text."""

    def __init__(self, densities: Mapping[str, Density]) -> None:
        self._densities = densities

    def __call__(self, body: Mapping[str, Any], piece: Piece) -> int:
        return round(piece.bytes / self._densities[str(body["model"])].bytes_per_token)


class ByService:
    """Counts tokens by the service: heads and marked pieces once, the rest each time, some at a time.

    Where the service does not count, `fallback` does, and `notes` says so. Raises `RunError` without a key.
    """

    def __init__(self, service: Service, fallback: ByBytes, concurrency: int) -> None:
        self._service = service
        self._fallback = fallback
        self._slots = BoundedSemaphore(concurrency)
        self._known: dict[tuple[str, str], int] = {}
        self._counting: dict[tuple[str, str], Lock] = {}
        self._lock = Lock()
        self._is_off = False
        self.counted = self.uncounted = 0
        self.notes: list[str] = []

    def __call__(self, body: Mapping[str, Any], piece: Piece) -> int:
        head = _with_text(body, ".")
        try:
            if self._is_off:
                raise ServiceFailed("it does not count")
            alone = self._once(head, "head")
            return alone - 1 if piece.is_head else self._of_message(body, piece) - (alone - 1)
        except (NotTaken, ServiceFailed) as error:
            self._note(error)
            return self._fallback(body, piece)

    def _of_message(self, body: Mapping[str, Any], piece: Piece) -> int:
        asked = _with_text(body, piece.text)
        return self._once(asked, "message") if piece.lifetime is not None else self._counted(asked)

    def _once(self, body: Mapping[str, Any], kind: str) -> int:
        key = (kind, _key_of(body))
        with self._lock:
            counting = self._counting.setdefault(key, Lock())
        with counting:  # others wait, so that it is counted once
            if key not in self._known:
                self._known[key] = self._counted(body)
            return self._known[key]

    def _counted(self, body: Mapping[str, Any]) -> int:
        with self._slots:
            counted = self._service.count_tokens(body)
        with self._lock:
            self.counted += 1
        return counted

    def _note(self, error: Exception) -> None:
        with self._lock:
            self.uncounted += 1
            if isinstance(error, ServiceFailed) and not self._is_off:
                self._is_off = True
                self.notes.append(f"{error}; tokens are estimated by bytes")


def _with_text(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The prompt of a request with nothing but `text` as its message; the same for all that differ only in that."""
    prompt = {name: value for name, value in body.items() if name != "max_tokens"}
    return {**prompt, "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}


def _key_of(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    return hashlib.sha256(text).hexdigest()


@dataclass(slots=True)
class Estimate:
    """What a run would come to. `bytes_per_token` is by model, empty where the service counted all."""

    command: str
    wiki: str
    table: Models
    asking: AskingOptions
    bytes_per_token: dict[str, Density]
    habits: Habits
    report: Report
    service_count: ByService | None = None
    stages: dict[str, StageEstimate] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)

    def add(self, forecast: Forecast) -> None:
        """Count one prompt."""
        with self.lock:
            sums = self.stages.setdefault(forecast.stage, StageEstimate(forecast.model))
            if forecast.state == "answered":
                sums.answered += 1
                return
            price = self.table.prices.get(forecast.model)
            sums.most_output_tokens += forecast.max_tokens
            sums.most_cost_usd = _sum(sums.most_cost_usd, self._most_cost(forecast, price))
            if forecast.state == "possible":
                sums.possible_calls += 1
                return
            tokens, output = forecast.tokens, self._output_tokens(forecast)
            sums.calls += 1
            sums.input_tokens += tokens.plain
            sums.cache_creation_input_tokens += tokens.written
            sums.cache_read_input_tokens += tokens.read
            sums.output_tokens += output
            usage = {
                "input_tokens": tokens.plain,
                "cache_creation_input_tokens": tokens.written,
                "ephemeral_5m_input_tokens": tokens.written if tokens.lifetime == "5m" else 0,
                "cache_read_input_tokens": tokens.read,
                "output_tokens": output,
            }
            sums.cost_usd = _sum(sums.cost_usd, None if price is None else self._factor * cost_usd(usage, price))

    @property
    def _factor(self) -> float:
        return self.table.batch_factor if self.asking.is_batched else 1.0

    def _output_tokens(self, forecast: Forecast) -> int:
        told = self.habits.output_tokens.get(forecast.stage)
        if told is None:
            told = sum(OUTPUT_TOKENS[stage] for stage in forecast.stage.split(_AND))
        return min(told, forecast.max_tokens)

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
            for name in ("calls", "answered", "possible_calls", "output_tokens", "most_output_tokens", *_INPUT):
                setattr(whole, name, getattr(whole, name) + getattr(stage, name))
            whole.cost_usd = _sum(whole.cost_usd, stage.cost_usd)
            whole.most_cost_usd = _sum(whole.most_cost_usd, stage.most_cost_usd)
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
            "failures": sorted(self.report.failures),
            "warnings": sorted(self.report.warnings),
            "notes": self.all_notes(),
            "exit_code": self.exit_code,
        }

    def _ordered(self) -> list[tuple[str, StageEstimate]]:
        """The stages in the order in which they run."""
        return sorted(self.stages.items(), key=lambda each: [STAGES.index(stage) for stage in each[0].split(_AND)])

    def unpriced_models(self) -> list[str]:
        """Models that would be asked and have no price."""
        asked = {stage.model for stage in self.stages.values() if stage.calls or stage.possible_calls}
        return sorted(asked - self.table.prices.keys())

    def lines(self) -> list[str]:
        """The estimate for a person."""
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.report.sessions.items()))
        lines = [f"read:  {self.report.recordings} recordings; sessions: {counts or 'none to read'}"]
        total = self.total()
        if total.calls or total.answered:
            lines += _table([*self._ordered(), ("total", total)])
        else:
            lines.append("nothing to ask: it costs nothing")
        lines += [f"note:  {note}" for note in self.all_notes()]
        lines += [f"warning: {warning}" for warning in sorted(self.report.warnings)]
        lines += [f"FAILED: {failure}" for failure in sorted(self.report.failures)]
        return [*lines, *self._verdict(total)]

    def all_notes(self) -> list[str]:
        """What has to be known to read the figures."""
        total = self.total()
        notes = list(self.service_count.notes) if self.service_count is not None else []
        if total.calls:
            notes += [*self._notes_on_tokens(), *self._notes_on_questions(total)]
        notes += [f"no price for {model}: its cost is unknown" for model in self.unpriced_models()]
        if self.asking.is_batched and total.calls:
            notes.append(f"as batches, at {self._factor:g} of the price")
        return notes

    def _notes_on_tokens(self) -> list[str]:
        if self.is_exact and self.service_count is not None:
            return [f"tokens by the service's own count ({self.service_count.counted} counting requests)"]
        notes = []
        for model in sorted({stage.model for stage in self.stages.values() if stage.calls}):
            each = self.bytes_per_token[model]
            source = f"by {each.answers} answers in the journal" if each.answers else "by default; --exact counts them"
            error = f"±{each.error:.0%}"
            notes.append(f"{model}: {each.bytes_per_token:.2f} bytes of a prompt taken for a token ({source}; {error})")
        return notes

    def _notes_on_questions(self, total: StageEstimate) -> list[str]:
        notes = ["later questions depend on earlier answers; the embedded engine's stand in for those still to come"]
        if total.possible_calls:
            notes.append(
                f"a skill is asked for where a session worked; a model may find that {total.possible_calls} more did, "
                "which only `at most` counts"
            )
        asked = [stage for stage, sums in self.stages.items() if sums.calls]
        by_default = [stage for stage in asked if stage not in self.habits.output_tokens]
        if by_default:
            notes.append(f"lengths of answers by default: {', '.join(sorted(by_default))}")
        again = "answers that have to be corrected are asked for again, which comes on top"
        if self.habits.questions:
            again += f" (so far {self.habits.corrections} times in {self.habits.questions} questions)"
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
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
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
    numbers = (row.calls, row.answered, *(getattr(row, kind) for kind in _INPUT), row.output_tokens)
    return (
        name,
        row.model,
        *(f"{number:,}" for number in numbers),
        _dollars(row.cost_usd),
        _dollars(row.most_cost_usd),
    )


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.4f}"


def estimate(options: Options, report: Report, work: Callable[[Options], object]) -> Estimate:
    """What `work` would come to if it asked models. Nothing is written, and nothing is sent but, with `is_exact`,
    requests to count tokens.

    In: the run's options, as they would be without estimating; the report that `work` fills in; what runs it, given
    options whose engine forecasts. Raises `UsageError` for an engine that asks no model, and `RunError`.
    """
    if options.engine != NAME:
        raise UsageError(
            f"--estimate: the engine {options.engine} asks no model and costs nothing; name --engine {NAME}"
        )
    asking = replace(options.asking, is_waiting=False)
    table = read_models(options.wiki)
    service = Service(asking.base_url, table.prices, Budget())
    endpoint = service.endpoint
    habits = habits_of(options.wiki) if asking.is_journaled else Habits()
    densities = _Densities(options.wiki, asking, endpoint).by_model()
    by_bytes = ByBytes(densities)
    by_service = ByService(service, by_bytes, asking.concurrency) if asking.is_exact else None
    made = Estimate(report.command, report.wiki, table, asking, densities, habits, report, by_service)
    engine = EstimatingEngine(options.wiki, asking, options.stages, endpoint, by_service or by_bytes, made.add)
    try:
        work(replace(options, engine=engine, dry_run=True, asking=asking))
    finally:
        engine.close()
        service.close()
    return made


class _Densities:
    """Bytes a token by model, from what this wiki's journal says was billed for prompts that can be made again.

    The journal has no prompts. So some recordings that the wiki knows are read again, and their questions put to the
    journal alone.
    """

    def __init__(self, wiki: Path, asking: AskingOptions, endpoint: str) -> None:
        self._wiki = wiki
        self._asking = replace(asking, is_exact=False)
        self._endpoint = endpoint
        self._bytes: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()

    def by_model(self) -> dict[str, Density]:
        """A density for each model that a stage asks; the default where too few answers tell."""
        engine = EstimatingEngine(
            self._wiki, self._asking, SESSION_STAGES, self._endpoint, _no_count, self._note, is_only_journal=True
        )
        try:
            if self._asking.is_journaled and journal_folder(self._wiki).is_dir():
                self._put_again(engine)
            return {model: self._density(model) for model in sorted(set(engine.models.values()))}
        finally:
            engine.close()

    def _put_again(self, engine: EstimatingEngine) -> None:
        cache = recordings_cache.load(WikiFolder(self._wiki, is_dry_run=True))
        paths = [Path(path) for path in sorted(cache)]
        known = [path for path in paths if recordings_cache.unchanged(cache, path) is not None]
        step = max(1, len(known) // _MOST_SAMPLED)
        for path in known[::step][:_MOST_SAMPLED]:
            mine(Assignment(path, path.name, SESSION_STAGES, engine, self._wiki / "templates", rewrite=True), {})

    def _note(self, forecast: Forecast) -> None:
        usage = forecast.usage or {}
        tokens = sum(usage.get(kind, 0) for kind in _INPUT)
        if tokens:
            self._bytes[forecast.model] += forecast.bytes
            self._tokens[forecast.model] += tokens
            self._answers[forecast.model] += 1

    def _density(self, model: str) -> Density:
        if self._answers[model] < _ENOUGH_ANSWERS:
            return Density()
        return Density(self._bytes[model] / self._tokens[model], JOURNAL_ERROR, self._answers[model])


def _no_count(body: Mapping[str, Any], piece: Piece) -> int:  # noqa: ARG001 - the names are the protocol's
    return 0  # nothing is forecast that the journal does not answer
