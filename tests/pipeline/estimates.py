"""What tests of estimates share: a run that is estimated, and the same run that is billed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_wiki.asking.options import AskingOptions
from agent_wiki.pipeline.estimate import Estimate, StageEstimate, estimate
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.token_counts import PROMPT_TOKENS
from agent_wiki.stages.order import ALL_STAGES
from agent_wiki_testing import MessagesServer
from tests.paid_runs import TWO_READERS
from tests.wikis import ingest

NOBODY = "http://127.0.0.1:9"


def asking_options(**told: Any) -> AskingOptions:
    """One by one, and a skill of another model, unless something else is said."""
    return AskingOptions(**{"is_together": bool(told.get("is_batched")), "models": TWO_READERS, **told})


def estimated(paths: Iterable[Path], wiki: Path, url: str = NOBODY, **told: Any) -> Estimate:
    """What a run would come to, of all stages unless `stages` is told."""
    stages = told.pop("stages", ALL_STAGES)
    report = Report("ingest", str(wiki))
    options = Options(wiki, stages, engine="anthropic", asking=asking_options(base_url=url, is_estimate=True, **told))
    return estimate(options, report, lambda each: run(list(paths), each, report, lambda *_: None))


def billed_run(paths: list[Path], wiki: Path, server: MessagesServer, **told: Any) -> Report:
    """The run itself, one question after the other."""
    return ingest(paths, wiki, "anthropic", asking=asking_options(base_url=server.base_url, concurrency=1, **told))


def input_tokens(sums: StageEstimate) -> int:
    """Tokens of prompts of every price."""
    return sum(getattr(sums, kind) for kind in PROMPT_TOKENS)


def calls_of(made: Estimate) -> dict[str, int]:
    """The calls of each stage that has any."""
    return {stage: sums.calls for stage, sums in made.stages.items() if sums.calls}
