"""How a run asks models."""

from __future__ import annotations

from agent_wiki.trajectory.lazily import dataclass

DEFAULT_CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """How models are asked. `models` are values of `--model`: a name for all stages, or `<stage>=<name>`."""

    models: tuple[str, ...] = ()
    base_url: str | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    max_usd: float | None = None
    is_journaled: bool = True
    min_coverage: float = 0.0
    is_batched: bool = False  # send requests as batches, collected later
    is_waiting: bool = False  # wait until the batches have ended
    is_estimate: bool = False  # estimate the cost of asking, and ask nothing
    is_exact: bool = False  # have the service count tokens
