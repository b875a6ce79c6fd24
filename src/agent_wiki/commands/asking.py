"""The options of every command that may ask a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from agent_wiki.asking.options import DEFAULT_CONCURRENCY, AskingOptions

_MODEL = Annotated[
    list[str],
    typer.Option("--model", help="Model to ask: NAME for all stages, or STAGE=NAME; may be given several times."),
]
_BASE_URL = Annotated[str | None, typer.Option("--base-url", help="A server that speaks the Messages API.")]
_CONCURRENCY = Annotated[int, typer.Option("--concurrency", min=1, max=256, help="Requests to a model at a time.")]
_MAX_USD = Annotated[
    float | None, typer.Option("--max-usd", min=0, help="Stop before the run could cost more than this.")
]
_JOURNAL = Annotated[
    bool, typer.Option("--journal/--no-journal", help="Keep every answer, so that none is paid for twice.")
]
_MIN_COVERAGE = Annotated[
    float,
    typer.Option("--min-coverage", min=0, max=1, help="Fail a session if the model would see a smaller share of it."),
]
_BATCH = Annotated[bool, typer.Option("--batch", help="Send requests as batches, at half price; run again to collect.")]
_WAIT = Annotated[bool, typer.Option("--wait", help="With --batch: wait until all batches have ended.")]
_ESTIMATE = Annotated[bool, typer.Option("--estimate", help="Estimate calls, tokens and cost. Send and write nothing.")]
_EXACT = Annotated[bool, typer.Option("--exact", help="With --estimate: have the service count the tokens.")]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "models": (_MODEL, ()),
    "base_url": (_BASE_URL, None),
    "concurrency": (_CONCURRENCY, DEFAULT_CONCURRENCY),
    "max_usd": (_MAX_USD, None),
    "is_journaled": (_JOURNAL, True),
    "min_coverage": (_MIN_COVERAGE, 0.0),
    "is_batched": (_BATCH, False),
    "is_waiting": (_WAIT, False),
    "is_estimate": (_ESTIMATE, False),
    "is_exact": (_EXACT, False),
}


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """A command with these options instead of its parameter `asking`, which receives their values."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for name, each in signature.parameters.items() if name != "asking"]
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        asking = {name: given.pop(name) for name in _OPTIONS}
        command(**given, asking=AskingOptions(**{**asking, "models": tuple(asking["models"] or ())}))

    parameters = [each.replace(kind=kind) for each in own] + added
    vars(with_options)["__signature__"] = signature.replace(parameters=parameters)
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options
