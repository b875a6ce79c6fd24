"""The model of each stage, the limits of what it is shown, and the price of an answer: `models.yaml`.

An owner may override it in the wiki's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_wiki.asking.previews import Limits
from agent_wiki.errors import RunError, UsageError
from agent_wiki.stages.order import ASKING_STAGES
from agent_wiki.wiki.templates import check_no_links, text_of_data
from agent_wiki.wiki.yaml_syntax import load_yaml

MODELS = "models.yaml"
_SHIPPED = Path(__file__).with_name(MODELS)
_MILLION = 1_000_000

Usage = Mapping[str, int]
"""Tokens of one answer under the service's own names; counts that it did not report are absent."""


class Price(BaseModel):
    """Dollars per million tokens of one model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write_5m: float = Field(ge=0)
    cache_write_1h: float = Field(ge=0)
    cache_read: float = Field(ge=0)
    long_prompt_tokens: int | None = Field(default=None, ge=1)
    long_prompt_factor: float = Field(default=1.0, ge=1)

    def factor(self, prompt_tokens: int) -> float:
        """The factor on the price for a request of that length."""
        is_long = self.long_prompt_tokens is not None and prompt_tokens > self.long_prompt_tokens
        return self.long_prompt_factor if is_long else 1.0


class Models(BaseModel):
    """The model of each stage, limits of what it is shown, prices by name; `dated` says when prices were valid."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dated: str
    stages: dict[str, str]
    prices: dict[str, Price]
    batch_factor: float = Field(gt=0, le=1)
    limits: Limits


def read_models(overrides: Path | None = None, *, has_own_prices: bool = False) -> Models:
    """The shipped table, overridden by the owner's entries. In: the wiki's folder, or None.

    With `has_own_prices` whoever serves the models has prices that nobody knows but the owner. Raises `RunError` with
    the file and the invalid field, and `UnsafePath` for a link.
    """
    table = _mapping(_SHIPPED, MODELS)
    if has_own_prices:
        table["prices"] = {}
    own = overrides / MODELS if overrides is not None else None
    if own is not None:
        check_no_links(own)
    if own is not None and own.is_file():
        for name, value in _mapping(own, own.as_posix()).items():
            both = isinstance(value, dict) and isinstance(table.get(name), dict)
            table[name] = {**table[name], **value} if both else value
    try:
        return Models.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise RunError(f"{(own or _SHIPPED).as_posix()}: {field}: {first['msg']}") from error


def models_named(words: Sequence[str], stages: Mapping[str, str]) -> dict[str, str]:
    """Stage → model, from the words of `--model` over a table; "" where nobody names one. Raises `UsageError`."""
    named = {stage: stages.get(stage, "") for stage in ASKING_STAGES}
    for word in sorted(words, key=lambda each: "=" in each):  # one for a stage wins over one for all
        stage, separator, model = word.partition("=")
        if not separator and word:
            named = dict.fromkeys(ASKING_STAGES, word)
        elif stage in ASKING_STAGES and model:
            named[stage] = model
        else:
            known = ", ".join(ASKING_STAGES)
            raise UsageError(f"--model {word!r}: a model's name, or STAGE=NAME with a stage of {known}")
    return named


def _mapping(path: Path, place: str) -> dict[str, Any]:
    try:
        value = load_yaml(text_of_data(path, place))
    except (yaml.YAMLError, RecursionError) as error:
        raise RunError(f"{place}: {' '.join(str(error).split())}") from error
    if not isinstance(value, dict):
        raise RunError(f"{place}: not a mapping of models and prices")
    return value


def cost_usd(usage: Usage, price: Price, *, is_long_lived: bool = True) -> float:
    """The cost of one answer, in dollars.

    A cache write without a reported lifetime counts with the requested one: an hour, or five minutes.
    """
    written = usage.get("cache_creation_input_tokens", 0)
    is_reported = "ephemeral_5m_input_tokens" in usage or "ephemeral_1h_input_tokens" in usage
    short_by_default = written if not is_reported and not is_long_lived else 0
    short_lived = min(written, usage.get("ephemeral_5m_input_tokens", short_by_default))
    read, plain = usage.get("cache_read_input_tokens", 0), usage.get("input_tokens", 0)
    dollars = (
        plain * price.input
        + short_lived * price.cache_write_5m
        + (written - short_lived) * price.cache_write_1h
        + read * price.cache_read
        + usage.get("output_tokens", 0) * price.output
    )
    return dollars * price.factor(plain + written + read) / _MILLION


def worst_cost_usd(prompt_tokens: int, output_tokens: int, price: Price, *, is_long_lived: bool = False) -> float:
    """The worst-case cost of one request whose cache marks live 5 minutes, or an hour.

    Nothing is read from the cache, everything is written to it, and the answer has its maximal length.
    """
    written = price.cache_write_1h if is_long_lived else price.cache_write_5m
    dearest = max(price.input, written, price.cache_read)
    dollars = prompt_tokens * dearest + output_tokens * price.output
    return dollars * price.factor(prompt_tokens) / _MILLION
