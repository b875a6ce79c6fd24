"""The options of every command that may ask a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from agent_wiki.asking.options import (
    ASKS_TOGETHER,
    DEFAULT_ANSWER_SECONDS,
    DEFAULT_CONCURRENCY,
    DEFAULT_PROVIDER,
    AskingOptions,
)


def _option(kind: Any, default: Any, *words: str, **said: Any) -> tuple[Any, Any]:
    """An option's annotation and its default."""
    return Annotated[kind, typer.Option(*words, **said, rich_help_panel="Asking a model")], default


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "models": _option(
        list[str], (), "--model", help="Model to ask: NAME for all stages, or STAGE=NAME; may be given several times."
    ),
    "base_url": _option(str | None, None, "--base-url", help="A server that speaks the Messages API."),
    "provider": _option(
        str,
        DEFAULT_PROVIDER,
        "--provider",
        help="Who serves the models of --engine anthropic: anthropic, bedrock, vertex.",
    ),
    "region": _option(str, "", "--region", help="The region of Bedrock or Vertex.", show_default="the environment's"),
    "project": _option(str, "", "--project", help="The project of Vertex.", show_default="the environment's"),
    "concurrency": _option(
        int, DEFAULT_CONCURRENCY, "--concurrency", min=1, max=256, help="Requests to a model at a time."
    ),
    "max_usd": _option(float | None, None, "--max-usd", min=0, help="Stop before the run could cost more than this."),
    "max_calls": _option(int | None, None, "--max-calls", min=1, help="Stop after N requests to a model."),
    "answer_seconds": _option(
        float, DEFAULT_ANSWER_SECONDS, "--answer-seconds", min=1, help="How long a program may take for one answer."
    ),
    "is_journaled": _option(
        bool, True, "--journal/--no-journal", help="Keep every answer, so that none is paid for twice."
    ),
    "journal_store": _option(
        str,
        "",
        "--journal-store",
        help="Keep the journal also in a bucket, for runs on other machines: s3://BUCKET/PREFIX. With --max-usd, what "
        "was paid there on the same day (UTC) counts.",
    ),
    "min_coverage": _option(
        float, 0.0, "--min-coverage", min=0, max=1, help="Fail a session if the model would see a smaller share of it."
    ),
    "is_together": _option(
        bool,
        ASKS_TOGETHER,
        "--together/--thorough",
        help="Ask the questions on a session in one request, or one by one, reading it for each.",
    ),
    "is_batched": _option(
        bool, False, "--batch", help="Send requests as batches, at half price; run again to collect."
    ),
    "is_waiting": _option(bool, False, "--wait", help="With --batch: wait until all batches have ended."),
    "is_estimate": _option(bool, False, "--estimate", help="Estimate calls, tokens and cost. Send and write nothing."),
    "is_exact": _option(bool, False, "--exact", help="With --estimate: have the service count the tokens."),
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
