"""Saved sessions mined by an engine that asks a model, in the background of a hook: one run at a time, capped a day.

A session is asked about when it has ended, or when another one of the project ends a turn: not again after every turn.
What the day's cap leaves waits for the next day. Questions over several sessions are left to `wiki ingest`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_wiki.asking.budget import Budget
from agent_wiki.errors import RunError
from agent_wiki.harness.hook_log import HookOutcome
from agent_wiki.harness.hook_memory import HookMemory, is_saved
from agent_wiki.trajectory.lazily import dataclass

if TYPE_CHECKING:
    from agent_wiki.pipeline.report import Report
    from agent_wiki.pipeline.session_stages import SessionReport

DEFAULT_CALLS_A_DAY = 20
ENGINES = ("claude-code", "codex", "gemini", "anthropic")

_MEMORY = "background.json"
_MOST_MINUTES = 50.0
_MOST_COUNTED = 1_000_000_000
_LOCK_TIMEOUT_SECONDS = 10.0
_SETTLED = ("mined", "unchanged", "older", "left-out", "forgotten")


@dataclass(frozen=True, slots=True)
class Background:
    """The engine that a hook mines with, and what it may ask on one day (UTC)."""

    engine: str
    calls_a_day: int = DEFAULT_CALLS_A_DAY
    usd_a_day: float | None = None


def mine_in_background(
    wiki: Path, folder: Path, pending: Mapping[str, str], memory: HookMemory, with_: Background, outcome: HookOutcome
) -> None:
    """Ask about saved sessions, as far as the day's caps go; what was settled is pending no more.

    In: stem → file of each session that waits. The caller holds the lock of mining. Raises `RunError`.
    """
    if with_.engine not in ENGINES:
        raise RunError(f"--engine {with_.engine[:40]}: a hook mines with one of {', '.join(ENGINES)}")
    states = memory.pending_states()
    files = {file: stem for stem, file in pending.items() if file and is_saved(folder / file)}
    for stem in pending.keys() - files.values():
        memory.unmark(stem)
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    spent = _spent(memory, today)
    calls = with_.calls_a_day - spent["calls"]
    usd = None if with_.usd_a_day is None else with_.usd_a_day - spent["usd"]
    if calls < 1 or (usd is not None and usd <= 0):
        outcome.postponed = f"the day's cap of --engine {with_.engine} is reached"
        return
    if not files:
        return
    # Until the end is known all counts as spent, so that a run that is killed cannot be repeated all day.
    _note(memory, today, with_.calls_a_day, spent["usd"] if with_.usd_a_day is None else with_.usd_a_day)
    budget = Budget(usd, int(calls))
    try:
        report, settled = _run(wiki, [folder / file for file in files], with_.engine, budget)
    finally:
        asked = max(1, budget.calls)  # a run that cannot ask counts too, and so does a call without an answer
        _note(memory, today, spent["calls"] + asked, spent["usd"] + budget.spent_usd)
    for file in settled:
        memory.unmark(files[file], states.get(files[file]))
    outcome.mined += sorted(settled)
    outcome.asked = f"{with_.engine}: {asked} of {with_.calls_a_day} calls a day"
    outcome.postponed = report.stopped
    outcome.problems += [*map(str, report.failures), *report.bugs]


def _run(wiki: Path, files: list[Path], engine: str, budget: Budget) -> tuple[Report, set[str]]:
    """A run of `wiki ingest` over these files, and the names of those about which nothing remains to ask."""
    from agent_wiki.asking.options import AskingOptions
    from agent_wiki.engine import no_progress
    from agent_wiki.pipeline.ingest import Options, run
    from agent_wiki.pipeline.report import Report
    from agent_wiki.pipeline.stopping import StopSignal
    from agent_wiki.stages.order import ALL_STAGES, CORPUS_STAGES

    settled: set[str] = set()
    waiting: set[str] = set()

    def note(file: str, session: SessionReport) -> None:
        is_settled = session.status in _SETTLED or any(each.kind == "answer" for each in session.failures)
        (settled if is_settled else waiting).add(Path(file).name)

    options = Options(
        wiki,
        tuple(stage for stage in ALL_STAGES if stage not in CORPUS_STAGES),
        engine,
        new_pages="unlisted",
        on_session=note,
        lock_timeout_seconds=_LOCK_TIMEOUT_SECONDS,
        stop=StopSignal(is_heard=True, most_minutes=_MOST_MINUTES),
        asking=AskingOptions(concurrency=1, max_usd=budget.max_usd, budget=budget),
    )
    report = run(files, options, Report("hook stop", str(wiki)), no_progress)
    return report, settled - waiting


def _spent(memory: HookMemory, today: str) -> dict[str, float]:
    """What was asked on this day so far: calls and dollars. A count that is none, as a repository may bring, is all."""
    stored = memory.read(_MEMORY)
    found = dict.fromkeys(("calls", "usd"), 0.0)
    for name in found if stored.get("day") == today else ():
        value = stored.get(name)
        found[name] = value if isinstance(value, int | float) and 0 <= value < _MOST_COUNTED else math.inf
    return found


def _note(memory: HookMemory, today: str, calls: float, usd: float) -> None:
    memory.write(_MEMORY, {"day": today, "calls": calls, "usd": usd})
