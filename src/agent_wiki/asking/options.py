"""How a run asks models."""

from __future__ import annotations

from agent_wiki.asking.budget import Budget
from agent_wiki.trajectory.lazily import dataclass

DEFAULT_PROVIDER = "anthropic"
DEFAULT_CONCURRENCY = 8
DEFAULT_ANSWER_SECONDS = 900.0
ASKS_TOGETHER = True
"""Whether the questions on a trajectory are one request where nobody says otherwise; see decision 009."""


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """How models are asked. `models` are values of `--model`: a name for all stages, or `<stage>=<name>`."""

    models: tuple[str, ...] = ()
    base_url: str | None = None
    provider: str = DEFAULT_PROVIDER  # who serves the models: anthropic, bedrock or vertex
    region: str = ""  # of Bedrock or Vertex; "" for what the environment says
    project: str = ""  # of Vertex; "" for what the environment or the login says
    concurrency: int = DEFAULT_CONCURRENCY
    max_usd: float | None = None
    max_calls: int | None = None  # requests of one run
    budget: Budget | None = None  # counts what is asked; without one the engine makes its own by these limits
    answer_seconds: float = DEFAULT_ANSWER_SECONDS  # how long a program may take for one answer
    is_journaled: bool = True
    journal_store: str = ""  # the address of a second place for the journal, in a bucket
    min_coverage: float = 0.0
    is_together: bool = ASKS_TOGETHER  # ask the questions on a trajectory in one request, so that it is read once
    is_batched: bool = False  # send requests as batches, collected later
    is_waiting: bool = False  # wait until the batches have ended
    is_estimate: bool = False  # estimate the cost of asking, and ask nothing
    is_exact: bool = False  # have the service count tokens

    def naming_a_model(self) -> list[str]:
        """The options given that say which model is asked, or how it is reached; limits are none of them."""
        given = {
            "--model": self.models,
            "--base-url": self.base_url,
            "--provider": self.provider != DEFAULT_PROVIDER,
            "--region": self.region,
            "--project": self.project,
            "--batch": self.is_batched,
        }
        return [option for option, value in given.items() if value]
