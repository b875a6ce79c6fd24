"""What answers cost, and which model a stage is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.asking.prices import Price, cost_usd, read_models, worst_cost_usd
from agent_wiki.errors import RunError
from agent_wiki.stages.order import ASKING_STAGES

_PRICE = Price(
    input=1, output=10, cache_write_5m=2, cache_write_1h=4, cache_read=0.5, long_prompt_tokens=100, long_prompt_factor=5
)


def test_every_stage_has_a_model_and_every_model_a_price() -> None:
    models = read_models()
    assert set(models.stages) == set(ASKING_STAGES)
    assert set(models.stages.values()) <= models.prices.keys()


def test_each_kind_of_token_has_its_price() -> None:
    usage = {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 4}
    usage |= {"cache_creation_input_tokens": 5, "ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 3}
    assert cost_usd(usage, _PRICE) == pytest.approx((10 + 30 + 2 + 4 + 12) / 1_000_000)


def test_a_cache_write_of_unknown_lifetime_counts_as_what_was_asked_for() -> None:
    untold = {"cache_creation_input_tokens": 5}
    assert cost_usd(untold, _PRICE) == pytest.approx(20 / 1_000_000)
    assert cost_usd(untold, _PRICE, is_long_lived=False) == pytest.approx(5 * _PRICE.cache_write_5m / 1_000_000)
    found = {**untold, "ephemeral_1h_input_tokens": 5}
    assert cost_usd(found, _PRICE, is_long_lived=False) == pytest.approx(20 / 1_000_000)


def test_a_long_prompt_costs_more_whatever_part_of_it_was_cached() -> None:
    short, long = {"input_tokens": 50, "cache_read_input_tokens": 50}, {"input_tokens": 51}
    long["cache_read_input_tokens"] = 50
    assert cost_usd(short, _PRICE) == pytest.approx(75 / 1_000_000)
    assert cost_usd(long, _PRICE) == pytest.approx(5 * 76 / 1_000_000)


def test_no_request_costs_more_than_its_worst_case() -> None:
    written = {"cache_creation_input_tokens": 90, "ephemeral_5m_input_tokens": 90}
    untold = {"cache_creation_input_tokens": 90}
    for usage in ({"input_tokens": 90}, written, untold, {"cache_read_input_tokens": 90}):
        cost = cost_usd({**usage, "output_tokens": 7}, _PRICE, is_long_lived=False)
        assert cost <= worst_cost_usd(90, 7, _PRICE)
    assert cost_usd(untold, _PRICE) <= worst_cost_usd(90, 0, _PRICE, is_long_lived=True)
    assert worst_cost_usd(101, 0, _PRICE) == pytest.approx(5 * 101 * 2 / 1_000_000)


def test_an_owner_overrides_one_stage_and_adds_one_price(tmp_path: Path) -> None:
    text = "stages:\n  summarize: mine\nprices:\n  mine:\n    input: 0\n    output: 0\n    cache_write_5m: 0\n"
    (tmp_path / "models.yaml").write_text(f"{text}    cache_write_1h: 0\n    cache_read: 0\n", encoding="utf-8")
    models, shipped = read_models(tmp_path), read_models()
    assert models.stages == {**shipped.stages, "summarize": "mine"}
    assert models.prices == {**shipped.prices, "mine": models.prices["mine"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prices:\n  m:\n    input: -1\n", r"models\.yaml: prices\.m\.input"),
        ("colour: red\n", r"models\.yaml: colour"),
        ("- a\n", "not a mapping"),
        ("a: [\n", r"models\.yaml: "),
    ],
)
def test_an_invalid_table_is_reported_with_its_field(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "models.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=reason):
        read_models(tmp_path)
