"""Nights as the shipped script runs them: each starts the command a dozen times, so they run on request, and in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.on_request import mark_on_request

_REASON = "nights run on request: pytest -m nights tests/nights"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_on_request(config, items, Path(__file__).parent, "nights", _REASON)
